#include "emulator/launcher.h"

#include "emulator/counters/access_counters.h"
#include "emulator/fast_paths/alike/launched.h"

namespace warpscope::emulator {
namespace {

// Each thread writes its own word, and reads that of the opposite thread behind a barrier.
const char* const mirror_ptx =
    "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\n"
    "st.global.u32 [%rd2], %r6;";

/// Wants each instruction, as the microscope does.
class Stepping : public Observer {};

TEST(Launcher, RunsWarpsToTheirBarriersWhereNobodySeesTheOrder) {
    const Launched launched(mirror_ptx);
    const FrozenLaunch launch = launched.with(0);
    Launcher launcher;
    AccessCounters counters;
    Stepping stepping;
    EXPECT_EQ(launcher.choose(launch, nullptr).schedule, Schedule::run_to_barrier);
    EXPECT_EQ(launcher.choose(launch, &counters).schedule, Schedule::run_to_barrier);
    EXPECT_EQ(launcher.choose(launch, &stepping).schedule, std::nullopt);
    EXPECT_EQ(launcher.choose(launch, nullptr).dealing, BlockDealing::as_they_come);
}

TEST(Launcher, KeepsTheOrderThatSomebodyChoseOrSees) {
    const Launched launched(mirror_ptx);
    FrozenLaunch launch = launched.with(0);
    launch.settings.schedule = Schedule::reverse;
    Launcher launcher;
    EXPECT_EQ(launcher.choose(launch, nullptr).schedule, std::nullopt);
    EXPECT_EQ(launcher.choose(launch, nullptr).dealing, BlockDealing::by_virtual_sm);
    const Launched racy("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r5];");
    EXPECT_EQ(launcher.choose(racy.with(0), nullptr).schedule, std::nullopt);
}

TEST(Launcher, TakesNoShortcutThatIsSwitchedOff) {
    const Launched launched(mirror_ptx);
    Launcher launcher;
    launcher.set({.blocks = false});
    EXPECT_EQ(launcher.choose(launched.with(0), nullptr).schedule, Schedule::run_to_barrier);
    EXPECT_EQ(launcher.choose(launched.with(0), nullptr).dealing, BlockDealing::by_virtual_sm);
    launcher.set({.proof = false});
    EXPECT_EQ(launcher.choose(launched.with(0), nullptr).schedule, std::nullopt);
    if (!Launcher::can_compile()) GTEST_SKIP() << Launcher::compiler_problem();
    Launcher::set_execution(Execution::compiled);
    EXPECT_NE(launcher.choose(launched.with(0), nullptr).code, nullptr);
    launcher.set({.compiled = false});
    EXPECT_EQ(launcher.choose(launched.with(0), nullptr).code, nullptr);
    Launcher::set_execution(Execution::automatic);
}

TEST(Launcher, InterpretsForAnObserverOfEachInstruction) {
    if (!Launcher::can_compile()) GTEST_SKIP() << Launcher::compiler_problem();
    const Launched launched(mirror_ptx);
    Launcher launcher;
    AccessCounters counters;
    Stepping stepping;
    Launcher::set_execution(Execution::compiled);
    EXPECT_NE(launcher.choose(launched.with(0), &counters).code, nullptr);
    EXPECT_EQ(launcher.choose(launched.with(0), &stepping).code, nullptr);
    Launcher::set_execution(Execution::automatic);
}

// A kernel whose order can be seen shows which one is used.
TEST(LaunchMethod, HasAScheduleInPlaceOfTheChosenOne) {
    Runner runner(kernel_text(std::string(addresses) +
                                  "st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r5];\n"
                                  "st.global.u32 [%rd1], %r6;\nbar.sync 0;",
                              shared_words));
    const auto run = [&](Schedule schedule, std::optional<Schedule> other) {
        runner.settings = {.schedule = schedule, .seed = 7};
        runner.method.schedule = other;
        std::ranges::fill(runner.machine.shared_memory(0, 256), std::byte(0));
        return runner.run(one_block(64));
    };
    const auto straight = run(Schedule::run_to_barrier, std::nullopt);
    EXPECT_NE(run(Schedule::random, std::nullopt), straight);
    EXPECT_EQ(run(Schedule::random, Schedule::run_to_barrier), straight);
    EXPECT_EQ(run(Schedule::run_to_barrier, Schedule::random), run(Schedule::random, std::nullopt));
}

}  // namespace
}  // namespace warpscope::emulator
