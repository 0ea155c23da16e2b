#include <algorithm>
#include <cstring>

#include "stepped_kernel.h"
#include "stepper_state.h"

// Blocks that fail, and the blocks before a stepped block.
namespace warpscope::emulator {
namespace {

constexpr const char* words_without_lines = ".shared .align 4 .b8 cell[256];";

// Runs to the failure, back to the start and to the failure again. Machine::run must give this
// error.
void expect_failure(SteppedKernel& k, const std::string& part, std::uint64_t steps) {
    const std::vector<std::uint32_t> before(k.out, k.out + 1024);
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    EXPECT_EQ(s.end(), Stepper::End::failed);
    expect_contains(s.error(), part);
    EXPECT_EQ(s.next_warp(), std::nullopt);
    EXPECT_FALSE(s.step());
    EXPECT_EQ(s.position(), steps);
    const auto failed = state_of(s);
    s.back();
    EXPECT_EQ(s.end(), Stepper::End::open);
    EXPECT_EQ(s.error(), "");
    EXPECT_EQ(s.position(), steps - 1);
    EXPECT_EQ(s.history().size(), steps);
    EXPECT_TRUE(s.step());
    EXPECT_EQ(state_of(s), failed);
    s.seek(0);
    EXPECT_EQ(std::vector<std::uint32_t>(k.out, k.out + 1024), before);
    s.seek(steps);
    EXPECT_EQ(state_of(s), failed);
    const std::string text = s.error();
    s.seek(0);
    EXPECT_EQ(error_of([&] { k.machine.run(k.frozen); }), text);
}

// mul.wide, add.s64, setp, bra | warp 0: bar 2 | warp 1 likewise, then bar 1
TEST(StepperEnd, DeadlockEndsTheBlockAndCanBeSteppedBack) {
    SteppedKernel k(kernel_text("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; bra END;"
                                "A: bar.sync 2; END: "),
                    one_block(64));
    expect_failure(k, "its threads wait for each other: warp 0 lanes 0xffffffff", 10);
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    ASSERT_EQ(s.findings().size(), 1u);
    EXPECT_EQ(s.findings()[0].kind, FindingKind::barrier);
    ASSERT_EQ(s.waits().size(), 2u);
    EXPECT_EQ(s.waits()[0].from, 4u);
    EXPECT_EQ(s.waits()[0].to, 10u) << "never released";
    EXPECT_EQ(s.warp(1).splits.at(0).barrier, 1u);
    s.back();
    EXPECT_TRUE(s.findings().empty());
}

// Lanes 0-3 store before lane 4 fails: their stores must be undone as well.
TEST(StepperEnd, StoresBeforeAnInvalidStoreAreUndone) {
    SteppedKernel k(kernel_text("mul.lo.u32 %r2, %r1, 1020; cvt.u64.u32 %rd2, %r2;"
                                "setp.lt.u32 %p1, %r1, 5; add.s64 %rd3, %rd0, %rd2;"
                                "@%p1 st.global.u32 [%rd3+16], 9;"),
                    one_block(32));
    expect_failure(k, "thread (4,0,0) of block (0,0,0): 4 bytes at global memory", 7);
    std::fill(k.out, k.out + 1024, 0u);
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    EXPECT_EQ(k.out[4], 9u);
    EXPECT_EQ(k.out[4 + 255], 9u);
    s.back();
    EXPECT_EQ(std::count(k.out, k.out + 1024, 9u), 0);
}

TEST(StepperEnd, TrapAndStrictBarrierEndTheBlock) {
    SteppedKernel trap(kernel_text("st.global.u32 [%rd1], 3; trap;"), one_block(32));
    expect_failure(trap, "the kernel trapped", 4);
    SteppedKernel strict(kernel_text("setp.lt.u32 %p1, %r1, 7; @%p1 bra A; bar.sync 0;"
                                     "A: st.global.u32 [%rd1], 3;"),
                         one_block(32),
                         {.schedule = Schedule::run_to_barrier, .barriers = BarrierPolicy::strict});
    expect_failure(strict, "lanes 0xffffff80 of warp 0 arrive at the barrier without", 5);
}

TEST(StepperEnd, SpentBudgetEndsTheBlockAndCanBeSteppedBack) {
    SteppedKernel k(kernel_text("TOP: st.global.u32 [%rd1], 3; bra TOP;"), one_block(32),
                    {.instruction_budget = 1000});
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    EXPECT_EQ(s.end(), Stepper::End::failed);
    expect_contains(s.error(), "its budget of 1000 warp instructions is spent");
    const std::uint64_t steps = s.position();
    s.back();
    EXPECT_EQ(s.end(), Stepper::End::open);
    s.run();
    EXPECT_EQ(s.position(), steps);
    expect_contains(s.error(), "its budget");
}

TEST(StepperEnd, RunStopsAtTheGivenNumberOfSteps) {
    SteppedKernel k(kernel_text("TOP: bra TOP;"), one_block(32));
    Stepper s(k.machine, k.frozen, 0);
    s.run(1000);
    EXPECT_EQ(s.position(), 1000u);
    EXPECT_EQ(s.end(), Stepper::End::open);
    s.seek(17);
    EXPECT_EQ(s.position(), 17u);
}

// Each thread stores the number of its block plus one to shared memory, and the value that it found
// there to global memory.
const std::string leaves_number = kernel_text(R"(
mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r1, 2; mov.u32 %r4, cell; add.s32 %r4, %r4, %r3;
ld.shared.u32 %r5, [%r4]; add.s32 %r6, %r2, 1; st.shared.u32 [%r4], %r6;
mad.lo.u32 %r7, %r2, 32, %r1; mul.wide.u32 %rd2, %r7, 4; add.s64 %rd2, %rd0, %rd2;
st.global.u32 [%rd2], %r5;)",
                                              words_without_lines);

TEST(StepperEnd, BlockFindsTheSharedMemoryOfTheEarlierBlock) {
    SteppedKernel k(leaves_number, {{8, 1, 1}, {32, 1, 1}, 0}, {}, 0, 3);
    k.machine.shared_memory(2, 256)[0] = std::byte{77};
    {
        Stepper s(k.machine, k.frozen, 7);  // on virtual SM 1, after blocks 1 and 4
        EXPECT_EQ(k.out[4 * 32], 2u) << "block 4 found block 1's";
        EXPECT_EQ(k.out[2 * 32], 0u) << "block 2 has not run";
        s.run();
        EXPECT_EQ(k.out[7 * 32 + 9], 5u);
        s.seek(0);
        std::uint32_t word;
        std::memcpy(&word, s.shared_memory().data(), 4);
        EXPECT_EQ(word, 5u);
    }
    EXPECT_EQ(std::count(k.out, k.out + 1024, 0u), 1024) << "all stores are taken back";
    for (unsigned sm = 0; sm < 3; ++sm)
        EXPECT_EQ(k.machine.shared_memory(sm, 256)[0], std::byte(sm == 2 ? 77 : 0))
            << "the machine's shared memory stays as it is";
    Stepper first(k.machine, k.frozen, 2);
    first.run();
    EXPECT_EQ(k.out[2 * 32], 77u) << "what an earlier launch left";
}

// The results of atomics depend on the order of the blocks, so all earlier blocks must run.
TEST(StepperEnd, OrderDependentKernelRunsAllEarlierBlocks) {
    SteppedKernel k(kernel_text("atom.global.add.u32 %r2, [%rd0], 1; mov.u32 %r3, %ctaid.x;"
                                "mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd0, %rd2;"
                                "st.global.u32 [%rd2+4], %r2;"),
                    {{6, 1, 1}, {1, 1, 1}, 0}, {}, 0, 4);
    {
        Stepper s(k.machine, k.frozen, 5);
        EXPECT_EQ(k.out[0], 5u);
        s.run();
        EXPECT_EQ(k.out[6], 5u);
        EXPECT_EQ(k.out[0], 6u);
    }
    EXPECT_EQ(k.out[0], 0u);
}

TEST(StepperEnd, InvalidBlockOrLaunchIsAnError) {
    SteppedKernel k(leaves_number, {{8, 1, 1}, {32, 1, 1}, 0});
    expect_contains(error_of([&] { Stepper(k.machine, k.frozen, 8); }), "there is no block 8");
    FrozenLaunch large = k.frozen;
    large.launch.block.x = 2000;
    expect_contains(error_of([&] { Stepper(k.machine, large, 0); }), "too large");
    // Block 0 fails after a store.
    SteppedKernel fails(kernel_text("st.global.u32 [%rd1], 5; mov.u32 %r2, %ctaid.x;"
                                    "setp.eq.u32 %p1, %r2, 0; @%p1 ld.shared.u32 %r3, [4096];"
                                    "st.global.u32 [%rd1], %r3;",
                                    words_without_lines),
                        {{2, 1, 1}, {32, 1, 1}, 4});
    expect_contains(error_of([&] { Stepper(fails.machine, fails.frozen, 1); }), "block (0,0,0)");
    EXPECT_EQ(std::count(fails.out, fails.out + 1024, 5u), 0);
}

}  // namespace
}  // namespace warpscope::emulator
