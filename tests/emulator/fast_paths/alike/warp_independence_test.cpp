#include "emulator/fast_paths/alike/launched.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {
namespace {

const std::string mirror_with_barrier =
    "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd2], %r6;";
const std::string race_obstacle = "threads use one word of shared memory without a barrier between";

TEST(WarpIndependence, HoldsForWordsThatABarrierSeparates) {
    EXPECT_EQ(Launched(mirror_with_barrier).obstacle(), "");
}

TEST(WarpIndependence, DoesNotHoldWithoutTheBarrier) {
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r5];").obstacle(),
              race_obstacle);
    EXPECT_EQ(Launched("ld.shared.u32 %r6, [%r5];\nst.shared.u32 [%r4], %r1;").obstacle(),
              race_obstacle);
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nst.shared.u32 [%r5], %r1;").obstacle(),
              race_obstacle);
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r4];").obstacle(), "");
}

TEST(WarpIndependence, DoesNotHoldForTheNextStepOfALoopWithoutABarrier) {
    const auto loop = [](const char* barrier) {
        return std::string(
                   "mov.u32 %r10, 32;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\nL:\n"
                   "setp.ge.u32 %p0, %r1, %r10;\n@%p0 bra J;\nshl.b32 %r11, %r10, 2;\n"
                   "add.u32 %r11, %r4, %r11;\nld.shared.u32 %r6, [%r11];\n"
                   "ld.shared.u32 %r7, [%r4];\nadd.u32 %r6, %r6, %r7;\n"
                   "st.shared.u32 [%r4], %r6;\nJ:\n") +
               barrier +
               "shr.u32 %r10, %r10, 1;\nsetp.gt.u32 %p1, %r10, 0;\n@%p1 bra L;\n"
               "ld.shared.u32 %r6, [cell];\n";
    };
    EXPECT_EQ(Launched(loop("bar.sync 0;\n")).obstacle(), "");
    EXPECT_EQ(Launched(loop("")).obstacle(), race_obstacle);
}

TEST(WarpIndependence, NeedsABarrierBetweenTheLanesOfAWarp) {
    const LaunchShape one_warp = one_block(32);
    const auto mirror = [](const std::string& barrier) {
        return "mov.u32 %r5, 31;\nsub.u32 %r5, %r5, %r1;\nshl.b32 %r5, %r5, 2;\n"
               "add.u32 %r5, %r2, %r5;\nst.shared.u32 [%r4], %r1;\n" +
               barrier + "ld.shared.u32 %r6, [%r5];";
    };
    EXPECT_EQ(Launched(mirror("bar.warp.sync -1;\n"), one_warp).obstacle(), "");
    EXPECT_EQ(Launched(mirror(""), one_warp).obstacle(), race_obstacle);
    EXPECT_EQ(Launched(mirror("bar.warp.sync 65535;\n"), one_warp).obstacle(), race_obstacle);
    const std::string across =
        "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r6, [%r5];";
    EXPECT_EQ(Launched(across).obstacle(), race_obstacle) << "the lanes are in different warps";
}

TEST(WarpIndependence, DoesNotHoldForSidesOfABranchThatMeetInAWord) {
    EXPECT_EQ(Launched("setp.lt.u32 %p0, %r1, 16;\n@%p0 bra A;\nld.shared.u32 %r6, [%r4+-64];\n"
                       "bra.uni J;\nA:\nst.shared.u32 [%r4], %r1;\nJ:\n",
                       one_block(32))
                  .obstacle(),
              race_obstacle);
}

TEST(WarpIndependence, AllowsOneStoreOfEachThreadBetweenBarriers) {
    EXPECT_EQ(Launched("bar.sync 0;\nst.global.u32 [%rd2], %r1;\nst.global.u32 [%rd2+1024], %r1;")
                  .obstacle(),
              "several instructions write global memory between two barriers");
    EXPECT_EQ(Launched("st.global.u32 [%rd2], %r1;\nbar.sync 0;\nst.global.u32 [%rd2+4], %r1;")
                  .obstacle(),
              "");
    EXPECT_EQ(Launched("bar.sync 0;\nst.global.u32 [%rd0], %r1;").obstacle(),
              "threads write one address of global memory");
}

TEST(WarpIndependence, DoesNotHoldForLoadsAndStoresOfGlobalMemory) {
    const std::string both = "global memory is read and written between two barriers";
    EXPECT_EQ(Launched("bar.sync 0;\nld.global.u32 %r6, [%rd2+4];\nst.global.u32 [%rd2], %r6;")
                  .obstacle(),
              both);
    EXPECT_EQ(Launched("bar.sync 0;\nsetp.ge.u32 %p0, %r8, %r0;\n@%p0 bra J;\n"
                       "ld.global.u32 %r6, [%rd2+4];\nJ:\nst.global.u32 [%rd2], %r6;")
                  .obstacle(0),
              both)
        << "no thread of the first block loads";
    EXPECT_EQ(Launched("ld.global.u32 %r6, [%rd2+4];\nbar.sync 0;\nst.global.u32 [%rd2], %r6;")
                  .obstacle(),
              "");
}

TEST(WarpIndependence, DoesNotHoldForAddressesFromMemory) {
    const std::string unknown = "an address is not known before the launch";
    EXPECT_EQ(Launched("ld.global.u32 %r6, [%rd2];\nand.b32 %r6, %r6, 63;\nshl.b32 %r6, %r6, 2;\n"
                       "add.u32 %r6, %r2, %r6;\nbar.sync 0;\nst.shared.u32 [%r6], %r1;")
                  .obstacle(),
              unknown);
    EXPECT_EQ(
        Launched("ld.global.u64 %rd3, [%rd2];\nbar.sync 0;\nst.global.u32 [%rd3], %r1;").obstacle(),
        unknown);
    EXPECT_EQ(Launched("mov.u32 %r6, %ctaid.x;\nshl.b32 %r6, %r6, 2;\nadd.u32 %r6, %r4, %r6;\n"
                       "st.shared.u32 [%r6], %r1;")
                  .obstacle(),
              unknown)
        << "another word in each block";
}

// Two registers of one block have one shift, but a register that both sides of a branch set may
// have two.
TEST(WarpIndependence, DoesNotHoldForAddressesWithTwoShifts) {
    EXPECT_EQ(Launched("bar.sync 0;\nmov.u32 %r10, %ctaid.x;\nsetp.lt.u32 %p0, %r1, 32;\n"
                       "mul.lo.u32 %r11, %r10, 64;\n@%p0 bra J;\nmul.lo.u32 %r11, %r10, 128;\nJ:\n"
                       "add.u32 %r12, %r11, %r1;\nmul.wide.u32 %rd11, %r12, 4;\n"
                       "add.u64 %rd3, %rd0, %rd11;\nst.global.u32 [%rd3], %r1;")
                  .obstacle(),
              "an address is not known before the launch");
    EXPECT_EQ(Launched("bar.sync 0;\nmov.u32 %r10, %ctaid.x;\nmul.lo.u32 %r11, %r10, %r1;\n"
                       "mul.wide.u32 %rd11, %r11, 4;\nadd.u64 %rd3, %rd0, %rd11;\n"
                       "st.global.u32 [%rd3], %r1;")
                  .obstacle(),
              "an address is not known before the launch")
        << "the threads of a block have different shifts";
    EXPECT_EQ(Launched("bar.sync 0;\nmov.u32 %r10, %ctaid.x;\nmad.lo.u32 %r11, %r10, %r10, %r1;\n"
                       "mul.wide.u32 %rd11, %r11, 4;\nadd.u64 %rd3, %rd0, %rd11;\n"
                       "st.global.u32 [%rd3], %r1;")
                  .obstacle(),
              "")
        << "the square of the block's index is one shift";
}

// Blocks are compared modulo 2^32, where 32-bit arithmetic in any of them may wrap around.
TEST(WarpIndependence, DoesNotHoldForWordsThatAreEqualWhereIndicesWrapAround) {
    const std::string one_address = "threads write one address of global memory";
    EXPECT_EQ(Launched("bar.sync 0;\nshl.b32 %r10, %r1, 27;\nmul.wide.u32 %rd11, %r10, 4;\n"
                       "add.u64 %rd3, %rd0, %rd11;\nst.global.u32 [%rd3], %r1;")
                  .obstacle(),
              one_address);
    EXPECT_EQ(
        Launched("bar.sync 0;\nmul.wide.u32 %rd12, %r1, 1073741824;\nshl.b64 %rd11, %rd12, 2;\n"
                 "add.u64 %rd3, %rd0, %rd11;\nst.global.u32 [%rd3], %r1;")
            .obstacle(),
        one_address)
        << "the words are 2^32 bytes apart";
    EXPECT_EQ(Launched("bar.sync 0;\nadd.u32 %r10, %r8, -8;\nmul.wide.u32 %rd11, %r10, 4;\n"
                       "add.u64 %rd3, %rd0, %rd11;\nst.global.u32 [%rd3], %r1;")
                  .obstacle(),
              "")
        << "in the first block some indices wrap around, in the others none";
}

const std::string store_within_n =
    mirror_with_barrier.substr(0, mirror_with_barrier.find("st.global")) +
    "setp.ge.u32 %p0, %r8, %r0;\n@%p0 bra J;\nst.global.u32 [%rd2], %r6;\nJ:\n";

TEST(WarpIndependence, HoldsAtTheEdgeIfTheFirstBlockIsInside) {
    EXPECT_EQ(Launched(store_within_n).obstacle(64), "");
    EXPECT_EQ(Launched(store_within_n).obstacle(150), "");
    EXPECT_EQ(Launched(store_within_n).obstacle(63),
              "some threads of the first block do not execute an uncertain access");
}

TEST(WarpIndependence, DoesNotHoldForAccessesThatAnUnknownBranchRepeats) {
    EXPECT_EQ(Launched("bar.sync 0;\nmov.u32 %r10, %ctaid.x;\nL:\nst.shared.u32 [%r4], %r1;\n"
                       "add.u32 %r10, %r10, -1;\nsetp.gt.s32 %p0, %r10, 0;\n@%p0 bra L;\n")
                  .obstacle(),
              "an unknown branch repeats an access");
}

TEST(WarpIndependence, DoesNotHoldForBarriersBehindUnknownBranches) {
    const std::string unknown = "an unknown branch leads to a barrier";
    EXPECT_EQ(Launched("setp.eq.u32 %p0, %r8, 0;\n@%p0 bra J;\nbar.sync 0;\nJ:\n").obstacle(),
              unknown);
    EXPECT_EQ(Launched("setp.ge.u32 %p0, %r8, %r0;\n@%p0 ret;\nbar.sync 0;\n").obstacle(100),
              unknown);
    EXPECT_EQ(Launched("ld.global.u32 %r6, [%rd2];\nsetp.eq.u32 %p0, %r6, 0;\n@%p0 bra J;\n"
                       "bar.sync 0;\nJ:\n")
                  .obstacle(),
              unknown);
}

TEST(WarpIndependence, NeedsWholeWarpsAtABarrier) {
    const auto leaves = [](const char* condition) {
        return std::string(condition) + "@%p0 ret;\nbar.sync 0;\nst.global.u32 [%rd2], %r1;";
    };
    EXPECT_EQ(Launched(leaves("setp.ge.u32 %p0, %r1, 32;\n")).obstacle(), "");
    EXPECT_EQ(Launched(leaves("setp.ge.u32 %p0, %r1, 40;\n")).obstacle(),
              "some lanes of a warp come to a barrier alone");
    EXPECT_EQ(Launched("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra A;\nbar.sync 0;\nbra.uni J;\nA:\n"
                       "bar.sync 0;\nJ:\n")
                  .obstacle(),
              "warps wait at different barriers");
    EXPECT_EQ(Launched("bar.sync 0, 64;").obstacle(), "a barrier is not for all threads");
    EXPECT_EQ(Launched("bar.arrive 0, 64;").obstacle(), "a barrier is not for all threads");
    EXPECT_EQ(Launched("shr.u32 %r6, %r1, 5;\nbar.sync %r6;").obstacle(),
              "the number of a barrier varies");
}

TEST(WarpIndependence, NeedsLanesThatExchangeValuesTogether) {
    const std::string down = "shfl.sync.down.b32 %r6, %r1, 1, 31, ";
    EXPECT_EQ(Launched("bar.sync 0;\n" + down + "-1;").obstacle(), "");
    EXPECT_EQ(Launched("bar.sync 0;\nsetp.lt.u32 %p0, %r1, 16;\n@!%p0 bra J;\n" + down +
                           "65535;\nJ:\nadd.u32 %r7, %r6, 1;\n",
                       one_block(32))
                  .obstacle(),
              "")
        << "the other lanes wait at the join";
    EXPECT_EQ(Launched("bar.sync 0;\nsetp.lt.u32 %p0, %r1, 16;\n@!%p0 bra A;\n" + down +
                           "65535;\nbra.uni J;\nA:\nadd.u32 %r1, %r1, 1;\nJ:\n",
                       one_block(32))
                  .obstacle(),
              "lanes exchange values while others run elsewhere");
    EXPECT_EQ(Launched("bar.sync 0;\nsetp.lt.u32 %p0, %r8, 16;\n@!%p0 bra J;\n" + down +
                       "65535;\nJ:\nadd.u32 %r7, %r6, 1;\n")
                  .obstacle(),
              "an unknown branch leads to an exchange of lanes");
    EXPECT_EQ(Launched("ld.global.u32 %r7, [%rd2];\nbar.sync 0;\n" + down + "%r7;").obstacle(),
              "the lanes of an exchange are not known");
}

TEST(WarpIndependence, DoesNotHoldForWhatOtherThreadsOrTimeDecide) {
    const std::pair<const char*, const char*> rows[] = {
        {"red.shared.add.u32 [%r4], 1;", "there are atomics"},
        {"atom.global.add.u32 %r6, [%rd2], 1;\nbar.sync 0;", "there are atomics"},
        {"st.volatile.shared.u32 [%r4], %r1;", "a load or store is volatile or ordered"},
        {"ld.relaxed.gpu.global.u32 %r6, [%rd2];\nbar.sync 0;",
         "a load or store is volatile or ordered"},
        {"membar.gl;\nbar.sync 0;", "there are fences"},
        {"mov.u32 %r6, %clock;\nbar.sync 0;", "a clock is read"},
        {"activemask.b32 %r6;\nbar.sync 0;", "active lanes are read"},
        {"ld.u32 %r6, [%rd2];\nbar.sync 0;", "an address is generic"},
        {"setp.eq.u32 %p0, %r1, 0;\n@%p0 st.shared.u32 [%r4], %r1;",
         "a load or store has a predicate"}};
    for (const auto& [body, why] : rows) EXPECT_EQ(Launched(body).obstacle(), why) << body;
}

// A loop of %r0 iterations, then a barrier.
const std::string counts_down =
    "L:\nadd.u32 %r0, %r0, -1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\nbar.sync 0;";
const std::string too_long = "the block is too long to be rehearsed";

TEST(WarpIndependence, IsGivenUpForLongBlocks) {
    const Launched launched(counts_down);
    const auto obstacles = [&](std::uint32_t n, std::uint64_t most_steps) {
        return obstacles_to_independence(launched.with(n), Memory(), most_steps);
    };
    EXPECT_EQ(launched.obstacle(1'000'000), too_long);
    // 100 more iterations of 3 instructions, by 2 warps.
    std::uint64_t steps = 0;
    while (obstacles(1, steps).gave_up) ++steps;
    EXPECT_EQ(obstacles(101, steps + 599).warps, too_long);
    EXPECT_EQ(obstacles(101, steps + 599).blocks, too_long);
    EXPECT_EQ(obstacles(101, steps + 600).warps, "");
    EXPECT_FALSE(obstacles(101, steps + 600).gave_up);
}

TEST(WarpIndependence, IsFoundForALongBlockWhenItsLaunchComesAgain) {
    constexpr std::uint32_t n = 100'000;
    const Launched launched(counts_down), racing(counts_down + "st.shared.u32 [cell], %r1;");
    WarpIndependence independence;
    const Memory memory;
    EXPECT_EQ(independence.obstacles(launched.with(n), memory).warps, too_long);
    EXPECT_EQ(independence.obstacles(racing.with(n), memory).warps, too_long);
    EXPECT_EQ(independence.obstacles(launched.with(n + 1), memory).warps, too_long);
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(independence.obstacles(launched.with(n), memory).warps, "");
        EXPECT_EQ(independence.obstacles(racing.with(n), memory).warps, race_obstacle);
    }
}

TEST(WarpIndependence, IsTrueWithoutBarriersAndSharedMemory) {
    EXPECT_EQ(Launched("st.global.u32 [%rd0], %r1;").obstacle(), "");
}

TEST(WarpIndependence, IsFoundAgainForOtherArgumentsAndShapes) {
    const Launched launched(store_within_n), smaller(store_within_n, one_block(32));
    WarpIndependence independence;
    const Memory memory;
    const auto holds = [&](const Launched& launch, std::uint32_t n) {
        return independence.obstacles(launch.with(n), memory).warps.empty();
    };
    for (int round = 0; round < 2; ++round) {
        EXPECT_TRUE(holds(launched, 64));
        EXPECT_FALSE(holds(launched, 63));
        EXPECT_TRUE(holds(launched, 65));
    }
    for (std::uint32_t n = 0; n < 100; ++n) EXPECT_EQ(holds(launched, n), n >= 64) << n;
    EXPECT_FALSE(holds(smaller, 31)) << "the word of the opposite thread is uncertain too";
}

TEST(WarpIndependence, DependsOnTheArgumentsOfAddressesAndBranchesOnly) {
    const auto sizes = [](const std::string& body) {
        std::vector<std::uint32_t> all;
        const Launched launched(body);
        for (const auto& [offset, size] : likeness_of(launched.kernel())->arguments)
            all.push_back(size);
        return all;
    };
    EXPECT_EQ(sizes(store_within_n), (std::vector<std::uint32_t>{8, 4}));
    EXPECT_EQ(sizes("bar.sync 0;\nst.global.u32 [%rd2], %r0;"), (std::vector<std::uint32_t>{8}));
}

// Which accesses are alike in all blocks.
TEST(BlockLikeness, TellsAccessesByTheirAddressesAndBranches) {
    const Launched launched(store_within_n);
    std::vector<std::pair<Likeness, bool>> accesses;
    const Kernel& kernel = launched.kernel();
    const SharedLikeness likeness = likeness_of(kernel);
    for (std::size_t pc = 0; pc < kernel.code.size(); ++pc)
        if (kernel.lines[pc].access != MemoryAccess::none)
            accesses.emplace_back(likeness->places[pc].access.address,
                                  likeness->places[pc].access.certain);
    EXPECT_EQ(accesses,
              (std::vector<std::pair<Likeness, bool>>{
                  {Likeness::equal, true}, {Likeness::equal, true}, {Likeness::shifted, false}}));
}

}  // namespace
}  // namespace warpscope::emulator
