#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <thread>

#include "compute/device/kernel_files.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/framework/experiment.h"
#include "experiments/live.h"
#include "experiments/replicas/specimen.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using compute::RunSettings;
using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;
using tests::first_argument;
using tests::Live;
using tests::runs;
using Settings = std::vector<Assignment>;

std::uint64_t races(const Inspection& inspection, Severity severity = Severity::error) {
    std::uint64_t count = 0;
    for (const Finding& f : inspection.verdict.findings)
        if (f.kind == FindingKind::race && f.severity == severity) count += f.count;
    return count;
}

std::string sentences(const std::vector<Finding>& findings) {
    std::string all;
    for (const Finding& f : findings) all += f.sentence.english() + "\n";
    return all;
}

std::string source_of(const emulator::ThreadAtLine& party) {
    std::istringstream source{std::string(compute::kernel_source(party.file))};
    std::string line;
    for (int i = 0; i < party.line; ++i) std::getline(source, line);
    return line;
}

TEST(Inspection, RippleWithoutItsBarrierHasOneHazardPerPixel) {
    // 256 in a full block, RAW and WAR together; threads beyond the edge don't read.
    for (const RunSettings& run : runs) {
        const Inspection off = Live("ripple", {{"size", "40"}, {"sync", "off"}}, run).inspection();
        EXPECT_EQ(races(off), 40u * 40) << sentences(off.verdict.findings);
        EXPECT_EQ(races(off, Severity::warning), 0u);
        EXPECT_EQ(off.kernel, "ripple_txty_nosync");
        EXPECT_EQ(off.blocks, 9u);
        EXPECT_EQ(off.of_blocks, 9u);
        EXPECT_EQ(off.verdict.error, "");
        const Inspection on = Live("ripple", {{"size", "40"}, {"sync", "on"}}, run).inspection();
        EXPECT_TRUE(on.verdict.findings.empty()) << sentences(on.verdict.findings);
    }
}

TEST(Inspection, DotWithoutABarrierHasTheHazardsOfItsMissingBarrier) {
    for (const RunSettings& run : runs) {
        const Inspection first =
            Live("dot", {{"n", "3000"}, {"kernel", "no_first_barrier"}}, run).inspection();
        // 12 blocks: the first step's 128 reads of products that other warps store.
        EXPECT_EQ(races(first), 12u * 128) << sentences(first.verdict.findings);
        for (const Finding& f : first.verdict.findings) {
            if (f.kind != FindingKind::race) continue;
            const bool raw = f.hazard == Hazard::read_after_write;
            const std::string store = source_of(raw ? f.first : *f.second);
            const std::string load = source_of(raw ? *f.second : f.first);
            EXPECT_NE(store.find("cache[thread] = products"), std::string::npos)
                << f.sentence.english();
            EXPECT_NE(load.find("cache[thread + half]"), std::string::npos) << f.sentence.english();
        }

        const Inspection loop =
            Live("dot", {{"n", "3000"}, {"kernel", "no_loop_barrier"}}, run).inspection();
        EXPECT_GE(races(loop), 12u * 96) << sentences(loop.verdict.findings);
        for (const Finding& f : loop.verdict.findings) {
            if (f.kind != FindingKind::race) continue;
            EXPECT_NE(source_of(f.first).find("cache[thread] += cache[thread + half]"),
                      std::string::npos);
            EXPECT_EQ(f.first.line, f.second->line);
        }
    }
}

TEST(Inspection, KernelsWithTheirBarriersHaveNoFinding) {
    const auto clean = [](std::string_view id, const Settings& settings) {
        const Inspection found = Live(id, settings).inspection();
        EXPECT_TRUE(found.verdict.findings.empty()) << sentences(found.verdict.findings);
        EXPECT_EQ(found.verdict.error, "");
        EXPECT_EQ(found.blocks, found.of_blocks);
    };
    for (const char* kernel : {"book", "shuffle", "vectorized", "single_pass"})
        clean("dot", {{"n", "3000"}, {"kernel", kernel}});
    for (const char* kernel :
         {"float3", "float4", "tiled", "rsqrt", "unrolled", "several", "fast", "async", "bulk"})
        clean("nbody", {{"bodies", "250"}, {"block", "96"}, {"kernel", kernel}});
    for (const char* kernel : {"sum_within_block", "reduce0", "sequential", "first_add", "shuffle",
                               "vectorized", "single_pass"})
        clean("reduction", {{"n", "3000"}, {"block", "100"}, {"kernel", kernel}});
}

TEST(Inspection, CountersCoverTheWholeLaunchOnce) {
    const Inspection ripple =
        Live("ripple", {{"size", "64"}, {"layout", "padded17"}, {"sync", "on"}}).inspection();
    ASSERT_EQ(ripple.counters.size(), 1u);
    const emulator::KernelCounters& k = ripple.counters[0];
    EXPECT_EQ(k.kernel, "ripple_padded17");
    EXPECT_EQ(k.launches, 1u);
    EXPECT_EQ(k.blocks, 16u);
    EXPECT_EQ(k.barriers, 16u);
    EXPECT_EQ(k.shared_stores.requests, 16u * 8);
    EXPECT_EQ(k.shared_stores.wavefronts, 2u * 16 * 8);
    EXPECT_EQ(k.shared_loads.degree, 2u);
    EXPECT_EQ(k.global_stores.sectors, 64u * 64 * 4 / 32);
}

// --- long launches, launches that fail

/// A launch of 3 blocks of 64 threads of a kernel given as PTX; its `out` holds a word a thread.
class PtxExperiment : public Experiment {
  public:
    PtxExperiment(compute::Device& device, std::string_view ptx)
        : Experiment(device),
          kernel_(device.kernel_from_ptx<compute::DevicePointer<unsigned>>(ptx, "k")),
          out_(device, 3 * 64) {}
    const ParameterSet& parameters() const override { return none_; }
    void launch_kernel() override {
        device().launch(kernel_, {.grid = {3}, .block = {64}}, {}, out_.pointer());
    }
    Size picture_size(Size) const override { return {}; }
    void render_into(const PixelTarget&) override {}
    Report report() override {
        Reading sum;
        sum.name = "sum";
        for (const unsigned word : out_.download()) sum.value += word;
        return {sum};
    }

  private:
    void changed(std::span<Parameter* const>) override {}
    void do_step() override { launch_kernel(); }
    void do_reset() override {}

    ParameterSet none_;
    compute::Kernel<compute::DevicePointer<unsigned>> kernel_;
    compute::Buffer<unsigned> out_;
};

constexpr std::string_view head =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
    "mad.lo.s32 %r2, %r1, 64, %r0;\nmul.wide.u32 %rd1, %r2, 4;\nadd.s64 %rd1, %rd0, %rd1;\n";

template <const std::string_view& Body>
Entry ptx_entry() {
    return {"ptx", "PTX", "A kernel in PTX.", [] { return std::make_unique<ParameterSet>(); },
            [](compute::Device& device) {
                return std::unique_ptr<Experiment>(
                    std::make_unique<PtxExperiment>(device, std::string(head) + std::string(Body)));
            }};
}

/// Block 1 stores far beyond its words.
constexpr std::string_view wild =
    "setp.ne.u32 %p0, %r1, 1;\n@%p0 bra right;\nadd.s64 %rd1, %rd1, 1048576;\n"
    "right:\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
/// Warp 0 waits at barrier 1 and warp 1 at barrier 0.
constexpr std::string_view deadlock =
    "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra other;\nbar.sync 0;\nret;\n"
    "other:\nbar.sync 1, 64;\nret;\n}\n";
/// Even lanes come to the barrier at one place, odd ones at another.
constexpr std::string_view divergent =
    "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra even;\nbar.sync 0;\nbra both;\n"
    "even:\nbar.sync 0;\nboth:\nst.global.u32 [%rd1], 1;\nret;\n}\n";

TEST(Inspection, RunsAsManyBlocksAsTheLimitAllows) {
    Live live("ripple", {{"size", "64"}, {"sync", "off"}});
    const auto blocks = [&](std::uint64_t instructions) {
        const Inspection found = live.inspection(instructions);
        EXPECT_EQ(races(found), 256 * found.blocks);
        EXPECT_EQ(found.of_blocks, 16u);
        return found.blocks;
    };
    Specimen whole = live.specimen();
    emulator::FrozenLaunch first = whole.launch();
    first.settings.blocks = 1;
    const std::uint64_t each = whole.machine().run(first).warp_instructions;
    EXPECT_EQ(blocks(0), 1u);
    EXPECT_EQ(blocks(2 * each - 1), 1u);
    EXPECT_EQ(blocks(5 * each), 5u);
    EXPECT_EQ(blocks(16 * each), 16u);
    EXPECT_EQ(blocks(1000 * each), 16u);
}

TEST(Inspection, TheErrorNamesTheLineOfAnInvalidAccess) {
    const auto device = compute::make_emulated_device("");
    const Entry entry = ptx_entry<wild>();
    const auto live = entry.make(*device);
    const Inspection found = inspect({entry, *live, live->device().settings()});
    EXPECT_NE(found.verdict.error.english().find("block (1,0,0)"), std::string::npos)
        << found.verdict.error.english();
    EXPECT_EQ(found.of_blocks, 3u);
    EXPECT_LT(found.blocks, 3u);
}

TEST(Inspection, ADeadlockIsAnErrorAndAFinding) {
    const auto device = compute::make_emulated_device("");
    const Entry entry = ptx_entry<deadlock>();
    const auto live = entry.make(*device);
    const Inspection found = inspect({entry, *live, live->device().settings()});
    EXPECT_NE(found.verdict.error.english().find("wait for each other"), std::string::npos)
        << found.verdict.error.english();
    ASSERT_EQ(found.verdict.findings.size(), 1u);
    EXPECT_EQ(found.verdict.findings[0].kind, FindingKind::barrier);
    EXPECT_EQ(found.blocks, 0u);
}

TEST(Inspection, AnInspectionDoesNotChangeTheLiveExperiment) {
    Live live("ripple", {{"size", "100"}, {"sync", "off"}});
    Live alone("ripple", {{"size", "100"}, {"sync", "off"}});
    for (int round = 0; round < 3; ++round) {
        const LaunchState state(live.entry(), live.experiment(), {});
        const Replica replica = make_replica(live.entry(), live.experiment(), {});
        Inspection found;
        std::vector<PolicyOutcome> outcomes;
        std::jthread thread([&] {
            found = inspect(state);
            outcomes = try_policies(live.entry(), *replica.experiment);
        });
        std::vector<Rgba> picture;
        for (int frame = 0; frame < 3; ++frame) {
            live.experiment().step();
            alone.experiment().step();
            picture = live.picture();
        }
        thread.join();
        EXPECT_EQ(races(found), 100u * 100);
        for (const PolicyOutcome& outcome : outcomes)
            EXPECT_TRUE(outcome.ends) << outcome.error.english();
        const std::vector<Rgba> expected = alone.picture();
        EXPECT_EQ(std::memcmp(picture.data(), expected.data(), picture.size() * sizeof(Rgba)), 0);
    }
}

// --- barrier policies

const PolicyOutcome& under(const std::vector<PolicyOutcome>& outcomes,
                           compute::BarrierPolicy policy) {
    for (const PolicyOutcome& outcome : outcomes)
        if (outcome.policy == policy) return outcome;
    throw std::runtime_error("no such policy");
}

TEST(Policies, AllPoliciesRunAKernelWhoseBarriersEveryThreadReaches) {
    const std::vector<PolicyOutcome> outcomes = Live("dot", {{"n", "3000"}}).policies();
    ASSERT_EQ(outcomes.size(), 3u);
    for (const PolicyOutcome& outcome : outcomes) {
        EXPECT_TRUE(outcome.ends) << outcome.error.english();
        EXPECT_TRUE(outcome.findings.empty()) << sentences(outcome.findings);
        EXPECT_EQ(tests::reading(outcome.report, "wrong_launches").value, 0);
        EXPECT_EQ(outcome.blocks, 12u);
    }
}

TEST(Policies, OnlyTheStrictPolicyRejectsTheBarrierInsideTheIf) {
    for (const RunSettings& run : runs) {
        const auto outcomes = Live("dot", {{"n", "3000"}, {"kernel", "divergent"}}, run).policies();
        for (const auto policy :
             {compute::BarrierPolicy::before_volta, compute::BarrierPolicy::volta}) {
            const PolicyOutcome& gpu = under(outcomes, policy);
            EXPECT_TRUE(gpu.ends) << gpu.error.english();
            EXPECT_EQ(tests::reading(gpu.report, "wrong_launches").value, 0);
            EXPECT_FALSE(gpu.findings.empty());
        }
        // The first warp of which only some lanes add: 16 threads add the last 16 sums.
        const PolicyOutcome& strict = under(outcomes, compute::BarrierPolicy::strict);
        EXPECT_FALSE(strict.ends);
        EXPECT_TRUE(strict.report.empty());
        const int line =
            barrier_lines(compute::kernel_source("kernels/dot.cu"), "dot_divergent").at(1);
        const std::string wanted =
            fmt::format("kernels/dot.cu:{}: block (0,0,0): lanes 0x0000ffff of warp 0", line);
        EXPECT_NE(strict.error.english().find(wanted), std::string::npos) << strict.error.english();
    }
}

TEST(Policies, TwoBarriersOfOneWarpMeetOnAGpu) {
    const auto device = compute::make_emulated_device("");
    const Entry entry = ptx_entry<divergent>();
    const auto live = entry.make(*device);
    const auto outcomes = try_policies(entry, *live);
    const PolicyOutcome& volta = under(outcomes, compute::BarrierPolicy::volta);
    EXPECT_TRUE(volta.ends) << volta.error.english();
    EXPECT_EQ(tests::reading(volta.report, "sum").value, 3 * 64);
    const PolicyOutcome& strict = under(outcomes, compute::BarrierPolicy::strict);
    EXPECT_FALSE(strict.ends);
    EXPECT_NE(strict.error.english().find("55555555"), std::string::npos) << strict.error.english();
}

TEST(Policies, RunTheFirstBlocksOfALongLaunchWithoutAReport) {
    Live live("dot", {{"n", "3000"}});
    for (const PolicyOutcome& outcome : try_policies(live.entry(), live.experiment(), 1)) {
        EXPECT_TRUE(outcome.ends) << outcome.error.english();
        EXPECT_EQ(outcome.blocks, 1u);
        EXPECT_EQ(outcome.of_blocks, 12u);
        EXPECT_TRUE(outcome.report.empty());
    }
}

TEST(Policies, ADeadlockStaysADeadlockUnderEveryPolicy) {
    const auto device = compute::make_emulated_device("");
    const Entry entry = ptx_entry<deadlock>();
    const auto live = entry.make(*device);
    for (const PolicyOutcome& outcome : try_policies(entry, *live)) {
        EXPECT_FALSE(outcome.ends);
        EXPECT_NE(outcome.error.english().find("wait for each other"), std::string::npos)
            << outcome.error.english();
        EXPECT_TRUE(outcome.report.empty());
        EXPECT_FALSE(outcome.findings.empty());
    }
}

}  // namespace
}  // namespace warpscope::experiments
