#include "emulator/judge.h"

#include <optional>

#include "ptx_fixture.h"

namespace warpscope::emulator {
namespace {

/// Each block adds to out[1] behind a lock in out[0]; all but block 0 have a fence between the two.
/// So a block must come before block 0 to race.
const std::string lock_without_fence_in_block_0 = kernel_text(
    "again:\natom.global.cas.b32 %r3, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 bra again;\n"
    "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra add;\nmembar.gl;\n"
    "add:\nld.global.u32 %r5, [%rd0+4];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd0+4], %r5;\n"
    "membar.gl;\natom.global.exch.b32 %r6, [%rd0], 0;");

/// Thread 0 of each block counts it in out[0] with an atomic whose result it stores.
const std::string counts_blocks = kernel_text(
    "atom.global.add.u32 %r3, [%rd0], 1;\nmov.u32 %r4, %ctaid.x;\n"
    "mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd0, %rd2;\n"
    "st.global.u32 [%rd2+4], %r3;");

class JudgeTest : public testing::Test {
  protected:
    /// Runs the first kernel of a module; `out` has this many words.
    void run(const std::string& ptx, LaunchShape shape, std::size_t words,
             const CheckChoice& choice = {.race = true}, std::uint64_t seed = 1) {
        module_ = Module::parse(ptx, "test");
        judge_.emplace(choice, launcher_, seed);
        out_ = launcher_.machine().memory().allocate(words * 4);
        judge_->observer().on_allocate(std::uint64_t(out_), words * 4);
        judge_->observer().on_host_write(std::uint64_t(out_), words * 4);
        judge_->run(frozen(shape));
    }
    FrozenLaunch frozen(LaunchShape shape) const {
        const void* arguments[] = {&out_, &number_};
        return Machine::freeze(*module_->kernels().front(), shape, arguments, {});
    }
    std::vector<std::uint32_t> words(std::size_t count) const {
        const auto* const words = static_cast<const std::uint32_t*>(out_);
        return {words, words + count};
    }

    std::shared_ptr<const Module> module_;
    Launcher launcher_;
    std::optional<Judge> judge_;
    void* out_ = nullptr;
    std::uint32_t number_ = 0;
};

TEST_F(JudgeTest, FindsARaceThatOnlyTheReverseOrderShows) {
    run(lock_without_fence_in_block_0, {{4, 1, 1}, {1, 1, 1}}, 2);
    const Verdict verdict = judge_->verdict();
    ASSERT_EQ(verdict.findings.size(), 1u);
    EXPECT_EQ(verdict.findings[0].severity, Severity::error);
    EXPECT_TRUE(verdict.findings[0].sentence.english().ends_with(
        "Only the reverse order of warps and blocks shows it (--schedule reverse)."))
        << verdict.findings[0].sentence.english();
    EXPECT_EQ(verdict.not_tried, std::vector<std::string>());
}

TEST_F(JudgeTest, LeavesMemoryAsTheLaunchItselfDoes) {
    run(counts_blocks, {{4, 1, 1}, {1, 1, 1}}, 5);
    // In reverse order, block 3 would be the first.
    EXPECT_EQ(words(5), (std::vector<std::uint32_t>{4, 0, 1, 2, 3}));
    judge_->run(frozen({{4, 1, 1}, {1, 1, 1}}));
    EXPECT_EQ(words(5), (std::vector<std::uint32_t>{8, 4, 5, 6, 7}));
}

TEST_F(JudgeTest, CountsEachLaunchOnce) {
    run(counts_blocks, {{4, 1, 1}, {1, 1, 1}}, 5, {.race = true, .counters = true});
    ASSERT_EQ(judge_->counters().size(), 1u);
    EXPECT_EQ(judge_->counters()[0].launches, 1u);
    EXPECT_EQ(judge_->counters()[0].blocks, 4u);
}

TEST_F(JudgeTest, SaysThatALargeMemoryIsNotCopiedForAnotherOrder) {
    launcher_.machine().memory().allocate(Judge::most_copied_bytes);
    run(lock_without_fence_in_block_0, {{4, 1, 1}, {1, 1, 1}}, 2);
    EXPECT_EQ(judge_->verdict().not_tried,
              std::vector<std::string>{
                  "Not tried: kernel k in reverse order, which would copy more than 1 GiB of "
                  "memory."});
    EXPECT_TRUE(judge_->verdict().findings.empty());
}

TEST_F(JudgeTest, CopiesMemoryOnlyAsFarAsItIsUsed) {
    std::vector<std::uint64_t> heap(2);
    heap[0] = std::uint64_t(&heap[1]);
    launcher_.machine().memory().attach(heap.data(), 2 * Judge::most_copied_bytes, heap.data());
    run(lock_without_fence_in_block_0, {{4, 1, 1}, {1, 1, 1}}, 2);
    EXPECT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().not_tried, std::vector<std::string>());
    launcher_.machine().memory().detach(heap.data());
}

TEST_F(JudgeTest, SaysWhichErrorHasEndedALaunch) {
    EXPECT_THROW(run(kernel_text("trap;"), {{1, 1, 1}, {1, 1, 1}}, 1), Error);
    EXPECT_NE(judge_->verdict().error.english().find("trap"), std::string::npos)
        << judge_->verdict().error.english();
    EXPECT_FALSE(judge_->verdict().timed_out);
    ASSERT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::failure);
    EXPECT_EQ(judge_->verdict().findings[0].severity, Severity::error);
    EXPECT_EQ(judge_->verdict().findings[0].sentence, judge_->verdict().error);
}

TEST_F(JudgeTest, AnErrorThatACheckNamesIsOneFinding) {
    const std::string store_at_null = kernel_text("mov.u64 %rd2, 0;\nst.global.u32 [%rd2], 1;");
    EXPECT_THROW(run(store_at_null, {{1, 1, 1}, {1, 1, 1}}, 1, {.memory = true}), Error);
    ASSERT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::memory);
    // Without the memory check it is a failed launch.
    EXPECT_THROW(run(store_at_null, {{1, 1, 1}, {1, 1, 1}}, 1, {.race = true}), Error);
    ASSERT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::failure);
}

TEST_F(JudgeTest, TriesTheCodeWithoutOptimizationWhereItIsKnown) {
    // The memory check reports a register that is read and was never set.
    const std::string unset =
        kernel_text("setp.eq.u32 %p0, %r9, 0;\n@%p0 st.global.u32 [%rd1], 1;");
    const auto unoptimized = Module::parse(unset, "unoptimized");
    run(kernel_text("st.global.u32 [%rd1], 1;"), {{1, 1, 1}, {1, 1, 1}}, 1, {.memory = true});
    EXPECT_TRUE(judge_->verdict().findings.empty());
    FrozenLaunch launch = frozen({{2, 1, 1}, {1, 1, 1}});
    launch.unoptimized = unoptimized->kernels().front().get();
    judge_->run(launch);
    const Verdict verdict = judge_->verdict();
    ASSERT_EQ(verdict.findings.size(), 1u);
    EXPECT_EQ(verdict.findings[0].kind, FindingKind::undefined);
    EXPECT_EQ(verdict.findings[0].severity, Severity::note);
}

/// Each block adds 1 to its word of out, with one thread.
const std::string adds_1 =
    "mov.u32 %r4, %ctaid.x;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd0, %rd2;\n"
    "ld.global.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd2], %r5;\n";

/// Launches of which the checks may watch a sample.
class SampledLaunch : public JudgeTest {
  protected:
    static constexpr std::uint32_t blocks = 256;
    static constexpr LaunchShape shape{{blocks, 1, 1}, {1, 1, 1}};

    /// Prepares `words` words, of which the host has written `written`.
    void prepare(const std::string& ptx, CheckChoice choice, std::size_t words = blocks,
                 std::size_t written = blocks) {
        module_ = Module::parse(ptx, "test");
        choice.samples = true;
        judge_.emplace(choice, launcher_);
        judge_->watch_at_most(200);  // instructions: a block has more than 8
        out_ = launcher_.machine().memory().allocate(words * 4);
        judge_->observer().on_allocate(std::uint64_t(out_), words * 4);
        if (written) judge_->observer().on_host_write(std::uint64_t(out_), written * 4);
    }
    std::uint64_t unwritten() {
        return judge_->memory_check().unwritten(std::uint64_t(out_), blocks * 4).count;
    }
};

TEST_F(SampledLaunch, RunsEachBlockOnce) {
    prepare(kernel_text(adds_1), {.race = true, .barrier = true, .memory = true});
    const std::uint64_t watched = judge_->run(frozen(shape)).watched;
    EXPECT_GE(watched, 6u);
    EXPECT_LE(watched, 200u / 8 + 2);
    EXPECT_EQ(words(blocks), std::vector<std::uint32_t>(blocks, 1));
    EXPECT_TRUE(judge_->verdict().findings.empty());
}

TEST_F(SampledLaunch, IsWatchedWholeWhereThatTakesNotLong) {
    prepare(kernel_text(adds_1), {.race = true, .memory = true});
    judge_->watch_at_most(10000);
    EXPECT_EQ(judge_->run(frozen(shape)).watched, blocks);
    EXPECT_EQ(words(blocks), std::vector<std::uint32_t>(blocks, 1));
    // With the launches, what may be watched of each becomes less.
    std::uint64_t watched = blocks;
    for (int launch = 0; launch < 100; ++launch) watched = judge_->run(frozen(shape)).watched;
    EXPECT_LT(watched, blocks);
    EXPECT_EQ(words(blocks), std::vector<std::uint32_t>(blocks, 101));
}

TEST_F(SampledLaunch, HasTheRacesBetweenNeighbours) {
    prepare(kernel_text(adds_1 + "ld.global.u32 %r6, [%rd2+4];\nst.global.u32 [%rd2], %r6;"),
            {.race = true}, blocks + 1);
    EXPECT_LT(judge_->run(frozen(shape)).watched, blocks);
    ASSERT_FALSE(judge_->verdict().findings.empty());
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::race);
}

TEST_F(SampledLaunch, CountsTheRacesOfBlocksThatRunInPartsOnce) {
    const std::string reads_neighbour = kernel_text(
        "mov.u32 %r4, %ctaid.x;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd0, %rd2;\n"
        "st.global.u32 [%rd2], %r4;\nld.global.u32 %r5, [%rd2+4];\nst.global.u32 [%rd2], %r5;");
    const auto count = [&] {
        std::uint64_t count = 0;
        for (const Finding& f : judge_->verdict().findings) count += f.count;
        return count;
    };
    run(reads_neighbour, shape, blocks + 1);
    const std::uint64_t whole = count();
    prepare(reads_neighbour, {.race = true}, blocks + 1);
    judge_->watch_at_most(10000);
    EXPECT_EQ(judge_->run(frozen(shape)).watched, blocks);
    EXPECT_EQ(count(), whole);
}

TEST_F(SampledLaunch, WhatItsOtherBlocksStoreIsWritten) {
    prepare(kernel_text("mov.u32 %r4, %ctaid.x;\nmul.wide.u32 %rd2, %r4, 4;\n"
                        "add.s64 %rd2, %rd0, %rd2;\nand.b32 %r5, %r4, 1;\n"
                        "setp.eq.u32 %p0, %r5, 0;\n@%p0 st.global.u32 [%rd2], %r4;"),
            {.memory = true}, blocks, 0);
    EXPECT_EQ(unwritten(), blocks * 4);
    EXPECT_LT(judge_->run(frozen(shape)).watched, blocks);
    EXPECT_EQ(unwritten(), blocks / 2 * 4);  // the words of blocks with an odd number
}

TEST_F(SampledLaunch, AnInvalidAccessOfABlockThatIsNotWatchedIsAFinding) {
    // Block 100 alone stores far behind the words.
    const std::string far = kernel_text(
        "mov.u32 %r4, %ctaid.x;\nmov.u64 %rd2, %rd0;\nsetp.eq.u32 %p0, %r4, 100;\n"
        "@%p0 add.s64 %rd2, %rd2, 1073741824;\nld.global.u32 %r5, [%rd2];");
    prepare(far, {.memory = true});
    EXPECT_THROW(judge_->run(frozen(shape)), AccessError);
    ASSERT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::memory);
    EXPECT_EQ(judge_->verdict().findings[0].first.block, (Dim3{100, 0, 0}));
    prepare(far, {.race = true});
    EXPECT_THROW(judge_->run(frozen(shape)), AccessError);
    ASSERT_EQ(judge_->verdict().findings.size(), 1u);
    EXPECT_EQ(judge_->verdict().findings[0].kind, FindingKind::failure);
}

TEST_F(SampledLaunch, IsNoneWhoseBlocksLearnOfEachOther) {
    // Word 0 is for all blocks, and each has another word for its result.
    const std::string stores =
        "mov.u32 %r4, %ctaid.x;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd0, %rd2;\n"
        "st.global.u32 [%rd2+4], %r3;\n";
    const std::string counts = "atom.global.add.u32 %r3, [%rd0], 1;\n" + stores;
    const std::string fences = adds_1 + "membar.gl;";
    const std::string polls = "ld.relaxed.gpu.global.u32 %r3, [%rd0];\n" + stores;
    for (const std::string& body : {counts, fences, polls}) {
        prepare(kernel_text(body), {.race = true}, blocks + 1);
        EXPECT_EQ(judge_->run(frozen(shape)).watched, blocks) << body;
    }
    // A sum of which no block uses the result tells none of the others.
    const std::string sums = "red.global.add.f32 [%rd0], 0f3F800000;\nmov.u32 %r3, 1;\n" + stores;
    prepare(kernel_text(sums), {.race = true}, blocks + 1);
    EXPECT_LT(judge_->run(frozen(shape)).watched, blocks);
}

}  // namespace
}  // namespace warpscope::emulator
