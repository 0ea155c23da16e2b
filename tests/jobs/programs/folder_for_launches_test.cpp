#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "jobs/programs/run_program.h"

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;

TEST(FolderForLaunches, IsThatOfTheProcessAndThoseOfEndedProcessesAreRemoved) {
    const fs::path parent = fs::path(testing::TempDir()) / "folders_for_launches";
    const pid_t ended = fork();
    if (!ended) _exit(0);
    waitpid(ended, nullptr, 0);
    const fs::path other = parent / (std::to_string(getppid()) + "-app"),
                   old = parent / (std::to_string(ended) + "-app"), older = parent / "app",
                   earlier = parent / (std::to_string(getpid()) + "-app");
    for (const fs::path& folder : {other, old, older, earlier})
        fs::create_directories(folder / "memory");
    EXPECT_EQ(folder_for_launches(parent, "/some/where/app"), earlier);
    EXPECT_TRUE(fs::exists(other));
    for (const fs::path& folder : {old, older, earlier}) EXPECT_FALSE(fs::exists(folder)) << folder;
    fs::remove_all(parent);
}

}  // namespace
}  // namespace warpscope::jobs
