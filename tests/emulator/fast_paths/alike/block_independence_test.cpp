#include "emulator/fast_paths/alike/launched.h"

namespace warpscope::emulator {
namespace {

const std::string mirrored =
    "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd2], %r6;";
const std::string reads_leftovers = "a thread reads shared memory that no thread has written";

TEST(BlockIndependence, HoldsWhereEachWordIsWrittenBeforeItIsRead) {
    EXPECT_EQ(Launched(mirrored).obstacle_of_blocks(), "");
    EXPECT_EQ(Launched("st.global.u32 [%rd2], %r1;").obstacle_of_blocks(), "");
    EXPECT_EQ(Launched("bar.sync 0;\nst.global.u32 [%rd2], %r1;").obstacle_of_blocks(), "");
}

TEST(BlockIndependence, DoesNotHoldForAWordThatNoThreadHasWritten) {
    EXPECT_EQ(Launched("ld.shared.u32 %r6, [%r4];").obstacle_of_blocks(), reads_leftovers);
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4+256];")
                  .obstacle_of_blocks(),
              reads_leftovers)
        << "64 threads write 256 bytes";
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4+252];")
                  .obstacle_of_blocks(),
              reads_leftovers)
        << "only thread 0 reads a word that was written";
}

TEST(BlockIndependence, DoesNotHoldForAWordThatIsWrittenAfterItsRead) {
    EXPECT_EQ(Launched("ld.shared.u32 %r6, [%r4];\nst.shared.u32 [%r4], %r1;").obstacle_of_blocks(),
              reads_leftovers);
}

TEST(BlockIndependence, DoesNotHoldForAPartOfAWord) {
    EXPECT_EQ(Launched("st.shared.u16 [%r4], 7;\nld.shared.u32 %r6, [%r4];").obstacle_of_blocks(),
              reads_leftovers);
}

TEST(BlockIndependence, DoesNotHoldForAStoreThatSomeBlocksSkip) {
    const Launched launched(
        "setp.ge.u32 %p0, %r8, %r0;\n@%p0 bra J;\nst.shared.u32 [%r4], %r1;\nJ:\nbar.sync 0;\n");
    EXPECT_EQ(launched.obstacle(256), "");
    EXPECT_EQ(launched.obstacle_of_blocks(256),
              "an unknown branch may skip a store to shared memory");
}

TEST(BlockIndependence, NeedsIndependentWarps) {
    EXPECT_EQ(Launched("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r5];").obstacle_of_blocks(),
              "threads use one word of shared memory without a barrier between");
}

/// What a launch of 70 blocks leaves on 29 virtual SMs: words of global memory, and 128 words of
/// shared memory of each SM, which were 1000 + SM.
struct Left {
    std::vector<std::uint32_t> global;
    std::vector<std::uint32_t> shared;
    std::uint64_t instructions = 0;
    bool operator==(const Left&) const = default;
};

Left after_launch(unsigned threads, bool independent, const std::string& body) {
    Runner runner(kernel_text(addresses + (own_word + body), shared_words));
    runner.settings = {.schedule = Schedule::run_to_barrier, .threads = threads};
    if (independent) runner.method.dealing = BlockDealing::as_they_come;
    constexpr std::size_t words = 128;
    const auto words_of = [&](unsigned sm) {
        return std::span(
            reinterpret_cast<std::uint32_t*>(runner.machine.shared_memory(sm, 1024).data()), words);
    };
    for (unsigned sm = 0; sm < runner.machine.virtual_sms(); ++sm)
        std::ranges::fill(words_of(sm), 1000 + sm);
    Left left{.global = runner.run({{70, 1, 1}, {64, 1, 1}, 0})};
    for (unsigned sm = 0; sm < runner.machine.virtual_sms(); ++sm)
        left.shared.insert(left.shared.end(), words_of(sm).begin(), words_of(sm).end());
    left.instructions = runner.statistics.warp_instructions;
    return left;
}

// Each thread writes its number in the grid, and reads that of the opposite thread of its block.
TEST(BlockIndependence, ThreadsThatTakeBlocksLeaveWhatOneThreadLeaves) {
    const std::string body =
        "st.shared.u32 [%r4], %r8;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\n"
        "st.global.u32 [%rd2], %r6;";
    const Left in_order = after_launch(1, false, body);
    for (const unsigned threads : {1u, 2u, 5u, 40u})
        EXPECT_EQ(after_launch(threads, true, body), in_order) << threads;
    // Blocks 41 to 69 are the last ones of the SMs; block 58 is the one of SM 0.
    EXPECT_EQ(in_order.shared[0], 58u * 64);
    EXPECT_EQ(in_order.shared[28 * 128 + 63], 57u * 64 + 63);
    EXPECT_EQ(in_order.shared[28 * 128 + 64], 1028u);
}

TEST(BlockIndependence, AFailingBlockOfTheLowestNumberIsNamedOnAnyNumberOfThreads) {
    // Blocks 20, 40 and 60 trap.
    const std::string body =
        "mov.u32 %r9, %ctaid.x;\nrem.u32 %r10, %r9, 20;\nsetp.ne.u32 %p0, %r10, 0;\n"
        "setp.eq.or.u32 %p0, %r9, 0, %p0;\n@%p0 bra L;\ntrap;\nL:\n";
    for (const unsigned threads : {1u, 2u, 5u})
        expect_contains(error_of([&] { after_launch(threads, true, body); }), "block (20,0,0)");
}

}  // namespace
}  // namespace warpscope::emulator
