#include "emulator/witness/order_search.h"

#include "all_orders.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"

namespace warpscope::tests {
namespace {

using emulator::OrderSearch;
using emulator::ReferenceOrder;
using emulator::Schedule;
using emulator::Witness;

OrderSearch::Result search(const emulator::Kernel& kernel, std::uint32_t threads,
                           unsigned preemptions = 2) {
    SmallBlock block(kernel, threads);
    return OrderSearch{.preemptions = preemptions, .time = std::chrono::seconds(20)}.run(
        block.machine, block.launch, 0);
}

/// The result of a launch that replays the turns.
std::vector<std::uint32_t> replayed(const emulator::Kernel& kernel, std::uint32_t threads,
                                    const Witness& witness, bool by_stepper) {
    SmallBlock block(kernel, threads, {.schedule = Schedule::manual, .turns = witness.turns});
    if (!by_stepper) {
        block.machine.run(block.launch);
        return block.values();
    }
    emulator::Stepper stepper(block.machine, block.launch, 0);
    stepper.run();
    EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
    return block.values();
}

struct Counts {
    unsigned with_witness = 0, without = 0, left_out = 0;
};

/// Compares the search with all orders of each kernel of a file.
Counts compare_all(const std::string& file, std::uint32_t threads, unsigned preemptions) {
    Counts counts;
    for (const auto& kernel : witness_module(file).kernels()) {
        if (kernel->parameters.size() != 1) continue;
        SCOPED_TRACE(kernel->name);
        AllOrders all(*kernel, threads);
        std::vector<std::set<std::vector<std::uint32_t>>> results;
        for (unsigned bound = 0; bound <= preemptions; ++bound)
            if (const auto found = all.results(bound)) results.push_back(*found);
        if (results.size() <= preemptions) {
            ++counts.left_out;
            continue;
        }
        const auto found = search(*kernel, threads, preemptions);
        const std::optional<Witness>& witness = found.witnesses[0];
        std::optional<unsigned> least;
        for (unsigned bound = 0; bound <= preemptions && !least; ++bound)
            if (results[bound].size() > 1) least = bound;
        EXPECT_EQ(witness.has_value(), least.has_value());
        ++(least ? counts.with_witness : counts.without);
        if (!witness) {
            EXPECT_EQ(found.exhausted, preemptions);
            continue;
        }
        EXPECT_EQ(witness->preemptions, *least);
        if (*least > 0) {
            EXPECT_EQ(found.exhausted, *least - 1);
            EXPECT_EQ(witness->reference, ReferenceOrder::serial);
        }
        if (!witness->error.empty()) continue;
        for (const bool by_stepper : {false, true}) {
            const auto values = replayed(*kernel, threads, *witness, by_stepper);
            EXPECT_TRUE(results[*least].contains(values));
            EXPECT_EQ(std::count(values.begin(), values.end(), witness->value) > 0, true);
        }
    }
    return counts;
}

TEST(OrderSearch, FindsAWitnessExactlyWhereAllOrdersOfTwoWarpsShowOne) {
    const Counts counts = compare_all("kernels", 64, 2);
    EXPECT_GE(counts.with_witness, 5u);
    EXPECT_GE(counts.without, 5u);
    std::cerr << counts.with_witness << " " << counts.without << " " << counts.left_out << "\n";
}

TEST(OrderSearch, FindsAWitnessExactlyWhereAllOrdersOfThreeWarpsShowOne) {
    const Counts counts = compare_all("kernels", 96, 1);
    std::cerr << counts.with_witness << " " << counts.without << " " << counts.left_out << "\n";
}

TEST(OrderSearch, FindsAWitnessForOrdersOfFencesAndAtomics) {
    const Counts counts = compare_all("order", 64, 2);
    std::cerr << counts.with_witness << " " << counts.without << " " << counts.left_out << "\n";
}

TEST(OrderSearch, Prints) {
    for (const auto& kernel : witness_module("order").kernels()) {
        if (kernel->parameters.size() != 1) continue;
        const auto a = std::chrono::steady_clock::now();
        AllOrders all(*kernel, 64);
        for (unsigned bound = 0; bound <= 2; ++bound) all.results(bound);
        const auto b = std::chrono::steady_clock::now();
        const auto found = search(*kernel, 64);
        const auto c = std::chrono::steady_clock::now();
        std::cerr << kernel->name << " " << all.orders() << " "
                  << std::chrono::duration<double>(b - a).count() << " "
                  << std::chrono::duration<double>(c - b).count() << " turns " << found.turns << " "
                  << found.orders << "\n";
    }
}

}  // namespace
}  // namespace warpscope::tests
