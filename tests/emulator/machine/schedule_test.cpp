#include <set>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// Every thread stores its number and reads the word of the mirrored thread, without a barrier.
const std::string mirror = kernel_text(R"(
mov.u32 %r5, %ctaid.x; mad.lo.s32 %r6, %r5, 256, %r1; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd2, %rd0, %rd2;
add.s32 %r7, %r6, %r0;
shl.b32 %r2, %r1, 2; mov.u32 %r3, cell; add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %r7;
sub.s32 %r8, 255, %r1; shl.b32 %r8, %r8, 2; add.s32 %r8, %r3, %r8;
ld.shared.u32 %r9, [%r8];
st.global.u32 [%rd2], %r9;)",
                                       shared_words);

const LaunchShape grid{{90, 1, 1}, {256, 1, 1}, 0};

std::vector<std::uint32_t> run_mirror(std::uint64_t seed, unsigned threads, Schedule schedule) {
    Runner r(mirror);
    r.settings.schedule = schedule;
    r.settings.seed = seed;
    r.settings.threads = threads;
    return r.run(grid, 1'000'000);
}

TEST(Schedule, ResultDependsOnTheSeedNotOnTheHostThreads) {
    const auto one = run_mirror(7, 1, Schedule::random);
    EXPECT_EQ(one, run_mirror(7, 2, Schedule::random));
    EXPECT_EQ(one, run_mirror(7, 5, Schedule::random));
    EXPECT_NE(one, run_mirror(8, 2, Schedule::random));
}

double wrong_share(const std::vector<std::uint32_t>& out) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
        wrong += out[i] != 1'000'000 + i / 256 * 256 + (255 - i % 256);
    return double(wrong) / double(out.size());
}

TEST(Schedule, OrderedSchedulesGiveHalfOfTheThreadsStaleValues) {
    // Warps 0 to 3 read before the mirrored warps store; in reverse order, warps 7 to 4 do.
    const auto forward = run_mirror(1, 2, Schedule::run_to_barrier);
    EXPECT_EQ(wrong_share(forward), 0.5);
    EXPECT_NE(forward[0], 1'000'255u);
    EXPECT_EQ(forward[255], 1'000'000u);
    const auto backward = run_mirror(1, 2, Schedule::reverse);
    EXPECT_EQ(wrong_share(backward), 0.5);
    EXPECT_EQ(backward[0], 1'000'255u);
}

TEST(Schedule, RandomScheduleMakesTheRaceVisible) {
    const double share = wrong_share(run_mirror(3, 2, Schedule::random));
    EXPECT_GT(share, 0.05);
    EXPECT_LT(share, 0.5);
}

TEST(Schedule, StaleValuesComeFromTheEarlierBlockOfTheVirtualSm) {
    const auto out = run_mirror(1, 2, Schedule::run_to_barrier);
    const std::uint32_t sms = Machine::default_virtual_sms;
    for (std::uint32_t t = 0; t < 128; ++t) {
        EXPECT_EQ(out[t], 0u) << "the first block of a virtual SM finds zeros";
        EXPECT_EQ(out[sms * 256 + t], 1'000'000 + 255 - t)
            << "the next block finds the values of block 0";
    }
}

// Each block stores how many blocks its virtual SM has run before it.
TEST(Schedule, VirtualSmRunsItsBlocksInOrderOnAnyNumberOfHostThreads) {
    const std::string counting = kernel_text(
        "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd0, %rd2;"
        "ld.shared.u32 %r3, [cell]; st.global.u32 [%rd2], %r3; add.s32 %r3, %r3, 1;"
        "st.shared.u32 [cell], %r3;",
        shared_words);
    for (const unsigned threads : {1, 2, 3, 7, 16, 29, 40})
        for (const std::uint32_t blocks : {1, 28, 29, 30, 58, 1000, 5003}) {
            Runner r(counting);
            r.settings.threads = threads;
            const auto found = r.run({{blocks, 1, 1}, {1, 1, 1}, 0});
            for (std::uint32_t b = 0; b < blocks; ++b)
                ASSERT_EQ(found[b], b / Machine::default_virtual_sms)
                    << "block " << b << " of " << blocks << ", " << threads << " threads";
        }
}

TEST(Schedule, SharedMemoryKeepsItsBytesBetweenLaunches) {
    Runner r(kernel_text(
        "ld.shared.u32 %r2, [cell]; st.shared.u32 [cell], %r0; st.global.u32 [%rd1], %r2;",
        shared_words));
    EXPECT_EQ(r.run(one_block(1), 11)[0], 0u);
    EXPECT_EQ(r.run(one_block(1), 12)[0], 11u);
    EXPECT_EQ(r.run(one_block(1), 13)[0], 12u);
}

TEST(Schedule, SumOfFloatAtomicsDoesNotDependOnTheHostThreads) {
    const std::string ptx = kernel_text(
        "mov.u32 %r2, %ctaid.x; mad.lo.s32 %r2, %r2, 64, %r1;"
        "cvt.rn.f32.u32 %f1, %r2; rcp.rn.f32 %f1, %f1; setp.eq.s32 %p1, %r2, 0;"
        "@%p1 ret; red.global.add.f32 [%rd0], %f1;");
    std::set<std::uint32_t> sums;
    for (unsigned threads : {1, 2, 3, 7}) {
        Runner r(ptx);
        r.settings.threads = threads;
        sums.insert(r.run({{300, 1, 1}, {64, 1, 1}, 0}, 0, 1)[0]);
    }
    EXPECT_EQ(sums.size(), 1u);
}

TEST(Schedule, WarpMaySpinUntilAnotherWarpStores) {
    Runner r(kernel_text(
        "setp.ge.u32 %p1, %r1, 32; @%p1 bra LATER;"
        "WAIT: ld.volatile.shared.u32 %r2, [cell]; setp.eq.s32 %p2, %r2, 0; @%p2 bra WAIT;"
        "st.global.u32 [%rd1], %r2; bra END; LATER: st.volatile.shared.u32 [cell], 9; END: ",
        shared_words));
    r.settings.instruction_budget = 100'000'000;
    for (const Schedule s : {Schedule::run_to_barrier, Schedule::random}) {
        Runner fresh(mirror);
        r.settings.schedule = s;
        EXPECT_EQ(r.run(one_block(64))[5], 9u);
    }
}

TEST(Schedule, InstructionBudgetEndsAnEndlessLoop) {
    Runner r(kernel_text("TOP: bra TOP;"));
    r.settings.instruction_budget = 1000;
    expect_contains(error_of([&] { r.run(one_block(32)); }), "budget of 1000");
    Runner enough(kernel_text("st.global.u32 [%rd1], 1;"));
    enough.settings.instruction_budget = 7;
    EXPECT_EQ(enough.run(one_block(32))[0], 1u);
    enough.settings.instruction_budget = 6;
    EXPECT_THROW(enough.run(one_block(32)), Error);
}

}  // namespace
}  // namespace warpscope::emulator
