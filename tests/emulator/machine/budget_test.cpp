#include "emulator/machine/launch_settings.h"

#include <gtest/gtest.h>

namespace warpscope::emulator {
namespace {

LaunchSettings budget_of(std::uint64_t instructions) {
    LaunchSettings settings;
    settings.instruction_budget = instructions;
    return settings;
}

TEST(Budget, OfFewInstructionsIsSpentByTheLastOfThem) {
    Budget budget(budget_of(1000));
    std::uint64_t prepaid = 0, of_another_thread = 0;
    EXPECT_EQ(budget.spend(600, prepaid), Budget::Verdict::within);
    EXPECT_EQ(prepaid, 0u);  // nothing is kept from other threads
    EXPECT_EQ(budget.spend(401, of_another_thread), Budget::Verdict::spent);
    EXPECT_EQ(budget.spend(400, of_another_thread), Budget::Verdict::within);
    EXPECT_EQ(budget.spend(1, prepaid), Budget::Verdict::spent);
}

TEST(Budget, OfManyInstructionsIsPaidInAdvanceAndLosesNone) {
    constexpr std::uint64_t all = 5ull << 30, block = 700;
    Budget budget(budget_of(all));
    std::uint64_t prepaid = 0;
    unsigned payments = 0;
    for (unsigned n = 1; n <= 1000; ++n) {
        const std::uint64_t left = budget.left();
        ASSERT_EQ(budget.spend(block, prepaid), Budget::Verdict::within);
        payments += budget.left() != left;
        ASSERT_EQ(budget.left() + prepaid + n * block, all);
    }
    // A payment is for one block and 2^18 instructions more: 375 blocks, and a part of the next
    // one.
    EXPECT_EQ(payments, 3u);
}

TEST(Budget, OfABlockThatIsSteppedIsNotPaidInAdvance) {
    Budget budget(budget_of(1ull << 40));
    budget.count_instructions_only();
    std::uint64_t prepaid = 0;
    EXPECT_EQ(budget.spend(3, prepaid), Budget::Verdict::within);
    EXPECT_EQ(budget.left(), (1ull << 40) - 3);
}

}  // namespace
}  // namespace warpscope::emulator
