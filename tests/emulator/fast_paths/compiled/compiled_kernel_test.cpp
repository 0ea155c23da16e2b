#include "emulator/fast_paths/compiled/compiled_kernel.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

class CompiledKernelTest : public LlvmTest {};

// A loop whose lanes all take part, with integer and float arithmetic.
const std::string loop = R"(
mov.u32 %r2, 0;
mov.f32 %f0, 0f3F800000;
LOOP:
mad.lo.u32 %r3, %r2, 7, %r1;
cvt.rn.f32.u32 %f1, %r3;
fma.rn.f32 %f0, %f0, 0f3F7FFFF0, %f1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r2, 9;
@%p0 bra LOOP;
st.global.f32 [%rd1], %f0;
)";

// Lanes take different ways, one of them short, and meet again; some leave early.
const std::string divergence = R"(
and.b32 %r2, %r1, 5;
setp.eq.u32 %p0, %r2, 4;
mov.u32 %r4, 3;
@%p0 bra SKIP;
mul.lo.u32 %r4, %r1, 11;
SKIP:
shr.u32 %r5, %r1, 3;
AGAIN:
add.u32 %r4, %r4, %r5;
sub.s32 %r5, %r5, 1;
setp.gt.s32 %p1, %r5, 0;
@%p1 bra AGAIN;
setp.eq.u32 %p2, %r1, 17;
@%p2 ret;
@%p0 add.u32 %r4, %r4, 1000;
@!%p0 st.global.u32 [%rd1], %r4;
)";

// A tree of sums in shared memory: a barrier within a loop, lanes that rest.
const std::string tree = R"(
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r3, %r3, %r2;
ld.global.u32 %r4, [%rd1];
st.shared.u32 [%r3], %r4;
bar.sync 0;
mov.u32 %r5, 64;
STEP:
setp.ge.u32 %p0, %r1, %r5;
@%p0 bra REST;
shl.b32 %r6, %r5, 2;
add.u32 %r6, %r6, %r3;
ld.shared.u32 %r7, [%r6];
ld.shared.u32 %r8, [%r3];
add.u32 %r8, %r8, %r7;
st.shared.u32 [%r3], %r8;
REST:
bar.sync 0;
shr.u32 %r5, %r5, 1;
setp.ne.u32 %p1, %r5, 0;
@%p1 bra STEP;
ld.shared.u32 %r9, [tile];
st.global.u32 [%rd1], %r9;
)";
const std::string tile = ".shared .align 16 .b8 tile[4096];";

// Without its barrier, what a warp reads depends on the schedule.
const std::string race = R"(
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
mul.lo.u32 %r5, %r1, 3;
st.shared.u32 [%r4], %r5;
xor.b32 %r6, %r2, 252;
add.u32 %r6, %r6, %r3;
ld.shared.u32 %r7, [%r6];
st.global.u32 [%rd1], %r7;
)";

// Vectors of elements, one address for all lanes, gaps between the lanes, reversed lanes.
const std::string patterns = R"(
mul.wide.u32 %rd2, %r1, 16;
add.s64 %rd3, %rd0, %rd2;
ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3];
ld.global.v2.u32 {%r6, %r7}, [%rd0+8];
ld.global.u64 %rd4, [%rd3+8];
add.u32 %r2, %r2, %r6;
xor.b32 %r3, %r3, %r7;
st.global.v2.u32 [%rd3], {%r3, %r2};
st.global.u64 [%rd3+8], %rd4;
and.b32 %r8, %r1, 15;
mul.lo.u32 %r9, %r8, 12;
mov.u32 %r10, tile;
add.u32 %r9, %r9, %r10;
st.shared.u32 [%r9], %r1;
ld.shared.u32 %r11, [%r9];
xor.b32 %r12, %r1, 31;
mul.wide.u32 %rd5, %r12, 4;
add.s64 %rd5, %rd0, %rd5;
st.global.u32 [%rd5+8192], %r11;
)";

// Exchanges, votes, atomics and the clock, which the interpreter runs, between compiled parts.
const std::string mixture = R"(
mov.b32 %r2, %r1;
shfl.sync.down.b32 %r3|%p0, %r2, 3, 31, -1;
shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1;
@%p0 add.u32 %r4, %r4, 5;
vote.sync.ballot.b32 %r5, %p0, -1;
add.u32 %r4, %r4, %r5;
atom.global.add.u32 %r6, [%rd0], %r4;
add.u32 %r7, %r6, %r4;
mov.u32 %r8, %clock;
add.u32 %r7, %r7, %r8;
popc.b32 %r9, %r7;
add.u32 %r7, %r7, %r9;
st.global.u32 [%rd1+64], %r7;
)";

// Each thread has a sign, an exponent and the first bit of a mantissa of its own.
const std::string roots = R"(
shl.b32 %r2, %r1, 22;
xor.b32 %r2, %r2, 74565;
mov.b32 %f0, %r2;
rsqrt.approx.f32 %f1, %f0;
rsqrt.approx.ftz.f32 %f2, %f0;
mov.b32 %r3, %f1;
mov.b32 %r4, %f2;
st.global.u32 [%rd1], %r3;
st.global.u32 [%rd1+8192], %r4;
)";

TEST_F(CompiledKernelTest, ReciprocalRootsOfAllExponentsAreEqual) {
    BothForms(kernel_text(roots)).expect_equal(one_block(1024));
}

// The root of one value for all lanes, between vectors that must survive it.
TEST_F(CompiledKernelTest, AUniformRootOfASpecialValueKeepsTheLanesOfOthers) {
    BothForms both(
        kernel_text("cvt.rn.f32.u32 %f0, %r1;\nmov.b32 %f1, %r0;\nmov.u32 %r2, 3;\nLOOP:\n"
                    "mul.f32 %f0, %f0, 0f40000000;\nrsqrt.approx.f32 %f2, %f1;\n"
                    "sub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra LOOP;\n"
                    "mov.b32 %r3, %f2;\nst.global.f32 [%rd1], %f0;\n"
                    "st.global.u32 [%rd1+8192], %r3;"));
    for (const std::uint32_t bits : {0u, 1u, 0x80000000u, 0x7F800000u, 0x7FC00000u, 0x3F800000u}) {
        const Outcome compiled = both.run(true, one_block(32), {}, bits);
        EXPECT_EQ(compiled, both.run(false, one_block(32), {}, bits));
        for (unsigned lane = 0; lane < 32; ++lane)
            EXPECT_EQ(std::bit_cast<float>(compiled.memory[lane]), 8 * float(lane));
    }
}

TEST_F(CompiledKernelTest, AUniformLoopHasEqualResultsAndCounts) {
    for (const std::uint32_t threads : {32u, 33u, 64u, 100u, 256u})
        BothForms(kernel_text(loop)).expect_equal({{3, 1, 1}, {threads, 1, 1}, 0});
}

TEST_F(CompiledKernelTest, LanesThatDivergeHaveEqualResultsAndCounts) {
    for (const std::uint32_t threads : {32u, 64u, 97u})
        BothForms(kernel_text(divergence)).expect_equal({{2, 1, 1}, {threads, 1, 1}, 0});
}

TEST_F(CompiledKernelTest, ATreeOfSumsHasEqualResultsAndCounts) {
    BothForms(kernel_text(tree, tile)).expect_equal({{2, 1, 1}, {128, 1, 1}, 0});
}

TEST_F(CompiledKernelTest, ARaceTearsInEqualPlaces) {
    BothForms both(kernel_text(race, tile));
    both.expect_equal({{2, 1, 1}, {256, 1, 1}, 0});
    LaunchSettings one, other;
    one.seed = 1;
    other.seed = 2;
    const LaunchShape launch{{2, 1, 1}, {256, 1, 1}, 0};
    EXPECT_NE(both.run(true, launch, one, 0).memory, both.run(true, launch, other, 0).memory);
}

TEST_F(CompiledKernelTest, PatternsOfAccessHaveEqualResults) {
    BothForms(kernel_text(patterns, tile)).expect_equal({{1, 1, 1}, {128, 1, 1}, 0});
}

TEST_F(CompiledKernelTest, ExchangesAtomicsAndTheClockHaveEqualResults) {
    BothForms(kernel_text(mixture)).expect_equal({{2, 1, 1}, {64, 1, 1}, 0});
}

TEST_F(CompiledKernelTest, ABudgetEndsBothAtOneInstruction) {
    BothForms(kernel_text(loop)).expect_equal_budgets({{1, 1, 1}, {64, 1, 1}, 0}, 200);
    BothForms(kernel_text(tree, tile)).expect_equal_budgets({{1, 1, 1}, {128, 1, 1}, 0}, 500);
}

TEST_F(CompiledKernelTest, AWildAddressIsReportedInTheInterpretersWords) {
    for (const char* access :
         {"ld.global.u32 %r5, [%rd1+65536];", "st.global.u32 [%rd1-16385], %r1;",
          "st.global.u32 [%rd1+2], %r1;", "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1];",
          "ld.global.u32 %r5, [%rd0-4];", "ld.shared.u32 %r5, [%r1];",
          "st.shared.u32 [%r1+4000], %r1;", "ld.shared.u32 %r5, [tile+4096];",
          "mul.lo.u32 %r6, %r1, 400; st.shared.u32 [%r6], %r1;",
          "sub.u32 %r6, %r1, 64; st.shared.u32 [%r6], %r1;",
          // lanes with gaps; the sum of the first addresses and the offset wraps in 32 bits
          "mul.lo.u32 %r6, %r1, 12; sub.u32 %r6, %r6, 64; ld.shared.u32 %r5, [%r6+128];",
          "mul.lo.u32 %r6, %r1, 12; ld.shared.u32 %r5, [%r6-4];",
          "mul.wide.u32 %rd5, %r1, 1200; add.s64 %rd5, %rd5, %rd0; ld.global.u32 %r5, [%rd5];",
          "mul.wide.u32 %rd5, %r1, 12; sub.s64 %rd5, %rd0, %rd5; st.global.u32 [%rd5], %r1;",
          "mul.wide.u32 %rd5, %r1, 6; add.s64 %rd5, %rd5, %rd0; ld.global.u32 %r5, [%rd5];"}) {
        SCOPED_TRACE(access);
        BothForms both(kernel_text(
            fmt::format("add.u32 %r9, %r1, 1;\n{}\nst.global.u32 [%rd1], %r9;", access), tile));
        LaunchSettings settings;
        settings.threads = 1;
        const Outcome interpreted = both.run(false, one_block(64), settings, 0);
        EXPECT_NE(interpreted.error, "");
        EXPECT_EQ(interpreted, both.run(true, one_block(64), settings, 0));
    }
}

TEST_F(CompiledKernelTest, TheInterpreterTakesOverAnEndlessLoopThatIsStopped) {
    BothForms both(kernel_text("LOOP:\nadd.u32 %r2, %r2, 1;\nbra LOOP;"));
    LaunchSettings settings;
    settings.instruction_budget = 100000;
    settings.threads = 1;
    const Outcome interpreted = both.run(false, one_block(32), settings, 0);
    EXPECT_NE(interpreted.error, "");
    EXPECT_EQ(interpreted, both.run(true, one_block(32), settings, 0));
}

/// Remembers the kernel of the launch.
struct KernelWitness : Observer {
    bool wants_instructions(const Kernel&) const override { return false; }
    void on_launch(const Kernel& kernel, const LaunchShape&) override { seen = &kernel; }
    const Kernel* seen = nullptr;
};

TEST_F(CompiledKernelTest, AnObserverOfAccessesGetsTheFormThatReportsThem) {
    BothForms both(kernel_text(loop));
    LaunchSettings settings;
    KernelWitness observer;
    both.run(true, one_block(64), settings, 0, &observer);
    EXPECT_EQ(observer.seen, both.with_reports().get());
}

// A load of one address of shared memory in a loop: 64 times by each of 3 warps. The warps read
// what warp 0 has written before the barrier.
const std::string broadcast = R"(
mov.u32 %r2, tile;
setp.ne.u32 %p0, %r1, 0;
@%p0 bra WAIT;
st.shared.u32 [%r2+16], %r1;
WAIT:
bar.sync 0;
mov.u32 %r3, 0;
LOOP:
ld.shared.u32 %r4, [tile+16];
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 64;
@%p1 bra LOOP;
)";

TEST_F(CompiledKernelTest, RepeatedLoadsOfOneAddressAreCounted) {
    BothForms both(kernel_text(broadcast, tile));
    AccessCounters counters;
    RaceDetector races;
    const Memory none;
    HeatMap heat(none);  // of shared memory
    ObserverList checks;
    checks.add(counters);
    checks.add(races);
    checks.add(heat);
    both.run(true, one_block(96), {}, 0, &checks);
    EXPECT_EQ(counters.kernels().front().shared_loads.requests, 3 * 64u);
    EXPECT_EQ(counters.kernels().front().shared_loads.bytes, 3 * 64 * 32 * 4u);
    EXPECT_TRUE(races.findings().empty());
    const HeatArray& words = heat.kernels().at(0).arrays.at(0);
    EXPECT_EQ(words.count(HeatFigure::reads, 3), 0u);
    EXPECT_EQ(words.count(HeatFigure::reads, 4), 3 * 64 * 32u) << "the word at byte 16";
    // The third warp has 16 lanes.
    both.expect_equal(one_block(80));
}

// As above, but each warp stores into the word after its loads, and no barrier is between them.
TEST_F(CompiledKernelTest, AStoreBehindRepeatedLoadsIsARace) {
    BothForms both(kernel_text(broadcast + "st.shared.u32 [%r2+16], %r3;", tile));
    RaceDetector races;
    both.run(true, one_block(96), {}, 0, &races);
    EXPECT_FALSE(races.findings().empty());
    both.expect_equal(one_block(96));
}

// A fence of all lanes, and one that a quarter of them skips.
const std::string fences = R"(
mov.u32 %r2, 0;
mov.u32 %r4, 0;
LOOP:
add.u32 %r2, %r2, 1;
membar.cta;
and.b32 %r3, %r1, 3;
setp.eq.u32 %p0, %r3, 1;
@%p0 bra SKIP;
add.u32 %r4, %r4, %r1;
fence.acq_rel.gpu;
SKIP:
setp.lt.u32 %p1, %r2, 5;
@%p1 bra LOOP;
st.global.u32 [%rd1], %r4;
)";

TEST_F(CompiledKernelTest, FencesAreReported) {
    struct : Observer {
        void on_fence(std::uint32_t, std::uint32_t, std::uint32_t mask, Fence) override {
            lanes += lane_count(mask);
        }
        bool wants_instructions(const Kernel&) const override { return false; }
        std::uint32_t lanes = 0;
    } counter;
    BothForms both(kernel_text(fences));
    both.run(true, one_block(64), {}, 0, &counter);
    EXPECT_EQ(counter.lanes, 2 * 5 * (32 + 24));
    both.expect_equal(one_block(64));
}

// The observer of accesses asks for the end of an endless launch.
TEST_F(CompiledKernelTest, AnObservedEndlessLoopCanBeStopped) {
    BothForms both(kernel_text("LOOP:\nst.shared.u32 [tile], %r1;\nbra LOOP;", tile));
    struct Stopping : Observer {
        bool wants_instructions(const Kernel&) const override { return false; }
        void on_shared_access(const Access&) override {
            if (++accesses == 100) stop.request_stop();
        }
        std::stop_source stop;
        std::uint64_t accesses = 0;
    } observer;
    LaunchSettings settings;
    settings.stop = observer.stop.get_token();
    settings.threads = 1;
    expect_contains(both.run(true, one_block(32), settings, 0, &observer).error, "was stopped");
}

TEST_F(CompiledKernelTest, AnExceptionOfAnObserverEndsTheLaunch) {
    BothForms both(kernel_text("st.shared.u32 [tile], %r1;", tile));
    struct Failing : Observer {
        bool wants_instructions(const Kernel&) const override { return false; }
        void on_shared_access(const Access&) override { throw Error("the observer has failed"); }
    } observer;
    EXPECT_EQ(both.run(true, one_block(32), {}, 0, &observer).error, "the observer has failed");
}

// A box of 4 words goes to element n + 8 of a tensor of 64 words. The interpreter executes the
// copy, and must find the coordinate that compiled code has computed.
TEST_F(CompiledKernelTest, ACopyOfATensorGetsACoordinateThatCompiledCodeHasComputed) {
    static_assert(TensorMap::mark_of_maps == 0x544D4150 && unsigned(Type::u32) == 7);
    BothForms both(kernel_text(R"(
add.s64 %rd2, %rd0, 4096;
and.b64 %rd2, %rd2, -64;
add.s64 %rd3, %rd0, 8192;
st.global.v2.u32 [%rd2], {0x544D4150, 0x00070401};
st.global.u64 [%rd2+8], %rd3;
st.global.u64 [%rd2+16], 64;
st.global.u32 [%rd2+88], 4;
mov.u32 %r2, tile;
st.shared.u32 [%r2+12], 103;
add.u32 %r3, %r0, 8;
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r3}], [%r2];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
)",
                               ".shared .align 128 .b8 tile[128];"));
    for (const bool compiled : {false, true}) {
        const Outcome outcome = both.run(compiled, one_block(32), {.threads = 1}, 4);
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(outcome.memory[8192 / 4 + 15], 103u) << "compiled: " << compiled;
    }
}

TEST_F(CompiledKernelTest, NothingIsWrittenIntoTheOriginalKernel) {
    const auto module = Module::parse(kernel_text(loop), "test");
    const Kernel& kernel = *module->kernels().front();
    const std::vector<Instruction> before = kernel.code;
    const CompiledKernel compiled(installed_llvm(), module, kernel);
    EXPECT_EQ(std::memcmp(before.data(), kernel.code.data(), before.size() * sizeof(Instruction)),
              0);
    EXPECT_NE(std::memcmp(before.data(), compiled.kernel().code.data(),
                          before.size() * sizeof(Instruction)),
              0);
}

}  // namespace
}  // namespace warpscope::emulator
