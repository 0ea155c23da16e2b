#include <fmt/format.h>

#include "emulator/launcher.h"
#include "grid_forks.h"
#include "race_kernels.h"

/// Blocks that read an array in steps: loads that the detectors check only where something writes.
namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

/// Blocks of 64 threads read 512 words of `out`, in steps of as many words as the grid has threads.
/// Then thread t of block `writer` stores to word `at` + t of it, behind `barrier`.
std::string steps_text(std::uint32_t at, const std::string& barrier) {
    return fmt::format(R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry steps(.param .u64 out, .param .u32 writer) {{
    .reg .u32 %r<10>; .reg .u64 %d<4>; .reg .pred %p<2>;
    ld.param.u64 %d0, [out]; ld.param.u32 %r0, [writer];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r2, 64, %r1;
    shl.b32 %r5, %r3, 6;
LOOP:
    mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %d0, %d1;
    ld.global.u32 %r6, [%d1];
    add.u32 %r4, %r4, %r5; setp.lt.u32 %p0, %r4, 512;
    @%p0 bra LOOP;
    {1}
    setp.ne.u32 %p1, %r2, %r0;
    @%p1 ret;
    mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1;
    st.global.u32 [%d1+{0}], %r6;
    ret;
}})",
                       at * 4, barrier);
}

GridFindings check_steps(std::uint32_t blocks, std::uint32_t writer, std::uint32_t at,
                         const std::string& barrier = "", unsigned forks = 1,
                         const emulator::LaunchSettings& settings = {}) {
    const auto module = emulator::Module::parse(steps_text(at, barrier), "steps");
    return grid_findings(*module->find("steps"), blocks, {&writer}, forks, settings);
}

TEST(StreamingLoads, RaceWithTheStoreOfAnotherBlock) {
    for (const emulator::LaunchSettings& settings : schedules(2))
        for (const unsigned forks : {1u, 2u, 4u}) {
            // Block 0 reads words 0 to 63 and 256 to 319.
            for (const std::uint32_t at : {0u, 256u}) {
                const GridFindings found = check_steps(4, 3, at, "", forks, settings);
                ASSERT_EQ(found.between.size(), 1u) << sentences(found.between);
                const Finding& f = found.between[0];
                EXPECT_EQ(f.count, 64u);
                EXPECT_EQ(f.hazard, Hazard::write_after_read);
                EXPECT_EQ(f.severity, Severity::error);
                EXPECT_EQ(f.first.block.x, 0u);
                EXPECT_EQ(f.second->block.x, 3u);
                EXPECT_NE(f.sentence.english().find(fmt::format("reads byte {} of", 4 * at)),
                          std::string::npos)
                    << f.sentence.english();
                EXPECT_EQ(sentences(found.within), "");
            }
            // 32 words of block 0 and 32 of block 1.
            EXPECT_EQ(check_steps(4, 3, 32, "", forks, settings).between.at(0).count, 64u);
            // Block 3 reads these words itself; the other words nobody reads.
            EXPECT_EQ(sentences(check_steps(4, 3, 192, "", forks, settings).between), "");
            EXPECT_EQ(sentences(check_steps(4, 3, 512, "", forks, settings).between), "");
        }
}

TEST(StreamingLoads, RaceWithTheStoreOfAnotherWarp) {
    for (const emulator::LaunchSettings& settings : schedules()) {
        // One block: each warp stores to 32 words that the other one reads. Two blocks: warp 0
        // stores to 32 words that warp 1 reads, warp 1 to words that only the other block reads.
        for (const std::uint32_t blocks : {1u, 2u}) {
            const std::uint32_t at = blocks == 1 ? 32 + 64 : 32;
            const std::uint64_t racing = blocks == 1 ? 64 : 32;
            const auto races = check_steps(blocks, 0, at, "", 1, settings).within;
            EXPECT_EQ(count(races, FindingKind::race, Severity::error), racing) << sentences(races);
            for (const char* barrier : {"bar.sync 0;", "bar.sync 1;", "bar.sync 0, 64;"})
                EXPECT_EQ(sentences(check_steps(blocks, 0, at, barrier, 1, settings).within), "");
            // A barrier of each warp alone orders nothing between them.
            const auto alone =
                check_steps(blocks, 0, at, "shr.u32 %r7, %r1, 5; barrier.sync %r7, 32;", 1,
                            settings)
                    .within;
            EXPECT_EQ(count(alone, FindingKind::race, Severity::error), racing) << sentences(alone);
        }
    }
}

// The launch ends when each block has read; a launch that belongs to it writes.
TEST(StreamingLoads, AreKeptForTheNextPartOfTheLaunch) {
    const auto module = emulator::Module::parse(steps_text(0, ""), "steps");
    emulator::Machine machine;
    emulator::GridRaces races;
    void* out = machine.memory().allocate(1024 * 4);
    const std::uint32_t writer = 3;
    const void* arguments[] = {&out, &writer};
    emulator::FrozenLaunch launch = machine.freeze(
        *module->find("steps"), {{4, 1, 1}, {64, 1, 1}, 0}, arguments, {.threads = 1});
    launch.settings.blocks = 3;
    machine.run(launch, &races);
    EXPECT_EQ(sentences(races.findings()), "");
    races.continue_launch();
    launch.settings.first_block = 3;
    launch.settings.blocks = 1;
    machine.run(launch, &races);
    ASSERT_EQ(races.findings().size(), 1u);
    EXPECT_EQ(races.findings()[0].count, 64u);
}

/// Four blocks of 64 threads read 512 words of a variable, in steps of 256. All of them arrive at a
/// word, by an atomic of this order, and wait for each other. Then each block stores to 64 words
/// that the next one has read first.
GridFindings check_meeting(const std::string& arrival, emulator::Execution execution) {
    const auto module = emulator::Module::parse(fmt::format(R"(.version 7.0
.target sm_75
.address_size 64
.global .align 4 .b8 array[2048];
.global .align 4 .u32 arrived;
.visible .entry meet() {{
    .reg .u32 %r<10>; .reg .u64 %d<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
    mov.u64 %d0, array; mov.u64 %d2, arrived;
    mad.lo.u32 %r4, %r2, 64, %r1;
LOOP:
    mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %d0, %d1;
    ld.global.u32 %r6, [%d1];
    add.u32 %r4, %r4, 256; setp.lt.u32 %p0, %r4, 512;
    @%p0 bra LOOP;
    bar.sync 0;
    setp.ne.u32 %p0, %r1, 0; @%p0 bra MET;
    atom.{}.gpu.global.add.u32 %r7, [%d2], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r7, [%d2];
    setp.lt.u32 %p1, %r7, %r3; @%p1 bra WAIT;
MET:
    bar.sync 0;
    add.u32 %r8, %r2, 1; rem.u32 %r8, %r8, %r3;
    mad.lo.u32 %r8, %r8, 64, %r1;
    mul.wide.u32 %d1, %r8, 4; add.u64 %d1, %d0, %d1;
    st.global.u32 [%d1], %r6;
    ret;
}})",
                                                            arrival),
                                                "meet");
    emulator::Launcher launcher;
    emulator::GridRaces between;
    emulator::RaceDetector within;
    emulator::ObserverList all;
    all.add(between);
    all.add(within);
    const emulator::FrozenLaunch launch = emulator::Machine::freeze(
        *module->find("meet"), {.grid = {4, 1, 1}, .block = {64, 1, 1}, .cooperative = true}, {},
        {});
    emulator::Launcher::set_execution(execution);
    const emulator::LaunchMethod method = launcher.choose(launch, &all);
    EXPECT_EQ(method.code != nullptr, execution == emulator::Execution::compiled);
    launcher.run(launch, &all, method);
    emulator::Launcher::set_execution(emulator::Execution::automatic);
    return {between.findings(), within.findings()};
}

// In machine code, too, which blocks that take turns run as the interpreter does.
TEST(StreamingLoads, WaitForTheFirstStoreWhereWordsOrderBlocks) {
    std::vector<emulator::Execution> executions = {emulator::Execution::interpreted};
    if (emulator::Launcher::can_compile()) executions.push_back(emulator::Execution::compiled);
    std::string first;
    for (const emulator::Execution execution : executions) {
        const GridFindings ordered = check_meeting("release", execution);
        EXPECT_EQ(sentences(ordered.between) + sentences(ordered.within), "");
        const GridFindings racing = check_meeting("relaxed", execution);
        // The access of the lower block is named first: block 3 stores to the words of block 0.
        ASSERT_EQ(racing.between.size(), 2u) << sentences(racing.between);
        EXPECT_EQ(racing.between[0].hazard, Hazard::write_after_read);
        EXPECT_EQ(racing.between[0].count, 64u);
        EXPECT_EQ(racing.between[1].hazard, Hazard::read_after_write);
        EXPECT_EQ(racing.between[1].count, 192u);
        EXPECT_EQ(sentences(racing.within), "");
        if (first.empty()) first = sentences(racing.between);
        EXPECT_EQ(sentences(racing.between), first);
    }
}

}  // namespace
}  // namespace warpscope::tests
