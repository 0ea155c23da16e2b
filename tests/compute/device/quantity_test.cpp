#include "compute/device/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace warpscope::compute {
namespace {

TEST(SiTest, PrintsThreeDigitsAndAPrefix) {
    EXPECT_EQ(si(0), "0");
    EXPECT_EQ(si(1.75e9), "1.75 G");
    EXPECT_EQ(si(12'345), "12.3 k");
    EXPECT_EQ(si(999), "999");
    EXPECT_EQ(si(0.5), "0.500");
    EXPECT_EQ(si(-2e6), "-2.00 M");
    EXPECT_EQ(si(3.4e-7), "3.4e-07");
}

TEST(SiTest, NumbersThatRoundUpToAThousandTakeTheNextPrefix) {
    EXPECT_EQ(si(999.4), "999");
    EXPECT_EQ(si(999.5), "1.00 k");
    EXPECT_EQ(si(999'499), "999 k");
    EXPECT_EQ(si(999'500), "1.00 M");
    EXPECT_EQ(si(9.996), "10.0");
}

TEST(QuantityTest, WholeNumbersKeepEveryDigit) {
    EXPECT_EQ(quantity(25723564731392.0, ""), "25 723 564 731 392");
    EXPECT_EQ(quantity(-1234, ""), "-1 234");
    EXPECT_EQ(quantity(100, ""), "100");
    EXPECT_EQ(quantity(52488, "clocks"), "52 488 clocks");
}

TEST(QuantityTest, PrefixesAreJoinedToBytesAndApartFromWords) {
    EXPECT_EQ(quantity(4.38e12, "B/s"), "4.38 TB/s");
    EXPECT_EQ(quantity(1.75e9, "interactions/s"), "1.75 G interactions/s");
    EXPECT_EQ(quantity(12, "interactions/s"), "12.0 interactions/s");
    EXPECT_EQ(quantity(2e13, "flop/s"), "20.0 Tflop/s");
    EXPECT_EQ(quantity(3.07e8, "1/s"), "307 M/s");
}

TEST(QuantityTest, PrintsSharesTimesNaNAndInfinity) {
    EXPECT_EQ(quantity(41.84, "%"), "41.8 %");
    EXPECT_EQ(quantity(0, "%"), "0 %");
    EXPECT_EQ(quantity(4.4, "ms"), "4.40 ms");
    EXPECT_EQ(quantity(std::numeric_limits<double>::quiet_NaN(), "%"), "not a number");
    EXPECT_EQ(quantity(std::numeric_limits<double>::infinity(), ""), "infinite");
    EXPECT_EQ(quantity(3.4e-7, ""), "3.40e-07");
}

TEST(CompactTest, PrintsAtMostSixCharacters) {
    EXPECT_EQ(compact(1024), "1024");
    EXPECT_EQ(compact(99'999), "99999");
    EXPECT_EQ(compact(100'000), "100k");
    EXPECT_EQ(compact(25723564731392.0), "25.7T");
    EXPECT_EQ(compact(-0.5), "-0.5");
    EXPECT_EQ(compact(3177.5), "3178");
    EXPECT_EQ(compact(1e-7), "1e-07");
    for (const double value : {-99'999.0, 123'456'789.0, -2.5e-9, 0.333333, -12345.678})
        EXPECT_LE(compact(value).size(), 6U) << value;
}

TEST(MillisecondsTest, PrintsThreeDigitsOrMicroseconds) {
    EXPECT_EQ(milliseconds(0.0094), "0.009");
    EXPECT_EQ(milliseconds(4.4111), "4.41");
    EXPECT_EQ(milliseconds(9.999), "10.0");
    EXPECT_EQ(milliseconds(118.2), "118");
}

TEST(RateTest, InteractionsArePreferredToBytes) {
    KernelTiming timing;
    timing.recent_ms = {2};
    EXPECT_EQ(rate(timing), "");
    timing.work.bytes = 4e6;
    EXPECT_EQ(rate(timing), "2.00 GB/s");
    timing.work.interactions = 1e6;
    EXPECT_EQ(rate(timing), "500 M int/s");
}

TEST(CountTest, SmallCountsKeepEveryDigit) {
    EXPECT_EQ(count(99'999), "99 999");
    EXPECT_EQ(count(100'000), "100 k");
    EXPECT_EQ(count(35.12), "35.1");
    EXPECT_EQ(count(0), "0");
}

TEST(RelativeErrorTest, HasTwoDigits) {
    EXPECT_EQ(relative_error(5e-11), "5.0e-11");
    EXPECT_EQ(relative_error(0.236), "2.4e-01");
    EXPECT_EQ(relative_error(0), "0");
}

TEST(MultipleTest, PrintsThreeDigits) {
    EXPECT_EQ(multiple(1.75, 1.2), "×1.46");
    EXPECT_EQ(multiple(64, 64), "×1");
    EXPECT_EQ(multiple(1, 16), "×0.0625");
    EXPECT_EQ(multiple(123'456, 10), "×12 346");
    EXPECT_EQ(multiple(0, 5), "×0");
    EXPECT_EQ(multiple(5, 0), "") << "nothing to compare with";
}

}  // namespace
}  // namespace warpscope::compute
