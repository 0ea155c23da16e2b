#include "experiments/framework/experiment.h"

#include <algorithm>

#include "compute/emulated/emulated_device.h"
#include "emulator/checks/memory_check.h"
#include "emulator/races/grid/grid_races.h"
#include "experiments/settings.h"
#include "race_kernels.h"

/// The app's kernels: correct ones have no finding, and each missing barrier gives the hazard that
/// it prevents.
namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;
using experiments::Assignment;

struct Case {
    std::string experiment;
    std::vector<Assignment> settings;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    out << c.experiment;
    for (const Assignment& a : c.settings) out << "_" << a.id << "_" << a.text;
    return out;
}

std::vector<Finding> check(const Case& c, const compute::RunSettings& settings) {
    const auto device = compute::make_emulated_device("");
    device->set(settings);
    emulator::RaceDetector races;
    emulator::GridRaces grid_races;
    emulator::BarrierCheck barriers;
    emulator::MemoryCheck memory;
    emulator::ObserverList all;
    all.add(races);
    all.add(grid_races);
    all.add(barriers);
    all.add(memory);
    device->observe(&all);
    {
        const auto experiment = entry_of(c.experiment)->make(*device);
        experiment->set(c.settings);
        experiment->reset();
        const experiments::Size size = experiment->picture_size({64, 48});
        compute::Buffer<experiments::Rgba> pixels(*device, std::size_t(size.width) * size.height);
        for (int frame = 0; frame < 2; ++frame) {
            experiment->step();
            if (size.width > 0) experiment->render_into({pixels.pointer(), size});
        }
        experiment->report();
        device->observe(nullptr);
    }
    return emulator::merged(
        {races.findings(), grid_races.findings(), barriers.findings(), memory.findings()});
}

std::vector<compute::RunSettings> runs() {
    using compute::Math;
    using compute::Schedule;
    return {{.schedule = Schedule::run_to_barrier},
            {.math = Math::fast, .schedule = Schedule::reverse},
            {.schedule = Schedule::random, .seed = 1},
            {.math = Math::fast, .schedule = Schedule::random, .seed = 2}};
}

std::vector<Case> synchronized_cases() {
    std::vector<Case> cases;
    for (const char* layout : {"txty", "tytx", "padded17", "padded", "bytes", "stamped", "cluster"})
        cases.push_back({"ripple", {{"size", "40"}, {"layout", layout}, {"pattern", "ripple"}}});
    cases.push_back({"ripple", {{"size", "40"}, {"view", "wrong"}}});
    for (const char* kernel :
         {"float3", "float4", "tiled", "rsqrt", "unrolled", "several", "fast", "async", "bulk"})
        for (const char* block : {"32", "96"})
            cases.push_back({"nbody", {{"kernel", kernel}, {"bodies", "250"}, {"block", block}}});
    for (const char* block : {"1", "33", "100", "256", "1024"}) {
        for (const char* kernel : {"book", "shuffle", "vectorized", "single_pass"})
            cases.push_back(
                {"dot", {{"n", "3000"}, {"block", block}, {"launches", "2"}, {"kernel", kernel}}});
        for (const char* kernel : {"sum_within_block", "reduce0", "sequential", "first_add",
                                   "shuffle", "vectorized", "single_pass"})
            cases.push_back({"reduction", {{"n", "3000"}, {"block", block}, {"kernel", kernel}}});
    }
    for (const char* start :
         {"own", "transpose", "transpose_padded", "blur", "shuffle", "double_buffer",
          "pipeline_blur", "hand_over", "matrix_product", "histogram", "life"})
        cases.push_back({start, {{"width", "40"}, {"height", "33"}}});
    return cases;
}

class Synchronized : public testing::TestWithParam<Case> {};

TEST_P(Synchronized, HasNoFinding) {
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check(GetParam(), settings);
        EXPECT_TRUE(found.empty()) << sentences(found);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Synchronized, testing::ValuesIn(synchronized_cases()),
                         testing::PrintToStringParamName());

std::uint64_t hazards(const std::vector<Finding>& found) {
    return count(found, FindingKind::race, Severity::error);
}

TEST(WithoutItsBarrier, RippleHas256HazardsABlock) {
    for (const char* layout : {"txty", "tytx", "padded17", "padded", "bytes", "stamped"})
        for (const compute::RunSettings& settings : runs()) {
            const auto found =
                check({"ripple", {{"size", "64"}, {"layout", layout}, {"sync", "off"}}}, settings);
            // 16 blocks, in two frames.
            EXPECT_EQ(hazards(found), 256u * 16 * 2) << layout << "\n" << sentences(found);
            EXPECT_EQ(count(found, FindingKind::race, Severity::warning), 0u);
            EXPECT_EQ(count(found, FindingKind::barrier, Severity::error), 0u);
        }
}

TEST(WithoutItsBarrier, RippleInAClusterRacesInEachWordOfItsTiles) {
    const Case setup{"ripple", {{"size", "64"}, {"layout", "cluster"}, {"sync", "off"}}};
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check(setup, settings);
        // 16 blocks with a tile of 256 words, in two frames.
        EXPECT_EQ(hazards(found), 256u * 16 * 2) << sentences(found);
        EXPECT_NE(sentences(found).find("of the shared memory of block"), std::string::npos);
    }
}

TEST(WithoutItsBarrier, SingleBufferHas128HazardsAStep) {
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check({"single_buffer", {{"width", "40"}, {"height", "33"}}}, settings);
        // 9 blocks, of frames 0 to 2, and 16 steps. A warp has two rows of 16 pixels and reads
        // the row above: its upper row reads a row of another warp, its lower row one of its own.
        EXPECT_EQ(hazards(found), 9u * 3 * 16 * 128) << sentences(found);
        EXPECT_EQ(count(found, FindingKind::race, Severity::warning), 9u * 3 * 16 * 128);
        EXPECT_EQ(count(found, FindingKind::barrier, Severity::error), 0u);
        EXPECT_EQ(count(found, FindingKind::memory, Severity::error), 0u);
    }
}

/// A kernel, and the steps that it can't do without.
struct Steps {
    Case whole;
    std::vector<Assignment> left_out;
};

std::ostream& operator<<(std::ostream& out, const Steps& s) {
    return out << s.whole;
}

class EachStep : public testing::TestWithParam<Steps> {};

TEST_P(EachStep, IsMissedUnderEveryScheduleAndWheneverCopiesLand) {
    using compute::Landing;
    const auto& [whole, left_out] = GetParam();
    for (const Landing landing : {Landing::random, Landing::at_once, Landing::late})
        for (compute::RunSettings settings : runs()) {
            settings.landing = landing;
            SCOPED_TRACE(testing::Message()
                         << "landing " << int(landing) << ", schedule " << int(settings.schedule)
                         << ", seed " << settings.seed);
            EXPECT_EQ(sentences(check(whole, settings)), "");
            for (const Assignment& step : left_out) {
                Case without = whole;
                without.settings.push_back(step);
                EXPECT_GT(hazards(check(without, settings)), 0u) << step.id;
            }
        }
}

const std::vector<Assignment> small_picture{{"width", "40"}, {"height", "33"}};
const Steps asynchronous_kernels[] = {
    {{"pipeline", {{"size", "256"}, {"copies", "async"}}},
     {{"wait", "off"}, {"commit", "off"}, {"keep", "off"}}},
    {{"pipeline", {{"size", "256"}, {"copies", "bulk"}}},
     {{"wait", "off"}, {"commit", "off"}, {"keep", "off"}, {"fence", "off"}}},
    {{"nbody", {{"bodies", "600"}, {"kernel", "async"}}}, {{"copy_wait", "off"}}},
    {{"nbody", {{"bodies", "600"}, {"kernel", "bulk"}}}, {{"copy_wait", "off"}}},
    {{"ripple", {{"size", "64"}, {"layout", "cluster"}}}, {{"sync", "off"}}},
    {{"pipeline_blur", small_picture}, {{"wait", "0"}}},
    {{"hand_over", small_picture}, {{"every_lane", "0"}}},
    {{"matrix_product", small_picture}, {{"barrier", "0"}}}};

INSTANTIATE_TEST_SUITE_P(Kernels, EachStep, testing::ValuesIn(asynchronous_kernels),
                         testing::PrintToStringParamName());

/// The line of kernels/nbody.cu that has these words.
int line_in_nbody(const std::string& words) {
    const std::string source(compute::make_emulated_device("")->source("kernels/nbody.cu"));
    const std::size_t at = source.find(words);
    EXPECT_EQ(source.find(words, at + 1), source.npos) << words;
    return 1 + int(std::count(source.begin(), source.begin() + std::ptrdiff_t(at), '\n'));
}

/// Four tiles of 64 bodies; each of the four blocks has two warps.
std::vector<Finding> check_nbody(const char* load, const char* reuse,
                                 const compute::RunSettings& settings) {
    return check(
        {"nbody",
         {{"bodies", "256"}, {"block", "64"}, {"load_barrier", load}, {"reuse_barrier", reuse}}},
        settings);
}

TEST(WithoutItsBarrier, NBodyRacesBetweenLoadingATileAndReadingIt) {
    const int store = line_in_nbody("tile[threadIdx.x] ="), read = line_in_nbody("tile[j].x");
    for (const compute::RunSettings& settings : runs())
        for (const char* reuse : {"on", "off"}) {
            const auto found = check_nbody("off", reuse, settings);
            // Of each tile, a warp loads 32 bodies that the lanes of the other warp read. Of two
            // frames and the step that the report compares.
            EXPECT_GE(hazards(found), 3u * 4 * 4 * 32) << sentences(found);
            bool names_both = false;
            for (const Finding& f : found) {
                if (f.kind != FindingKind::race) continue;
                EXPECT_TRUE(f.first.line == store || f.second->line == store)
                    << f.sentence.english();
                const int other = f.first.line == store ? f.second->line : f.first.line;
                EXPECT_GE(other, store) << f.sentence.english();
                EXPECT_LE(other, read + 3) << f.sentence.english();
                names_both |= other >= read;
            }
            EXPECT_TRUE(names_both) << sentences(found);
        }
}

TEST(WithoutItsBarrier, NBodyRacesBetweenReadingATileAndLoadingTheNext) {
    const int store = line_in_nbody("tile[threadIdx.x] =");
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check_nbody("on", "off", settings);
        // A warp loads 32 bodies over those that the other one reads, in the last three tiles.
        EXPECT_GE(hazards(found), 3u * 4 * 3 * 32) << sentences(found);
        for (const Finding& f : found) {
            if (f.kind != FindingKind::race) continue;
            EXPECT_TRUE(f.first.line == store || f.second->line == store) << f.sentence.english();
            // Within a warp, __syncwarp() would order the two as well.
            const char* const missing = f.severity == Severity::error
                                            ? "__syncthreads() is missing between"
                                            : "__syncwarp() is missing between";
            EXPECT_NE(f.sentence.english().find(missing), std::string::npos)
                << f.sentence.english();
        }
        EXPECT_EQ(sentences(check_nbody("on", "on", settings)), "");
    }
}

std::vector<Finding> check_dot(const char* kernel, const compute::RunSettings& settings) {
    return check({"dot", {{"n", "3000"}, {"launches", "1"}, {"kernel", kernel}}}, settings);
}

/// Source line of the write or the read of the first finding.
int line_of(const std::vector<Finding>& found, bool writer) {
    const Finding& f = found.at(0);
    const bool raw = f.hazard == Hazard::read_after_write;
    return writer == raw ? f.first.line : f.second->line;
}

TEST(WithoutItsBarrier, DotRacesBetweenTheStoresAndTheFirstStep) {
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check_dot("no_first_barrier", settings);
        // 12 blocks in two frames: in the first step, 128 reads of products of another warp.
        EXPECT_EQ(hazards(found), 12u * 128 * 2) << sentences(found);
        EXPECT_EQ(count(found, FindingKind::race, Severity::warning), 0u);
        EXPECT_LT(line_of(found, true), line_of(found, false))
            << "the line of the store comes first";
        if (settings.schedule == compute::Schedule::reverse) {
            EXPECT_EQ(count(found, Hazard::read_after_write), 12u * 128 * 2)
                << "the hazard in the comment of the barrier: the writes come first";
        }
    }
}

TEST(WithoutItsBarrier, DotRacesBetweenOneStepAndTheNext) {
    for (const compute::RunSettings& settings : runs()) {
        const auto found = check_dot("no_loop_barrier", settings);
        // At least the reads of sums of other warps in the second and third step, 64 and 32.
        EXPECT_GE(hazards(found), 12u * 96 * 2) << sentences(found);
        for (const Finding& f : found) {
            if (f.kind != FindingKind::race) continue;
            EXPECT_EQ(f.first.line, f.second->line) << f.sentence.english();
            EXPECT_NE(f.sentence.english().find("between one pass of this line and the next"),
                      std::string::npos)
                << f.sentence.english();
        }
        // The last steps run in one warp: 16, 8, 4, 2, 1 reads of the sum of another lane.
        EXPECT_GE(count(found, FindingKind::race, Severity::warning), 12u * 31 * 2);
    }
}

TEST(WithoutItsBarrier, BarrierInsideTheIfIsDivergentButLeavesNoRace) {
    for (const char* kernel : {"divergent", "divergent_bounded"}) {
        const auto found = check_dot(kernel, {.schedule = compute::Schedule::run_to_barrier});
        EXPECT_EQ(hazards(found), 0u) << sentences(found);
        EXPECT_GT(count(found, FindingKind::barrier, Severity::error), 0u);
        EXPECT_GT(count(found, FindingKind::barrier, Severity::warning), 0u);
    }
}

}  // namespace
}  // namespace warpscope::tests
