#include "experiments/framework/experiment.h"

#include "compute/emulated/emulated_device.h"
#include "emulator/checks/memory_check.h"
#include "emulator/races/grid_races.h"
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
    for (const char* layout : {"txty", "tytx", "padded17", "padded", "bytes", "stamped"})
        cases.push_back({"ripple", {{"size", "40"}, {"layout", layout}, {"pattern", "ripple"}}});
    cases.push_back({"ripple", {{"size", "40"}, {"view", "wrong"}}});
    for (const char* kernel : {"float3", "float4", "tiled", "rsqrt", "unrolled", "several", "fast"})
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
    for (const char* start : {"own", "transpose", "transpose_padded", "blur", "shuffle",
                              "double_buffer", "histogram", "life"})
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
            EXPECT_EQ(f.first.line, f.second->line) << f.sentence;
            EXPECT_NE(f.sentence.find("between one pass of this line and the next"),
                      std::string::npos)
                << f.sentence;
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
