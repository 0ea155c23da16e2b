#include "ui/widgets/columns.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

// Widths with a padding of 10: the name takes what is left, the others 60, 90 and 40.
constexpr TableColumn columns[] = {
    {"Kernel", "", 0, true}, {"Launches", "", 50}, {"Rate", "", 80}, {"p99", "", 30}};
constexpr std::size_t least_first[] = {3, 1, 2};

std::vector<bool> left_out(const std::vector<bool>& empty, float width) {
    return columns_left_out(columns, empty, least_first, width, 100, 10);
}

TEST(TableColumns, AllAreThereWhereTheyHaveRoom) {
    // 100 for the name, 10 + 60 + 90 + 40 for paddings and columns.
    EXPECT_EQ(left_out({false, false, false, false}, 300), std::vector<bool>(4, false));
}

TEST(TableColumns, TheLeastImportantGiveWayFirst) {
    const std::vector<bool> none(4, false);
    EXPECT_EQ(left_out(none, 299), (std::vector<bool>{false, false, false, true}));
    EXPECT_EQ(left_out(none, 260), (std::vector<bool>{false, false, false, true}));
    EXPECT_EQ(left_out(none, 259), (std::vector<bool>{false, true, false, true}));
    EXPECT_EQ(left_out(none, 50), (std::vector<bool>{false, true, true, true}));
}

TEST(TableColumns, ColumnsWithoutContentsAreLeftOutAndTakeNoRoom) {
    EXPECT_EQ(left_out({false, false, true, false}, 1000),
              (std::vector<bool>{false, false, true, false}));
    EXPECT_EQ(left_out({false, false, true, false}, 210),
              (std::vector<bool>{false, false, true, false}));
}

}  // namespace
}  // namespace warpscope::ui
