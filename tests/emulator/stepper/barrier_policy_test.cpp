#include <algorithm>

#include "frozen_kernel.h"

namespace warpscope::emulator {
namespace {

constexpr BarrierPolicy policies[] = {BarrierPolicy::volta, BarrierPolicy::before_volta,
                                      BarrierPolicy::strict};

struct PolicyRunner : Runner {
    PolicyRunner(BarrierPolicy policy, const std::string& ptx) : Runner(ptx) {
        settings.barriers = policy;
        settings.schedule = Schedule::run_to_barrier;
        settings.instruction_budget = 1'000'000;
    }
};

// Lanes 0-15 of the only warp wait at the barrier. Lanes 16-31 wait for a store after the barrier.
const std::string skippers_stay = ".file 1 \"kernels/d.cu\"\n" + kernel_text(R"(
.loc 1 5 1
setp.ge.u32 %p1, %r1, 16; @%p1 bra SPIN;
.loc 1 6 1
bar.sync 0;
st.volatile.shared.u32 [cell], 1; bra END;
.loc 1 8 1
SPIN: ld.volatile.shared.u32 %r2, [cell]; setp.eq.s32 %p2, %r2, 0; @%p2 bra SPIN;
END: st.global.u32 [%rd1], 7;)",
                                                                             shared_words);

// Each thread arrives for itself: the barrier waits for lanes 16-31, and these wait for the store.
TEST(BarrierPolicy, VoltaWaitsForLanesThatHaveNotExited) {
    PolicyRunner r(BarrierPolicy::volta, skippers_stay);
    expect_contains(error_of([&] { r.run(one_block(32)); }), "budget of 1000000");
}

// Lanes 0-15 arrive first and count as the whole warp. When they have exited, the other lanes find
// the flag set.
TEST(BarrierPolicy, BeforeVoltaTheFirstLanesCountAsTheWholeWarp) {
    PolicyRunner r(BarrierPolicy::before_volta, skippers_stay);
    for (const std::uint32_t v : r.run(one_block(32))) EXPECT_EQ(v, 7u);
    EXPECT_EQ(r.statistics.barriers, 1u);
}

TEST(BarrierPolicy, StrictNamesTheArrivedAndTheMissingLanes) {
    PolicyRunner r(BarrierPolicy::strict, skippers_stay);
    const std::string text = error_of([&] { r.run({{2, 1, 1}, {32, 1, 1}, 0}); });
    expect_contains(text, "kernel k, kernels/d.cu:6: block (0,0,0)");
    expect_contains(text, "lanes 0x0000ffff of warp 0 arrive");
    expect_contains(text, "without lanes 0xffff0000");
    expect_contains(text, "are at kernels/d.cu:8");
}

// Some lanes of a warp may execute barrier.sync without .aligned.
TEST(BarrierPolicy, StrictAllowsPartOfAWarpAtABarrierThatIsNotAligned) {
    const char* body =
        "setp.ge.u32 %p1, %r1, 16; @%p1 bra B; barrier.sync 0; bra END;"
        "B: barrier.sync 0; END: st.global.u32 [%rd1], 7;";
    PolicyRunner r(BarrierPolicy::strict, kernel_text(body));
    for (const std::uint32_t v : r.run(one_block(32))) EXPECT_EQ(v, 7u);
    std::string aligned = body;
    aligned.replace(aligned.find("barrier.sync"), 12, "barrier.cta.sync.aligned");
    PolicyRunner fails(BarrierPolicy::strict, kernel_text(aligned));
    expect_contains(error_of([&] { fails.run(one_block(32)); }), "arrive at the barrier without");
}

// Lanes that have exited or exit next are not missing. Lanes that store before they exit are.
TEST(BarrierPolicy, BarrierDoesNotWaitForLanesThatExit) {
    const auto text = [](const std::string& before_exit) {
        return kernel_text(
            "setp.ge.u32 %p1, %r1, 16; @%p1 bra END; bar.sync 0;"
            "st.global.u32 [%rd1], 3; ret; END: " +
            before_exit);
    };
    for (const BarrierPolicy policy : policies) {
        PolicyRunner r(policy, text(""));
        const auto out = r.run(one_block(64));  // all lanes of warp 1 exit
        EXPECT_EQ(std::count(out.begin(), out.end(), 3u), 16);
        EXPECT_EQ(r.statistics.barriers, 1u);
        PolicyRunner stores(policy, text("st.global.u32 [%rd1], 4;"));
        if (policy == BarrierPolicy::strict)
            expect_contains(error_of([&] { stores.run(one_block(64)); }),
                            "without lanes 0xffff0000");
        else
            EXPECT_EQ(stores.run(one_block(64))[16], 4u);
    }
}

TEST(BarrierPolicy, BarriersCompleteWhenHalfAWarpHasExited) {
    for (const BarrierPolicy policy : policies) {
        PolicyRunner r(policy,
                       kernel_text("and.b32 %r2, %r1, 112; setp.eq.u32 %p1, %r2, 16; @%p1 ret;"
                                   "bar.sync 0; bar.sync 0; st.global.u32 [%rd1], 3;"));
        const auto out = r.run(one_block(96));  // warp 0 has 16 lanes left, 1 and 2 have 32
        EXPECT_EQ(std::count(out.begin(), out.end(), 3u), 80);
        EXPECT_EQ(r.statistics.barriers, 2u);
    }
}

// Threads below the limit run the loop three times, the others twice. Then all have a barrier.
std::string one_short(const std::string& who) {
    return kernel_text("setp.lt.u32 %p1, " + who + R"(; selp.u32 %r2, 3, 2, %p1;
TOP: bar.sync 0;
sub.s32 %r2, %r2, 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra TOP;
bar.sync 0;
st.global.u32 [%rd1], 5;)");
}

// Volta: the third barrier of lanes 0-15 and the last one of lanes 16-31 complete together. When
// lanes 16-31 have exited, lanes 0-15 complete their last barrier alone: 4 barriers. Before Volta,
// after two barriers together, lanes 16-31 complete one alone and lanes 0-15 two: 5 barriers.
// Strict: the third barrier is an error.
TEST(BarrierPolicy, LanesWithOneIterationLessInOneWarp) {
    for (const auto& [policy, barriers] :
         {std::pair(BarrierPolicy::volta, 4u), std::pair(BarrierPolicy::before_volta, 5u)}) {
        PolicyRunner r(policy, one_short("%r1, 16"));
        for (const std::uint32_t v : r.run(one_block(32))) EXPECT_EQ(v, 5u);
        EXPECT_EQ(r.statistics.barriers, barriers);
    }
    PolicyRunner r(BarrierPolicy::strict, one_short("%r1, 16"));
    expect_contains(error_of([&] { r.run(one_block(32)); }),
                    "lanes 0xffff0000 of warp 0 arrive at the barrier without lanes 0x0000ffff");
}

// Whole warps: under every policy the third barrier of warp 0 and the last one of warp 1 complete
// together.
TEST(BarrierPolicy, WarpsWithOneIterationLessCompleteTheirBarriers) {
    for (const BarrierPolicy policy : policies) {
        PolicyRunner r(policy, one_short("%r1, 32"));
        for (const std::uint32_t v : r.run(one_block(64))) EXPECT_EQ(v, 5u);
        EXPECT_EQ(r.statistics.barriers, 4u);
    }
}

// Half of warp 0 and all of warp 1 arrive at a barrier of 64 threads: these are 48 threads, but two
// warps.
TEST(BarrierPolicy, BarrierWithAThreadCountCountsByPolicy) {
    const std::string text =
        kernel_text("setp.lt.u32 %p1, %r1, 16; @%p1 ret; bar.sync 3, 64; st.global.u32 [%rd1], 9;");
    for (const BarrierPolicy policy : {BarrierPolicy::volta, BarrierPolicy::strict}) {
        PolicyRunner r(policy, text);
        expect_contains(error_of([&] { r.run(one_block(64)); }),
                        "warp 0 lanes 0xffff0000 at the barrier PTX line");
    }
    PolicyRunner r(BarrierPolicy::before_volta, text);
    const auto out = r.run(one_block(64));
    EXPECT_EQ(std::count(out.begin(), out.end(), 9u), 48);
}

// Two warps at different barriers. Before Volta the other lanes of warp 0 cannot run.
TEST(BarrierPolicy, DeadlockNamesLanesAndLines) {
    const std::string text = ".file 1 \"kernels/d.cu\"\n" + kernel_text(R"(
.loc 1 5 1
setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER; setp.ge.u32 %p2, %r1, 16; @%p2 bra LATE;
.loc 1 6 1
bar.sync 1; bra END;
.loc 1 7 1
LATE: st.global.u32 [%rd1], 1;
.loc 1 8 1
bar.sync 1; bra END;
.loc 1 9 1
OTHER: bar.sync 2; END: )");
    const auto error = [&](BarrierPolicy policy) {
        PolicyRunner r(policy, text);
        return error_of([&] { r.run(one_block(64)); });
    };
    for (const BarrierPolicy policy : {BarrierPolicy::volta, BarrierPolicy::before_volta}) {
        expect_contains(error(policy),
                        "warp 0 lanes 0x0000ffff at the barrier kernels/d.cu:6 (barrier 1)");
        expect_contains(error(policy),
                        "warp 1 lanes 0xffffffff at the barrier kernels/d.cu:9 (barrier 2)");
    }
    expect_contains(error(BarrierPolicy::volta),
                    "warp 0 lanes 0xffff0000 at the barrier kernels/d.cu:8 (barrier 1)");
    expect_contains(
        error(BarrierPolicy::before_volta),
        "warp 0 lanes 0xffff0000 before kernels/d.cu:7, blocked by the waiting lanes of "
        "this warp");
    expect_contains(error(BarrierPolicy::strict),
                    "kernels/d.cu:6: block (0,0,0): lanes 0x0000ffff");
}

// The barrier counts a whole warp, but the reduction combines only the lanes that have arrived.
TEST(BarrierPolicy, ReductionsCombineTheArrivedLanesOnly) {
    PolicyRunner r(BarrierPolicy::before_volta,
                   kernel_text("setp.ge.u32 %p1, %r1, 8; @%p1 bra END; setp.lt.u32 %p2, %r1, 5;"
                               "bar.red.popc.u32 %r2, 0, %p2; setp.lt.u32 %p3, %r1, 8;"
                               "bar.red.and.pred %p4, 0, %p3; @%p4 add.s32 %r2, %r2, 100;"
                               "st.global.u32 [%rd1], %r2; END: "));
    EXPECT_EQ(r.run(one_block(32))[0], 105u);
}

// The barrier inside the divergent if, 128 threads. Warps whose threads skip it run to their end,
// and the barrier does not wait for them. In the step with half = 16, lanes 16-31 of warp 0 skip
// it.
//   volta, before Volta   1 + 7 barriers and the right sum: the threads that skip the barrier have
//                         added their values in the step before
//   strict                the step with half = 16 is an error
class DivergentDot : public testing::Test {
  protected:
    static FrozenKernel dot(const std::string& kernel, BarrierPolicy policy) {
        return {
            "precise/dot.ptx", kernel, {{2, 1, 1}, {128, 1, 1}, 0}, {1000}, {.barriers = policy}};
    }
};

TEST_F(DivergentDot, GivesTheRightSumExceptUnderTheStrictPolicy) {
    FrozenKernel right = dot("dot_book", BarrierPolicy::volta);
    right.machine.run(right.frozen);
    for (const BarrierPolicy policy : {BarrierPolicy::volta, BarrierPolicy::before_volta}) {
        FrozenKernel divergent = dot("dot_divergent", policy);
        EXPECT_EQ(divergent.machine.run(divergent.frozen).barriers, 2u * 8);
        EXPECT_TRUE(divergent.memory() == right.memory());
    }
    FrozenKernel strict = dot("dot_divergent", BarrierPolicy::strict);
    const std::string text = error_of([&] { strict.machine.run(strict.frozen); });
    expect_contains(text, "kernel dot_divergent, kernels/dot.cu:");
    expect_contains(text,
                    "lanes 0x0000ffff of warp 0 arrive at the barrier without lanes 0xffff0000");
}

// Whole warps arrive at every barrier of a correct kernel, so the policies give equal results.
TEST_F(DivergentDot, PoliciesGiveEqualResultsForTheCorrectKernel) {
    FrozenKernel right = dot("dot_book", BarrierPolicy::volta);
    const Statistics expected = right.machine.run(right.frozen);
    for (const BarrierPolicy policy : {BarrierPolicy::before_volta, BarrierPolicy::strict}) {
        FrozenKernel k = dot("dot_book", policy);
        EXPECT_EQ(k.machine.run(k.frozen).barriers, expected.barriers);
        EXPECT_TRUE(k.memory() == right.memory());
    }
}

}  // namespace
}  // namespace warpscope::emulator
