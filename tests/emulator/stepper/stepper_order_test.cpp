#include <bit>
#include <map>
#include <random>
#include <tuple>

#include "emulator/machine/together/launch_together.h"
#include "frozen_kernel.h"
#include "stepper_state.h"

// The Stepper executes the instructions of Machine::run in their order, and restores earlier
// states.
namespace warpscope::emulator {
namespace {

struct Case {
    std::string file, kernel;
    LaunchShape launch;
    std::vector<std::uint32_t> scalars;
    std::uint32_t block;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.kernel;
}

const std::uint32_t dt = std::bit_cast<std::uint32_t>(0.01f),
                    softening = std::bit_cast<std::uint32_t>(0.1f);

std::vector<Case> cases() {
    const LaunchShape pixels{{4, 3, 1}, {16, 16, 1}, 0};
    const LaunchShape dot{{3, 1, 1}, {128, 1, 1}, 0};
    return {{"precise/ripple.ptx", "ripple_txty", pixels, {64, 48}, 7},
            {"fast/ripple.ptx", "ripple_txty_nosync", pixels, {64, 48}, 7},
            {"precise/ripple.ptx", "ripple_txty_nosync", {{2, 1, 1}, {16, 16, 1}, 0}, {23, 11}, 1},
            {"precise/dot.ptx", "dot_book", dot, {1000}, 1},
            {"precise/dot.ptx", "dot_no_barriers", dot, {1000}, 2},
            {"precise/dot.ptx", "dot_divergent", dot, {1000}, 2},
            {"precise/reduce.ptx", "sum_within_block", {{2, 1, 1}, {100, 1, 1}, 0}, {2000}, 1},
            {"precise/reduce.ptx", "reduce0", {{2, 1, 1}, {128, 1, 1}, 512}, {2000}, 1},
            {"precise/reduce_ladder.ptx", "reduce_shuffle", {{2, 1, 1}, {96, 1, 1}, 0}, {2000}, 1},
            {"precise/nbody.ptx",
             "nbody_tiled",
             {{2, 1, 1}, {64, 1, 1}, 1024},
             {128, 0, dt, softening},
             1},
            {"fast/nbody.ptx",
             "nbody_tiled",
             {{2, 1, 1}, {64, 1, 1}, 1024},
             {100, 0, dt, softening},
             1},
            {"precise/nbody.ptx",
             "nbody_float3",
             {{2, 1, 1}, {64, 1, 1}, 0},
             {50, 0, dt, softening},
             0},
            {"precise/ripple_cluster.ptx", "ripple_cluster", pixels, {64, 48}, 5},
            {"precise/ripple_cluster.ptx", "ripple_cluster_nosync", pixels, {64, 48}, 2}};
}

struct Executed {
    std::uint32_t warp, pc, mask;
    bool operator==(const Executed&) const = default;
};

struct Trace : Observer {
    explicit Trace(std::uint32_t block) : block(block) {}
    bool wants(std::uint32_t b) override { return b == block; }
    void on_instruction(std::uint32_t, const Warp& warp, std::uint32_t mask,
                        std::uint32_t pc) override {
        executed.push_back({warp.index, pc, mask});
    }
    std::uint32_t block;
    std::vector<Executed> executed;
};

std::vector<LaunchSettings> orders() {
    std::vector<LaunchSettings> all;
    for (const Schedule s : {Schedule::run_to_barrier, Schedule::reverse})
        all.push_back({.schedule = s});
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        all.push_back({.schedule = Schedule::random, .seed = seed});
    all.push_back({.barriers = BarrierPolicy::before_volta, .seed = 5});
    all.push_back({.schedule = Schedule::manual, .turns = {{{1}, {0}, {2}}, {{2}, {1}}}});
    return all;
}

std::vector<std::byte> bytes_of(std::span<const std::byte> s) {
    return {s.begin(), s.end()};
}

class StepperOrder : public testing::TestWithParam<Case> {};

TEST_P(StepperOrder, ExecutesTheInstructionsOfMachineRun) {
    const Case& c = GetParam();
    for (LaunchSettings settings : orders()) {
        settings.blocks = c.block + 1;
        FrozenKernel ran(c.file, c.kernel, c.launch, c.scalars, settings);
        // The stepper runs one cluster.
        const bool together = blocks_run_together(ran.frozen);
        if (together) {
            ran.frozen.settings.first_block = c.block / 2 * 2;
            ran.frozen.settings.blocks = 1;
        }
        Trace trace(c.block);
        ran.machine.run(ran.frozen, &trace);

        FrozenKernel stepped(c.file, c.kernel, c.launch, c.scalars, settings);
        const std::vector<std::byte> before = stepped.memory();
        {
            Stepper stepper(stepped.machine, stepped.frozen, c.block);
            stepper.run();
            ASSERT_EQ(stepper.end(), Stepper::End::finished) << stepper.error().english();
            std::vector<Executed> executed;
            for (const Step& s : stepper.history())
                if (s.mask) executed.push_back({s.warp, s.pc, s.mask});
            EXPECT_TRUE(executed == trace.executed)
                << executed.size() << " steps, " << trace.executed.size() << " instructions";
            if (!together) {
                EXPECT_EQ(bytes_of(stepper.shared_memory()),
                          bytes_of(ran.machine.shared_memory(0, 0).first(
                              stepper.shared_memory().size())));
            }
            EXPECT_EQ(stepped.memory(), ran.memory());
        }
        EXPECT_EQ(stepped.memory(), before) << "the writes of the block are undone";
    }
}

TEST_P(StepperOrder, SeekRestoresEveryEarlierState) {
    const Case& c = GetParam();
    FrozenKernel k(c.file, c.kernel, c.launch, c.scalars, {.seed = 3});
    Stepper stepper(k.machine, k.frozen, c.block);
    std::map<std::uint64_t, std::pair<std::vector<std::string>, std::vector<std::byte>>> was;
    std::mt19937_64 random(7);
    for (std::uint64_t next = 0;;) {
        if (stepper.position() == next || stepper.end() != Stepper::End::open) {
            was[stepper.position()] = {state_of(stepper), k.memory()};
            next += 1 + random() % 300;
        }
        if (!stepper.step()) break;
    }
    const auto history = std::vector<Step>(stepper.history().begin(), stepper.history().end());
    const std::vector<BarrierWait> waits(stepper.waits().begin(), stepper.waits().end());
    for (int jump = 0; jump < 15; ++jump) {
        const auto& [position, state] = *std::next(was.begin(), long(random() % was.size()));
        stepper.seek(position);
        ASSERT_EQ(state_of(stepper), state.first) << position;
        ASSERT_EQ(k.memory(), state.second) << position;
    }
    stepper.run();
    EXPECT_EQ(state_of(stepper), was.rbegin()->second.first);
    ASSERT_EQ(stepper.history().size(), history.size());
    for (std::size_t n = 0; n < history.size(); ++n) {
        const Step a = history[n], b = stepper.history()[n];
        ASSERT_EQ(std::tie(a.warp, a.pc, a.mask, a.by_hand),
                  std::tie(b.warp, b.pc, b.mask, b.by_hand));
    }
    ASSERT_EQ(stepper.waits().size(), waits.size());
    for (std::size_t n = 0; n < waits.size(); ++n) {
        EXPECT_EQ(stepper.waits()[n].from, waits[n].from);
        EXPECT_EQ(stepper.waits()[n].to, waits[n].to);
    }
}

// The user chooses warps. seek() must repeat these choices.
TEST_P(StepperOrder, SeekRepeatsTheWarpsThatTheUserChose) {
    const Case& c = GetParam();
    FrozenKernel k(c.file, c.kernel, c.launch, c.scalars, {.seed = 5});
    Stepper stepper(k.machine, k.frozen, c.block);
    std::mt19937_64 random(11);
    std::map<std::uint64_t, std::vector<std::string>> was;
    while (stepper.end() == Stepper::End::open && stepper.position() < 2000) {
        if (stepper.position() % 150 == 0) was[stepper.position()] = state_of(stepper);
        if (random() % 3)
            stepper.step(std::uint32_t(random() % stepper.warps()));
        else
            stepper.step();
    }
    was[stepper.position()] = state_of(stepper);
    for (auto at = was.rbegin(); at != was.rend(); ++at) {
        stepper.seek(at->first);
        ASSERT_EQ(state_of(stepper), at->second) << at->first;
    }
    stepper.seek(stepper.history().size());
    EXPECT_EQ(state_of(stepper), was.rbegin()->second);
}

INSTANTIATE_TEST_SUITE_P(Kernels, StepperOrder, testing::ValuesIn(cases()), [](const auto& info) {
    return info.param.kernel + "_" + std::to_string(info.index);
});

}  // namespace
}  // namespace warpscope::emulator
