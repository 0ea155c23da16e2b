#include "emulator/program/error.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"
#include "orders_of_blocks.h"

namespace warpscope::tests {
namespace {

using emulator::OrderSearch;
using emulator::ReferenceOrder;
using emulator::ScheduleFile;
using emulator::Witness;

constexpr std::size_t most_words = OrdersOfBlocks::most_words;

/// A launch whose buffer and variables are 0.
struct Blocks : SmallBlock {
    Blocks(const emulator::Kernel& kernel, std::uint32_t threads, std::uint32_t blocks)
        : SmallBlock(kernel, threads, {}, most_words, blocks) {
        std::memset(out, 0, most_words * 4);
        for (const auto& variable : kernel.module->variables())
            std::memset(variable.data, 0, variable.bytes);
    }
};

OrderSearch::Result search_together(const emulator::Kernel& kernel, std::uint32_t threads,
                                    std::uint32_t blocks, unsigned preemptions = 2) {
    Blocks launch(kernel, threads, blocks);
    return OrderSearch{.preemptions = preemptions, .time = std::chrono::seconds(20)}.run_together(
        launch.machine, launch.launch);
}

/// Replays the text of an order: in a whole launch, or in the stepper of one block.
std::vector<std::uint32_t> replayed_together(const emulator::Kernel& kernel, std::uint32_t threads,
                                             std::uint32_t blocks, const Witness& witness,
                                             std::optional<std::uint32_t> stepped) {
    Blocks launch(kernel, threads, blocks);
    const std::string text = ScheduleFile::of_all(kernel, *witness.together, witness.turns).text();
    ScheduleFile::parse(text, "text").apply(kernel, launch.launch.launch, launch.launch.settings);
    EXPECT_EQ(launch.launch.settings.turns.empty() ? 0 : launch.launch.settings.turns[0].size(),
              witness.turns.empty() ? 0 : witness.turns[0].size());
    if (!stepped) {
        launch.machine.run(launch.launch);
        return launch.values();
    }
    emulator::Stepper stepper(launch.machine, launch.launch, *stepped);
    stepper.run();
    EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
    return launch.values();
}

struct OfBlocks {
    unsigned with_witness = 0, without = 0, left_out = 0;
};

OfBlocks compare_blocks(std::uint32_t threads, std::uint32_t blocks, unsigned preemptions) {
    OfBlocks counts;
    for (const auto& kernel : witness_module("grid").kernels()) {
        if (kernel->parameters.size() != 1) continue;
        SCOPED_TRACE(kernel->name);
        OrdersOfBlocks all(*kernel, threads, blocks);
        std::vector<std::set<std::vector<std::uint32_t>>> results;
        for (unsigned bound = 0; bound <= preemptions; ++bound)
            if (const auto found = all.results(bound)) results.push_back(*found);
        if (results.size() <= preemptions) {
            ++counts.left_out;
            continue;
        }
        const auto found = search_together(*kernel, threads, blocks, preemptions);
        const std::optional<Witness>& witness = found.witnesses[0];
        const auto reference = all.reference(found.reference == ReferenceOrder::in_step);
        std::optional<unsigned> least;
        for (unsigned bound = 0; bound <= preemptions && !least; ++bound)
            if (results[bound] != std::set{reference}) least = bound;
        EXPECT_EQ(witness.has_value(), least.has_value());
        ++(least ? counts.with_witness : counts.without);
        if (!witness || !least) {
            EXPECT_EQ(found.exhausted, preemptions);
            continue;
        }
        EXPECT_EQ(witness->preemptions, *least);
        if (!witness->error.empty()) continue;
        const auto values = replayed_together(*kernel, threads, blocks, *witness, {});
        EXPECT_TRUE(results[*least].contains(values));
        EXPECT_NE(values, reference);
        for (std::uint32_t block = 0; block < blocks; ++block)
            EXPECT_EQ(replayed_together(*kernel, threads, blocks, *witness, block), values)
                << block;
    }
    return counts;
}

TEST(BlocksTogether, HaveAWitnessExactlyWhereAllOrdersOfTwoBlocksOfAWarpShowOne) {
    const OfBlocks counts = compare_blocks(32, 2, 2);
    EXPECT_GE(counts.with_witness, 6u);
    EXPECT_GE(counts.without, 6u);
    EXPECT_EQ(counts.left_out, 0u);
}

TEST(BlocksTogether, HaveAWitnessExactlyWhereAllOrdersOfTwoBlocksOfTwoWarpsShowOne) {
    const OfBlocks counts = compare_blocks(64, 2, 1);
    EXPECT_GE(counts.with_witness, 6u);
    EXPECT_GE(counts.without, 4u);
    EXPECT_LE(counts.left_out, 5u);  // these have too many orders
}

TEST(BlocksTogether, AMissingAtomicTakesOnePreemption) {
    const emulator::Kernel& kernel = *witness_module("grid").find("increments");
    const auto found = search_together(kernel, 32, 3);
    EXPECT_EQ(found.exhausted, 0u);
    ASSERT_TRUE(found.witnesses[0]);
    const Witness& witness = *found.witnesses[0];
    EXPECT_EQ(witness.preemptions, 1u);
    EXPECT_EQ(witness.expected, 3u);
    EXPECT_LT(witness.value, 3u);
    const std::string what = emulator::reversal_words(kernel, witness.reversal, witness.together);
    EXPECT_NE(what.find("warp 0 of block (1,0,0) runs to kernels/grid.cu:14"), what.npos) << what;
    EXPECT_NE(what.find("before warp 0 of block (0,0,0) has passed kernels/grid.cu:14"), what.npos)
        << what;
    const std::string text = ScheduleFile::of_all(kernel, *witness.together, witness.turns).text();
    EXPECT_NE(text.find("\ntogether\nblock 0 0 0\nwarp 0 until kernels/grid.cu:14"), text.npos)
        << text;
}

TEST(BlocksTogether, ALaunchThatIsTooLargeIsSaidToBe) {
    const emulator::Kernel& kernel = *witness_module("grid").find("increments");
    EXPECT_THROW(search_together(kernel, 32, 5), emulator::Error);
    EXPECT_THROW(search_together(kernel, 1024, 2), emulator::Error);
    Blocks launch(kernel, 32, 2);
    for (const char* wrong : {"kernel increments\ntogether\nblock 2 0 0\nwarp 0\n",
                              "kernel increments\ntogether\nblock 1 0 0\nwarp 1\n"})
        EXPECT_THROW(ScheduleFile::parse(wrong, "x")
                         .apply(kernel, launch.launch.launch, launch.launch.settings),
                     emulator::Error)
            << wrong;
    EXPECT_THROW(ScheduleFile::parse("kernel increments\ntogether\nepoch 1\nwarp 0\n", "x"),
                 emulator::Error);
}

}  // namespace
}  // namespace warpscope::tests
