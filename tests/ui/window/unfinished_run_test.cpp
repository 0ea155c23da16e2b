#include "ui/window/window_start.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace warpscope::ui {
namespace {

TEST(UnfinishedRunTest, IsKnownAtTheNextStartAlone) {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("unfinished_run" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    const auto settings = folder / "config" / "settings.json";
    EXPECT_FALSE(UnfinishedRun(settings).before());  // ends without its first frame
    UnfinishedRun second(settings);
    EXPECT_TRUE(second.before());
    second.finish();
    EXPECT_FALSE(UnfinishedRun(settings).before());
}

TEST(UnfinishedRunTest, WithoutASettingsFileNothingIsRemembered) {
    UnfinishedRun run("");
    EXPECT_FALSE(run.before());
    run.finish();
}

}  // namespace
}  // namespace warpscope::ui
