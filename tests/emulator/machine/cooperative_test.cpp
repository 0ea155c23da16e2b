#include <string>

#include "emulator/checks/memory_check.h"
#include "emulator/launcher.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

LaunchShape blocks_of_one_thread(std::uint32_t blocks) {
    return {.grid = {blocks, 1, 1}, .block = {1, 1, 1}, .cooperative = true};
}

// Each block adds 1 to out[0], waits until all have, and then writes what it sees to
// out[1 + block]. A block with an index of at least n leaves before it adds.
const std::string all_arrive = kernel_text(R"(
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
setp.ge.u32 %p1, %r2, %r0; @%p1 ret;
atom.global.add.u32 %r4, [%rd0], 1;
WAIT: ld.acquire.gpu.u32 %r5, [%rd0];
setp.lt.u32 %p2, %r5, %r3; @%p2 bra WAIT;
mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd0;
st.global.u32 [%rd2+4], %r5;)");

TEST(Cooperative, EachBlockWaitsForAllOthers) {
    Runner r(all_arrive);
    EXPECT_EQ(r.run(blocks_of_one_thread(3), 3, 4), (std::vector<std::uint32_t>{3, 3, 3, 3}));
    r.settings.schedule = Schedule::reverse;
    EXPECT_EQ(r.run(blocks_of_one_thread(3), 3, 4), (std::vector<std::uint32_t>{3, 3, 3, 3}));
}

TEST(Cooperative, OneThatWaitsForABlockThatHasLeftSaysWhereItWaits) {
    Runner r(all_arrive);
    r.settings.instruction_budget = 1 << 20;
    const std::string error = error_of([&] { r.run(blocks_of_one_thread(3), 2, 4); });
    expect_contains(error,
                    "Do all blocks of this cooperative launch reach the barrier of the grid?");
}

TEST(Cooperative, OtherLaunchesSayThatTheyWaitForBlocksThatHaveNotStarted) {
    Runner r(all_arrive);
    r.settings.instruction_budget = 1 << 20;
    LaunchShape shape = blocks_of_one_thread(3);
    shape.cooperative = false;
    expect_contains(error_of([&] { r.run(shape, 3, 4); }), "wait for blocks that have not started");
}

// The workspace of the grid is 0 in each launch: out[block] = old value + 1, of the word at its
// byte 4.
TEST(Cooperative, AKernelThatReadsTheWorkspaceOfItsGridRunsSoByItself) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %envreg2; mov.u32 %r3, %envreg1; mov.b64 %rd2, {%r2, %r3};
atom.add.release.gpu.u32 %r4, [%rd2+4], 1;
mov.u32 %r6, %nctaid.x;
WAIT: ld.acquire.gpu.u32 %r5, [%rd2+4];
setp.lt.u32 %p2, %r5, %r6; @%p2 bra WAIT;
mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd3, %r7, 4; add.s64 %rd3, %rd3, %rd0;
add.u32 %r4, %r4, 1; st.global.u32 [%rd3], %r4;)"));
    LaunchShape shape = blocks_of_one_thread(4);
    shape.cooperative = false;
    for (int launch = 0; launch < 2; ++launch)
        EXPECT_EQ(r.run(shape), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

// Each block leaves its own index in shared memory before all meet.
TEST(Cooperative, BlocksHaveSharedMemoryOfTheirOwn) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r8, cell;
ld.shared.u32 %r7, [%r8]; add.u32 %r7, %r7, %r2; st.shared.u32 [%r8], %r7;
atom.global.add.u32 %r4, [%rd0], 1;
WAIT: ld.acquire.gpu.u32 %r5, [%rd0];
setp.lt.u32 %p2, %r5, %r3; @%p2 bra WAIT;
ld.shared.u32 %r7, [%r8];
mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd0;
st.global.u32 [%rd2+4], %r7;)",
                         shared_words));
    EXPECT_EQ(r.run(blocks_of_one_thread(3), 0, 4), (std::vector<std::uint32_t>{3, 0, 1, 2}));
}

TEST(Cooperative, TooManyBlocksAreRefused) {
    Runner r(all_arrive);
    expect_contains(error_of([&] { r.run(blocks_of_one_thread(4097), 0, 4098); }),
                    "the emulator can do that with 4096 blocks");
}

// Compiled code runs a launch that nobody observes.
TEST(Cooperative, TheLauncherRunsItToo) {
    const auto module = Module::parse(all_arrive, "test");
    Launcher launcher;
    MemoryCheck check;
    for (Observer* observer : {static_cast<Observer*>(nullptr), static_cast<Observer*>(&check)}) {
        void* out = launcher.machine().memory().allocate(16);
        const std::uint32_t n = 3;
        const void* arguments[] = {&out, &n};
        const FrozenLaunch launch =
            Machine::freeze(*module->kernels().front(), blocks_of_one_thread(3), arguments, {});
        launcher.run(launch, observer, launcher.choose(launch, observer, true));
        EXPECT_EQ(static_cast<std::uint32_t*>(out)[3], 3u);
        launcher.machine().memory().free(out);
    }
}

}  // namespace
}  // namespace warpscope::emulator
