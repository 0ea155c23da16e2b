#include <set>
#include <string>

#include "emulator/fast_paths/compiled/both_forms.h"
#include "emulator/fast_paths/compiled/kernel_versions.h"

// Code for some lanes of a warp.
namespace warpscope::emulator {
namespace {

class SomeLanes : public LlvmTest {};

// Each lane runs the loop as often as its number says. Loads, stores, a predicate that only some
// lanes set, and 64-bit values are in the loop.
const std::string separating_loop = R"(
and.b32 %r2, %r1, 31;
mov.u32 %r3, 0;
mov.u64 %rd2, 1;
mov.f32 %f0, 0f3F800000;
shl.b32 %r4, %r1, 2;
mov.u32 %r5, tile;
add.u32 %r5, %r5, %r4;
st.shared.u32 [%r5], %r1;
setp.gt.u32 %p2, %r1, 40;
LOOP:
ld.shared.u32 %r6, [%r5];
mad.lo.u32 %r6, %r6, 5, %r3;
st.shared.u32 [%r5], %r6;
ld.global.u32 %r7, [%rd1];
xor.b32 %r6, %r6, %r7;
mul.lo.u64 %rd2, %rd2, 6364136223846793005;
fma.rn.f32 %f0, %f0, 0f3FA00000, 0f3DCCCCCD;
setp.lt.u32 %p1, %r6, 1000000;
@%p1 add.u32 %r3, %r3, 1;
and.pred %p2, %p2, %p1;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, %r2;
@%p0 bra LOOP;
selp.b32 %r8, 77, 5, %p2;
add.u32 %r6, %r6, %r8;
cvt.u32.u64 %r9, %rd2;
xor.b32 %r6, %r6, %r9;
mov.b32 %r10, %f0;
add.u32 %r6, %r6, %r10;
st.global.u32 [%rd1], %r6;
)";

const std::string separating_tile = ".shared .align 16 .b8 tile[4096];";

bool is_compiled_for_some_lanes(const BothForms& both, const Kernel& form) {
    const std::vector<Instruction>&before = both.kernel_.code, &after = form.code;
    for (std::size_t k = 0; k < before.size(); ++k)
        if (before[k].handlers[Instruction::masked] != after[k].handlers[Instruction::masked])
            return true;
    return false;
}

TEST_F(SomeLanes, ALoopThatSeparatesLanesIsCompiledForSomeOfThem) {
    BothForms both(kernel_text(separating_loop, separating_tile));
    EXPECT_TRUE(is_compiled_for_some_lanes(both, *both.compiled_));
    for (const std::uint32_t threads : {32u, 100u, 256u})
        both.expect_equal({{2, 1, 1}, {threads, 1, 1}, 0});
    both.expect_equal_budgets(one_block(64), 600);
}

// Lane l runs the loop l + 1 times. In each run all lanes load one word, and each loads and stores
// a word of its own.
TEST_F(SomeLanes, AreCountedAndReportedWhereTheyAreObserved) {
    BothForms both(kernel_text(R"(
mov.u32 %r2, tile;
and.b32 %r3, %r1, 31;
shl.b32 %r6, %r1, 2;
add.u32 %r6, %r6, %r2;
st.shared.u32 [%r6], %r1;
mov.u32 %r4, 0;
LOOP:
ld.shared.u32 %r5, [%r2+16];
ld.shared.u32 %r7, [%r6];
add.u32 %r7, %r7, %r5;
st.shared.u32 [%r6], %r7;
and.b32 %r8, %r4, %r1;
setp.eq.u32 %p1, %r8, 0;
@%p1 bra SKIP;
add.u32 %r7, %r7, 3;
SKIP:
add.u32 %r4, %r4, 1;
setp.le.u32 %p0, %r4, %r3;
@%p0 bra LOOP;
st.global.u32 [%rd1], %r7;
)",
                               separating_tile));
    EXPECT_TRUE(is_compiled_for_some_lanes(both, *both.with_reports()));
    for (const bool compiled : {false, true}) {
        AccessCounters counters;
        both.run(compiled, one_block(32), {}, 0, &counters);
        const KernelCounters& counted = counters.kernels().front();
        EXPECT_EQ(counted.shared_loads.requests, 2u * 32);
        EXPECT_EQ(counted.shared_loads.bytes, 2u * 4 * (32 * 33 / 2));
        EXPECT_EQ(counted.shared_stores.requests, 1u + 32);
        EXPECT_EQ(counted.shared_stores.bytes, 4u * (32 + 32 * 33 / 2));
    }
    for (const std::uint32_t threads : {32u, 100u, 256u})
        both.expect_equal({{5, 1, 1}, {threads, 1, 1}, 0});
}

TEST_F(SomeLanes, TheirCodeMayBeCompiledAfterTheFirstLaunches) {
    BothForms both(kernel_text(separating_loop, separating_tile), InstructionSet::host,
                   ForSomeLanes::when_asked);
    both.expect_equal({{2, 1, 1}, {100, 1, 1}, 0});
    both.expect_equal_budgets(one_block(64), 600);
    EXPECT_FALSE(both.owner_->is_complete());
    EXPECT_FALSE(both.reports_owner_->is_complete());
    both.compile_for_some_lanes();
    EXPECT_TRUE(both.owner_->is_complete());
    EXPECT_TRUE(both.reports_owner_->is_complete());
    both.expect_equal({{2, 1, 1}, {100, 1, 1}, 0});
    both.expect_equal_budgets(one_block(64), 600);
}

TEST_F(SomeLanes, TheirCodeIsCompiledOnceItHasOftenBeenMissed) {
    BothForms both(kernel_text(separating_loop, separating_tile));
    const auto compiler = std::make_shared<KernelCompiler>();
    const auto versions = std::make_shared<KernelVersions>(*compiler, both.module_, both.kernel_);
    versions->compile();
    EXPECT_FALSE(versions->is_complete());
    const LaunchShape launch = {{64, 1, 1}, {256, 1, 1}, 0};
    LaunchSettings settings;
    settings.threads = 1;  // the blocks write the words that others read
    const Outcome interpreted = both.run(false, launch, settings, 0);
    while (!versions->is_complete()) {
        both.compiled_ = versions->choose(Execution::automatic);
        ASSERT_EQ(interpreted.statistics.warp_instructions,
                  both.run(true, launch, settings, 0).statistics.warp_instructions);
    }
}

TEST_F(SomeLanes, CompiledExecutionWaitsForTheirCode) {
    const auto module = Module::parse(kernel_text(separating_loop, separating_tile), "test");
    const auto compiler = std::make_shared<KernelCompiler>();
    const auto versions =
        std::make_shared<KernelVersions>(*compiler, module, *module->kernels().front());
    versions->compile();
    EXPECT_FALSE(versions->is_complete());
    EXPECT_NE(versions->choose(Execution::compiled), nullptr);
    EXPECT_TRUE(versions->is_complete());
}

// What some lanes skip in a loop, and what all do.
const std::string skipping_loop = R"(
mov.u32 %r3, 0;
LOOP:
and.b32 %r4, %r1, 3;
setp.eq.u32 %p1, %r4, 2;
ld.global.u32 %r5, [%rd1];
@%p1 bra SKIP;
add.u32 %r5, %r5, %r3;
st.global.u32 [%rd1], %r5;
SKIP:
add.u32 %r6, %r5, 3;
st.global.u32 [%rd1+4096], %r6;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 9;
@%p0 bra LOOP;
)";

TEST_F(SomeLanes, OnlyWhatSomeLanesSkipInALoopIsCompiledForSomeOfThem) {
    BothForms both(kernel_text(skipping_loop));
    const std::vector<Instruction>&before = both.kernel_.code, &after = both.compiled_->code;
    std::set<std::string> compiled;
    for (std::size_t k = 0; k < before.size(); ++k)
        if (before[k].handlers[Instruction::masked] != after[k].handlers[Instruction::masked])
            compiled.insert(both.kernel_.lines[k].text);
    EXPECT_EQ(compiled, std::set<std::string>{"add.u32 %r5, %r5, %r3"});
    both.expect_equal({{2, 1, 1}, {100, 1, 1}, 0});
    both.expect_equal_budgets(one_block(64), 400);
}

// A loop that all lanes run equally often.
const std::string common_loop = R"(
mov.u32 %r2, 0;
LOOP:
mad.lo.u32 %r3, %r2, 7, %r1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r2, 9;
@%p0 bra LOOP;
st.global.u32 [%rd1], %r3;
)";

TEST_F(SomeLanes, ALoopThatKeepsLanesTogetherIsCompiledForAllOfThem) {
    const BothForms both(kernel_text(common_loop));
    EXPECT_FALSE(is_compiled_for_some_lanes(both, *both.compiled_));
}

}  // namespace
}  // namespace warpscope::emulator
