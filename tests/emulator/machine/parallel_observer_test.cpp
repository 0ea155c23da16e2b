#include <algorithm>
#include <regex>
#include <string>

#include "emulator/checks/barrier_check.h"
#include "emulator/counters/access_counters.h"
#include "emulator/observe/observer_list.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/race_detector.h"

namespace warpscope::emulator {
namespace {

// All results of the observers of a run, as text.
struct Observed {
    RaceDetector races;
    BarrierCheck barriers;
    AccessCounters counters;
    ObserverList all;

    Observed() {
        all.add(races);
        all.add(barriers);
        all.add(counters);
    }
    std::string text() const {
        std::string text;
        for (const Finding& f : merged({races.findings(), barriers.findings()}))
            text += std::to_string(f.count) + " " + std::string(to_string(f.severity)) + " " +
                    std::string(to_string(f.kind)) + " " + std::string(to_string(f.hazard)) +
                    " block " + name_of(f.first.block) + ": " + f.sentence.english() + "\n";
        for (const KernelCounters& k : counters.kernels())
            for (const std::uint64_t n :
                 {k.launches, k.blocks, k.warp_instructions, k.thread_instructions, k.barriers,
                  k.global_loads.requests, k.global_stores.sectors, k.shared_loads.wavefronts,
                  k.shared_stores.requests, k.shared_stores.bytes,
                  std::uint64_t(k.shared_stores.degree)})
                text += std::to_string(n) + " ";
        return text;
    }
};

// Two warps store and read each other's words, from block n on without a barrier. All threads of
// block 40 store to one word. In a launch of 100 blocks or more, blocks 57 and 91 access invalid
// global addresses.
const std::string racing_kernel = kernel_text(
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r9, cell; shl.b32 %r4, %r1, 2;\n"
    "add.s32 %r4, %r4, %r9; xor.b32 %r5, %r4, 128; st.shared.u32 [%r4], %r2;\n"
    "setp.ge.u32 %p1, %r2, %r0; @%p1 bra SKIP; bar.sync 0;\n"
    "SKIP: ld.shared.u32 %r6, [%r5];\n"
    "setp.eq.u32 %p2, %r2, 40; @%p2 st.shared.u32 [cell], %r1;\n"
    "setp.lt.u32 %p3, %r3, 100; @%p3 ret; and.b32 %r7, %r2, 127;\n"
    "setp.eq.u32 %p4, %r7, 57; @%p4 st.global.u32 [%rd0+-4096], %r6;\n"
    "setp.eq.u32 %p5, %r7, 91; @%p5 st.global.u32 [%rd0+-8192], %r6;\n",
    ".shared .align 8 .b8 cell[256];");

std::string observed(unsigned threads, const std::vector<std::uint32_t>& grids, Schedule schedule) {
    Observed seen;
    Runner r(racing_kernel);
    r.observer = &seen.all;
    r.settings.threads = threads;
    r.settings.schedule = schedule;
    std::string errors;
    for (const std::uint32_t blocks : grids) {
        const std::string error = error_of([&] { r.run({{blocks, 1, 1}, {64, 1, 1}, 0}, 23, 64); });
        errors += error.substr(0, error.find(" bytes at ")) + "\n";  // the address may differ
    }
    // The addresses of allocations may differ.
    return errors + std::regex_replace(seen.text(), std::regex("address 0x[0-9a-f]+"), "address");
}

class ParallelObservers : public testing::TestWithParam<Schedule> {};

TEST_P(ParallelObservers, ReportEqualResultsOnAnyNumberOfThreads) {
    const std::string one = observed(1, {64}, GetParam());
    // From block 23 on, the 64 threads of each block read words of the other warp.
    expect_contains(one, " block (23,0,0): ");
    expect_contains(one, " block (40,0,0): ");
    for (const unsigned threads : {2u, 3u, 5u, 29u})
        EXPECT_EQ(observed(threads, {64}, GetParam()), one) << threads << " threads";
}

TEST_P(ParallelObservers, ForgetTheBlocksAboveTheFailingBlock) {
    const std::string one = observed(1, {30, 200, 64}, GetParam());
    expect_contains(one, "block (57,0,0)");
    // The findings of the failing launch remain, up to the failing block.
    for (const unsigned threads : {2u, 3u, 5u, 29u})
        for (int repeat = 0; repeat < 3; ++repeat)
            EXPECT_EQ(observed(threads, {30, 200, 64}, GetParam()), one) << threads << " threads";
}

std::string schedule_name(Schedule schedule) {
    if (schedule == Schedule::random) return "random";
    return schedule == Schedule::reverse ? "reverse" : "run_to_barrier";
}

INSTANTIATE_TEST_SUITE_P(Schedules, ParallelObservers,
                         testing::Values(Schedule::run_to_barrier, Schedule::reverse,
                                         Schedule::random),
                         [](const auto& info) { return schedule_name(info.param); });

// The memory check is one of these: it has to see every write before the later reads.
TEST(ParallelObserver, ThatCannotForkSeesAllBlocksInOrderOnOneThread) {
    struct InOrder : Observer {
        std::vector<std::uint32_t> begun;
        void on_block_begin(const Kernel&, std::uint32_t block) override { begun.push_back(block); }
    } in_order;
    Observed seen;
    seen.all.add(in_order);
    Runner r(racing_kernel);
    r.observer = &seen.all;
    r.settings.threads = 8;
    r.settings.schedule = Schedule::reverse;
    r.method.dealing = BlockDealing::as_they_come;  // does not matter
    r.run({{64, 1, 1}, {64, 1, 1}, 0}, 23, 64);
    ASSERT_EQ(in_order.begun.size(), 64u);
    EXPECT_TRUE(std::is_sorted(in_order.begun.begin(), in_order.begun.end()));
    EXPECT_EQ("\n" + seen.text(), observed(1, {64}, Schedule::reverse));
}

}  // namespace
}  // namespace warpscope::emulator
