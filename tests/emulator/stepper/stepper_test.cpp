#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "stepped_kernel.h"
#include "stepper_state.h"

namespace warpscope::emulator {
namespace {

using State = SplitView::State;

// Each of 64 threads stores t + 100 to its word and loads the mirrored word, with or without a
// barrier between. The first two steps compute the address of out[t].
std::string mirror_with(const std::string& barrier) {
    return kernel_text(R"(
.loc 1 10 1
shl.b32 %r2, %r1, 2; mov.u32 %r7, cell; add.s32 %r3, %r7, %r2;
.loc 1 11 1
add.s32 %r4, %r1, 100; st.shared.u32 [%r3], %r4;
.loc 1 12 1
)" + barrier + R"(
.loc 1 13 1
sub.s32 %r5, 252, %r2; ld.shared.u32 %r6, [%r5];
.loc 1 14 1
st.global.u32 [%rd1], %r6;)",
                       words_with_lines);
}
const std::string with_barrier = mirror_with("bar.sync 0;"), without_barrier = mirror_with("");

std::uint32_t line_of(const Stepper& s, std::uint32_t warp) {
    return std::uint32_t(s.kernel().lines[s.warp(warp).splits.at(0).pc].source.line);
}

void step_until(Stepper& s, std::uint32_t warp, std::uint32_t pc) {
    while (!s.warp(warp).splits.empty() && s.warp(warp).splits[0].pc != pc)
        ASSERT_TRUE(s.step(warp));
}

void step_to_end(Stepper& s, std::uint32_t warp) {
    while (s.step(warp)) {
    }
}

// Steps by source line: mul.wide, add.s64 | 10: shl, add | 11: add, st | 12: bar | 13: sub, ld |
// 14: st, ret
TEST(Stepper, StepsSourceLinesForwardsAndBackwards) {
    SteppedKernel k(with_barrier, one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    EXPECT_EQ(s.warps(), 2u);
    EXPECT_EQ(s.next_warp(), 0u);
    s.step_line();
    EXPECT_EQ(s.position(), 1u) << "an instruction without source line: its PTX line counts";
    s.step_line();
    EXPECT_EQ(line_of(s, 0), 10u);
    s.step_line();
    EXPECT_EQ(s.position(), 4u);
    s.step_line();
    EXPECT_EQ(s.position(), 6u);
    s.step_line();
    EXPECT_EQ(s.position(), 7u) << "it waits";
    EXPECT_EQ(s.warp(0).splits.at(0).state, State::at_barrier);
    EXPECT_EQ(s.next_warp(), 1u);
    s.step_line(0);
    EXPECT_EQ(s.position(), 7u) << "a warp that waits takes no step";
    for (int line = 0; line < 4; ++line) s.step_line(1);
    EXPECT_EQ(s.position(), 13u);
    EXPECT_EQ(line_of(s, 1), 12u);
    s.step_line(1);
    EXPECT_EQ(s.epoch(), 1u);
    EXPECT_EQ(line_of(s, 0), 13u);
    s.back_line();
    EXPECT_EQ(s.position(), 13u) << "the barrier is a line of its own";
    s.back_line();
    EXPECT_EQ(s.position(), 11u);
    s.back_line();
    EXPECT_EQ(line_of(s, 1), 10u);
    s.seek(0);
    s.back();
    s.back_line();
    EXPECT_EQ(s.position(), 0u);
}

TEST(Stepper, StepsToBarriersForwardsAndBackwards) {
    SteppedKernel k(with_barrier, one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    s.step_barrier();
    EXPECT_EQ(s.position(), 14u);
    EXPECT_EQ(s.epoch(), 1u);
    EXPECT_EQ(s.warp(0).splits.at(0).state, State::running);
    s.back();
    EXPECT_EQ(s.epoch(), 0u);
    EXPECT_EQ(s.warp(0).splits.at(0).state, State::at_barrier);
    EXPECT_EQ(s.warp(1).splits.at(0).pc, k.pc("bar.sync"));
    s.step_barrier();
    EXPECT_EQ(s.position(), 14u);
    s.step_barrier();
    EXPECT_EQ(s.end(), Stepper::End::finished);
    EXPECT_EQ(s.position(), 22u);
    EXPECT_EQ(s.next_warp(), std::nullopt);
    EXPECT_FALSE(s.step());
    EXPECT_FALSE(s.step(0));
    EXPECT_TRUE(s.warp(0).splits.empty());
    EXPECT_EQ(s.warp(0).exited, ~0u);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(k.out[t], 163 - t);
    s.back_barrier();
    EXPECT_EQ(s.position(), 14u);
    EXPECT_EQ(std::accumulate(k.out, k.out + 64, 0u), 0u);
    s.back_barrier();
    EXPECT_EQ(s.position(), 0u);
}

TEST(Stepper, WaitsLastFromArrivalToRelease) {
    SteppedKernel k(with_barrier, one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    EXPECT_TRUE(s.waits().empty());
    s.run(10);
    EXPECT_EQ(s.position(), 10u);
    ASSERT_EQ(s.waits().size(), 1u);
    EXPECT_EQ(s.waits()[0].from, 6u);
    EXPECT_EQ(s.waits()[0].to, 10u) << "not released yet";
    EXPECT_EQ(s.waits()[0].mask, ~0u);
    EXPECT_EQ(s.waits()[0].pc, k.pc("bar.sync"));
    s.run();
    const auto check = [&] {
        ASSERT_EQ(s.waits().size(), 2u);
        EXPECT_EQ(s.waits()[0].to, 13u);
        EXPECT_EQ(s.waits()[1].warp, 1u);
        EXPECT_EQ(s.waits()[1].from, 13u);
        EXPECT_EQ(s.waits()[1].to, 13u);
    };
    check();
    s.seek(3);
    check();
    s.run();
    check();
    s.seek(13);
    s.step(1);
    EXPECT_EQ(s.history().size(), 22u) << "an equal choice keeps the later steps";
    s.seek(12);
    EXPECT_FALSE(s.step(0)) << "it waits";
    EXPECT_EQ(s.history().size(), 22u);
    s.seek(5);
    EXPECT_TRUE(s.step(1));
    EXPECT_EQ(s.history().size(), 6u) << "another choice removes the later steps";
    EXPECT_TRUE(s.history()[5].by_hand);
    EXPECT_TRUE(s.waits().empty());
}

// Which warp runs first decides the result. The race is found in both orders.
TEST(Stepper, ChosenOrderDecidesTheResultButNotTheRaceFinding) {
    SteppedKernel k(without_barrier, one_block(64));
    const auto racing = [](const Stepper& s) {
        return std::count_if(s.words().begin(), s.words().end(),
                             [](const WordView& w) { return w.hazard; });
    };
    Stepper s(k.machine, k.frozen, 0);
    step_to_end(s, 0);
    EXPECT_EQ(racing(s), 0);
    step_to_end(s, 1);
    EXPECT_EQ(s.end(), Stepper::End::finished);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(k.out[t], t < 32 ? 0 : 163 - t) << t;
    EXPECT_EQ(racing(s), 64);
    EXPECT_GT(count_of(s.findings(), Severity::error), 0u);

    s.seek(0);
    EXPECT_EQ(racing(s), 0);
    EXPECT_TRUE(s.findings().empty());
    const std::uint32_t behind_store = k.pc("sub.s32");
    step_until(s, 1, behind_store);
    step_until(s, 0, behind_store);
    step_to_end(s, 1);
    step_to_end(s, 0);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(k.out[t], 163 - t);
    EXPECT_EQ(racing(s), 64);
    EXPECT_GT(count_of(s.findings(), Severity::error), 0u);
}

TEST(Stepper, WordsShowTheirLastWriterAndReader) {
    SteppedKernel k(with_barrier, one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    ASSERT_EQ(s.words().size(), 64u);
    EXPECT_EQ(s.words()[5].writer, WordView::nobody);
    s.step_barrier();
    EXPECT_EQ(s.words()[5].writer, 5);
    EXPECT_EQ(s.words()[40].writer, 40);
    EXPECT_EQ(s.words()[40].write_epoch, 0u);
    EXPECT_EQ(s.words()[40].write_pc, k.pc("st.shared"));
    EXPECT_EQ(s.words()[40].reader, WordView::nobody);
    std::uint32_t value;
    std::memcpy(&value, s.shared_memory().data() + 40 * 4, 4);
    EXPECT_EQ(value, 140u);
    s.run();
    EXPECT_EQ(s.words()[40].reader, 23);
    EXPECT_EQ(s.words()[40].read_epoch, 1u);
    EXPECT_EQ(s.words()[40].read_pc, k.pc("ld.shared"));
    EXPECT_FALSE(s.words()[40].hazard);
    EXPECT_TRUE(s.findings().empty());
}

TEST(Stepper, ShowsTheNewestAccessOfEachWarp) {
    SteppedKernel k(with_barrier, one_block(48));
    Stepper s(k.machine, k.frozen, 0);
    s.run(6);
    ASSERT_TRUE(s.shared_access(0));
    EXPECT_EQ(s.shared_access(0)->step, 5u);
    EXPECT_EQ(s.shared_access(0)->kind, MemoryAccess::store);
    EXPECT_EQ(s.shared_access(0)->bytes, 4u);
    EXPECT_EQ(s.shared_access(0)->addresses[31], 124u);
    EXPECT_EQ(s.shared_access(0)->pc, k.pc("st.shared"));
    EXPECT_FALSE(s.shared_access(1));
    EXPECT_FALSE(s.global_access(0));
    s.run();
    EXPECT_EQ(s.shared_access(1)->kind, MemoryAccess::load);
    EXPECT_EQ(s.shared_access(1)->mask, 0xFFFFu);
    EXPECT_EQ(s.shared_access(1)->addresses[0], 252u - 128);
    EXPECT_EQ(s.global_access(1)->addresses[3], std::uint64_t(k.out + 35));
    s.seek(6);
    EXPECT_EQ(s.shared_access(0)->kind, MemoryAccess::store);
    EXPECT_FALSE(s.global_access(0));
}

TEST(Stepper, GuardAndItsInstructionAreOneStep) {
    SteppedKernel k(kernel_text("setp.lt.u32 %p1, %r1, 5; setp.gt.u32 %p2, %r1, 99;"
                                "@%p1 add.s32 %r2, %r1, 1; @%p2 st.global.u32 [%rd1], 1;"
                                "@!%p1 st.global.u32 [%rd1], 2;"),
                    one_block(32));
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    ASSERT_EQ(s.history().size(), 8u) << "two before, ret behind";
    EXPECT_EQ(s.history()[4].mask, 31u);
    EXPECT_EQ(s.history()[4].pc, k.pc("@%p1 add.s32"));
    EXPECT_EQ(s.history()[5].mask, 0u);
    EXPECT_EQ(s.history()[6].mask, ~31u);
    EXPECT_EQ(k.out[4], 0u);
    EXPECT_EQ(k.out[5], 2u);
}

TEST(Stepper, ShowsSplitsThatDivergeWaitAndReconverge) {
    SteppedKernel k(kernel_text("setp.lt.u32 %p1, %r1, 10; @%p1 bra A; st.global.u32 [%rd1], 1;"
                                "bra END; A: st.global.u32 [%rd1], 2; END: mov.u32 %r5, %clock;"),
                    one_block(32));
    Stepper s(k.machine, k.frozen, 0);
    const std::uint32_t end = k.pc("mov.u32 %r5");
    s.run(4);
    ASSERT_EQ(s.warp(0).splits.size(), 2u);
    EXPECT_EQ(s.warp(0).splits[0].mask, ~0x3FFu)
        << "the lanes that do not take the branch run first";
    EXPECT_EQ(s.warp(0).splits[1].mask, 0x3FFu);
    EXPECT_EQ(s.warp(0).splits[1].pc, k.pc("st.global.u32 [%rd1], 2"));
    s.run(6);
    ASSERT_EQ(s.warp(0).splits.size(), 2u);
    EXPECT_EQ(s.warp(0).splits[0].mask, 0x3FFu);
    EXPECT_EQ(s.warp(0).splits[1].state, State::at_join);
    EXPECT_EQ(s.warp(0).splits[1].mask, ~0x3FFu);
    EXPECT_EQ(s.warp(0).splits[1].pc, end);
    s.run(7);
    ASSERT_EQ(s.warp(0).splits.size(), 1u) << "reconverged as soon as the last lanes have arrived";
    EXPECT_EQ(s.warp(0).splits[0].mask, ~0u);
    EXPECT_EQ(s.warp(0).splits[0].pc, end);
}

// Before Volta the other lanes of a warp cannot run while some wait, even if the user chooses it.
TEST(Stepper, BeforeVoltaOtherLanesCannotRunWhileSomeWait) {
    const std::string text =
        kernel_text("setp.lt.u32 %p1, %r1, 10; @%p1 bra A; bar.sync 0; A: bar.sync 0;");
    for (const BarrierPolicy policy : {BarrierPolicy::volta, BarrierPolicy::before_volta}) {
        SteppedKernel k(text, one_block(64),
                        {.schedule = Schedule::run_to_barrier, .barriers = policy});
        Stepper s(k.machine, k.frozen, 0);
        s.run(5);
        ASSERT_EQ(s.warp(0).splits.size(), 2u);
        const bool before = policy == BarrierPolicy::before_volta;
        EXPECT_EQ(s.warp(0).splits[0].state, before ? State::at_barrier : State::running);
        EXPECT_EQ(s.warp(0).splits[0].mask, before ? ~0x3FFu : 0x3FFu);
        EXPECT_EQ(s.warp(0).splits[1].state, before ? State::running : State::at_barrier);
        EXPECT_EQ(s.step(0), !before);
    }
}

TEST(Stepper, ShowsRegisterValuesOfEveryWidth) {
    SteppedKernel k(kernel_text("setp.lt.u32 %p1, %r1, 3; cvt.u16.u32 %h1, %r1;"
                                "sub.s16 %h1, %h1, 1; mov.u32 %r3, 77; add.u32 %r4, %r3, %r0;"
                                "@%p1 st.global.u16 [%rd1], %h1; st.global.u32 [%rd1], %r4;"),
                    one_block(32), {}, 5);
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    EXPECT_EQ(s.value(k.reg("%p1"), 0, 2), 1u);
    EXPECT_EQ(s.value(k.reg("%p1"), 0, 3), 0u);
    EXPECT_EQ(s.value(k.reg("%h1"), 0, 0), 0xFFFFu);
    EXPECT_EQ(s.value(k.reg("%h1"), 0, 9), 8u);
    EXPECT_EQ(s.value(k.reg("%r1"), 0, 9), 9u) << "a name for %tid.x";
    EXPECT_EQ(s.value(k.reg("%r3"), 0, 9), 77u) << "a name for a constant";
    EXPECT_EQ(s.value(k.reg("%r0"), 0, 9), 5u) << "a name for a parameter";
    EXPECT_EQ(s.value(k.reg("%r4"), 0, 9), 82u);
    EXPECT_EQ(s.value(k.reg("%rd1"), 0, 9), std::uint64_t(k.out + 9));
}

// Clocks count instructions over turns of several warps.
TEST(Stepper, ClockValuesEqualThoseOfMachineRun) {
    const std::string text = kernel_text(
        "rem.u32 %r2, %r1, 5; mov.u32 %r5, 0;"
        "TOP: add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra TOP; bar.sync 0;"
        "mov.u32 %r3, %clock; st.global.u32 [%rd1], %r3;");
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        SteppedKernel ran(text, one_block(96), {.seed = seed});
        ran.machine.run(ran.frozen);
        SteppedKernel k(text, one_block(96), {.seed = seed});
        Stepper s(k.machine, k.frozen, 0);
        s.run();
        EXPECT_TRUE(std::equal(k.out, k.out + 96, ran.out)) << seed;
        EXPECT_GT(k.out[0], 10u);
    }
}

TEST(Stepper, RepeatedStepReadsTheSameGlobalTimer) {
    SteppedKernel k(kernel_text("mov.u64 %rd2, %globaltimer; st.global.u64 [%rd1], %rd2;"),
                    one_block(1));
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    const std::uint32_t time = k.out[0];
    s.seek(0);
    s.run();
    EXPECT_EQ(k.out[0], time);
    EXPECT_NE(k.out[1], 0u) << "nanoseconds of the host's clock";
}

// A loop of 3 instructions: the loop counter is known at every position. Only few positions are
// saved.
TEST(Stepper, SeeksInALongHistory) {
    SteppedKernel k(kernel_text("mov.u32 %r2, 0;"
                                "TOP: add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r0;"
                                "@%p1 bra TOP; st.global.u32 [%rd1], %r2;"),
                    one_block(32), {}, 50'000);
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    ASSERT_EQ(s.end(), Stepper::End::finished);
    ASSERT_EQ(s.history().size(), 3 + 3 * 50'000u + 2);
    EXPECT_EQ(k.out[7], 50'000u);
    std::mt19937 random(5);
    for (int jump = 0; jump < 50; ++jump) {
        const std::uint64_t to = 3 + random() % 150'000;
        s.seek(to);
        EXPECT_EQ(s.position(), to);
        EXPECT_EQ(s.value(k.reg("%r2"), 0, 4), (to - 3 + 2) / 3) << to;
        EXPECT_EQ(k.out[7], 0u);
    }
    s.seek(~0ull);
    EXPECT_EQ(s.end(), Stepper::End::finished);
    EXPECT_EQ(k.out[7], 50'000u);
}

}  // namespace
}  // namespace warpscope::emulator
