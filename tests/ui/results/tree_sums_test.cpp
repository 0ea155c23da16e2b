#include "ui/results/tree_panel.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

using Row = experiments::Tree::Row;

TEST(TreeSumsTest, FindsTheElementThatIsNotTheSum) {
    const Row before{"", {1, 2, 3, 4}, {true, true, true, true}, {}};
    const Row after{"", {4, 7, 3, 4}, {true, true, false, false}, {{0, 0}, {2, 0}, {1, 1}, {3, 1}}};
    EXPECT_EQ(wrong_sums(before, after), (std::vector<bool>{false, true, false, false}));
}

TEST(TreeSumsTest, ChecksOnlySumsOfTwoElements) {
    const Row before{"", {1, 2, 3, 4}, {true, true, true, true}, {}};
    const Row copied{
        "", {9, 99, 3, 4}, {true, true, false, false}, {{0, 0}, {1, 1}, {2, 1}, {3, 1}}};
    EXPECT_EQ(wrong_sums(before, copied), std::vector<bool>(4, false));
}

// The first sum of the second row lost a term, and the root is the right sum of wrong values.
TEST(TreeSumsTest, AWrongValueMakesTheSumsBelowItWrong) {
    experiments::Tree tree;
    tree.rows = {{"", {1, 2, 3, 4}, {true, true, true, true}, {}},
                 {"", {1, 6, 3, 4}, {true, true, false, false}, {{0, 0}, {2, 0}, {1, 1}, {3, 1}}},
                 {"", {7, 6, 3, 4}, {true, false, false, false}, {{0, 0}, {1, 0}}}};
    EXPECT_EQ(wrong_sums(tree.rows[1], tree.rows[2]), std::vector<bool>(4, false));
    EXPECT_EQ(wrong_values(tree), (std::vector<std::vector<bool>>{{false, false, false, false},
                                                                  {true, false, false, false},
                                                                  {true, false, false, false}}));
    tree.rows[1].values[0] = 4;
    tree.rows[2].values[0] = 10;
    for (const auto& row : wrong_values(tree)) EXPECT_EQ(row, std::vector<bool>(4, false));
}

TEST(TreeSumsTest, EdgesOutsideTheArrayAreIgnored) {
    const Row before{"", {1, 2}, {true, true}, {}};
    const Row after{"", {3, 2}, {true, false}, {{0, 0}, {1, 0}, {7, 0}, {0, 7}}};
    EXPECT_EQ(wrong_sums(before, after), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace warpscope::ui
