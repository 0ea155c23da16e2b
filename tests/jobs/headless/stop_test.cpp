#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "experiments/framework/frame_cost.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"
#include "support/read_png.h"
#include "support/stop_at_launch.h"

// Runs that are stopped before their end. A frame of the n-body experiment makes three launches:
// the step, and two for the picture.
namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;

class HeadlessStop : public testing::Test {
  protected:
    HeadlessStop() {
        fs::create_directories(folder_);
        request_.assignments = {{"bodies", "100"}, {"block", "32"}};
        request_.frames = 5;
        request_.size = {64, 48};
        request_.view_only = true;
        request_.screenshot = folder_ / "a.png";
    }
    ~HeadlessStop() override { fs::remove_all(folder_); }

    RunResult run(std::uint64_t stop_at_launch) {
        const auto device = compute::make_emulated_device("");
        const std::shared_ptr<compute::EmulatedDevice> shared(device.get(), [](auto*) {});
        tests::StopAtLaunch stop(*device, stop_at_launch);
        request_.stops.work = stop.token();
        return run_experiment(shared, request_, {});
    }
    gl::Image picture() const { return tests::read_png(request_.screenshot); }
    static std::string partial(const gl::Image& image) {
        for (const auto& [keyword, text] : image.metadata)
            if (keyword == "partial") return text;
        return "not partial";
    }
    void expect_report_of(const RunResult& result, std::uint64_t frames) {
        HeadlessRequest whole = request_;
        whole.frames = frames;
        whole.stops = {};
        whole.screenshot.clear();
        const RunResult expected = run_experiment(compute::make_emulated_device(""), whole, {});
        for (const char* name : {"relative_error", "energy_drift", "momentum_drift"})
            EXPECT_EQ(find(result.report, name)->value, find(expected.report, name)->value) << name;
    }

    fs::path folder_ = fs::temp_directory_path() / ("warpscope-stop-" + std::to_string(::getpid()));
    HeadlessRequest request_{.experiment = "nbody"};
};

TEST_F(HeadlessStop, ARunThatIsNotStoppedIsNotPartial) {
    const RunResult result = run(tests::StopAtLaunch::never);
    EXPECT_EQ(result.frames, 5U);
    EXPECT_FALSE(result.partial);
    EXPECT_TRUE(to_json(result)["partial"].is_null());
    EXPECT_EQ(partial(picture()), "not partial");
    EXPECT_EQ(summary(result).find("partial"), std::string::npos);
}

TEST_F(HeadlessStop, AStopWithinAStepLeavesTheFrameBefore) {
    const RunResult result = run(3 * 2);
    EXPECT_EQ(result.frames, 2U);
    const Json json = to_json(result);
    EXPECT_EQ(json["frames"], 2);
    EXPECT_EQ(json["partial"], (Json{{"frames_requested", 5}, {"missing", Json::array()}}));
    EXPECT_NE(summary(result).find("partial results: the run was stopped after frame 2 of 5\n"),
              std::string::npos);
    expect_report_of(result, 2);
    const gl::Image stopped = picture();
    EXPECT_EQ(partial(stopped), "stopped after frame 2 of 5");
    request_.frames = 2;
    run(tests::StopAtLaunch::never);
    EXPECT_EQ(picture().rgba, stopped.rgba);
}

TEST_F(HeadlessStop, APictureThatWasStoppedIsDrawnAgain) {
    const RunResult result = run(3 * 2 + 1);
    EXPECT_EQ(result.frames, 3U);
    expect_report_of(result, 3);
    const gl::Image stopped = picture();
    request_.frames = 3;
    run(tests::StopAtLaunch::never);
    EXPECT_EQ(picture().rgba, stopped.rgba);
}

TEST_F(HeadlessStop, BeforeTheFirstFrameNothingIsWritten) {
    EXPECT_THROW(run(0), compute::Cancelled);
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(HeadlessStop, AReportThatWasStoppedIsComputedInTheTimeForResults) {
    request_.screenshot.clear();
    const RunResult result = run(3 * 5);
    EXPECT_EQ(result.frames, 5U);
    ASSERT_TRUE(result.partial);
    EXPECT_TRUE(result.partial->missing.empty());
    expect_report_of(result, 5);
}

TEST_F(HeadlessStop, ResultsThatTakeTooLongAreMissing) {
    std::stop_source over;
    over.request_stop();
    request_.stops.results = over.get_token();
    request_.compare = true;
    const RunResult result = run(3 * 2);
    EXPECT_EQ(result.frames, 2U);
    EXPECT_EQ(to_json(result)["partial"]["missing"],
              Json::array({"screenshot", "report", "comparison"}));
    EXPECT_TRUE(result.report.empty());
    EXPECT_FALSE(fs::exists(request_.screenshot));
    EXPECT_NE(summary(result).find("; not computed: screenshot, report, comparison\n"),
              std::string::npos);
}

TEST_F(HeadlessStop, AComparisonThatWasStoppedIsMissing) {
    request_.compare = true;
    request_.screenshot.clear();
    const RunResult result = run(3 * 5 + 1);  // the report makes one launch
    ASSERT_TRUE(result.partial);
    EXPECT_EQ(result.partial->missing, std::vector<std::string>{"comparison"});
    EXPECT_FALSE(result.comparison);
    expect_report_of(result, 5);
}

TEST_F(HeadlessStop, FindingsOfTheFramesBeforeAreKept) {
    const auto device = compute::make_emulated_device("");
    const std::shared_ptr<compute::EmulatedDevice> shared(device.get(), [](auto*) {});
    std::stop_source stop;
    HeadlessRequest request{.experiment = "ripple"};
    request.assignments = {{"size", "64"}, {"sync", "off"}};
    request.frames = 1'000'000;
    request.checks = parse_checks("race");
    request.stops.work = stop.get_token();
    const auto progress = std::make_shared<compute::LaunchProgress>();
    device->set_progress(progress);
    std::jthread stopper([&] {
        while (progress->now().launch < 20) std::this_thread::yield();
        stop.request_stop();
    });
    const RunResult result = run_experiment(shared, request, {});
    EXPECT_GE(result.frames, 4U);
    EXPECT_LT(result.frames, 1'000'000U);
    EXPECT_FALSE(result.verdict.findings.empty());
    EXPECT_TRUE(result.partial);
    EXPECT_EQ(result.verdict.error, "");
}

TEST(HeadlessCost, ARunThatTakesVeryLongMustBeForced) {
    compute::Helpers helpers(WARPSCOPE);
    HeadlessRequest request{.experiment = "nbody"};
    request.assignments = {{"bodies", "1048576"}};
    request.frames = 1'000'000;
    const auto painter = [](const Shot&) -> Presentation { return {}; };
    try {
        run_headless(helpers, compute::make_emulated_device(""), request, painter);
        FAIL() << "it ran";
    } catch (const UsageError& error) {
        const std::string words = error.what();
        EXPECT_NE(words.find("nbody: about "), std::string::npos) << words;
        EXPECT_NE(words.find(" a frame and "), std::string::npos) << words;
        EXPECT_NE(words.find("--force"), std::string::npos) << words;
    }
}

TEST(HeadlessCost, ALaunchFileThatTakesVeryLongMustBeForced) {
    const fs::path folder = testing::TempDir();
    std::ofstream(folder / "long.ptx") << R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry nothing() { ret; })";
    // 2^30 blocks of 1024 threads, as if each executed 100 instructions.
    const fs::path file = folder / "long.launch.json";
    std::ofstream(file) << R"({"source": "long.ptx",
        "launches": [{"kernel": "nothing", "grid": 1073741824, "block": 1024}]})";
    compute::Helpers helpers(WARPSCOPE);
    HeadlessRequest request{.experiment = "launch"};
    request.launch = file;
    request.frames = 1000;
    const auto painter = [](const Shot&) -> Presentation { return {}; };
    try {
        run_headless(helpers, compute::make_emulated_device(""), request, painter);
        FAIL() << "it ran";
    } catch (const UsageError& error) {
        const std::string words = error.what();
        EXPECT_NE(words.find("launch: about "), std::string::npos) << words;
        EXPECT_NE(words.find("--force"), std::string::npos) << words;
    }
}

TEST(HeadlessCost, AnObservedRunTakesUpTo1Point6TimesAsLong) {
    const auto device = compute::make_emulated_device("");
    HeadlessRequest request{.experiment = "ripple"};
    const double frame = experiments::FrameCosts().seconds(
        "ripple", device->info(), experiments::find_experiment("ripple").make_parameters()->work());
    const auto takes = [&](double seconds) { request.frames = std::uint64_t(seconds / frame); };
    takes(590);
    EXPECT_NO_THROW(check_cost(request, device->info()));
    takes(610);
    EXPECT_THROW(check_cost(request, device->info()), UsageError);
    request.checks = parse_checks("race");
    takes(370);  // 592 s with the check
    EXPECT_NO_THROW(check_cost(request, device->info()));
    takes(380);  // 608 s
    EXPECT_THROW(check_cost(request, device->info()), UsageError);
}

}  // namespace
}  // namespace warpscope::jobs
