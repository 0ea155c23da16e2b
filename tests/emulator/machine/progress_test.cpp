
#include "emulator/ptx_fixture.h"
#include "emulator/stepper/stepper.h"

// What a launch reports while it runs, and how soon it ends after a stop request.
namespace warpscope::emulator {
namespace {

using Reading = LaunchProgress::Reading;

/// A block of one warp executes more than 2^15 warp instructions: blocks are then reported alone.
const std::string long_block =
    "mov.u32 %r2, 0;\nloop:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 12000;\n@%p0 bra loop;\n";

const LaunchShape ten_blocks{{10, 1, 1}, {32, 1, 1}};

struct Progress : testing::Test {
    std::shared_ptr<LaunchProgress> progress = std::make_shared<LaunchProgress>();
    Reading now() const { return progress->now(); }
};

/// Reads the progress when each block begins. One host thread runs the blocks in order.
struct Reader : Observer {
    explicit Reader(const LaunchProgress& of) : progress(of) {}
    const LaunchProgress& progress;
    std::vector<std::uint64_t> done;
    void on_block_begin(const Kernel&, std::uint32_t) override {
        done.push_back(progress.now().done);
    }
};

TEST_F(Progress, CountsLaunchesAndTheirBlocks) {
    Runner r(kernel_text(""));
    r.settings.progress = progress;
    EXPECT_EQ(now(), (Reading{0, 0, 0}));
    r.run(ten_blocks);
    EXPECT_EQ(now(), (Reading{1, 10, 10}));
    r.run({{3000, 1, 1}, {32, 1, 1}});
    EXPECT_EQ(now(), (Reading{2, 3000, 3000}));
}

TEST_F(Progress, CountsOnlyTheBlocksThatAreToRun) {
    Runner r(kernel_text(""));
    r.settings.progress = progress;
    r.settings.first_block = 7;
    r.run(ten_blocks);
    EXPECT_EQ(now(), (Reading{1, 3, 3}));
}

TEST_F(Progress, ALongBlockIsReportedWhenItEnds) {
    Runner r(kernel_text(long_block));
    Reader reader(*progress);
    r.settings.progress = progress;
    r.observer = &reader;
    r.run(ten_blocks);
    EXPECT_EQ(reader.done, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Progress, ABlockThatFailsIsNotCounted) {
    Runner r(kernel_text("mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p0, %r5, 4;\n@%p0 trap;\n"));
    r.settings.progress = progress;
    r.settings.threads = 1;
    EXPECT_NE(error_of([&] { r.run(ten_blocks); }), "");
    EXPECT_EQ(now(), (Reading{1, 4, 10}));
}

TEST_F(Progress, TheMicroscopeCountsTheBlocksThatRunBeforeItsBlock) {
    const auto module = Module::parse(
        kernel_text("st.shared.u32 [s], %r1;", ".shared .align 4 .b8 s[4];\n"), "test");
    Machine machine;
    void* out = machine.memory().allocate(4096);
    const std::uint32_t n = 0;
    const void* arguments[] = {&out, &n};
    const auto launch = Machine::freeze(*module->kernels().front(), {{100, 1, 1}, {32, 1, 1}},
                                        arguments, {.progress = progress});
    // Blocks 3, 32 and 61 run on the virtual SM of block 90.
    const Stepper stepper(machine, launch, 3 + 3 * Machine::default_virtual_sms);
    EXPECT_EQ(now(), (Reading{1, 3, 3}));
}

/// Requests a stop at one instruction and counts the instructions after it.
struct Stopper : Observer {
    std::stop_source source;
    std::uint64_t stop_at = 0, seen = 0;
    std::vector<std::uint32_t> begun;
    void on_block_begin(const Kernel&, std::uint32_t block) override { begun.push_back(block); }
    void on_instruction(std::uint32_t, const Warp&, std::uint32_t, std::uint32_t) override {
        if (++seen == stop_at) source.request_stop();
    }
    std::uint64_t after() const { return seen - stop_at; }
};

class StopRequest : public testing::TestWithParam<Schedule> {};
INSTANTIATE_TEST_SUITE_P(With, StopRequest,
                         testing::Values(Schedule::run_to_barrier, Schedule::reverse,
                                         Schedule::random));

TEST_P(StopRequest, EndsALongBlockWithinAFewThousandInstructions) {
    Runner r(kernel_text("st.shared.u32 [s], %r1;\nspin:\nadd.s32 %r2, %r2, 1;\nbra.uni spin;\n",
                         ".shared .align 4 .b8 s[4];\n"));
    Stopper stopper;
    stopper.stop_at = 100'000;
    r.settings.schedule = GetParam();
    r.settings.stop = stopper.source.get_token();
    r.observer = &stopper;
    EXPECT_THROW(r.run({{5, 1, 1}, {64, 1, 1}}), Stopped);
    EXPECT_LE(stopper.after(), 4096U);
    EXPECT_EQ(stopper.begun, std::vector<std::uint32_t>{0});
}

TEST_P(StopRequest, EndsALaunchOfShortBlocksAfterTheCurrentOne) {
    Runner r(kernel_text(""));
    Stopper stopper;
    r.settings.schedule = GetParam();
    r.settings.stop = stopper.source.get_token();
    r.observer = &stopper;
    r.run(ten_blocks);
    const std::uint64_t instructions_of_block = stopper.seen / 10;
    stopper.begun.clear();
    stopper.seen = 0;
    stopper.stop_at = 3 * instructions_of_block + 1;
    EXPECT_THROW(r.run(ten_blocks), Stopped);
    EXPECT_EQ(stopper.begun, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(StopBefore, NoBlockOfALaunchEndsThatBeginsAfterTheRequest) {
    for (const unsigned threads : {1U, 4U}) {
        Runner r(kernel_text(""));
        std::stop_source source;
        source.request_stop();
        r.settings.stop = source.get_token();
        r.settings.progress = std::make_shared<LaunchProgress>();
        r.settings.threads = threads;
        EXPECT_THROW(r.run(ten_blocks), Stopped);
        EXPECT_EQ(r.settings.progress->now(), (Reading{1, 0, 10}));
    }
}

}  // namespace
}  // namespace warpscope::emulator
