#include <atomic>
#include <set>

#include "emulator/fast_paths/compiled/both_forms.h"

// Kernels that are compiled in several parts at the same time.
namespace warpscope::emulator {
namespace {

class CompiledParts : public LlvmTest {};

std::string loads(unsigned count) {
    std::string text;
    for (unsigned k = 0; k < count; ++k)
        text += fmt::format("ld.global.u32 %r6, [%rd1+{}]; mad.lo.u32 %r4, %r4, 5, %r6;\n", 16 * k);
    return text;
}

// Two loops in a loop, and stores behind a barrier.
std::string long_kernel(const std::string& end = "") {
    std::string text = "mov.u32 %r2, 0; mov.u32 %r4, 1;\nOUTER:\n";
    for (const char* name : {"FIRST", "SECOND"})
        text += fmt::format(
            "mov.u32 %r3, 0;\n{0}:\n{1}add.u32 %r3, %r3, 1;\n"
            "setp.lt.u32 %p0, %r3, 2; @%p0 bra {0};\n",
            name, loads(12));
    text +=
        "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2; @%p1 bra OUTER;\n"
        "bar.sync 0;\n";
    for (unsigned k = 0; k < 12; ++k)
        text += fmt::format("st.global.u32 [%rd1+8192], %r4; add.u32 %r4, %r4, {};\n", k);
    return kernel_text(text + "st.global.u32 [%rd1], %r4;\n" + end);
}

TEST(PlanParts, CoverEachUnitOnceAndBeginOutsideOfTightLoops) {
    const auto module = Module::parse(long_kernel(), "test");
    const CompilationPlan plan(*module->kernels().front(), Instruction::full, false);
    const std::vector<Part> parts = divide_into_parts(plan);
    EXPECT_GE(parts.size(), 3u);
    EXPECT_LE(parts.size(), 6u);
    std::uint32_t end = 0;
    unsigned effort = 0;
    for (const Part& part : parts) {
        EXPECT_EQ(part.begin, end);
        EXPECT_LT(part.begin, part.end);
        EXPECT_TRUE(plan.units()[part.begin].is_leader) << "unit " << part.begin;
        if (part.begin > 0) {
            EXPECT_TRUE(plan.loop(part.begin) == 0 ||
                        plan.loop(part.begin) != plan.loop(part.begin - 1))
                << "unit " << part.begin;
        }
        end = part.end;
        effort += part.effort;
    }
    EXPECT_EQ(end, plan.units().size());
    EXPECT_EQ(effort, whole(plan).effort);
}

TEST(PlanParts, AShortKernelIsOnePart) {
    const auto module = Module::parse(kernel_text(loads(3)), "test");
    const CompilationPlan plan(*module->kernels().front(), Instruction::full, false);
    ASSERT_EQ(divide_into_parts(plan).size(), 1u);
    EXPECT_EQ(divide_into_parts(plan).front().end, plan.units().size());
}

TEST(PlanParts, AKernelOfOneLongLoopIsNotCutWithinIt) {
    const auto module = Module::parse(
        kernel_text("mov.u32 %r3, 0;\nLOOP:\n" + loads(60) +
                    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p0, %r3, 2; @%p0 bra LOOP;\n"),
        "test");
    const CompilationPlan plan(*module->kernels().front(), Instruction::full, false);
    std::set<std::uint32_t> begins;
    for (const Part& part : divide_into_parts(plan)) begins.insert(part.begin);
    for (std::uint32_t u = 1; u < plan.units().size(); ++u) {
        const bool is_within = plan.loop(u) != 0 && plan.loop(u) == plan.loop(u - 1);
        EXPECT_FALSE(is_within && begins.contains(u)) << "unit " << u;
    }
}

std::set<Handler> handlers_for_all_lanes(const BothForms& both) {
    std::set<Handler> found;
    const std::vector<Instruction>&before = both.kernel_.code, &after = both.compiled_->code;
    for (std::size_t k = 0; k < before.size(); ++k)
        if (before[k].handlers[Instruction::full] != after[k].handlers[Instruction::full])
            found.insert(after[k].handlers[Instruction::full]);
    return found;
}

TEST_F(CompiledParts, HaveEqualResultsAndCounts) {
    BothForms both(long_kernel());
    EXPECT_GE(handlers_for_all_lanes(both).size(), 3u);
    for (const std::uint32_t threads : {32u, 100u})
        both.expect_equal({{2, 1, 1}, {threads, 1, 1}, 0});
}

// Each of two warps executes about 260 instructions.
TEST_F(CompiledParts, ABudgetEndsBothFormsAtOneInstructionInEachPart) {
    BothForms both(long_kernel());
    LaunchSettings settings;
    settings.threads = 1;
    const auto all = both.run(false, one_block(64), settings, 0).statistics.warp_instructions;
    EXPECT_GT(all, 400u);
    both.expect_equal_budgets(one_block(64), all + 1);
}

TEST_F(CompiledParts, AnErrorInTheLastPartHasTheInterpretersWords) {
    BothForms both(long_kernel("st.global.u32 [%rd1+2], %r4;\n"));
    LaunchSettings settings;
    settings.threads = 1;
    const Outcome interpreted = both.run(false, one_block(64), settings, 0);
    expect_contains(interpreted.error, "st.global.u32");
    EXPECT_EQ(interpreted, both.run(true, one_block(64), settings, 0));
    EXPECT_EQ(both.observe(false, one_block(64), settings, 0),
              both.observe(true, one_block(64), settings, 0));
}

std::uint64_t (*address_of)(LlvmEngine, const char*) = nullptr;
std::atomic<int> functions = 0;

// LLVM compiles the first part, and refuses the others.
TEST_F(CompiledParts, APartThatLlvmRefusesIsAnError) {
    const auto module = Module::parse(long_kernel(), "test");
    const auto llvm = Llvm::load();
    auto& refusing = const_cast<Llvm&>(*llvm);
    address_of = refusing.GetFunctionAddress;
    functions = 0;
    refusing.GetFunctionAddress = [](LlvmEngine engine, const char* name) {
        return functions++ == 0 ? address_of(engine, name) : 0;
    };
    EXPECT_EQ(error_of([&] { CompiledKernel(llvm, module, *module->kernels().front()); }),
              "LLVM does not compile the kernel k");
    EXPECT_GE(functions, 3);
    refusing.GetFunctionAddress = address_of;
    EXPECT_EQ(error_of([&] { CompiledKernel(llvm, module, *module->kernels().front()); }), "");
}

// Two loops, which each lane runs as often as its number says.
const std::string separating_loops = [] {
    std::string text = "and.b32 %r2, %r1, 7; mov.u32 %r4, 1;\n";
    for (const char* name : {"FIRST", "SECOND"})
        text += fmt::format(
            "mov.u32 %r3, 0;\n{0}:\n{1}add.u32 %r3, %r3, 1;\n"
            "setp.lt.u32 %p0, %r3, %r2; @%p0 bra {0};\n",
            name, loads(12));
    return text + "st.global.u32 [%rd1], %r4;\n";
}();

TEST_F(CompiledParts, CodeForSomeLanesHasPartsToo) {
    const std::string text = kernel_text(separating_loops);
    const auto module = Module::parse(text, "test");
    EXPECT_GE(
        divide_into_parts(CompilationPlan(*module->kernels().front(), Instruction::masked, false))
            .size(),
        2u);
    BothForms at_once(text);
    at_once.expect_equal({{2, 1, 1}, {100, 1, 1}, 0});
    at_once.expect_equal_budgets(one_block(64), 600);
    BothForms later(text, InstructionSet::host, ForSomeLanes::when_asked);
    later.owner_->compile_for_some_lanes();
    later.expect_equal({{2, 1, 1}, {100, 1, 1}, 0});
    later.expect_equal_budgets(one_block(64), 600);
}

}  // namespace
}  // namespace warpscope::emulator
