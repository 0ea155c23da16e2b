#include "jobs/serve.h"

#include <gtest/gtest.h>

#include <sstream>

#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

TEST(Serve, AnswersEachLineWithWhatTheRunPrintsAndItsExitCode) {
    std::istringstream requests("[\"--check\", \"race\"]\n[]\n");
    std::vector<std::vector<std::string>> seen;
    testing::internal::CaptureStdout();
    serve(requests, [&](const std::vector<std::string>& arguments) {
        seen.push_back(arguments);
        print("{}\n");
        return int(arguments.size());
    });
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "{}\nexit 2\n{}\nexit 0\n");
    EXPECT_EQ(seen, (std::vector<std::vector<std::string>>{{"--check", "race"}, {}}));
}

TEST(Serve, RefusesALineThatIsNoArrayOfTextsAndGoesOn) {
    std::istringstream requests("--check race\n[1]\n[\"--headless\"]\n");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    serve(requests, [](const std::vector<std::string>&) { return 0; });
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "exit 2\nexit 2\nexit 0\n");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("--serve: a request is a line"),
              std::string::npos);
}

}  // namespace
}  // namespace warpscope::jobs
