#include "race_kernels.h"

namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;

TEST(BarrierCheck, HalfAWarpAtABarrierIsAnError) {
    for (const auto schedule : {emulator::Schedule::run_to_barrier, emulator::Schedule::reverse}) {
        const auto found = check_kernel("half_a_warp_waits", 64, {.schedule = schedule});
        EXPECT_EQ(count(found, FindingKind::barrier, Severity::error), 2u * 16) << sentences(found);
        const std::string half = schedule == emulator::Schedule::reverse
                                     ? "thread (32,0,0) arrives at the barrier at "
                                       "kernels/kernels.cu:271 without thread (48,0,0) and 15 more"
                                     : "thread (0,0,0) arrives at the barrier at "
                                       "kernels/kernels.cu:271 without thread (16,0,0) and 15 more";
        EXPECT_NE(found.at(0).sentence.english().find(half), std::string::npos)
            << found.at(0).sentence.english();
    }
}

// compute-sanitizer's synccheck reports nothing here, because the barrier does not wait for exited
// threads.
TEST(BarrierCheck, ExitedThreadsAreAWarning) {
    for (const auto& settings : schedules()) {
        for (const auto& [kernel, gone] :
             {std::pair{"some_have_left", 32u}, {"some_of_a_warp_have_left", 24u}}) {
            const auto found = check_kernel(kernel, 64, settings);
            EXPECT_EQ(count_of(found, Severity::error), 0u) << sentences(found);
            EXPECT_EQ(count(found, FindingKind::barrier, Severity::warning), gone);
        }
    }
}

TEST(BarrierCheck, BarriersOfWholeWarpsHaveNoFinding) {
    for (const auto& settings : schedules())
        for (const char* kernel : {"mirror", "rounds", "double_buffered", "last_warp", "pairs"}) {
            const auto found = check_kernel(kernel, 128, settings);
            EXPECT_EQ(count(found, FindingKind::barrier, Severity::error), 0u) << kernel;
            EXPECT_EQ(count(found, FindingKind::barrier, Severity::warning), 0u) << kernel;
        }
}

TEST(BarrierCheck, ADeadlockIsAFinding) {
    const auto module = emulator::Module::parse(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p;\n"
        ".reg .b32 %r;\nmov.u32 %r, %tid.x;\nsetp.lt.u32 %p, %r, 32;\n@%p bra A;\nbar.sync 1;\n"
        "bra END;\nA: bar.sync 2;\nEND: ret;\n}\n",
        "test");
    emulator::Machine machine;
    emulator::BarrierCheck barriers;
    EXPECT_ANY_THROW(
        machine.run(*module->find("k"), {{1, 1, 1}, {64, 1, 1}, 0}, {}, {}, &barriers));
    const auto found = barriers.findings();
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].kind, FindingKind::barrier);
    EXPECT_EQ(found[0].severity, Severity::error);
    EXPECT_NE(found[0].sentence.english().find("deadlock in block (0,0,0)"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
