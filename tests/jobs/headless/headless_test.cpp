#include "jobs/headless/headless.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <set>

#include "compute/pick_device.h"
#include "gl/png.h"
#include "jobs/output/output.h"
#include "support/read_png.h"

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;
using experiments::Verdict;

/// Throws, and so fails the test, if a run that does not need OpenGL opens it.
Painter no_painter() {
    return [](const Shot&) -> Presentation { throw std::logic_error("no painter"); };
}

std::set<std::string> keys(const Json& json) {
    std::set<std::string> names;
    for (const auto& item : json.items()) names.insert(item.key());
    return names;
}

HeadlessRequest small(const std::string& experiment) {
    HeadlessRequest request{.experiment = experiment};
    if (experiment == "ripple") request.assignments = {{"size", "64"}};
    if (experiment == "nbody") request.assignments = {{"bodies", "100"}, {"block", "32"}};
    if (experiment == "dot" || experiment == "reduction") request.assignments = {{"n", "1000"}};
    request.frames = 2;
    request.size = {320, 200};
    return request;
}

void expect_schema(const Json& json) {
    EXPECT_EQ(keys(json),
              (std::set<std::string>{"device", "experiment", "parameters", "report", "kernels",
                                     "ceilings", "gpu", "presentation", "frames", "partial", "seed",
                                     "schedule", "barriers", "math"}));
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
                  (std::set<std::string>{"name", "grid", "block", "shared_bytes", "launches",
                                         "last_ms", "median_ms", "p99_ms", "bytes_per_second",
                                         "interactions_per_second", "flops_per_second",
                                         "share_of_bandwidth", "share_of_fp32", "note"}));
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
        timings.record("k", {1}, {32}, 0, {.bytes = 25e7, .flops = 5e9}, ms);
    const Json with = to_json(timings.kernels(), &ceilings)[0];
    EXPECT_DOUBLE_EQ(with["flops_per_second"].get<double>(), 5e12);
    EXPECT_DOUBLE_EQ(with["share_of_bandwidth"].get<double>(), 0.25);
    EXPECT_DOUBLE_EQ(with["share_of_fp32"].get<double>(), 0.25);
    EXPECT_TRUE(with["note"].is_null());
    const Json without = to_json(timings.kernels(), nullptr)[0];
    EXPECT_TRUE(without["share_of_bandwidth"].is_null());
    EXPECT_TRUE(without["share_of_fp32"].is_null());
    timings.record("first", {1}, {32}, 0, {}, 1);
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

RunResult checked(const std::vector<experiments::Assignment>& settings) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.assignments.insert(request.assignments.end(), settings.begin(), settings.end());
    request.checks = parse_checks("race,barrier,memory");
    return run_experiment(device, request, no_painter());
}

TEST(HeadlessCheck, FindingsFillTheJsonAndSetTheExitCode) {
    const RunResult result = checked({{"sync", "off"}});
    EXPECT_EQ(exit_code(result), 1);
    const Json json = Json::parse(dump(to_json(result)));
    EXPECT_EQ(json["checks"], Json::array({"race", "barrier", "memory"}));
    EXPECT_TRUE(json["stopped"].is_null());
    std::uint64_t hazards = 0;
    for (const Json& f : json["findings"]) {
        EXPECT_EQ(keys(f), (std::set<std::string>{"kind", "severity", "kernel", "hazard", "first",
                                                  "second", "address", "count", "sentence"}));
        EXPECT_EQ(f["severity"], "error");
        EXPECT_EQ(f["kernel"], "ripple_txty_nosync");
        EXPECT_EQ(keys(f["first"]),
                  (std::set<std::string>{"file", "line", "inlined", "thread", "block"}));
        EXPECT_EQ(f["first"]["file"], "kernels/ripple.cu");
        EXPECT_EQ(f["first"]["thread"].size(), 3u);
        if (f["kind"] != "race") continue;
        hazards += f["count"].get<std::uint64_t>();
        EXPECT_TRUE(f["hazard"] == "RAW" || f["hazard"] == "WAR");
        EXPECT_NE(f["second"]["line"], f["first"]["line"]);
        EXPECT_NE(summary(result).find(f["kernel"].get<std::string>() + " ["), std::string::npos);
    }
    EXPECT_EQ(hazards, 256u * 16 * 2) << "16 blocks, two frames";
    EXPECT_NE(summary(result).find("========= CHECK SUMMARY (race, barrier, memory): "),
              std::string::npos);
}

TEST(HeadlessCheck, TheSummaryIsPrintedWithoutFindings) {
    const RunResult result = checked({});
    EXPECT_EQ(exit_code(result), 0);
    EXPECT_EQ(to_json(result)["findings"], Json::array());
    EXPECT_NE(summary(result).find("0 findings (0 errors, 0 warnings)"), std::string::npos);
}

TEST(HeadlessCheck, TheRunRemovesItsObserverFromTheDevice) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("dot");
    request.checks = parse_checks("race");
    run_experiment(device, request, no_painter());
    EXPECT_EQ(device->observe(nullptr), nullptr);
}

TEST(HeadlessCounters, FillTheJsonAndTheText) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.counters = true;
    const RunResult result = run_experiment(device, request, no_painter());
    EXPECT_EQ(exit_code(result), 0);
    const Json json = Json::parse(dump(to_json(result)));
    EXPECT_FALSE(json.contains("findings"));
    const Json& k =
        *std::find_if(json["counters"].begin(), json["counters"].end(),
                      [](const Json& counters) { return counters["kernel"] == "ripple_txty"; });
    EXPECT_EQ(keys(k), (std::set<std::string>{"kernel", "launches", "blocks", "warp_instructions",
                                              "thread_instructions", "separations", "barriers",
                                              "global", "shared"}));
    // 64x64 pixels: 16 blocks of 8 warps, two frames.
    EXPECT_EQ(k["blocks"], 16 * k["launches"].get<int>());
    EXPECT_EQ(k["barriers"], k["blocks"]);
    EXPECT_EQ(k["global"]["stores"]["sectors"], k["blocks"].get<int>() * 8 * 4);
    EXPECT_EQ(k["shared"]["loads"]["requests"], k["blocks"].get<int>() * 8);
    EXPECT_EQ(k["shared"]["loads"]["degree"], 8);
    EXPECT_EQ(k["shared"]["loads"]["wavefronts"], k["blocks"].get<int>() * 8 * 8);
    EXPECT_NE(summary(result).find("at worst 8-way"), std::string::npos) << summary(result);
}

TEST(HeadlessCounters, OfLinesAreSortedAndHaveTheirText) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.counters = true;
    request.lines = experiments::LineFigure::conflicts;
    const RunResult result = run_experiment(device, request, no_painter());
    const Json json = Json::parse(dump(to_json(result)));
    const Json& k =
        *std::find_if(json["counters"].begin(), json["counters"].end(),
                      [](const Json& counters) { return counters["kernel"] == "ripple_txty"; });
    const Json& lines = k["lines"];
    // The tile is written and read in 8-way conflicts: 8 passes for each warp where one is enough.
    for (const std::size_t row : {0u, 1u}) {
        EXPECT_EQ(lines[row]["file"], "kernels/ripple.cu");
        EXPECT_NE(lines[row]["text"].get<std::string>().find("tile["), std::string::npos);
        EXPECT_EQ(lines[row]["shared"]["wavefronts"], k["blocks"].get<int>() * 8 * 8);
        EXPECT_EQ(lines[row]["shared"]["least_wavefronts"], k["blocks"].get<int>() * 8);
    }
    EXPECT_EQ(lines[2]["shared"]["wavefronts"], 0);
    std::uint64_t instructions = 0, threads = 0, sectors = 0;
    for (const Json& line : lines) {
        instructions += line["warp_instructions"].get<std::uint64_t>();
        threads += line["thread_instructions"].get<std::uint64_t>();
        sectors += line["global"]["sectors"].get<std::uint64_t>();
    }
    EXPECT_EQ(k["warp_instructions"], instructions);
    EXPECT_EQ(k["thread_instructions"], threads);
    EXPECT_EQ(k["global"]["stores"]["sectors"], sectors);
    const std::string text = summary(result);
    EXPECT_NE(text.find("source lines, by conflicts"), std::string::npos) << text;
    EXPECT_NE(text.find("float value = tile["), std::string::npos) << text;
}

TEST(HeadlessCounters, OfWordsNameTheArraysAndTheHottestWords) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.counters = true;
    request.heat = emulator::HeatFigure::conflicts;
    const RunResult result = run_experiment(device, request, no_painter());
    const Json json = Json::parse(dump(to_json(result)));
    const Json& k =
        *std::find_if(json["counters"].begin(), json["counters"].end(),
                      [](const Json& counters) { return counters["kernel"] == "ripple_txty"; });
    const auto blocks = k["blocks"].get<int>();
    // Each block writes each word of the tile and reads it, each time with 7 others of its bank.
    const Json tile = {{"name", "tile"},
                       {"space", "shared"},
                       {"begin", 0},
                       {"bytes", 1024},
                       {"parameter", nullptr},
                       {"runs",
                        {{{"first", 0},
                          {"words", 256},
                          {"reads", blocks},
                          {"writes", blocks},
                          {"atomics", 0},
                          {"conflicts", 14 * blocks}}}}};
    EXPECT_EQ(k["heat"][0], tile) << "without races, which nobody has looked for";
    const Json& pixels = k["heat"][1];
    EXPECT_EQ(pixels["name"], "pixels");
    EXPECT_EQ(pixels["space"], "global");
    EXPECT_EQ(pixels["bytes"], 64 * 64 * 4);
    EXPECT_EQ(pixels["parameter"], 0);
    EXPECT_EQ(pixels["runs"].size(), 1u);
    // The frames and the reference of the report are in two allocations.
    int writes = 0;
    for (const Json& array : k["heat"])
        if (array["name"] == "pixels") writes += array["runs"][0]["writes"].get<int>();
    EXPECT_EQ(writes, k["launches"].get<int>());
    const std::string text = summary(result);
    EXPECT_NE(text.find("tile, shared memory, 1024 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("0 to 255"), std::string::npos) << text;
}

// A block is 8 warps, each with 2 rows of the tile, and reads the word at the opposite place.
TEST(HeadlessCounters, OfWordsHaveTheRacesThatTheCheckFinds) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.assignments.push_back({"sync", "off"});
    request.counters = true;
    request.heat = emulator::HeatFigure::races;
    request.checks = parse_checks("race");
    const RunResult result = run_experiment(device, request, no_painter());
    const Json json = Json::parse(dump(to_json(result)));
    std::uint64_t hazards = 0;
    for (const Json& finding : json["findings"])
        if (finding["kind"] == "race") hazards += finding["count"].get<std::uint64_t>();
    EXPECT_GT(hazards, 0u);
    for (const Json& k : json["counters"]) {
        const bool racy = k["kernel"] == "ripple_txty_nosync";
        for (const Json& array : k["heat"])
            for (const Json& run : array["runs"])
                EXPECT_EQ(run["races"], racy && array["name"] == "tile" ? k["blocks"] : Json(0))
                    << k["kernel"] << " " << array["name"];
        if (racy) EXPECT_EQ(hazards, 256 * k["blocks"].get<std::uint64_t>());
    }
    const std::string text = summary(result);
    EXPECT_NE(text.find("0 atomics, " + std::to_string(hazards) + " races"), std::string::npos)
        << text;
}

TEST(HeadlessCounters, WorkTogetherWithChecks) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.counters = true;
    request.checks = parse_checks("race");
    const Json json = to_json(run_experiment(device, request, no_painter()));
    EXPECT_EQ(json["findings"], Json::array());
    EXPECT_FALSE(json["counters"].empty());
}

}  // namespace
}  // namespace warpscope::jobs
