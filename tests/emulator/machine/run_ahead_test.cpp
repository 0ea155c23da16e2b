#include <algorithm>
#include <string>

#include "emulator/checks/memory_check.h"
#include "emulator/launcher.h"
#include "emulator/observe/findings.h"
#include "emulator/observe/observer_list.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

/// Blocks of a kernel that synchronises its grid run on several host threads, up to turnstiles.
namespace warpscope::emulator::run_ahead {
namespace {

constexpr std::uint32_t blocks = 6, threads = 64, all = blocks * threads;

/// All threads of the grid wait: thread 0 of each block counts in the workspace of the grid, up to
/// `number` times that of the blocks.
std::string grid_barrier(int number) {
    const std::string wait = "WAIT" + std::to_string(number);
    return R"(
bar.sync 0;
setp.ne.u32 %p9, %r1, 0; @%p9 bra MET_)" +
           wait + R"(;
mov.u32 %r30, %envreg2; mov.u32 %r31, %envreg1; mov.b64 %rd18, {%r30, %r31};
mov.u32 %r32, %nctaid.x; mul.lo.u32 %r32, %r32, )" +
           std::to_string(number) + R"(;
membar.gl;
atom.global.add.u32 %r33, [%rd18+4], 1;
)" + wait + R"(: ld.volatile.global.u32 %r34, [%rd18+4];
setp.lt.u32 %p9, %r34, %r32; @%p9 bra )" +
           wait + R"(;
membar.gl;
MET_)" + wait +
           R"(: bar.sync 0;)";
}

/// %r3: the index of the thread in the grid; %rd2: the address of its word of out; %rd3: that of
/// the word of the thread with the opposite index.
const std::string addresses = R"(
mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;
mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd2, %rd0;
mov.u32 %r4, 383; sub.u32 %r4, %r4, %r3;
mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd0;)";

/// out[i] = 3 i; `between`; then out[384 + i] = out[383 - i], and the last barrier of the grid.
std::string reversed(const std::string& between, int last_barrier) {
    return kernel_text(addresses + R"(
mul.lo.u32 %r5, %r3, 3; st.global.u32 [%rd2], %r5;)" +
                       between + R"(
ld.global.u32 %r6, [%rd3]; st.global.u32 [%rd2+1536], %r6;)" +
                       grid_barrier(last_barrier));
}

LaunchShape grid() {
    return {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
}

TEST(RunAhead, ResultsAndCountsDependOnNoNumberOfHostThreads) {
    Runner r(reversed(grid_barrier(1), 2));
    for (const Schedule schedule :
         {Schedule::run_to_barrier, Schedule::reverse, Schedule::random}) {
        r.settings.schedule = schedule;
        Statistics first;
        for (const unsigned host_threads : {1u, 2u, 4u, 16u}) {
            r.settings.threads = host_threads;
            const std::vector<std::uint32_t> out = r.run(grid(), 0, 2 * all);
            for (std::uint32_t i = 0; i < all; ++i) {
                EXPECT_EQ(out[i], 3 * i);
                EXPECT_EQ(out[all + i], 3 * (all - 1 - i));
            }
            // Each block has two barriers for each barrier of the grid.
            EXPECT_EQ(r.statistics.barriers, 4 * blocks);
            if (host_threads == 1) first = r.statistics;
            EXPECT_EQ(r.statistics.warp_instructions, first.warp_instructions);
            EXPECT_EQ(r.statistics.thread_instructions, first.thread_instructions);
        }
    }
}

TEST(RunAhead, CompiledCodeExecutesWhatTheInterpreterDoes) {
    if (!Launcher::can_compile()) GTEST_SKIP() << Launcher::compiler_problem();
    const auto module = Module::parse(reversed(grid_barrier(1), 2), "test");
    const auto run = [&](Execution execution, Observer* observer) {
        Launcher launcher;
        Launcher::set_execution(execution);
        void* out = launcher.machine().memory().allocate(2 * all * 4);
        const std::uint32_t n = 0;
        const void* arguments[] = {&out, &n};
        const FrozenLaunch launch =
            Machine::freeze(*module->kernels().front(), grid(), arguments, {});
        const Statistics statistics =
            launcher.run(launch, observer, launcher.choose(launch, observer, true));
        Launcher::set_execution(Execution::automatic);
        EXPECT_EQ(static_cast<std::uint32_t*>(out)[all], 3 * (all - 1));
        launcher.machine().memory().free(out);
        return statistics.thread_instructions;
    };
    RaceDetector races;
    const std::uint64_t interpreted = run(Execution::interpreted, nullptr);
    EXPECT_EQ(run(Execution::compiled, nullptr), interpreted);
    EXPECT_EQ(run(Execution::compiled, &races), interpreted);
}

/// Host threads for kernels with races, which are races of the host's threads, too.
#if defined(__SANITIZE_THREAD__)
const std::vector<unsigned> threads_for_races{1};
#else
const std::vector<unsigned> threads_for_races{1, 2, 4};
#endif

struct Found {
    std::vector<Finding> between, within;
};

Found check(const std::string& ptx, unsigned host_threads,
            Schedule schedule = Schedule::run_to_barrier) {
    Runner r(ptx);
    GridRaces between;
    RaceDetector within;
    ObserverList observers;
    observers.add(between);
    observers.add(within);
    r.observer = &observers;
    r.settings.threads = host_threads;
    r.settings.schedule = schedule;
    r.run(grid(), 0, 2 * all);
    return {between.findings(), within.findings()};
}

TEST(RunAhead, TheBarrierOfTheGridOrdersTheBlocks) {
    for (const unsigned host_threads : {1u, 2u, 4u})
        for (const Schedule schedule : {Schedule::run_to_barrier, Schedule::random}) {
            const Found found = check(reversed(grid_barrier(1), 2), host_threads, schedule);
            EXPECT_TRUE(found.between.empty());
            EXPECT_TRUE(found.within.empty());
        }
}

// Blocks run in the order of their index: 0 to 2 read before 5 to 3 write, and 3 to 5 after 2 to 0
// have written.
TEST(RunAhead, AMissingBarrierOfTheGridIsFoundOnAnyNumberOfHostThreads) {
    std::vector<std::string> first;
    for (const unsigned host_threads : threads_for_races) {
        const Found found = check(reversed("bar.sync 0;", 1), host_threads);
        ASSERT_EQ(found.between.size(), 2u);
        std::vector<std::string> sentences;
        for (const Finding& f : found.between) {
            EXPECT_EQ(f.severity, Severity::error);
            EXPECT_EQ(f.count, all / 2);
            sentences.push_back(f.sentence);
        }
        EXPECT_NE(found.between[0].hazard, found.between[1].hazard);
        EXPECT_TRUE(found.within.empty());
        if (host_threads == 1) first = sentences;
        EXPECT_EQ(sentences, first);
    }
}

// Thread 5 of each block stores 7 there, which only the values of the stores tell.
TEST(RunAhead, StoresOfOneValueByAllBlocksAreANote) {
    const auto store = [](const std::string& value) {
        return kernel_text(addresses + "setp.ne.u32 %p1, %r1, 5; mov.u32 %r7, " + value +
                           "; @!%p1 st.global.u32 [%rd0], %r7;" + grid_barrier(1));
    };
    for (const unsigned host_threads : threads_for_races) {
        const Found equal = check(store("7"), host_threads);
        ASSERT_EQ(equal.between.size(), 1u);
        EXPECT_EQ(equal.between[0].severity, Severity::note);
        const Found different = check(store("%ctaid.x"), host_threads);
        ASSERT_EQ(different.between.size(), 1u);
        EXPECT_EQ(different.between[0].severity, Severity::error);
    }
}

/// The threads for which `condition` holds wait for a flag in shared memory, which the others set
/// behind a turnstile. Each thread stores its index.
std::string wait_for_flag(const std::string& condition) {
    return kernel_text(addresses + "mov.u32 %r8, cell; " + condition + R"( @%p1 bra LOOK;
mov.u32 %r30, %envreg2; mov.u32 %r31, %envreg1; mov.b64 %rd18, {%r30, %r31};
atom.global.add.u32 %r33, [%rd18+4], 1;
mov.u32 %r9, 1; st.volatile.shared.u32 [%r8], %r9;
bra SEEN;
LOOK: ld.volatile.shared.u32 %r10, [%r8];
setp.eq.u32 %p2, %r10, 0; @%p2 bra LOOK;
SEEN: st.global.u32 [%rd2], %r3;)",
                       shared_words);
}

// Warp 1 waits for warp 0; lanes 1 to 31 and warp 1 for lane 0.
TEST(RunAhead, WarpsAndLanesMayWaitForOneThatIsAtATurnstile) {
    for (const char* condition : {"setp.ge.u32 %p1, %r1, 32;", "setp.ne.u32 %p1, %r1, 0;"})
        for (const unsigned host_threads : {1u, 4u}) {
            Runner r(wait_for_flag(condition));
            r.settings.threads = host_threads;
            const std::vector<std::uint32_t> out = r.run(grid());
            for (std::uint32_t i = 0; i < all; ++i) EXPECT_EQ(out[i], i);
        }
}

// All threads of the grid add 1 to out[0] behind a lock in the workspace.
TEST(RunAhead, LanesOfAWarpMayWaitForTheLockOfAnotherOne) {
    Runner r(kernel_text(R"(
mov.u32 %r30, %envreg2; mov.u32 %r31, %envreg1; mov.b64 %rd18, {%r30, %r31};
mov.u32 %r5, 0; mov.u32 %r6, 1;
TRY: atom.acquire.gpu.global.cas.b32 %r7, [%rd18+8], %r5, %r6;
setp.ne.u32 %p1, %r7, 0; @%p1 bra AGAIN;
ld.global.u32 %r8, [%rd0]; add.u32 %r8, %r8, 1; st.global.u32 [%rd0], %r8;
atom.release.gpu.global.exch.b32 %r9, [%rd18+8], %r5;
bra DONE;
AGAIN: bra TRY;
DONE:)"));
    for (const unsigned host_threads : {1u, 4u}) {
        r.settings.threads = host_threads;
        EXPECT_EQ(r.run(grid())[0], all);
    }
}

// Warp 0 counts in the workspace, and then sets a word of shared memory, at which warp 1 looks,
// and the first word of the workspace, at which warp 2 looks.
TEST(RunAhead, TheTurnIsThatOfAWarpAtATurnstile) {
    Runner r(kernel_text(addresses + R"(
mov.u32 %r8, cell; mov.u32 %r9, 1;
mov.u32 %r30, %envreg2; mov.u32 %r31, %envreg1; mov.b64 %rd18, {%r30, %r31};
setp.ge.u32 %p1, %r1, 64; @%p1 bra POLL;
setp.ge.u32 %p1, %r1, 32; @%p1 bra LOOK;
atom.global.add.u32 %r33, [%rd18+4], 1;
st.volatile.shared.u32 [%r8], %r9;
st.volatile.global.u32 [%rd18], %r9;
bra SEEN;
POLL: ld.volatile.global.u32 %r10, [%rd18];
setp.eq.u32 %p2, %r10, 0; @%p2 bra POLL;
bra SEEN;
LOOK: ld.volatile.shared.u32 %r10, [%r8];
setp.eq.u32 %p2, %r10, 0; @%p2 bra LOOK;
SEEN: st.global.u32 [%rd2], %r9;)",
                         shared_words));
    for (const Schedule schedule : {Schedule::run_to_barrier, Schedule::reverse}) {
        r.settings.schedule = schedule;
        EXPECT_EQ(r.run(one_block(96)), std::vector<std::uint32_t>(96, 1));
    }
}

TEST(RunAhead, TheErrorIsThatOfTheFirstBlockThatFails) {
    // Blocks 2 to 5 store to address 8.
    Runner r(kernel_text(addresses + R"(
mov.u64 %rd5, 8; setp.ge.u32 %p1, %r2, 2;
@%p1 st.global.u32 [%rd5], %r1;)" +
                         grid_barrier(1)));
    for (const unsigned host_threads : {1u, 2u, 4u}) {
        MemoryCheck check;
        r.observer = &check;
        r.settings.threads = host_threads;
        expect_contains(error_of([&] { r.run(grid()); }), "of block (2,0,0)");
        // The observer is told of no other one.
        ASSERT_EQ(check.findings().size(), 1u);
        EXPECT_EQ(check.findings()[0].count, 1u);
    }
}

}  // namespace
}  // namespace warpscope::emulator::run_ahead
