#include <algorithm>

#include "stepped_kernel.h"
#include "stepper_state.h"

// Blocks that run together: one is stepped, and the others run with it.
namespace warpscope::emulator {
namespace {

LaunchShape cluster_of(std::uint32_t blocks, std::uint32_t threads) {
    LaunchShape shape{.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    shape.cluster = {blocks, 1, 1};
    return shape;
}

constexpr const char* tile = ".shared .align 8 .b8 tile[256];\n";
constexpr const char* sync = "barrier.cluster.arrive; barrier.cluster.wait;\n";

/// %r5: the address of the tile; %r7: of the tile of block 1 - rank; %r2: the rank.
const std::string in_pair = R"(
mov.u32 %r2, %cluster_ctarank; mov.u32 %r5, tile; xor.b32 %r6, %r2, 1;
mapa.shared::cluster.u32 %r7, %r5, %r6;
)";

/// Thread 0 of each of two blocks stores 10 + rank to word 3 of the other block's tile.
const std::string store_to_other = in_pair + sync + R"(
add.u32 %r8, %r2, 10; st.shared::cluster.u32 [%r7+12], %r8;
)" + sync + R"(
ld.shared.u32 %r9, [tile+12];
mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd0; st.global.u32 [%rd2], %r9;
)";

TEST(TogetherSteps, AWordThatAnotherBlockHasWrittenNamesItsRankAndThread) {
    SteppedKernel k(kernel_text(store_to_other, tile), cluster_of(2, 1));
    Stepper s(k.machine, k.frozen, 1);
    EXPECT_EQ(s.cluster_size(), 2u);
    EXPECT_EQ(s.rank(), 1u);
    EXPECT_EQ(s.words()[3].writer, WordView::nobody);
    s.run();
    ASSERT_EQ(s.end(), Stepper::End::finished) << s.error().english();
    const WordView& word = s.words()[3];
    EXPECT_EQ(word.writer, 0);
    EXPECT_EQ(word.writer_rank, 0);
    EXPECT_EQ(word.write_pc, k.pc("st.shared::cluster"));
    EXPECT_EQ(word.reader, 0);
    EXPECT_EQ(word.reader_rank, -1) << "the block itself has read it";
    EXPECT_EQ(k.out[0], 11u);
    EXPECT_EQ(k.out[1], 10u);
    EXPECT_TRUE(s.findings().empty()) << s.findings()[0].sentence.english();
    s.seek(0);
    EXPECT_EQ(k.out[0], 0u) << "what the other block has stored is undone";
    EXPECT_EQ(s.words()[3].writer, WordView::nobody);
}

TEST(TogetherSteps, TheTilesOfTheOtherBlocksAreSeenBesideTheSteppedOne) {
    SteppedKernel k(kernel_text(store_to_other, tile), cluster_of(2, 1));
    Stepper s(k.machine, k.frozen, 1);
    ASSERT_EQ(s.other_tiles().size(), 1u);
    EXPECT_EQ(s.other_tiles()[0].words[3].writer, WordView::nobody);
    s.run();
    const TileView other = s.other_tiles()[0];
    EXPECT_EQ(other.rank, 0u);
    EXPECT_EQ(other.block, 0u);
    EXPECT_TRUE(other.ended);
    ASSERT_EQ(other.words.size(), 64u);
    EXPECT_EQ(other.words[3].writer, 0);
    EXPECT_EQ(other.words[3].writer_rank, 1) << "the stepped block";
    EXPECT_EQ(other.words[3].reader_rank, -1) << "block 0 has read its own word";
    EXPECT_TRUE(other.words[3].is_read);
    EXPECT_EQ(other.memory[12], std::byte{11});
    s.seek(0);
    EXPECT_EQ(s.other_tiles()[0].words[3].writer, WordView::nobody);
    EXPECT_FALSE(s.other_tiles()[0].ended);
    SteppedKernel alone(kernel_text("st.shared.u32 [tile], 1;", tile), {{2, 1, 1}, {1, 1, 1}, 0});
    EXPECT_TRUE(Stepper(alone.machine, alone.frozen, 0).other_tiles().empty());
}

TEST(TogetherSteps, TheBarrierOfTheClusterIsAWaitAndAMomentOfTheTimeline) {
    SteppedKernel k(kernel_text(store_to_other, tile), cluster_of(2, 1));
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    ASSERT_EQ(s.end(), Stepper::End::finished) << s.error().english();
    // Block 0 comes first to the first barrier and looks in vain; block 1 comes first to the
    // second.
    ASSERT_EQ(s.waits().size(), 1u);
    const BarrierWait wait = s.waits()[0];
    EXPECT_EQ(wait.at, BarrierWait::At::cluster);
    EXPECT_TRUE(wait.looks());
    EXPECT_EQ(s.history()[wait.from].pc, wait.pc);
    EXPECT_EQ(s.history()[wait.to].pc, wait.pc) << "the look that succeeds";
    EXPECT_LT(wait.from, wait.to);
    ASSERT_EQ(s.marks().size(), 2u);
    EXPECT_EQ(s.marks()[0].kind, BlockMark::cluster_phase);
    EXPECT_EQ(s.marks()[0].phase, 0u);
    EXPECT_EQ(s.marks()[1].phase, 1u);
    EXPECT_LE(s.marks()[0].step, wait.to);
    EXPECT_GE(s.marks()[0].step, wait.from);
    EXPECT_GT(s.marks()[1].step, wait.to);
}

/// Block 0 arrives at the mbarrier of block 1, which waits for it.
const std::string arrive_at_other = in_pair + R"(
mbarrier.init.shared::cta.b64 [tile], 1;
)" + sync + R"(
setp.eq.u32 %p1, %r2, 1; @%p1 bra WAIT;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
bra MEET;
WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [tile], 0;
@!%p2 bra WAIT;
MEET:
)" + sync;

TEST(TogetherSteps, ArrivalsAtAnotherBlocksMbarrierAreMarkedInBothBlocks) {
    SteppedKernel k(kernel_text(arrive_at_other, tile), cluster_of(2, 1));
    const auto mark_of = [&](std::uint32_t block, BlockMark::Kind kind) {
        Stepper s(k.machine, k.frozen, block);
        s.run();
        EXPECT_EQ(s.end(), Stepper::End::finished) << s.error().english();
        const auto marks = s.marks();
        const auto found = std::find_if(marks.begin(), marks.end(),
                                        [&](const BlockMark& m) { return m.kind == kind; });
        return found == marks.end() ? BlockMark{.rank = 99} : *found;
    };
    const BlockMark there = mark_of(1, BlockMark::arrival_from_other);
    EXPECT_EQ(there.rank, 0u);
    EXPECT_EQ(there.thread, 0u);
    EXPECT_EQ(there.mbarrier, 0u);
    EXPECT_EQ(there.phase, 0u);
    EXPECT_EQ(mark_of(0, BlockMark::arrival_at_other).rank, 1u);
    EXPECT_EQ(mark_of(0, BlockMark::arrival_from_other).rank, 99u) << "nobody arrives here";
}

TEST(TogetherSteps, ABulkCopyOfAnotherBlockIsInFlightAndThenLands) {
    // Block 0 copies 16 bytes of its tile to byte 64 of that of block 1.
    const std::string text = in_pair + R"(
mbarrier.init.shared::cta.b64 [tile], 1;
st.shared.u32 [tile+16], 77;
fence.proxy.async.shared::cta;
)" + sync + R"(
setp.eq.u32 %p1, %r2, 1; @%p1 bra WAIT;
add.u32 %r10, %r7, 64; add.u32 %r11, %r5, 16;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r11], 16, [%r7];
bra MEET;
WAIT: mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile], 16;
LOOK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [tile], 0;
@!%p2 bra LOOK;
ld.shared.u32 %r12, [tile+64];
MEET:
)" + sync;
    SteppedKernel k(kernel_text(text, tile), cluster_of(2, 1),
                    {.schedule = Schedule::run_to_barrier, .landing = Landing::late});
    Stepper s(k.machine, k.frozen, 1);
    const auto run_to = [&](WordView::Copy state) {
        while (s.words()[16].copy != state && s.step()) {
        }
    };
    run_to(WordView::Copy::in_flight);
    ASSERT_EQ(s.words()[16].copy, WordView::Copy::in_flight);
    EXPECT_EQ(s.words()[16].copy_rank, 0);
    EXPECT_EQ(s.words()[16].writer, WordView::nobody);
    Stepper starter(k.machine, k.frozen, 0);
    while (starter.copies().empty() && starter.step()) {
    }
    EXPECT_EQ(starter.other_tiles()[0].words[16].copy, WordView::Copy::in_flight);
    starter.seek(0);
    run_to(WordView::Copy::landed);
    ASSERT_EQ(s.words()[16].copy, WordView::Copy::landed);
    EXPECT_EQ(s.words()[16].writer_rank, 0);
    s.run();
    ASSERT_EQ(s.end(), Stepper::End::finished) << s.error().english();
    ASSERT_EQ(s.copies().size(), 1u);
    const CopyFlight& copy = s.copies()[0];
    EXPECT_EQ(copy.rank, 0);
    EXPECT_EQ(copy.bytes, 16u);
    EXPECT_EQ(copy.mbarrier_rank, 1);
    EXPECT_EQ(copy.phase, 0u);
    EXPECT_TRUE(copy.to_stepped);
    EXPECT_LT(copy.from, copy.to);
    EXPECT_LT(copy.to, s.history().size());
}

TEST(TogetherSteps, ACopyGoesFromItsStartToTheStepThatLandsIt) {
    const std::string text = R"(
mov.u32 %r5, tile; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6;
cp.async.ca.shared.global [%r5], [%rd1], 4;
cp.async.commit_group;
mov.u32 %r7, 1;
cp.async.wait_group 0;
)";
    SteppedKernel k(kernel_text(text, tile), {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                    {.schedule = Schedule::run_to_barrier, .landing = Landing::late});
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    ASSERT_EQ(s.end(), Stepper::End::finished) << s.error().english();
    ASSERT_EQ(s.copies().size(), 1u);
    const CopyFlight copy = s.copies()[0];
    EXPECT_EQ(copy.bytes, 128u);
    EXPECT_EQ(copy.group, 0u);
    EXPECT_EQ(s.history()[copy.from].pc, k.pc("cp.async.ca"));
    EXPECT_EQ(s.history()[copy.to].pc, k.pc("cp.async.wait_group"));
    // A person lands it by hand before: the rest of the history is another one.
    s.seek(copy.from + 1);
    ASSERT_TRUE(s.land(copy.number));
    ASSERT_EQ(s.copies().size(), 1u);
    EXPECT_EQ(s.copies()[0].to, copy.from + 1);
    EXPECT_EQ(s.words()[0].copy, WordView::Copy::landed);
}

// Each block adds 1 to out[0] and waits for the others.
TEST(TogetherSteps, BlocksOfACooperativeLaunchRunWithTheSteppedOne) {
    SteppedKernel k(kernel_text(R"(
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
atom.global.add.u32 %r4, [%rd0], 1;
WAIT: ld.acquire.gpu.u32 %r5, [%rd0];
setp.lt.u32 %p2, %r5, %r3; @%p2 bra WAIT;
mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd0;
st.global.u32 [%rd2+4], %r5;)"),
                    {.grid = {3, 1, 1}, .block = {1, 1, 1}, .cooperative = true});
    for (std::uint32_t block = 0; block < 3; ++block) {
        Stepper s(k.machine, k.frozen, block);
        s.run();
        ASSERT_EQ(s.end(), Stepper::End::finished) << s.error().english();
        for (unsigned word = 0; word < 4; ++word) EXPECT_EQ(k.out[word], 3u);
        const std::vector<std::string> end = state_of(s);
        s.seek(s.history().size() / 2);
        s.run();
        EXPECT_EQ(state_of(s), end);
    }
    EXPECT_EQ(k.out[0], 0u) << "what the blocks have stored is undone";
}

// Four blocks of two warps send numbers round by st.async, and look for phases in the meantime.
TEST(TogetherSteps, TwoSteppersOfABlockTakeTheSameSteps) {
    const std::string text = R"(
mov.u32 %r2, %cluster_ctarank; mov.u32 %r5, tile; add.u32 %r6, %r2, 1; and.b32 %r6, %r6, 3;
mapa.shared::cluster.u32 %r7, %r5, %r6;
setp.ne.u32 %p0, %r1, 0; @%p0 bra READY;
mbarrier.init.shared::cta.b64 [tile], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile], 256;
READY:
)" + std::string(sync) + R"(
shl.b32 %r8, %r1, 2; add.u32 %r9, %r7, %r8;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9+16], %r1, [%r7];
LOOK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [tile], 0;
@!%p2 bra LOOK;
add.u32 %r10, %r5, %r8; ld.shared.u32 %r11, [%r10+16];
)" + sync;
    const std::string shared = ".shared .align 8 .b8 tile[272];\n";
    const auto steps = [&](SteppedKernel& k, std::uint32_t block) {
        Stepper s(k.machine, k.frozen, block);
        s.run();
        EXPECT_EQ(s.end(), Stepper::End::finished) << s.error().english();
        std::vector<std::pair<unsigned, std::uint32_t>> all;
        for (const Step& step : s.history()) all.emplace_back(step.warp, step.pc);
        return all;
    };
    const LaunchSettings settings{.schedule = Schedule::random, .landing = Landing::random};
    SteppedKernel one(kernel_text(text, shared), cluster_of(4, 64), settings);
    SteppedKernel other(kernel_text(text, shared), cluster_of(4, 64), settings);
    for (std::uint32_t block = 0; block < 4; ++block) {
        const auto first = steps(one, block);
        EXPECT_EQ(steps(one, block), first);
        EXPECT_EQ(steps(other, block), first);
    }
}

TEST(TogetherSteps, AnErrorOfAnotherBlockEndsTheLaunchWithItsSentence) {
    SteppedKernel k(kernel_text(in_pair +
                                    "setp.eq.u32 %p1, %r2, 0; @%p1 bra MEET;\n"
                                    "st.global.u32 [12], 1;\nMEET: " +
                                    sync,
                                tile),
                    cluster_of(2, 1));
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    EXPECT_EQ(s.end(), Stepper::End::failed);
    expect_contains(s.error(), "of block (1,0,0)");
}

TEST(TogetherSteps, TooLargeACooperativeLaunchIsRefused) {
    SteppedKernel k(kernel_text("st.shared.u32 [tile], 1;", ".shared .align 8 .b8 tile[40960];\n"),
                    {.grid = {1024, 1, 1}, .block = {32, 1, 1}, .cooperative = true});
    expect_contains(error_of([&] { Stepper(k.machine, k.frozen, 0); }),
                    "its 1024 blocks run together and have 40 MiB");
}

}  // namespace
}  // namespace warpscope::emulator
