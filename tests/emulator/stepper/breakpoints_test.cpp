#include "emulator/stepper/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>

#include "stepped_kernel.h"

namespace warpscope::emulator {
namespace {

constexpr const char* file = "kernels/s.cu";
using On = Watchpoint::On;
using Stops = std::vector<std::uint64_t>;

Breaks at_line(int line, Breakpoint point = {}) {
    point.file = file;
    point.line = line;
    return {{point}, {}};
}

/// Stops where a register has a value that fits.
template <std::predicate<std::uint64_t> Fits>
Breakpoint where_register(const Stepper& s, std::string_view name, Fits fits) {
    return {.condition = fmt::format("a fitting {}", name),
            .asks = [&s, name, fits](auto warp, auto lane) {
                const auto& all = s.kernel().registers;
                const auto reg = std::ranges::find(all, name, &RegisterInfo::name);
                return fits(s.value(*reg, warp, lane));
            }};
}
Breakpoint where_register(const Stepper& s, std::string_view name, int value) {
    return where_register(s, name,
                          [value](std::uint64_t here) { return here == std::uint64_t(value); });
}

Breaks on_word(unsigned word, On on) {
    return {{}, {{Space::shared, word * 4, on}}};
}

/// All positions at which the breaks stop, forwards from the start. The block is at its end then.
Stops forwards(Stepper& s, const Breaks& breaks) {
    s.seek(0);
    Stops stops;
    while (run_to(s, breaks).at == Stop::At::stop) stops.push_back(s.position());
    return stops;
}

/// The same, backwards from the end, in ascending order.
Stops backwards(Stepper& s, const Breaks& breaks) {
    s.seek(0);
    s.run();
    Stops stops;
    while (run_back_to(s, breaks).at == Stop::At::stop) stops.push_back(s.position());
    EXPECT_EQ(s.position(), 0u);
    std::reverse(stops.begin(), stops.end());
    return stops;
}

void expect_stops(Stepper& s, const Breaks& breaks, const Stops& stops) {
    EXPECT_EQ(forwards(s, breaks), stops);
    EXPECT_EQ(backwards(s, breaks), stops);
}

// Each of 64 threads stores t + 100 to word t, waits, and loads word 63 - t. Steps of a warp:
// mul.wide, add.s64 | 10: shl, add | 11: add, st | 12: bar | 13: sub, ld | 14: st, ret
// Warp 0 takes steps 0 to 6, warp 1 steps 7 to 13; behind the barrier 14 to 17, and 18 to 21.
const std::string mirror = kernel_text(R"(
.loc 1 10 1
shl.b32 %r2, %r1, 2; mov.u32 %r7, cell; add.s32 %r3, %r7, %r2;
.loc 1 11 1
add.s32 %r4, %r1, 100; st.shared.u32 [%r3], %r4;
.loc 1 12 1
bar.sync 0;
.loc 1 13 1
sub.s32 %r5, 252, %r2; ld.shared.u32 %r6, [%r5];
.loc 1 14 1
st.global.u32 [%rd1], %r6;)",
                                       words_with_lines);

class MirrorBreaks : public testing::Test {
  protected:
    SteppedKernel k{mirror, one_block(64)};
    Stepper s{k.machine, k.frozen, 0};
};

TEST_F(MirrorBreaks, ALineStopsOnceForEachWarp) {
    expect_stops(s, at_line(10), {2, 9});
    expect_stops(s, at_line(13), {14, 18});
    expect_stops(s, at_line(12), {6, 13});
    s.seek(0);
    const Stop first = run_to(s, at_line(13));
    EXPECT_EQ(first.why, "Warp 0 reaches kernels/s.cu:13.");
    EXPECT_EQ(first.warp, 0u);
    EXPECT_EQ(s.epoch(), 1u);
    EXPECT_EQ(run_to(s, at_line(13)).warp, 1u);
    EXPECT_EQ(run_to(s, at_line(13)).at, Stop::At::end);
    EXPECT_EQ(s.end(), Stepper::End::finished);
    EXPECT_EQ(s.position(), 22u);
    EXPECT_EQ(run_back_to(s, at_line(13)).why, "Warp 1 reaches kernels/s.cu:13.");
}

TEST_F(MirrorBreaks, AWarpAndALaneMakeItStopLess) {
    expect_stops(s, at_line(13, {.warp = 1}), {18});
    expect_stops(s, at_line(13, {.warp = 2}), {});
    expect_stops(s, at_line(13, {.lane = 31}), {14, 18});
    expect_stops(s, at_line(13, {.warp = 0, .lane = 5}), {14});
    s.seek(0);
    EXPECT_EQ(run_to(s, at_line(13, {.warp = 0, .lane = 5})).why,
              "Warp 0, lane 5, reaches kernels/s.cu:13.");
}

TEST_F(MirrorBreaks, AConditionHoldsInALane) {
    // %r2 is four times the thread: 0 to 124 in warp 0, 128 to 252 in warp 1.
    const auto when = [&](auto fits) { return at_line(13, where_register(s, "%r2", fits)); };
    expect_stops(s, when(128), {18});
    expect_stops(s, when([](auto r2) { return r2 < 128; }), {14});
    expect_stops(s, when([](auto r2) { return r2 >= 124; }), {14, 18});
    expect_stops(s, when(1000), {});
    Breaks of_lane_3 = when(128);
    of_lane_3.points[0].lane = 3;
    expect_stops(s, of_lane_3, {});
    s.seek(0);
    const Stop stop = run_to(s, when(124));
    EXPECT_EQ(stop.why, "Warp 0, lane 31, reaches kernels/s.cu:13 with a fitting %r2.");
    EXPECT_EQ(stop.lane, 31u);
}

TEST_F(MirrorBreaks, WhatIsDisabledOrElsewhereDoesNotStop) {
    expect_stops(s, at_line(13, {.enabled = false}), {});
    expect_stops(s, at_line(99), {});
    Breaks other = at_line(13);
    other.points[0].file = "kernels/t.cu";
    other.points[0].asks = [](auto, auto) -> bool { throw Error("of another kernel"); };
    expect_stops(s, other, {});
    Breaks watch = on_word(12, On::write);
    watch.watches[0].enabled = false;
    EXPECT_FALSE(watch.any_enabled());
    expect_stops(s, watch, {});
}

TEST_F(MirrorBreaks, AWordStopsAfterItsReaderAndItsWriter) {
    // Thread 12 of warp 0 writes word 12 in step 5; thread 51 of warp 1 reads it in step 19.
    expect_stops(s, on_word(12, On::write), {6});
    expect_stops(s, on_word(12, On::change), {6});
    expect_stops(s, on_word(12, On::read), {20});
    expect_stops(s, on_word(63, On::write), {13});
    expect_stops(s, on_word(64, On::write), {});  // beyond the 64 words
    s.seek(0);
    const Stop write = run_to(s, on_word(12, On::write));
    EXPECT_EQ(write.why, "Warp 0 writes word 12, kernels/s.cu:11.");
    EXPECT_EQ(write.lane, 12u);
    const Stop read = run_to(s, on_word(12, On::read));
    EXPECT_EQ(read.why, "Warp 1 reads word 12, kernels/s.cu:13.");
    EXPECT_EQ(read.lane, 51u - 32);
}

TEST_F(MirrorBreaks, AGlobalWordStopsToo) {
    // Thread 40 of warp 1 stores in step 20.
    const auto address = reinterpret_cast<std::uint64_t>(k.out + 40);
    const Breaks breaks{{}, {{Space::global, address, On::change}}};
    expect_stops(s, breaks, {21});
    s.seek(0);
    EXPECT_EQ(run_to(s, breaks).why,
              fmt::format("Warp 1 changes global word {:#x}, kernels/s.cu:14.", address));
    EXPECT_EQ(s.global_word(address), 123u);
    EXPECT_EQ(s.global_word(16), std::nullopt);
}

TEST_F(MirrorBreaks, StopsAtOnePositionAreNamedTogether) {
    Breaks breaks = on_word(40, On::write);
    breaks.points = at_line(12).points;
    expect_stops(s, breaks, {6, 13});
    s.seek(7);
    EXPECT_EQ(run_to(s, breaks).why,
              "Warp 1 reaches kernels/s.cu:12. Warp 1 writes word 40, kernels/s.cu:11.");
}

TEST_F(MirrorBreaks, KnownStepsByHandAreRepeated) {
    for (int i = 0; i < 4; ++i) s.step(1);
    s.seek(0);
    EXPECT_EQ(run_to(s, at_line(10)).warp, 1u);
    EXPECT_EQ(s.position(), 2u);
    EXPECT_EQ(s.history().size(), 4u);
}

TEST(Breaks, LinesOfThePtxStop) {
    SteppedKernel k(mirror, one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    const int line = k.kernel().lines[k.pc("bar.sync")].source.ptx_line;
    Breaks breaks{{{.file = "", .line = line}}, {}};
    EXPECT_EQ(forwards(s, breaks), (Stops{6, 13}));
    s.seek(0);
    EXPECT_EQ(run_to(s, breaks).why, fmt::format("Warp 0 reaches PTX line {}.", line));
}

// Steps: mul.wide, add.s64, mov, then add, setp, bra for each of n turns, st, ret.
std::string counting(const char* line_of_loop) {
    return kernel_text(fmt::format(R"(
.loc 1 20 1
mov.u32 %r2, 0;
LOOP:
.loc 1 {} 1
add.s32 %r2, %r2, 1;
.loc 1 21 1
setp.lt.u32 %p1, %r2, %r0;
@%p1 bra LOOP;
.loc 1 22 1
st.global.u32 [%rd1], %r2;)",
                                   line_of_loop),
                       ".file 1 \"kernels/s.cu\"");
}

TEST(Breaks, ALineOfALoopStopsInEachTurn) {
    SteppedKernel k(counting("21"), one_block(32), {.schedule = Schedule::run_to_barrier}, 3);
    Stepper s(k.machine, k.frozen, 0);
    expect_stops(s, at_line(20), {2});
    expect_stops(s, at_line(21), {3, 6, 9});
    expect_stops(s, at_line(22), {12});
    expect_stops(s, at_line(21, where_register(s, "%r2", 2)), {9});
}

TEST(Breaks, ALoopOnOneLineStopsAtItsBeginningAndInEachTurn) {
    SteppedKernel k(counting("20"), one_block(32), {.schedule = Schedule::run_to_barrier}, 3);
    Stepper s(k.machine, k.frozen, 0);
    expect_stops(s, at_line(20), {2, 3, 6, 9});
}

TEST(Breaks, LongHistoriesGiveEqualStopsInBothDirections) {
    SteppedKernel k(counting("21"), one_block(32), {.schedule = Schedule::run_to_barrier}, 700);
    Stepper s(k.machine, k.frozen, 0);
    Stops every_turn, every_seventh;
    for (std::uint64_t turn = 0; turn < 700; ++turn) every_turn.push_back(3 + 3 * turn);
    expect_stops(s, at_line(21), every_turn);
    // 3 + 3 * 683 = 2052 lies behind many saved positions.
    expect_stops(s, at_line(21, where_register(s, "%r2", 683)), {2052});

    std::stop_source stop;
    s.seek(0);
    s.run();
    stop.request_stop();
    s.set_stop(stop.get_token());
    EXPECT_EQ(run_back_to(s, at_line(99)).at, Stop::At::interrupted);
    EXPECT_EQ(s.position(), 2105u) << "it stays where it was";
    s.seek(0);
    EXPECT_EQ(run_to(s, at_line(99)).at, Stop::At::interrupted);
    EXPECT_EQ(s.position(), 1024u);
}

TEST(Breaks, ARunEndsAtItsLastPosition) {
    SteppedKernel k(counting("21"), one_block(32), {.schedule = Schedule::run_to_barrier}, 3);
    Stepper s(k.machine, k.frozen, 0);
    EXPECT_EQ(run_to(s, at_line(21), 2).at, Stop::At::end);
    EXPECT_EQ(s.position(), 2u);
    EXPECT_EQ(run_to(s, at_line(21), 3).at, Stop::At::stop);
}

// 8 lanes take line 32, 24 lanes line 31, which runs first. Steps: mul.wide, add.s64 | 30: setp,
// bra | 31: add, bra | 32: add | 33: st, ret
TEST(Breaks, OnlyTheLanesThatReachTheLineCount) {
    SteppedKernel k(kernel_text(R"(
.loc 1 30 1
setp.lt.u32 %p1, %r1, 8;
@%p1 bra THEN;
.loc 1 31 1
add.s32 %r2, %r1, 1;
bra.uni JOIN;
THEN:
.loc 1 32 1
add.s32 %r2, %r1, 2;
JOIN:
.loc 1 33 1
st.global.u32 [%rd1], %r2;)",
                                ".file 1 \"kernels/s.cu\""),
                    one_block(32));
    Stepper s(k.machine, k.frozen, 0);
    expect_stops(s, at_line(31), {4});
    expect_stops(s, at_line(32), {6});
    expect_stops(s, at_line(33), {7});
    expect_stops(s, at_line(31, {.lane = 20}), {4});
    expect_stops(s, at_line(31, {.lane = 3}), {});
    expect_stops(s, at_line(32, {.lane = 3}), {6});
    expect_stops(s, at_line(32, {.lane = 20}), {});
    expect_stops(s, at_line(33, {.lane = 3}), {7});
    expect_stops(s, at_line(31, where_register(s, "%r1", 20)), {4});
    expect_stops(s, at_line(32, where_register(s, "%r1", 20)), {});
    s.seek(0);
    EXPECT_EQ(run_to(s, at_line(31)).lane, 8u);
}

// Steps: mul.wide, add.s64, then the accesses of one thread to words 0 and 1.
TEST(Breaks, AnEqualValueIsAWriteAndNoChange) {
    SteppedKernel k(kernel_text(R"(
mov.u32 %r9, cell;
.loc 1 40 1
st.shared.u32 [%r9], 7;
st.shared.u32 [%r9], 7;
st.shared.u32 [%r9+4], 7;
atom.shared.add.u32 %r2, [%r9], 0;
atom.shared.add.u32 %r3, [%r9], 1;
ld.shared.v2.u32 {%r4, %r5}, [%r9];)",
                                words_with_lines),
                    one_block(1));
    Stepper s(k.machine, k.frozen, 0);
    expect_stops(s, on_word(0, On::write), {3, 4, 6, 7});
    expect_stops(s, on_word(0, On::change), {3, 7});
    expect_stops(s, on_word(0, On::read), {6, 7, 8});
    expect_stops(s, on_word(1, On::write), {5});
    expect_stops(s, on_word(1, On::read), {8});
}

TEST(Breaks, AFailedAccessStopsNothing) {
    SteppedKernel k(
        kernel_text("mov.u32 %r9, cell; st.shared.u32 [%r9+256], %r1;", words_with_lines),
        one_block(1));
    Stepper s(k.machine, k.frozen, 0);
    const Breaks breaks = on_word(64, On::write);
    EXPECT_EQ(run_to(s, breaks).at, Stop::At::end);
    EXPECT_EQ(s.end(), Stepper::End::failed);
}

}  // namespace
}  // namespace warpscope::emulator
