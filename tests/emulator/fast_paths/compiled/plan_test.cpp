#include "emulator/fast_paths/compiled/plan/plan.h"

#include "emulator/ptx_fixture.h"

// The plan of a kernel: its facts that the generator of code needs.
namespace warpscope::emulator {
namespace {

class PlanOf {
  public:
    explicit PlanOf(const std::string& body, bool is_watched = false)
        : module_(Module::parse(kernel_text(body, shared_words), "test")),
          plan(*module_->kernels().front(), Instruction::full, is_watched) {}

    std::vector<std::uint32_t> units(Unit::Kind kind) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t u = 0; u < plan.units().size(); ++u)
            if (plan.units()[u].kind == kind) found.push_back(u);
        return found;
    }

  private:
    std::shared_ptr<const Module> module_;

  public:
    const CompilationPlan plan;
};

TEST(Units, AShuffleWithAnUnknownMaskIsCompiledWhereNobodyWatches) {
    const std::string unknown = "shfl.sync.down.b32 %r3|%p0, %r1, 3, 31, %r1;\n";
    EXPECT_EQ(PlanOf(unknown).units(Unit::Kind::shuffles).size(), 1u);
    EXPECT_EQ(PlanOf(unknown, true).units(Unit::Kind::shuffles).size(), 0u);
    const std::string all = "shfl.sync.down.b32 %r3|%p0, %r1, 3, 31, -1;\n";
    EXPECT_EQ(PlanOf(all, true).units(Unit::Kind::shuffles).size(), 1u);
}

TEST(LoadGroups, EndWhereTheAddressIsWrittenAndAtTheTargetOfABranch) {
    const PlanOf k(
        "shl.b32 %r2, %r1, 2;\n"
        "ld.shared.u32 %r3, [%r2+12];\nld.shared.u32 %r4, [%r2];\nld.shared.u32 %r5, [%r2+4];\n"
        "add.u32 %r2, %r2, 64;\nld.shared.u32 %r6, [%r2];\n"
        "AGAIN:\nld.shared.u32 %r7, [%r2];\n"
        "add.u32 %r6, %r6, %r7;\nsetp.lt.u32 %p0, %r6, 9;\n@%p0 bra AGAIN;\n");
    const std::vector<std::uint32_t> loads = k.units(Unit::Kind::loads);
    ASSERT_EQ(loads.size(), 5u);
    const LoadGroups& groups = k.plan.load_groups();
    const LoadGroup* const first = groups.of(loads[0]);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->first, loads[0]);
    EXPECT_EQ(first->last, loads[2]);
    EXPECT_EQ(first->low, 0);
    EXPECT_EQ(first->high, 12);
    EXPECT_EQ(first->bytes, 4u);
    EXPECT_EQ(groups.of(loads[1]), first);
    EXPECT_EQ(groups.of(loads[2]), first);
    EXPECT_EQ(groups.of(loads[3])->last, loads[3]);
    EXPECT_EQ(groups.of(loads[4])->first, loads[4]);
    EXPECT_EQ(groups.of(loads[2] + 1), nullptr) << "no load";
}

TEST(LoadGroups, AreAroundTheUnitsBehindTheirFirstLoad) {
    const PlanOf k(
        "shl.b32 %r2, %r1, 2;\nld.shared.u32 %r3, [%r2];\nadd.u32 %r4, %r3, %r1;\n"
        "ld.shared.u32 %r5, [%r2+4];\nadd.u32 %r4, %r4, %r5;\n");
    const std::vector<std::uint32_t> loads = k.units(Unit::Kind::loads);
    ASSERT_EQ(loads.size(), 2u);
    const LoadGroups& groups = k.plan.load_groups();
    EXPECT_EQ(groups.around(loads[0]), nullptr);
    for (std::uint32_t u = loads[0] + 1; u <= loads[1]; ++u)
        EXPECT_EQ(groups.around(u), groups.of(loads[0])) << "unit " << u;
    EXPECT_EQ(groups.around(loads[1] + 1), nullptr);
}

TEST(TightLoops, HaveNoLoopWithin) {
    const PlanOf k(
        "OUTER:\nadd.u32 %r2, %r2, 1;\n"
        "INNER:\nadd.u32 %r3, %r3, %r2;\nsetp.lt.u32 %p0, %r3, %r0;\n@%p0 bra INNER;\n"
        "setp.lt.u32 %p1, %r2, %r0;\n@%p1 bra OUTER;\n");
    const std::vector<std::uint32_t> branches = k.units(Unit::Kind::branches);
    ASSERT_EQ(branches.size(), 2u);
    const std::uint32_t inner = k.plan.units().target_of(k.plan.units()[branches[0]]);
    for (std::uint32_t u = 0; u < k.plan.units().size(); ++u)
        EXPECT_EQ(k.plan.loop(u) != 0, u >= inner && u <= branches[0]) << "unit " << u;
}

TEST(TightLoops, HaveNoBarrierWithin) {
    const PlanOf k(
        "LOOP:\nadd.u32 %r3, %r3, 1;\nbar.sync 0;\nsetp.lt.u32 %p0, %r3, %r0;\n@%p0 bra LOOP;\n");
    ASSERT_EQ(k.units(Unit::Kind::waits).size(), 1u);
    for (std::uint32_t u = 0; u < k.plan.units().size(); ++u) EXPECT_EQ(k.plan.loop(u), 0u);
}

}  // namespace
}  // namespace warpscope::emulator
