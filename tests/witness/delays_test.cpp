#include "emulator/witness/delays.h"

#include <algorithm>

#include "all_orders.h"

namespace warpscope::tests {
namespace {

using emulator::Delay;

/// What a block of 4x4x4 threads, two warps, executes if the kernel waits at the line of its first
/// store.
std::uint64_t executed_with(const Delay& delay) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    const auto module = emulator::Module::parse(ptx_with(delay, kernel), "kernels.cu");
    SmallBlock block(*module->find("mirror_no_barrier"), 64);
    block.launch.launch.block = {4, 4, 4};
    return block.machine.run(block.launch).warp_instructions;
}

TEST(Delays, OnlyTheNamedWarpWaits) {
    const std::string place = "kernels/kernels.cu:14";
    const std::uint64_t none = executed_with({.place = place, .warp = 2, .clocks = 1000});
    for (const std::uint32_t warp : {0u, 1u}) {
        const std::uint64_t one = executed_with({.place = place, .warp = warp, .clocks = 1000});
        EXPECT_GE(one, none + 500) << warp;
        EXPECT_LE(one, none + 2000) << warp;
    }
}

TEST(Delays, OnlyTheNamedBlockWaits) {
    const std::string place = "kernels/kernels.cu:14";
    const std::uint64_t other = executed_with({.place = place, .block = 1, .clocks = 1000});
    EXPECT_GE(executed_with({.place = place, .block = 0, .clocks = 1000}), other + 500);
}

TEST(Delays, StatementsStayOnTheirLines) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    const std::string& before = kernel.module->text();
    const std::string after = ptx_with({.place = "kernels/kernels.cu:14", .warp = 0}, kernel);
    EXPECT_TRUE(after != before);
    EXPECT_EQ(std::ranges::count(after, '\n'), std::ranges::count(before, '\n'));
    EXPECT_TRUE(ptx_with({.place = "kernels/kernels.cu:13", .warp = 0}, kernel) == before);
}

}  // namespace
}  // namespace warpscope::tests
