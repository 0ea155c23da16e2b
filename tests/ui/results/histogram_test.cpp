#include "ui/results/results_panel.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

using Counts = std::vector<unsigned>;

TEST(Histogram, PartsHaveEqualWidthAndTheLastHoldsTheLargestValue) {
    const std::vector<double> values{0, 1, 2.4, 2.5, 9.9, 10};
    EXPECT_EQ(histogram(values, 4), (Counts{3, 1, 0, 2}));
}

TEST(Histogram, EqualValuesAreAllInTheFirstPart) {
    const std::vector<double> values{5, 5, 5};
    EXPECT_EQ(histogram(values, 3), (Counts{3, 0, 0}));
}

TEST(Histogram, AcceptsNoValuesAndNoParts) {
    EXPECT_EQ(histogram({}, 2), (Counts{0, 0}));
    const std::vector<double> values{1, 2};
    EXPECT_EQ(histogram(values, 0), (Counts{2}));
}

}  // namespace
}  // namespace warpscope::ui
