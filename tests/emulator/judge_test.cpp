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
    EXPECT_TRUE(verdict.findings[0].sentence.ends_with(
        "Only the reverse order of warps and blocks shows it (--schedule reverse)."))
        << verdict.findings[0].sentence;
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
    EXPECT_NE(judge_->verdict().error.find("trap"), std::string::npos) << judge_->verdict().error;
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

}  // namespace
}  // namespace warpscope::emulator
