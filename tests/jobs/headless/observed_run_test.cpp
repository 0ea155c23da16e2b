#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compute/emulated/emulated_device.h"
#include "compute/pick_device.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"
#include "small_request.h"

namespace warpscope::jobs {
namespace {

RunResult checked(const std::vector<experiments::Assignment>& settings) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.assignments.insert(request.assignments.end(), settings.begin(), settings.end());
    request.checks = parse_checks("race,barrier,memory");
    return run_experiment(device, request, no_painter());
}

const Json& counters_of(const Json& run, std::string_view kernel) {
    const Json& all = run.at("counters");
    return *std::find_if(all.begin(), all.end(),
                         [&](const Json& counters) { return counters["kernel"] == kernel; });
}

/// The pixels that the ripple without its barrier draws, under the schedule of a file.
RunResult without_barrier(std::shared_ptr<const emulator::ScheduleFile> turns, bool looks) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    compute::RunSettings settings = device->settings();
    settings.turns = std::move(turns);
    device->set(settings);
    HeadlessRequest request = small("ripple");
    request.assignments.push_back({"sync", "off"});
    request.checks = parse_checks("race");
    request.witness = looks;
    return run_experiment(device, request, no_painter());
}

double wrong_pixels(const RunResult& result) {
    const auto reading = std::ranges::find_if(
        result.report, [](const auto& r) { return r.verdict != experiments::Verdict::none; });
    return reading->value;
}

TEST(HeadlessCheck, AWitnessIsAnOrderThatReplays) {
    const RunResult result = without_barrier(nullptr, true);
    ASSERT_FALSE(result.verdict.findings.empty());
    const auto& witness = result.verdict.findings[0].witness;
    ASSERT_TRUE(witness);
    EXPECT_EQ(witness->preemptions, 0u);
    const std::string sentence = witness->sentence;
    EXPECT_TRUE(sentence.starts_with("With 0 preemptions, warp 0 runs to kernels/ripple.cu:"))
        << sentence;
    EXPECT_NE(sentence.find(": then pixel ("), std::string::npos) << sentence;
    const Json json = Json::parse(dump(to_json(result)));
    EXPECT_EQ(keys(json["findings"][0]["witness"]),
              (std::set<std::string>{"sentence", "preemptions", "turns", "schedule"}));
    const auto turns = std::make_shared<emulator::ScheduleFile>(
        emulator::ScheduleFile::parse(witness->schedule, "1.schedule"));
    EXPECT_EQ(turns->kernel, "ripple_txty_nosync");
    const RunResult replayed = without_barrier(turns, false);
    EXPECT_EQ(Json::parse(dump(to_json(replayed)))["schedule"], "1.schedule");
    EXPECT_GT(wrong_pixels(replayed), 0);
    EXPECT_EQ(wrong_pixels(replayed), wrong_pixels(without_barrier(turns, false)));
    EXPECT_FALSE(replayed.verdict.findings[0].witness) << "nobody looked for one";
    EXPECT_EQ(summary(replayed).find("1.schedule"), std::string::npos);
    emulator::ScheduleFile other = *turns;
    other.kernel = "another";
    EXPECT_NE(summary(without_barrier(std::make_shared<emulator::ScheduleFile>(other), false))
                  .find("\n1.schedule orders the warps of kernel another, which this run did not "
                        "launch\n"),
              std::string::npos);
}

TEST(HeadlessCheck, NeededBarriersAreAdvice) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("dot");
    request.checks = parse_checks("needed");
    const RunResult result = run_experiment(device, request, no_painter());
    EXPECT_EQ(exit_code(result), 0);
    ASSERT_EQ(result.verdict.findings.size(), 2u) << "dot_book has two barriers";
    for (const emulator::Finding& finding : result.verdict.findings) {
        EXPECT_EQ(finding.kind, emulator::FindingKind::needed);
        EXPECT_EQ(finding.severity, emulator::Severity::note);
        EXPECT_GT(finding.count, 0u);
        EXPECT_TRUE(finding.sentence.english().starts_with("100 % depend on it"))
            << finding.sentence.english();
    }
}

TEST(HeadlessCheck, FindingsFillTheJsonAndSetTheExitCode) {
    const RunResult result = checked({{"sync", "off"}});
    EXPECT_EQ(exit_code(result), 1);
    const Json json = Json::parse(dump(to_json(result)));
    EXPECT_EQ(json["checks"], Json::array({"race", "barrier", "memory"}));
    EXPECT_TRUE(json["stopped"].is_null());
    std::uint64_t hazards = 0;
    for (const Json& f : json["findings"]) {
        EXPECT_EQ(keys(f),
                  (std::set<std::string>{"kind", "severity", "kernel", "hazard", "first", "second",
                                         "address", "count", "repaired_too", "witness",
                                         "provocation", "sentence", "standing", "reason"}));
        EXPECT_EQ(f["standing"], "new");
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

TEST(HeadlessCheck, TheRunRemovesItsJudgeFromTheDevice) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("dot");
    request.checks = parse_checks("race");
    run_experiment(device, request, no_painter());
    EXPECT_EQ(device->judge(nullptr), nullptr);
}

TEST(HeadlessCounters, FillTheJsonAndTheText) {
    const std::shared_ptr<compute::EmulatedDevice> device = compute::make_emulated_device("");
    HeadlessRequest request = small("ripple");
    request.counters = true;
    const RunResult result = run_experiment(device, request, no_painter());
    EXPECT_EQ(exit_code(result), 0);
    const Json json = Json::parse(dump(to_json(result)));
    EXPECT_FALSE(json.contains("findings"));
    const Json& k = counters_of(json, "ripple_txty");
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
    const Json& k = counters_of(json, "ripple_txty");
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
    const Json& k = counters_of(json, "ripple_txty");
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
        if (racy) {
            EXPECT_EQ(hazards, 256 * k["blocks"].get<std::uint64_t>());
        }
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
