#include "emulator/warp/cluster.h"

#include <algorithm>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

LaunchShape clusters(Dim3 grid, Dim3 block, Dim3 cluster) {
    LaunchShape shape{.grid = grid, .block = block};
    shape.cluster = cluster;
    return shape;
}

/// %rd1: the address of out[thread of the grid], for blocks of one dimension; %r2: the rank.
std::string in_cluster(const std::string& body) {
    return kernel_text(R"(
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd1, %r4, 4; add.s64 %rd1, %rd0, %rd1;
mov.u32 %r2, %cluster_ctarank;
mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5;
)" + body,
                       ".shared .align 8 .b8 tile[1024];\n");
}

constexpr const char* sync = "barrier.cluster.arrive; barrier.cluster.wait;\n";

// In a grid of 4x2 blocks, each cluster has 2x2: block (3,1) is (1,1) in cluster (1,0).
TEST(Cluster, SpecialRegistersOfAClusterOfTwoDimensions) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r4, %r3, 4, %r2;
mul.wide.u32 %rd1, %r4, 32; add.s64 %rd1, %rd0, %rd1;
mov.u32 %r5, %clusterid.x; mov.u32 %r6, %clusterid.y;
mov.u32 %r7, %nclusterid.x; mov.u32 %r8, %nclusterid.y;
mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r10, %cluster_ctaid.y;
mov.u32 %r11, %cluster_ctarank; mov.u32 %r12, %cluster_nctarank;
st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};
st.global.v4.u32 [%rd1+16], {%r9, %r10, %r11, %r12};)"));
    const auto words = r.run(clusters({4, 2, 1}, {1, 1, 1}, {2, 2, 1}), 0, 64);
    const auto of_block = [&](unsigned block) {
        return std::vector(words.begin() + block * 8, words.begin() + block * 8 + 8);
    };
    EXPECT_EQ(of_block(0), (std::vector<std::uint32_t>{0, 0, 2, 1, 0, 0, 0, 4}));
    EXPECT_EQ(of_block(3), (std::vector<std::uint32_t>{1, 0, 2, 1, 1, 0, 1, 4}));
    EXPECT_EQ(of_block(4), (std::vector<std::uint32_t>{0, 0, 2, 1, 0, 1, 2, 4}));
    EXPECT_EQ(of_block(7), (std::vector<std::uint32_t>{1, 0, 2, 1, 1, 1, 3, 4}));
}

TEST(Cluster, APredicateSaysWhetherTheLaunchHasClusters) {
    const std::string text = kernel_text(R"(
mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd0, %rd1; mov.u32 %r2, 1;
mov.pred %p0, %is_explicit_cluster; not.pred %p1, %p0; setp.eq.and.u32 %p2, %r1, 1, %p0;
@%p0 add.u32 %r2, %r2, 10; @%p1 add.u32 %r2, %r2, 20; @%p2 add.u32 %r2, %r2, 100;
st.global.u32 [%rd1], %r2;)");
    Runner r(text);
    EXPECT_EQ(r.run({.grid = {2, 1, 1}, .block = {2, 1, 1}}, 0, 2),
              (std::vector<std::uint32_t>{21, 21}));
    EXPECT_EQ(r.run(clusters({2, 1, 1}, {2, 1, 1}, {2, 1, 1}), 0, 2),
              (std::vector<std::uint32_t>{11, 111}));
}

TEST(Cluster, ANumberIsNoPredicate) {
    expect_contains(load_error(kernel_text("mov.pred %p0, %laneid;")),
                    "%laneid is not a predicate");
    expect_contains(load_error(kernel_text("mov.u32 %r2, %is_explicit_cluster;")),
                    "%is_explicit_cluster is a predicate");
}

TEST(Cluster, PlacesOfBlocksAndTheirInverse) {
    LaunchShape shape = clusters({6, 4, 2}, {1, 1, 1}, {3, 2, 2});
    for (std::uint32_t block = 0; block < 48; ++block)
        EXPECT_EQ(ClusterPlace::of(shape, block).block(shape), block);
    EXPECT_EQ(ClusterPlace::of(shape, 47).cluster, 3u);
    EXPECT_EQ(ClusterPlace::of(shape, 47).rank, 11u);
}

/// Each thread stores 100 * rank + tid in its block, and reads that of the next block behind the
/// barrier.
const std::string next_block = in_cluster(std::string(R"(
mad.lo.u32 %r7, %r2, 100, %r1; st.shared.u32 [%r6], %r7;
)") + sync + R"(
mov.u32 %r8, %cluster_nctarank; add.u32 %r9, %r2, 1; rem.u32 %r9, %r9, %r8;
mapa.shared::cluster.u32 %r10, %r6, %r9;
ld.shared::cluster.u32 %r11, [%r10];

)" + sync + "st.global.u32 [%rd1], %r11;");

TEST(Cluster, BlocksReadWhatTheOthersHaveWrittenUnderEverySchedule) {
    for (const Schedule schedule : {Schedule::random, Schedule::run_to_barrier, Schedule::reverse})
        for (const unsigned threads : {1u, 4u}) {
            Runner r(next_block);
            r.settings.schedule = schedule;
            r.settings.threads = threads;
            const auto words = r.run(clusters({6, 1, 1}, {64, 1, 1}, {3, 1, 1}));
            for (std::uint32_t k = 0; k < words.size(); ++k) {
                const std::uint32_t rank = k / 64 % 3;
                ASSERT_EQ(words[k], (rank + 1) % 3 * 100 + k % 64) << "thread " << k;
            }
        }
}

TEST(Cluster, AKernelWithoutAClusterIsAClusterOfOneBlock) {
    Runner r(next_block);
    EXPECT_EQ(r.run(one_block(2)), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Cluster, TheKernelCanNameTheSizeOfItsClusters) {
    std::string text = next_block;
    text.insert(text.find("\n{\n"), "\n.explicitcluster\n.reqnctapercluster 2, 1, 1");
    Runner r(text);
    EXPECT_EQ(r.run({.grid = {2, 1, 1}, .block = {1, 1, 1}}), (std::vector<std::uint32_t>{100, 0}));
    expect_contains(error_of([&] {
                        r.run(clusters({4, 1, 1}, {1, 1, 1}, {4, 1, 1}));
                    }),
                    "is not that for which the kernel is compiled, 2x1x1");
}

TEST(Cluster, AThreadThatHasExitedIsNotWaitedFor) {
    Runner r(in_cluster(std::string("setp.ne.u32 %p0, %r2, 0; @%p0 ret;\n") + sync +
                        "st.global.u32 [%rd1], 7;"));
    EXPECT_EQ(r.run(clusters({2, 1, 1}, {1, 1, 1}, {2, 1, 1})), (std::vector<std::uint32_t>{7, 0}));
}

TEST(Cluster, AnAtomicOfAnotherBlocksMemoryAndAGenericAddress) {
    Runner r(in_cluster(std::string("st.shared.u32 [tile], 0;\n") + sync + R"(
cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, 0;
atom.add.u32 %r7, [%rd3], 5;
getctarank.u64 %r8, %rd3; getctarank.u64 %r9, %rd2;
isspacep.shared::cta %p1, %rd3; isspacep.shared::cluster %p2, %rd3; isspacep.global %p3, %rd3;
)" + sync + R"(
ld.shared.u32 %r10, [tile];
mad.lo.u32 %r10, %r9, 1000, %r10; mad.lo.u32 %r10, %r8, 100, %r10;
@%p1 add.u32 %r10, %r10, 10000; @%p2 add.u32 %r10, %r10, 20000; @%p3 add.u32 %r10, %r10, 40000;
st.global.u32 [%rd1], %r10;)"));
    EXPECT_EQ(r.run(clusters({2, 1, 1}, {1, 1, 1}, {2, 1, 1})),
              (std::vector<std::uint32_t>{30010, 21000}));
}

// Thread 0 of block 0 hands a number to block 1, whose mbarrier counts its arrival.
TEST(Cluster, AGenericStoreIsHandedOverByAnArrivalAtAnotherBlock) {
    Runner r(in_cluster(R"(
setp.ne.u32 %p0, %r1, 0; @%p0 bra READY;
mbarrier.init.shared::cta.b64 [tile], 2;
READY:
)" + std::string(sync) + R"(
cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd2, %rd2;
mapa.u64 %rd3, %rd2, 1;
mapa.shared::cluster.u32 %r7, %r5, 1;
setp.eq.u32 %p1, %r2, 1; @%p1 bra SECOND;
st.relaxed.cta.b32 [%rd3+8], 0f40200000;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
bra MEET;
SECOND:
mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile], 0;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;
nanosleep.u32 20;
@!%p2 bra WAIT;
ld.f32 %f1, [%rd2+8];
st.global.f32 [%rd1], %f1;
MEET:
)" + sync));
    // 2.5
    EXPECT_EQ(r.run(clusters({2, 1, 1}, {1, 1, 1}, {2, 1, 1})),
              (std::vector<std::uint32_t>{0, 0x40200000}));
}

TEST(Cluster, WrongShapesAreRefused) {
    Runner r(next_block);
    expect_contains(error_of([&] {
                        r.run(clusters({3, 1, 1}, {1, 1, 1}, {2, 1, 1}));
                    }),
                    "a cluster of 2x1x1 blocks does not divide the grid of 3x1x1 blocks");
    expect_contains(error_of([&] {
                        r.run(clusters({32, 1, 1}, {1, 1, 1}, {32, 1, 1}));
                    }),
                    "a cluster of 32x1x1 blocks is too large: the limit is 16 blocks");
}

TEST(Cluster, WrongAddressesAndBarriersAreErrors) {
    const auto error = [](const std::string& body) {
        return error_of([&] {
            Runner(in_cluster(body)).run(clusters({2, 1, 1}, {1, 1, 1}, {2, 1, 1}));
        });
    };
    expect_contains(
        error("mapa.shared::cluster.u32 %r7, %r5, 5; ld.shared::cluster.u32 %r8, [%r7];"),
        "in the shared memory of block 5 of the cluster, which has 2");
    expect_contains(error("mapa.shared::cluster.u32 %r7, %r5, 1; "
                          "ld.shared::cluster.u32 %r8, [%r7+1024];"),
                    "lie outside the 1024 bytes that the block has");
    expect_contains(error("barrier.cluster.wait;"),
                    "the thread waits at the barrier of the cluster, but it has not arrived");
    expect_contains(error("barrier.cluster.arrive; barrier.cluster.arrive;"),
                    "arrives at the barrier of the cluster a second time");
    // Block 0 looks at block 1 again and again, which leaves.
    expect_contains(error("setp.ne.u32 %p0, %r2, 0; @%p0 ret;\n"
                          "mapa.shared::cluster.u32 %r7, %r5, 1;\n"
                          "AGAIN: ld.shared::cluster.u32 %r8, [%r7]; setp.eq.u32 %p1, %r8, 0;\n"
                          "@%p1 bra AGAIN;"),
                    "block (1,0,0) has ended, and its shared memory with it");
}

TEST(Cluster, AHangNamesTheThreadsThatHaveNotArrived) {
    // Block 1 waits at an mbarrier to which nobody comes.
    const std::string text = error_of([&] {
        Runner(in_cluster("mbarrier.init.shared.b64 [tile], 1;\n"
                          "setp.eq.u32 %p0, %r2, 0; @%p0 bra MEET;\n"
                          "AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [tile], 0;\n"
                          "@!%p1 bra AGAIN;\n"
                          "MEET: " +
                          std::string(sync)))
            .run(clusters({2, 1, 1}, {1, 1, 1}, {2, 1, 1}));
    });
    const bool by_first =
        text.find("for the barrier of the cluster, which lacks 1 thread of block (1,0,0)") !=
        text.npos;
    const bool by_second = text.find("which lacks 1 of 1 arrivals") != text.npos;
    EXPECT_TRUE(by_first || by_second) << text;
}

}  // namespace
}  // namespace warpscope::emulator
