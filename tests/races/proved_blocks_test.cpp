#include <fmt/format.h>

#include "block_model_observers.h"

namespace warpscope::tests::block_model {
namespace {

/// Observes a launch of 64 threads a block: with observers that are told of all events beside those
/// that follow models, and without them, interpreted and compiled.
class ProvedBlocks {
  public:
    /// `n`: what the threads get as %r0.
    ProvedBlocks(const std::string& body, std::uint32_t blocks, std::uint32_t n,
                 unsigned threads = 1)
        : module_(Module::parse(kernel_text(body, shared_words), "test")) {
        void* out = machine_.memory().allocate(out_bytes);
        const void* arguments[] = {&out, &n};
        FrozenLaunch launch =
            Machine::freeze(*module_->kernels().front(), {{blocks, 1, 1}, {64, 1, 1}, 0}, arguments,
                            {.threads = threads});
        const Obstacles obstacles = obstacles_to_independence(launch, machine_.memory());
        EXPECT_EQ(obstacles.warps + obstacles.blocks, "");
        LaunchMethod method{.schedule = Schedule::run_to_barrier,
                            .dealing = BlockDealing::as_they_come,
                            .make_events = alike_events(*launch.kernel, true)};
        error = error_of([&] { machine_.run(launch, &followers.all, method); });
        if ((method.code = compiled(module_))) {
            EXPECT_EQ(error, error_of([&] { machine_.run(launch, &in_machine_code.all, method); }));
            expect_equal(followers, in_machine_code);
        }
        method.code = nullptr;
        launch.settings.threads = 1;
        error_of([&] { machine_.run(launch, &both.all, method); });
        if (error.empty()) {
            expect_equal(both);
            expect_equal(followers.counters.kernels().at(0), both.counters.kernels().at(0));
            expect_equal(followers.heat.kernels(), both.heat.kernels());
        }
        EXPECT_EQ(text_of(both.grid_races.findings()), text_of(both.told_grid_races.findings()));
        EXPECT_EQ(text_of(followers.grid_races.findings()), text_of(both.grid_races.findings()));
        EXPECT_EQ(text_of(followers.races.findings()), text_of(both.told_races.findings()));
    }

  private:
    static constexpr std::size_t out_bytes = 1 << 16;
    std::shared_ptr<const Module> module_;
    Machine machine_{3};

  public:
    Observers followers{machine_, false}, in_machine_code{machine_, false}, both{machine_};
    std::string error;
};

/// Each thread stores the number that the opposite thread has written into shared memory, if its
/// index in the launch is below %r0: as its own word, or `stride` words from that of its neighbour.
/// It reads the number before the comparison, or behind it.
std::string mirror(unsigned stride, bool reads_behind = false) {
    const std::string read = "ld.shared.u32 %r7, [%r6];";
    return fmt::format(
        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mov.u32 %r20, cell;"
        "shl.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r20; st.shared.u32 [%r5], %r3; bar.sync 0;"
        "xor.b32 %r6, %r4, 252; add.u32 %r6, %r6, %r20; {} setp.ge.u32 %p1, %r3, %r0;"
        "@%p1 bra END; {} mul.wide.u32 %rd2, %r3, {}; add.s64 %rd3, %rd0, %rd2;"
        "st.global.u32 [%rd3], %r7; END:",
        reads_behind ? "" : read, reads_behind ? read : "", stride * 4);
}

TEST(ProvedBlocks, CountAsThoseThatAreTold) {
    const ProvedBlocks proved(mirror(1), 40, 1 << 20);
    EXPECT_TRUE(proved.followers.races.findings().empty());
    EXPECT_TRUE(proved.followers.grid_races.findings().empty());
    EXPECT_EQ(proved.followers.counters.kernels().at(0).shared_loads.requests, 80u);
}

// Threads whose index is too high store nothing.
TEST(ProvedBlocks, MayStoreElsewhereThanTheModel) {
    for (const std::uint32_t n : {64u, 100u, 200u, 1000u, 2559u})
        for (const unsigned threads : {1u, 3u}) {
            SCOPED_TRACE(n);
            for (const bool reads_behind : {false, true}) {
                ProvedBlocks(mirror(1, reads_behind), 40, n, threads);
                ProvedBlocks(mirror(3, reads_behind), 40, n, threads);
            }
        }
}

// All blocks store equal values to the words of the first one.
TEST(ProvedBlocks, MayRaceWithEachOther) {
    const ProvedBlocks proved(
        "mov.u32 %r20, cell; shl.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r20;"
        "st.shared.u32 [%r5], %r1; bar.sync 0; xor.b32 %r6, %r4, 252; add.u32 %r6, %r6, %r20;"
        "ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd1], %r7;",
        20, 0, 3);
    EXPECT_EQ(count(proved.followers.grid_races.findings(), FindingKind::race, Severity::note),
              64u);
}

// Block 30 stores behind the end of the allocation, after a part of its warps has stored before it.
TEST(ProvedBlocks, MayFail) {
    const ProvedBlocks proved(mirror(9), 40, 1 << 20);
    EXPECT_NE(proved.error, "");
    EXPECT_TRUE(proved.followers.counters.kernels().empty());
}

}  // namespace
}  // namespace warpscope::tests::block_model
