#include "emulator/counters/access_counters.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/race_detector.h"

// @p and @!p on instructions other than branches: they execute for the lanes whose guard holds.
namespace warpscope::emulator {
namespace {

constexpr const char* even = "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p0, %r2, 0;\n";

std::vector<std::uint32_t> run(const std::string& body, std::uint32_t threads = 64) {
    return Runner(kernel_text(body)).run(one_block(threads));
}

TEST(Guard, ArithmeticWritesActiveLanesOnly) {
    const auto out = run(std::string(even) +
                         "mov.u32 %r3, 5;\n@%p0 add.s32 %r3, %r1, 100;\n"
                         "@!%p0 mul.lo.s32 %r3, %r3, 3;\nst.global.u32 [%rd1], %r3;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 15 : t + 100);
}

TEST(Guard, ComparisonMayOverwriteItsOwnGuard) {
    const auto out = run(std::string(even) +
                         "@%p0 setp.lt.u32 %p0, %r1, 10;\nmov.u32 %r3, 0;\n"
                         "@%p0 mov.u32 %r3, 1;\nst.global.u32 [%rd1], %r3;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 == 0 && t < 10 ? 1u : 0u);
}

TEST(Guard, LoadsAndStoresAccessActiveLanesOnly) {
    const auto out = run(std::string(even) +
                         "st.global.u32 [%rd1], 7;\n@!%p0 st.global.u32 [%rd1], %r1;\n"
                         "mov.u32 %r3, 50;\n@%p0 ld.global.u32 %r3, [%rd1];\n"
                         "add.s32 %r3, %r3, 1;\nst.global.u32 [%rd1], %r3;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 51u : 8u);
}

TEST(Guard, InactiveLanesMayHaveInvalidAddresses) {
    const auto out = run(std::string(even) +
                         "mov.u64 %rd2, 16;\nselp.b64 %rd2, %rd1, %rd2, %p0;\nmov.u32 %r3, 9;\n"
                         "@%p0 ld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd1], %r3;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 9u : 0u);
}

TEST(Guard, AtomicsExecuteForActiveLanesOnly) {
    const auto out = run(std::string(even) +
                         "@%p0 atom.global.add.u32 %r3, [%rd0], 3;\n"
                         "@!%p0 red.global.add.u32 [%rd0+4], %r1;");
    EXPECT_EQ(out[0], 32u * 3);
    EXPECT_EQ(out[1], 32u * 32);  // the sum of the odd numbers below 64
}

TEST(Guard, ShuffleWritesActiveLanesOnly) {
    const auto out = run(std::string(even) +
                         "mov.u32 %r3, 77;\n@%p0 shfl.sync.idx.b32 %r3, %r1, 4, 31, 0x55555555;\n"
                         "st.global.u32 [%rd1], %r3;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 77 : t / 32 * 32 + 4);
}

TEST(Guard, OnlyActiveWarpsWaitAtAGuardedBarrier) {
    // Warp 1 alone waits at barrier 1, for itself.
    const auto out =
        run("setp.ge.u32 %p0, %r1, 32;\n@%p0 bar.sync 1, 32;\n"
            "st.global.u32 [%rd1], %r1;");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t);
}

TEST(Guard, OnlyActiveLanesExit) {
    for (const char* how : {"ret", "exit"}) {
        const auto out =
            run(std::string(even) + "@%p0 " + how + ";\nbar.sync 0;\nst.global.u32 [%rd1], 1;");
        for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2) << how;
    }
}

TEST(Guard, TrapNamesTheFirstLaneThatTraps) {
    Runner r(kernel_text(".loc 1 12 1\nsetp.eq.u32 %p0, %r1, 37;\n@%p0 trap;") +
             "\n.file 1 \"kernels/x.cu\"\n");
    expect_contains(error_of([&] { r.run(one_block(64)); }),
                    "kernel k, kernels/x.cu:12: thread (37,0,0) of block (0,0,0): the kernel "
                    "trapped");
}

// Each warp stores its words and then reads the words of the other warp under a guard. %p2 holds
// for no lane.
TEST(Guard, RaceDetectorSeesActiveLanesOnly) {
    for (const bool reads : {false, true}) {
        RaceDetector detector;
        Runner r(kernel_text(
            std::string("mov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 4, %r4;\nxor.b32 %r5, %r4, 128;\n"
                        "setp.gt.u32 %p2, %r1, 1000;\nst.shared.u32 [%r4], %r1;\n") +
                (reads ? "@!%p2" : "@%p2") + " ld.shared.u32 %r6, [%r5];",
            ".shared .align 256 .b8 s[256];\n"));
        r.observer = &detector;
        r.run(one_block(64));
        EXPECT_EQ(detector.findings().empty(), !reads);
    }
}

TEST(Guard, CountersCountActiveLanesOnly) {
    AccessCounters counters;
    Runner r(kernel_text("setp.lt.u32 %p0, %r1, 8;\n@%p0 st.global.u32 [%rd1], %r1;"));
    r.observer = &counters;
    r.run(one_block(32));
    const MemoryCounts& stores = counters.kernels()[0].global_stores;
    EXPECT_EQ(stores.requests, 1u);
    EXPECT_EQ(stores.bytes, 32u);
    EXPECT_EQ(stores.sectors, 1u);
}

}  // namespace
}  // namespace warpscope::emulator
