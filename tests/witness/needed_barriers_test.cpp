#include "emulator/witness/needed_barriers.h"

#include "all_orders.h"

namespace warpscope::tests {
namespace {

using emulator::Finding;

std::vector<Finding> findings(const emulator::Necessity& necessity) {
    std::vector<Finding> all;
    for (const emulator::NeededLine& line : necessity.lines) all.push_back(line.finding);
    return all;
}

std::vector<Finding> needed(const std::string& kernel, std::uint32_t threads,
                            const std::string& file = "kernels") {
    SmallBlock block(*witness_module(file).find(kernel), threads);
    const auto necessity =
        emulator::NecessityCheck{.time = std::chrono::minutes(1)}.run(block.machine, block.launch);
    EXPECT_EQ(block.values(), std::vector<std::uint32_t>(threads)) << "memory is as before";
    for (const auto& [finding, words, is_needed] : necessity.lines) {
        EXPECT_EQ(finding.kind, emulator::FindingKind::needed);
        EXPECT_EQ(finding.severity, emulator::Severity::note);
        EXPECT_EQ(finding.count, words.size());
    }
    return findings(necessity);
}

TEST(NeededBarriers, EveryWordOfTheMirrorDependsOnItsBarrier) {
    const auto found = needed("mirror", 64);
    ASSERT_EQ(found.size(), 1u);
    // Whichever warp comes first reads the words of the other one too early; one word is 0 anyway.
    EXPECT_EQ(found[0].count, 63u);
    EXPECT_TRUE(found[0].sentence.english().starts_with("98 % depend on it"))
        << found[0].sentence.english();
}

// Thread (x, y) is in warp y. It writes tile[y][x] and reads tile[x][y], which warp x writes: the
// diagonal is what a warp has written itself.
constexpr const char* transpose = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry transpose(.param .u64 out)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    add.s32 %r5, %r1, 1;
    st.shared.u32 [%r4], %r5;
    bar.sync 0;
    and.b32 %r6, %r1, 31;
    shr.u32 %r7, %r1, 5;
    mad.lo.s32 %r8, %r6, 32, %r7;
    shl.b32 %r8, %r8, 2;
    add.s32 %r8, %r2, %r8;
    ld.shared.u32 %r8, [%r8];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
)";

TEST(NeededBarriers, ThePixelsOfATransposedTileDependOnItsBarrierExceptForTheDiagonal) {
    const auto module = emulator::Module::parse(transpose, "transpose");
    SmallBlock block(*module->find("transpose"), 1024);
    const auto found =
        emulator::NecessityCheck{.time = std::chrono::minutes(1)}.run(block.machine, block.launch);
    ASSERT_EQ(found.lines.size(), 1u);
    std::vector<std::uint64_t> others, all;
    for (std::uint64_t y = 0; y < 32; ++y)
        for (std::uint64_t x = 0; x < 32; ++x) {
            all.push_back(std::uint64_t(block.out) + (y * 32 + x) * 4);
            if (x != y) others.push_back(all.back());
        }
    EXPECT_EQ(found.lines[0].words, others);
    EXPECT_EQ(found.words, all);
    EXPECT_TRUE(found.lines[0].is_needed);
}

TEST(NeededBarriers, OneWarpNeedsNoBarrier) {
    const auto found = needed("mirror", 32);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 0u);
}

TEST(NeededBarriers, EachBarrierOfTheRoundsIsNeeded) {
    const auto found = needed("rounds", 96);
    ASSERT_EQ(found.size(), 2u);
    for (const Finding& finding : found) EXPECT_GT(finding.count, 0u) << finding.sentence.english();
}

TEST(NeededBarriers, ASecondBarrierBehindTheFirstIsNotNeeded) {
    const auto found = needed("double_buffered", 64);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_GT(found[0].count, 0u);
}

TEST(NeededBarriers, OnlyExpectedWordsCountWhereTheLaunchMakesThemRight) {
    SmallBlock block(*witness_module("kernels").find("mirror"), 64);
    const std::uint64_t out = std::uint64_t(block.out);
    emulator::NecessityCheck check{.time = std::chrono::minutes(1)};
    // Thread t reads what thread 63 - t has written. Of word 3 something else is expected.
    check.judge = [&](std::uint64_t address) {
        const std::uint64_t thread = (address - out) / 4;
        if (thread >= 10) return emulator::WordVerdict::unknown;
        const bool right = thread != 3 && block.values()[thread] == 63 - thread;
        return right ? emulator::WordVerdict::right : emulator::WordVerdict::wrong;
    };
    const auto found = findings(check.run(block.machine, block.launch));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 9u);
    EXPECT_EQ(
        found[0].sentence,
        "100 % depend on it: without it, 9 of 9 expected words written by the only block differ in "
        "at least one of 5 orders.");
}

// Each block writes the words of the first one.
TEST(NeededBarriers, TheSentenceSaysWhichBlocksWereRun) {
    emulator::NecessityCheck check{.time = std::chrono::minutes(1)};
    const auto said = [&](std::uint32_t threads) {
        SmallBlock block(*witness_module("kernels").find("mirror"), threads, {}, 0, 3);
        const auto found = findings(check.run(block.machine, block.launch));
        return found.size() == 1 ? found[0].sentence : "";
    };
    EXPECT_EQ(said(64),
              "98 % depend on it: without it, 63 of 64 words written by all 3 blocks differ in at "
              "least one of 5 orders.");
    check.instructions = 1;
    EXPECT_EQ(said(64),
              "98 % depend on it: without it, 63 of 64 words written by the first of 3 blocks "
              "differ in at least one of 5 orders.");
    // The lanes of one warp need __syncwarp() in its place.
    EXPECT_TRUE(said(32).english().starts_with(
        "It is needed, although no result shows it: without it, 32 words stay as they are in 5 "
        "orders of the first of 3 blocks, but there are 32 hazards."))
        << said(32).english();
}

TEST(NeededBarriers, AWaitForAPhaseIsTakenOutLikeABarrier) {
    SmallBlock block(*witness_module("async").find("handed_over_by_all_lanes"), 64, {}, 128);
    const auto found = findings(
        emulator::NecessityCheck{.time = std::chrono::minutes(1)}.run(block.machine, block.launch));
    const auto wait = std::ranges::find_if(found, [](const Finding& finding) {
        return finding.first.line == 123;  // the loop that polls
    });
    ASSERT_NE(wait, found.end());
    // One word of the result is 0 anyway.
    EXPECT_EQ(wait->count, 31u);
    EXPECT_TRUE(wait->sentence.english().starts_with("97 % depend on it"))
        << wait->sentence.english();
}

// No order shows what the fence is for, but the race check does.
TEST(NeededBarriers, AFenceIsSaidToBeOneThatNoResultCanShow) {
    SmallBlock block(*witness_module("grid").find("last_block"), 32, {}, 1024, 4);
    std::memset(block.out, 0, 4096);
    const auto found = findings(
        emulator::NecessityCheck{.time = std::chrono::minutes(1)}.run(block.machine, block.launch));
    const auto fence = std::ranges::find_if(found, [](const Finding& finding) {
        return finding.sentence.english().find("no result can show a missing fence") !=
               std::string::npos;
    });
    ASSERT_NE(fence, found.end());
    EXPECT_EQ(fence->count, 0u);
    EXPECT_TRUE(
        fence->sentence.english().starts_with("It is needed, although no result shows it: "))
        << fence->sentence.english();
    EXPECT_EQ(std::ranges::count_if(found,
                                    [](const Finding& finding) {
                                        return finding.sentence.english().find(
                                                   "no result can show") != std::string::npos;
                                    }),
              1)
        << "not of the barrier behind it";
}

TEST(NeededBarriers, TheStatementIsTakenOutOfThePtx) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("rounds");
    const auto lines = emulator::ordering_lines(kernel);
    ASSERT_EQ(lines.size(), 2u);
    for (const auto& line : lines) {
        EXPECT_EQ(line.what, "bar.sync");
        const auto module = emulator::Module::parse(emulator::ptx_without(kernel, line), "without");
        EXPECT_EQ(emulator::ordering_lines(*module->find("rounds")).size(), 1u);
        EXPECT_EQ(emulator::ordering_lines(*module->find("mirror")).size(), 1u);
    }
}

}  // namespace
}  // namespace warpscope::tests
