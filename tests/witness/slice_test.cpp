#include "emulator/slice/slice.h"

#include "emulator/slice/wrong_word.h"
#include "naive_tracer.h"

namespace warpscope::tests {
namespace {

using emulator::BlockTrace;
using emulator::LaunchSettings;
using emulator::Schedule;
using emulator::Slice;
using emulator::SliceSource;
using emulator::Stepper;

NaiveTracer::Origins origins_of(const Slice& slice) {
    NaiveTracer::Origins all;
    for (const auto& node : slice.nodes) all.set(NaiveTracer::bit_of(node.step, node.lane));
    return all;
}

/// Compares the slices of every fifth word of the block with those of the naive tracer. Returns how
/// many kinds of instructions the tracer did not know.
std::size_t compare(const emulator::Kernel& kernel, std::uint32_t threads, Schedule schedule,
                    std::uint64_t seed) {
    SmallBlock block(kernel, threads, {.schedule = schedule, .seed = seed});
    Stepper stepper(block.machine, block.launch, 0);
    stepper.run(NaiveTracer::most_steps);  // some wait in a loop for another warp
    const NaiveTracer naive(stepper);
    if (!naive.unknown().empty()) return naive.unknown().size();
    const BlockTrace trace(stepper);
    for (std::size_t word = 0; word < threads; word += 5) {
        const std::uint64_t address = std::uint64_t(block.out) + 4 * word;
        EXPECT_TRUE(origins_of(backward_slice(trace, {address})) == naive.of_global(address))
            << kernel.name << ", word " << word << ", seed " << seed;
        if (testing::Test::HasFailure()) return 0;
    }
    return 0;
}

TEST(Slice, IsThatOfANaiveTracerInManyKernelsAndOrders) {
    std::size_t compared = 0, left_out = 0;
    for (const char* file : {"kernels", "order"})
        for (const auto& kernel : witness_module(file).kernels()) {
            if (kernel->parameters.size() != 1) continue;
            const bool unknown = compare(*kernel, 64, Schedule::run_to_barrier, 1) +
                                     compare(*kernel, 64, Schedule::reverse, 1) +
                                     compare(*kernel, 64, Schedule::random, 1) +
                                     compare(*kernel, 96, Schedule::random, 2) >
                                 0;
            ++(unknown ? left_out : compared);
            ASSERT_FALSE(HasFailure());
        }
    EXPECT_GE(compared, 50u);
    EXPECT_EQ(left_out, 0u);
}

/// A sum over each warp by shuffles, then over the warps through shared memory: with a vector, a
/// guard, a carry, an atomic and local memory on the way.
constexpr const char* mixed = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry mixed(.param .u64 out) {
    .reg .u64 %rd<6>;
    .reg .u32 %r<24>;
    .reg .pred %p<3>;
    .shared .align 16 .b8 cell[1024];
    .local .align 4 .b8 own[16];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, 3;
    shfl.sync.down.b32 %r3, %r2, 16, 31, -1;
    add.u32 %r2, %r2, %r3;
    shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
    add.cc.u32 %r4, %r2, %r3;
    addc.u32 %r5, %r1, 0;
    shl.b32 %r6, %r1, 3;
    st.shared.v2.u32 [%r6], {%r4, %r5};
    and.b32 %r7, %r1, 1;
    setp.eq.u32 %p1, %r7, 0;
    @%p1 add.u32 %r4, %r4, 100;
    xor.b32 %r8, %r6, 256;
    ld.shared.v2.u32 {%r9, %r10}, [%r8];
    mov.u32 %r11, own;
    st.local.u32 [%r11+4], %r10;
    ld.local.u32 %r12, [%r11+4];
    and.b32 %r13, %r1, 3;
    shl.b32 %r13, %r13, 2;
    atom.shared.add.u32 %r14, [%r13+768], %r4;
    selp.b32 %r15, %r9, %r12, %p1;
    add.u32 %r15, %r15, %r14;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r15;
    ret;
}
)";

TEST(Slice, GoesThroughShufflesVectorsGuardsCarriesAtomicsAndLocalMemory) {
    const auto module = emulator::Module::parse(mixed, "mixed");
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_EQ(compare(*module->find("mixed"), 64, Schedule::random, seed), 0u);
}

TEST(Slice, EndsAtTheInputsOfTheKernel) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    SmallBlock block(kernel, 64);
    Stepper stepper(block.machine, block.launch, 0);
    stepper.run();
    const BlockTrace trace(stepper);
    const Slice slice = backward_slice(trace, {std::uint64_t(block.out)}, &stepper);
    std::set<SliceSource::Kind> kinds;
    for (const auto& node : slice.nodes)
        for (const SliceSource& source : node.sources) kinds.insert(source.kind);
    EXPECT_TRUE(kinds.contains(SliceSource::Kind::special)) << "the index of the thread";
    EXPECT_TRUE(kinds.contains(SliceSource::Kind::parameter)) << "the address of the buffer";
    EXPECT_FALSE(kinds.contains(SliceSource::Kind::undefined));
    ASSERT_EQ(slice.bytes.size(), 1u);
    const auto& store = slice.nodes[slice.bytes[0].at];
    EXPECT_EQ(store.value, block.values()[0]) << "what the thread has stored";
}

/// Why word `word` is wrong, whose right value is `right`.
emulator::WrongWord explain(const std::string& name, std::size_t word, std::uint32_t right,
                            const LaunchSettings& settings, std::uint32_t threads = 64) {
    SmallBlock block(*witness_module("kernels").find(name), threads, settings);
    const std::uint64_t address = std::uint64_t(block.out) + 4 * word;
    return emulator::explain(
        block.machine, block.launch, 0, {address},
        [&](const Stepper& stepper) { return stepper.global_word(address) == right; });
}

// Thread t writes t to cell t and reads cell 63 - t: without a barrier, warp 0 runs first and reads
// what warp 1 has not written.
TEST(WrongWord, NamesTheReadThatCameTooEarlyAndTheThreadThatWroteTooLate) {
    const auto word = explain("mirror_no_barrier", 5, 58, {.schedule = Schedule::run_to_barrier});
    ASSERT_TRUE(word.right);
    ASSERT_TRUE(word.parting && word.parting->node);
    EXPECT_EQ(word.words.brief, "thread 5 read before warp 1 wrote");
    EXPECT_EQ(word.words.whole,
              "Thread 5 of warp 0 read word 58 of shared memory at kernels/kernels.cu:15 before "
              "thread 58 of warp 1 wrote it (kernels/kernels.cu:14). It got what was there before "
              "this block.");
    ASSERT_TRUE(word.writer);
    EXPECT_EQ(word.writer->warp, 1u);
    EXPECT_EQ(word.writer->lane, 58u - 32u);
    const auto place = word.place();
    ASSERT_TRUE(place);
    EXPECT_EQ(place->warp, 0u);
    EXPECT_EQ(place->lane, 5u);
    EXPECT_EQ(word.run.trace.kernel().lines[word.run.trace.steps()[place->step].pc].access,
              emulator::MemoryAccess::load);
}

TEST(WrongWord, ARightWordIsNotExplained) {
    const auto word = explain("mirror", 5, 58, {.schedule = Schedule::reverse});
    EXPECT_FALSE(word.right);
    EXPECT_EQ(word.words.brief,
              "the block itself leaves the right value: another block has changed it");
}

/// Warp 0 sets a flag; warp 1 stores 7 if it is set, else 5.
constexpr const char* by_flag = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry by_flag(.param .u64 out) {
    .reg .u64 %rd<4>;
    .reg .u32 %r<4>;
    .reg .pred %p<3>;
    .shared .align 4 .b8 flag[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra READS;
    mov.u32 %r2, 1;
    st.shared.u32 [flag], %r2;
    bra DONE;
READS:
    ld.shared.u32 %r3, [flag];
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra SET;
    st.global.u32 [%rd3], 5;
    bra DONE;
SET:
    st.global.u32 [%rd3], 7;
DONE:
    ret;
}
)";

// The value of the store is a constant: only the branch leads to the read that came too early.
TEST(WrongWord, NamesTheReadThatMadeAThreadTakeTheWrongWay) {
    const auto module = emulator::Module::parse(by_flag, "by_flag");
    SmallBlock block(*module->find("by_flag"), 64, {.schedule = Schedule::reverse});
    const std::uint64_t address = std::uint64_t(block.out) + 4 * 40;
    const auto word = emulator::explain(
        block.machine, block.launch, 0, {address},
        [&](const Stepper& stepper) { return stepper.global_word(address) == 7u; });
    ASSERT_TRUE(word.right);
    EXPECT_EQ(word.words.brief, "thread 40 read before warp 0 wrote");
    std::set<std::string> texts;
    for (const auto& node : word.run.slice.nodes)
        texts.insert(word.run.trace.kernel().lines[node.pc].text);
    for (const char* text : {"@%p1 bra READS", "@%p2 bra SET", "ld.shared.u32 %r3, [flag]",
                             "setp.gt.u32 %p1, %r1, 31", "st.global.u32 [%rd3], 5"})
        EXPECT_TRUE(texts.contains(text)) << text;
}

/// Warp 0 sets a flag; warp 1 stores 7, and 5 over it where it does not end at the flag before.
constexpr const char* ends_by_flag = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry ends_by_flag(.param .u64 out) {
    .reg .u64 %rd<4>;
    .reg .u32 %r<4>;
    .reg .pred %p<3>;
    .shared .align 4 .b8 flag[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], 7;
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra READS;
    st.shared.u32 [flag], 1;
    ret;
READS:
    ld.shared.u32 %r3, [flag];
    setp.ne.u32 %p2, %r3, 0;
    @%p2 ret;
    st.global.u32 [%rd3], 5;
    ret;
}
)";

// The slice goes through the branch that the guard of ret is.
TEST(WrongWord, FindsTheReadThatDidNotEndAThread) {
    const auto module = emulator::Module::parse(ends_by_flag, "ends_by_flag");
    SmallBlock block(*module->find("ends_by_flag"), 64, {.schedule = Schedule::reverse});
    const std::uint64_t address = std::uint64_t(block.out) + 4 * 40;
    const auto word = emulator::explain(
        block.machine, block.launch, 0, {address},
        [&](const Stepper& stepper) { return stepper.global_word(address) == 7u; });
    ASSERT_TRUE(word.right);
    EXPECT_EQ(word.words.brief,
              "thread 40 stored it last at PTX line 23, in the right run at PTX line 14");
    std::set<std::string> texts;
    for (const auto& node : word.run.slice.nodes)
        texts.insert(word.run.trace.kernel().lines[node.pc].text);
    for (const char* text : {"@%p2 ret", "ld.shared.u32 %r3, [flag]", "st.global.u32 [%rd3], 5"})
        EXPECT_TRUE(texts.contains(text)) << text;
}

// The loop adds cell t + 32 of three rounds. The barrier behind the read is missing: a warp may
// overwrite a cell for the next round before another one has read it.
TEST(WrongWord, NamesTheReadThatCameTooLate) {
    std::size_t late = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (std::size_t thread = 0; thread < 64; thread += 32) {
            SmallBlock block(*witness_module("kernels").find("rounds_one_barrier_short"), 64,
                             {.schedule = Schedule::random, .seed = seed});
            const std::uint64_t address = std::uint64_t(block.out) + 4 * thread;
            const auto word = emulator::explain(
                block.machine, block.launch, 0, {address},
                [&](const Stepper& stepper) { return stepper.global_word(address) == 0 + 1 + 2; });
            if (!word.right) continue;
            const std::string other = thread == 0 ? "1" : "0";
            EXPECT_TRUE(
                word.words.brief.english().ends_with(" read after warp " + other + " wrote"))
                << word.words.brief.english();
            EXPECT_NE(word.words.whole.english().find("It got what thread"), std::string::npos);
            ++late;
        }
    EXPECT_GT(late, 0u);
}

TEST(WrongWord, NamesTheRaceOfABlockThatReadsWhatItHasNotWritten) {
    const auto word = explain("mirror_no_barrier", 5, 1234, {.schedule = Schedule::run_to_barrier});
    EXPECT_FALSE(word.right);
    EXPECT_EQ(word.words.brief, "thread 5 read what the block had not written");
    EXPECT_EQ(
        word.words.whole,
        "Thread 5 of warp 0 read word 58 of shared memory, which the block had not written at "
        "kernels/kernels.cu:15. The block has a race between kernels/kernels.cu:15 and "
        "kernels/kernels.cu:14.");
}

TEST(WrongWord, SaysWhetherTheBlockRacesWhereNoOrderGivesTheRightValue) {
    const auto word = explain("mirror", 5, 1234, {.schedule = Schedule::reverse});
    EXPECT_FALSE(word.right);
    EXPECT_EQ(word.words.brief,
              "none of 6 other orders of the warps gives the right value, and no race was found in "
              "the block");
    ASSERT_TRUE(word.place()) << "the last store of the word";
    const auto racy = explain("rounds_one_barrier_short", 5, 1234, {});
    EXPECT_EQ(racy.words.whole,
              "None of 6 other orders of the warps gives the right value, but the block has a race "
              "between kernels/kernels.cu:31 and kernels/kernels.cu:33.");
}

}  // namespace
}  // namespace warpscope::tests
