#include "jobs/headless/headless.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <set>

#include "compute/pick_device.h"
#include "gl/png.h"
#include "jobs/output/files_and_terminal.h"
#include "small_request.h"
#include "support/read_png.h"

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;
using experiments::Verdict;

void expect_schema(const Json& json) {
    EXPECT_EQ(keys(json),
              (std::set<std::string>{"device", "experiment", "parameters", "report", "kernels",
                                     "ceilings", "gpu", "presentation", "frames", "partial", "seed",
                                     "schedule", "barriers", "landing", "math"}));
    EXPECT_EQ(keys(json["device"]), (std::set<std::string>{"name", "kind", "reason"}));
    EXPECT_EQ(keys(json["presentation"]), (std::set<std::string>{"path", "reason"}));
    ASSERT_FALSE(json["report"].empty());
    for (const Json& reading : json["report"]) {
        EXPECT_EQ(keys(reading),
                  (std::set<std::string>{"name", "label", "value", "unit", "expected", "verdict",
                                         "sentence", "recent", "parts_ms"}));
        EXPECT_TRUE(reading["value"].is_number() || reading["value"].is_null());
        const std::set<std::string> verdicts{"none", "pass", "finding", "fail"};
        EXPECT_TRUE(verdicts.count(reading["verdict"].get<std::string>()));
    }
    ASSERT_FALSE(json["kernels"].empty());
    for (const Json& kernel : json["kernels"]) {
        EXPECT_EQ(keys(kernel),
                  (std::set<std::string>{
                      "name", "grid", "block", "shared_bytes", "registers", "launches", "last_ms",
                      "median_ms", "p99_ms", "bytes_per_second", "interactions_per_second",
                      "flops_per_second", "share_of_bandwidth", "share_of_fp32", "note"}));
        EXPECT_EQ(kernel["grid"].size(), 3u);
        EXPECT_EQ(kernel["block"].size(), 3u);
        EXPECT_GE(kernel["launches"].get<int>(), 1);
        EXPECT_GE(kernel["p99_ms"].get<double>(), kernel["median_ms"].get<double>());
    }
}

TEST(KernelJson, HasTheSharesOfBandwidthAndFp32) {
    const compute::Ceilings ceilings{
        .bytes_per_second = 1e12, .read_bytes_per_second = 1.1e12, .flops_per_second = 20e12};
    compute::KernelTimings timings;
    for (const float ms : {9.0F, 1.0F})
        timings.record("k", {1}, {32}, {}, {.bytes = 25e7, .flops = 5e9}, ms);
    const Json with = to_json(timings.kernels(), &ceilings)[0];
    EXPECT_DOUBLE_EQ(with["flops_per_second"].get<double>(), 5e12);
    EXPECT_DOUBLE_EQ(with["share_of_bandwidth"].get<double>(), 0.25);
    EXPECT_DOUBLE_EQ(with["share_of_fp32"].get<double>(), 0.25);
    EXPECT_TRUE(with["note"].is_null());
    const Json without = to_json(timings.kernels(), nullptr)[0];
    EXPECT_TRUE(without["share_of_bandwidth"].is_null());
    EXPECT_TRUE(without["share_of_fp32"].is_null());
    timings.record("first", {1}, {32}, {}, {}, 1);
    EXPECT_EQ(to_json(timings.kernels(), nullptr)[1]["note"],
              "One launch so far; its time includes loading the kernel.");
}

TEST(GpuJson, IsNullWithoutAState) {
    EXPECT_TRUE(to_json(std::optional<compute::GpuState>()).is_null());
    const std::optional<compute::GpuState> state(
        {.sm_clock_mhz = 1980, .power_w = 470, .throttled_by = {"power cap"}});
    const Json json = to_json(state);
    EXPECT_EQ(json["sm_clock_mhz"], 1980);
    EXPECT_EQ(json["power_w"], 470.0);
    EXPECT_EQ(json["throttled_by"], Json::array({"power cap"}));
}

TEST(Headless, EachExperimentFillsTheJsonWithoutOpenGl) {
    for (const experiments::Entry& entry : experiments::registry()) {
        SCOPED_TRACE(entry.id);
        const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
        device->set(
            {.math = compute::Math::fast, .schedule = compute::Schedule::reverse, .seed = 9});
        const RunResult result = run_experiment(device, small(entry.id), no_painter());
        const Json json = Json::parse(dump(to_json(result)));
        expect_schema(json);
        EXPECT_EQ(json["experiment"], entry.id);
        EXPECT_EQ(json["device"]["kind"], "emulator");
        EXPECT_EQ(json["presentation"]["path"], "none");
        EXPECT_EQ(json["frames"], 2);
        EXPECT_EQ(json["seed"], 9);
        EXPECT_EQ(json["schedule"], "reverse");
        EXPECT_EQ(json["math"], "fast");
        EXPECT_EQ(exit_code(result), 0) << summary(result);
        for (const auto& kernel : result.kernels) {
            EXPECT_NE(summary(result).find(kernel.name), std::string::npos);
        }
    }
}

TEST(Headless, ReportsHaveTheNamesThatScriptsRelyOn) {
    const std::pair<const char*, std::vector<const char*>> wanted[] = {
        {"ripple", {"wrong_pixels"}},
        {"nbody", {"relative_error", "energy_drift", "momentum_drift", "interactions_per_second"}},
        {"dot", {"value", "exact", "relative_error"}},
        {"reduction", {"value", "relative_error", "bandwidth"}}};
    for (const auto& [experiment, names] : wanted) {
        const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
        const RunResult result = run_experiment(device, small(experiment), no_painter());
        for (const char* name : names) {
            EXPECT_TRUE(experiments::find(result.report, name)) << experiment << "." << name;
        }
    }
}

TEST(Headless, ParametersKeepTheirTypes) {
    const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
    HeadlessRequest request = small("ripple");
    request.assignments.push_back({"sync", "off"});
    const RunResult result = run_experiment(device, request, no_painter());
    EXPECT_EQ(result.parameters["ripple.size"], 64);
    EXPECT_EQ(result.parameters["ripple.sync"], "off");
    EXPECT_EQ(result.parameters["ripple.pattern"], "spheres");
    EXPECT_TRUE(result.parameters["ripple.size"].is_number_integer());
}

TEST(Headless, ARemovedBarrierIsAFindingAndNotAFailure) {
    const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
    HeadlessRequest request = small("ripple");
    request.assignments = {{"size", "256"}, {"sync", "off"}};
    const RunResult result = run_experiment(device, request, no_painter());
    const experiments::Reading* wrong = experiments::find(result.report, "wrong_pixels");
    ASSERT_TRUE(wrong);
    EXPECT_GT(wrong->value, 0);
    EXPECT_EQ(wrong->verdict, Verdict::finding);
    EXPECT_EQ(exit_code(result), 0);
}

TEST(Headless, OneFailVerdictSetsTheExitCode) {
    RunResult result;
    result.report = {{.name = "a",
                      .label = "A",
                      .unit = "",
                      .expected = {},
                      .verdict = Verdict::pass,
                      .sentence = ""},
                     {.name = "b",
                      .label = "B",
                      .unit = "",
                      .expected = {},
                      .verdict = Verdict::finding,
                      .sentence = ""}};
    EXPECT_EQ(exit_code(result), 0);
    result.report[0].verdict = Verdict::fail;
    EXPECT_EQ(exit_code(result), 1);
    result.report[0].verdict = Verdict::pass;
    result.comparison.emplace().rows.resize(2);
    EXPECT_EQ(exit_code(result), 0);
    result.comparison->rows[1].verdict = Verdict::fail;
    EXPECT_EQ(exit_code(result), 1);
}

TEST(Headless, NaNAndInfinityBecomeNull) {
    experiments::Report report{{.name = "n",
                                .label = "N",
                                .value = std::nan(""),
                                .unit = "",
                                .expected = std::numeric_limits<double>::infinity(),
                                .verdict = Verdict::fail,
                                .sentence = "\xff bad UTF-8"}};
    const Json json = Json::parse(dump(to_json(report)));
    EXPECT_TRUE(json[0]["value"].is_null());
    EXPECT_TRUE(json[0]["expected"].is_null());
}

TEST(Headless, AViewOnlyScreenshotNeedsNoOpenGl) {
    const fs::path file =
        fs::temp_directory_path() / ("warpscope-shot-" + std::to_string(::getpid()) + ".png");
    const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
    HeadlessRequest request = small("ripple");
    request.screenshot = file;
    request.view_only = true;
    const RunResult result = run_experiment(device, request, no_painter());
    EXPECT_EQ(result.presentation.path, "none");
    const gl::Image image = tests::read_png(file);
    fs::remove(file);
    EXPECT_EQ(image.width, 64);
    EXPECT_EQ(image.height, 64);
    EXPECT_FALSE(image.metadata.empty());
    // Spheres have only green, and some pixels are dark, some bright.
    int lit = 0;
    for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
        EXPECT_EQ(image.rgba[i], 0);
        lit += image.rgba[i + 1] > 100;
    }
    EXPECT_GT(lit, 64);
    EXPECT_LT(lit, 64 * 64);
}

TEST(Headless, BadSettingsAreUsageErrors) {
    const std::pair<const char*, experiments::Assignment> table[] = {
        {"ripple", {"synk", "off"}},       {"ripple", {"sync", "maybe"}},
        {"ripple", {"size", "99999999"}},  {"nbody", {"bodies", "0"}},
        {"nbody", {"bodies", "1e9"}},      {"dot", {"n", "-1"}},
        {"reduction", {"block", "65536"}}, {"reduction", {"kernel", "nonesuch"}}};
    for (const auto& [experiment, assignment] : table) {
        const std::shared_ptr<compute::Device> device = compute::pick_device("emulator");
        HeadlessRequest request = small(experiment);
        request.assignments = {assignment};
        EXPECT_THROW(run_experiment(device, request, no_painter()), UsageError)
            << assignment.id << "=" << assignment.text;
    }
}

TEST(Headless, AnUnwritablePathIsRefusedBeforeTheRun) {
    HeadlessRequest request = small("ripple");
    request.assignments = {{"no", "such"}};  // The run would refuse this.
    request.json = "/nowhere/at/all.json";
    compute::Helpers helpers(WARPSCOPE);
    try {
        run_headless(helpers, compute::pick_device("emulator"), request, no_painter());
        FAIL() << "the experiment ran";
    } catch (const UsageError& e) {
        EXPECT_NE(std::string(e.what()).find("/nowhere/at/all.json"), std::string::npos);
    }
}

}  // namespace
}  // namespace warpscope::jobs
