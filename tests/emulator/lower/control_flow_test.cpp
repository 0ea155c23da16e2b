#include "emulator/lower/control_flow.h"

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// Index of the first statement of a test: kernel_text() has five before it.
constexpr std::uint32_t first_own = 5;

struct Built {
    KernelSyntax kernel;
    ControlFlow flow;
    std::uint32_t block(const std::string& label) const {
        return flow.block_of[kernel.labels.at(label)];
    }
};

Built build(const std::string& body) {
    ModuleSyntax module = parse_ptx(kernel_text(body), "t");
    lower_control(module.kernels[0]);
    ControlFlow flow = build_control_flow(module.kernels[0]);
    return {std::move(module.kernels[0]), std::move(flow)};
}

TEST(ControlFlow, PostDominatorOfIfElseIsBehindBoth) {
    const Built b = build(
        "@%p1 bra ELSE; add.s32 %r2,%r1,1; bra END; ELSE: add.s32 %r2,%r1,2;"
        "END: add.s32 %r3,%r2,1;");
    ASSERT_EQ(b.flow.blocks.size(), 4u);
    EXPECT_EQ(b.flow.post_dominator[0], b.block("END"));
    EXPECT_EQ(b.flow.post_dominator[b.block("ELSE")], b.block("END"));
    EXPECT_EQ(b.flow.post_dominator[b.block("END")], ControlFlow::no_block);
}

TEST(ControlFlow, PostDominatorOfALoopWithBreakIsBehindTheLoop) {
    const Built b = build("TOP: @%p1 bra OUT; @%p2 bra TOP; OUT: add.s32 %r3,%r2,1;");
    EXPECT_EQ(b.flow.post_dominator[b.block("TOP")], b.block("OUT"));
    const auto region = b.flow.region(b.block("TOP"), b.block("OUT"));
    EXPECT_FALSE(region[0]);
    EXPECT_TRUE(region[b.block("TOP")]);
    EXPECT_FALSE(region[b.block("OUT")]);
}

TEST(ControlFlow, EarlyExitHasNoPostDominatorBeforeTheEnd) {
    const Built b = build("@%p1 bra REST; ret; REST: add.s32 %r3,%r2,1;");
    EXPECT_EQ(b.flow.post_dominator[0], ControlFlow::no_block);
}

TEST(ControlFlow, PostDominatorOfAShortCircuitIsBehindTheBody) {
    const Built b = build(
        "@%p1 bra BODY; @!%p2 bra END; BODY: add.s32 %r2,%r1,1; END: "
        "add.s32 %r3,%r2,1;");
    EXPECT_EQ(b.flow.post_dominator[0], b.block("END"));
    EXPECT_EQ(b.flow.post_dominator[b.block("BODY")], b.block("END"));
}

TEST(ControlFlow, EndlessLoopHasNoPostDominator) {
    const Built b = build("@%p1 bra END; TOP: bra TOP; END: ");
    EXPECT_EQ(b.flow.post_dominator[b.block("TOP")], ControlFlow::no_block);
}

TEST(ControlFlow, GuardedBarrierBecomesABranchAroundIt) {
    const Built b = build("@%p1 bar.sync 0; add.s32 %r3,%r2,1;");
    const Statement& branch = b.kernel.statements[first_own];
    EXPECT_EQ(branch.opcode->operation, Operation::bra);
    EXPECT_TRUE(branch.guard_negated);
    EXPECT_EQ(branch_target(b.kernel, branch), first_own + 2);
    EXPECT_EQ(b.kernel.statements[first_own + 1].opcode->operation, Operation::bar_sync);
    EXPECT_EQ(b.kernel.statements[first_own + 1].guard, -1);
}

}  // namespace
}  // namespace warpscope::emulator
