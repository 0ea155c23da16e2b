#include <chrono>
#include <thread>

#include "emulator/ptx_fixture.h"
#include "emulator/stepper/stepper.h"

// Limits that end an endless launch, and their error messages.
namespace warpscope::emulator {
namespace {

using std::chrono::milliseconds;

const std::string endless = ".loc 1 67 3\nspin:\nadd.s32 %r2, %r2, 1;\nbra.uni spin;\n";
const std::string file = "\n.file 1 \"kernels/x.cu\"\n";

TEST(Limit, TimeLimitNamesKernelLineBlockAndWarps) {
    Runner r(kernel_text(endless) + file);
    r.settings.time_limit = milliseconds(200);
    expect_contains(error_of([&] { r.run(one_block(64)); }),
                    "kernel k did not end within 0.2 s: block (0,0,0), warps 0-1 were at "
                    "kernels/x.cu:67 (an endless loop?)");
}

TEST(Limit, TheTimeLimitIsNoVerdict) {
    Runner r(kernel_text(endless));
    r.settings.time_limit = milliseconds(50);
    EXPECT_THROW(r.run(one_block(32)), TimedOut);
    r.settings.limits_time_of_block = true;
    expect_contains(error_of([&] {
                        r.run({{500, 1, 1}, {32, 1, 1}});
                    }),
                    "kernel k: no block ended within 0.1 s: block (0,0,0)");
}

TEST(Limit, TimeLimitNamesTheWarpsThatWaitAtABarrier) {
    // Warp 1 loops forever, the other warps wait for it.
    Runner r(kernel_text(".loc 1 60 1\nshr.u32 %r3, %r1, 5;\nsetp.eq.u32 %p0, %r3, 1;\n"
                         "@%p0 bra spin;\n.loc 1 61 1\nbar.sync 0;\nret;\n" +
                         endless) +
             file);
    r.settings.time_limit = milliseconds(200);
    const std::string text = error_of([&] { r.run(one_block(128)); });
    expect_contains(text,
                    "warp 1 was at kernels/x.cu:67, warps 0, 2-3 at the barrier kernels/x.cu:61");
}

TEST(Limit, TimeLimitNamesTheLanesOfADivergentWarp) {
    Runner r(
        kernel_text("setp.lt.u32 %p0, %r1, 4;\n@%p0 bra spin;\nbar.sync 0;\nret;\n" + endless) +
        file);
    r.settings.time_limit = milliseconds(200);
    expect_contains(error_of([&] { r.run(one_block(32)); }), "lanes 0x0000000f of warp 0");
}

TEST(Limit, TimeLimitEndsEveryHostThread) {
    Runner r(kernel_text(endless));
    r.settings.time_limit = milliseconds(200);
    r.settings.threads = 4;
    expect_contains(error_of([&] { r.run({{500, 1, 1}, {32, 1, 1}}); }), "block (0,0,0)");
}

TEST(Limit, StopRequestEndsTheLaunch) {
    Runner r(kernel_text(endless) + file);
    std::stop_source source;
    r.settings.stop = source.get_token();
    r.settings.progress = std::make_shared<LaunchProgress>();
    std::jthread stopper([&] {
        while (r.settings.progress->now().launch == 0) std::this_thread::yield();
        source.request_stop();
    });
    const std::string text = error_of([&] { r.run(one_block(32)); });
    expect_contains(text, "kernel k was stopped: block (0,0,0), warp 0 was at kernels/x.cu:67");
    EXPECT_EQ(text.find("endless"), std::string::npos);
}

TEST(Limit, InstructionBudgetNamesKernelLineBlockAndWarp) {
    Runner r(kernel_text(endless) + file);
    r.settings.instruction_budget = 100'000;
    expect_contains(error_of([&] { r.run(one_block(32)); }),
                    "kernel k: its budget of 100000 warp instructions is spent: block (0,0,0), "
                    "warp 0 was at kernels/x.cu:67");
}

TEST(Limit, LaunchThatEndsInTimeIsNotAffected) {
    Runner limited(kernel_text("st.global.u32 [%rd1], %r1;"));
    limited.settings.time_limit = std::chrono::minutes(10);
    const auto out = limited.run(one_block(64));
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t);
}

TEST(Limit, MachineRunsTheNextLaunchAfterATimeout) {
    Runner r(kernel_text("setp.eq.u32 %p0, %r0, 1;\n@!%p0 bra good;\n" + endless +
                         "good:\nst.global.u32 [%rd1], %r1;"));
    r.settings.time_limit = milliseconds(100);
    EXPECT_NE(error_of([&] { r.run(one_block(64), 1); }), "");
    const auto out = r.run(one_block(64), 0);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t);
}

// Polls out[0], which stays 0; warp 0 waits for the others at a barrier.
const std::string polls =
    ".loc 1 66 1\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra behind;\n"
    ".loc 1 67 3\nspin:\nld.volatile.global.u32 %r3, [%rd0];\nsetp.eq.u32 %p0, %r3, 0;\n"
    "@%p0 bra spin;\n.loc 1 68 1\nbehind:\nbar.sync 0;\n";

TEST(Limit, ThreadsThatRepeatTheSameStepsEndTheLaunch) {
    Runner r(kernel_text(polls) + file);
    r.settings.ends_where_still = true;
    EXPECT_THROW(r.run(one_block(64)), StillError);
    expect_contains(error_of([&] { r.run(one_block(64)); }),
                    "kernel k: its threads repeat the same steps: block (0,0,0), warp 1 was at "
                    "kernels/x.cu:67, warp 0 at the barrier kernels/x.cu:68 (an endless loop?)");
}

TEST(Limit, ThreadsThatCountRepeatNoSteps) {
    // Thread 0 counts in memory only, and forgets the number; the others poll the word.
    Runner r(kernel_text("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra count;\n" + polls +
                         "ret;\ncount:\nld.global.u32 %r4, [%rd0+4];\nadd.u32 %r4, %r4, 1;\n"
                         "st.global.u32 [%rd0+4], %r4;\nmov.u32 %r4, 0;\nbra count;\n"));
    r.settings.ends_where_still = true;
    r.settings.time_limit = std::chrono::seconds(5);  // longer than still threads are looked at
    EXPECT_THROW(r.run(one_block(64)), TimedOut);
    // In a register.
    Runner in_register(kernel_text(endless));
    in_register.settings = r.settings;
    EXPECT_THROW(in_register.run(one_block(64)), TimedOut);
}

class Stepped : public ::testing::Test {
  protected:
    Stepper stepper(const std::string& ptx, std::uint32_t block, const LaunchSettings& settings,
                    std::uint32_t n = 0) {
        module = Module::parse(ptx, "test");
        out = machine.memory().allocate(4096);
        const void* arguments[] = {&out, &n};
        return Stepper(machine,
                       Machine::freeze(*module->kernels().front(), {{40, 1, 1}, {32, 1, 1}},
                                       arguments, settings),
                       block);
    }
    Machine machine;
    std::shared_ptr<const Module> module;
    void* out = nullptr;
};

TEST_F(Stepped, StepperRunsAtMostForTheTimeLimitAndCanContinue) {
    Stepper s = stepper(kernel_text(endless) + file, 0, {.time_limit = milliseconds(100)});
    s.step_barrier();
    EXPECT_EQ(s.end(), Stepper::End::open);
    const std::uint64_t first = s.position();
    EXPECT_GT(first, 0u);
    // A fast machine has passed the usual limit of run() by now.
    s.run(~std::uint64_t(0));
    EXPECT_GT(s.position(), first);
    EXPECT_TRUE(s.step());
}

TEST_F(Stepped, StepperFailsWhenAnEarlierBlockDoesNotEnd) {
    // Block 0 loops forever. Block 29 runs after it on the same virtual SM.
    const std::string ptx =
        kernel_text("mov.u32 %r5, %ctaid.x;\nsetp.ne.u32 %p0, %r5, 0;\n@%p0 bra good;\n" + endless +
                        "good:\nst.shared.u32 [s], %r1;",
                    ".shared .align 4 .b8 s[4];\n") +
        file;
    expect_contains(error_of([&] { stepper(ptx, 29, {.time_limit = milliseconds(100)}); }),
                    "did not end within 0.1 s: block (0,0,0), warp 0 was at kernels/x.cu:67");
}

TEST(Limit, LaunchBoundsOfAKernel) {
    for (const char* directive : {".maxntid 8, 4, 2", ".reqntid 64"}) {
        std::string text = kernel_text("st.global.u32 [%rd1], 1;");
        text.insert(text.find("\n{\n"), std::string("\n") + directive);
        Runner r(text);
        EXPECT_EQ(r.run({{1, 1, 1}, {64, 1, 1}, 0}), std::vector<std::uint32_t>(64, 1));
        EXPECT_EQ(
            error_of([&] {
                r.run({{1, 1, 1}, {65, 1, 1}, 0});
            }),
            "kernel k: a block has 65 threads, and __launch_bounds__ of the kernel allows 64");
    }
}

}  // namespace
}  // namespace warpscope::emulator
