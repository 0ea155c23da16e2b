#include "launches/arrays/expression.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::launches {
namespace {

Number value(std::string_view text, const Names& names = {}) {
    return Expression(text).value(names);
}

std::string error(std::string_view text, const Names& names = {}) {
    try {
        value(text, names);
        return "no error";
    } catch (const LaunchError& e) {
        return e.what();
    }
}

TEST(Expression, DividesIntegersAsCppDoes) {
    EXPECT_EQ(value("(n + 255) / 256", {{"n", 1000L}}), Number(4L));
    EXPECT_EQ(value("-7 / 2"), Number(-3L));
    EXPECT_EQ(value("-7 % 2"), Number(-1L));
    EXPECT_EQ(value("7 / 2.0"), Number(3.5));
}

TEST(Expression, FollowsThePrecedenceOfOperators) {
    EXPECT_EQ(value("2 + 3 * 4"), Number(14L));
    EXPECT_EQ(value("(2 + 3) * 4"), Number(20L));
    EXPECT_EQ(value("2 - 3 - 4"), Number(-5L));
    EXPECT_EQ(value("1 << 2 + 1"), Number(8L));
    EXPECT_EQ(value("1 + 1 < 3 == 1"), Number(1L));
    EXPECT_EQ(value("16 >> 2 >> 1"), Number(2L));
    EXPECT_EQ(value("- - 3"), Number(3L));
}

TEST(Expression, ReadsLiterals) {
    EXPECT_EQ(value("0x10"), Number(16L));
    EXPECT_EQ(value("1e-3"), Number(0.001));
    EXPECT_EQ(value(".5f"), Number(0.5));
    EXPECT_EQ(value("2."), Number(2.0));
}

TEST(Expression, EvaluatesOnlyTheChosenSideOfACondition) {
    EXPECT_EQ(value("n > 0 ? 12 / n : 7", {{"n", 0L}}), Number(7L));
    EXPECT_EQ(value("n > 0 ? 12 / n : 7", {{"n", 4L}}), Number(3L));
    EXPECT_EQ(value("0 ? 1 : 0 ? 2 : 3"), Number(3L));
}

TEST(Expression, AndAndOrAreOneOrZero) {
    EXPECT_EQ(value("2 && 3"), Number(1L));
    EXPECT_EQ(value("2 && 0"), Number(0L));
    EXPECT_EQ(value("0 || 0.5"), Number(1L));
    EXPECT_EQ(value("0 || 0 || 0"), Number(0L));
    EXPECT_EQ(value("1 || 0 && 0"), Number(1L));
    EXPECT_EQ(value("!0 + !7"), Number(1L));
    EXPECT_EQ(value("n != 0 && 6 / n == 2", {{"n", 0L}}), Number(0L));
    EXPECT_EQ(value("n != 0 && 6 / n == 2", {{"n", 3L}}), Number(1L));
    EXPECT_EQ(value("n == 0 || 6 / n == 2 ? 5 : 7", {{"n", 0L}}), Number(5L));
    EXPECT_THROW(value("1 &&"), LaunchError);
    EXPECT_THROW(value("1 & 2"), LaunchError);
}

TEST(Expression, CallsFunctions) {
    EXPECT_EQ(value("min(3, 5) + max(3, 5)"), Number(8L));
    EXPECT_EQ(value("max(1, 2.5)"), Number(2.5));
    EXPECT_EQ(value("abs(-3)"), Number(3L));
    EXPECT_EQ(value("sqrt(16)"), Number(4.0));
    EXPECT_EQ(value("floor(-0.5)"), Number(-1.0));
}

TEST(Expression, NamesEachNameOnce) {
    EXPECT_EQ(Expression("n * m + n").names(), (std::vector<std::string>{"n", "m"}));
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
    EXPECT_EQ(error("n + "), "\"n + \": column 5: a number or a name is missing");
    EXPECT_EQ(error("(1"), "\"(1\": column 3: \")\" is missing");
    EXPECT_EQ(error("2 n"), "\"2 n\": column 3: an operator is missing");
    EXPECT_EQ(error("2n"), "\"2n\": column 2: an operator is missing");
    EXPECT_EQ(error("3 $ 4"), "\"3 $ 4\": column 3: an operator is missing");
    EXPECT_EQ(error("log2(8)"), "\"log2(8)\": column 6: there is no function log2");
    EXPECT_EQ(error("min(1)"), "\"min(1)\": column 7: min takes 2 arguments, not 1");
    EXPECT_EQ(error("m", {{"n", 1L}}), "\"m\": m is not known; known are: n");
    EXPECT_EQ(error(""), "\"\": column 1: a number or a name is missing");
}

TEST(Expression, RefusesWhatHasNoValue) {
    EXPECT_EQ(error("1 / 0"), "\"1 / 0\": division by zero");
    EXPECT_EQ(error("1 % 0"), "\"1 % 0\": division by zero");
    const std::string too_large = "a number does not fit into 64 bits";
    for (const char* text : {"9223372036854775807 + 1", "4294967296 * 4294967296", "1 << 63",
                             "(-9223372036854775807 - 1) / -1", "1 << -1", "1 >> 64"})
        EXPECT_NE(error(text).find(too_large), std::string::npos) << text << ": " << error(text);
    EXPECT_EQ(value("1 / 0.0"), Number(std::numeric_limits<double>::infinity()));
}

TEST(Expression, LimitsNesting) {
    const std::string deep = std::string(200, '(') + "1" + std::string(200, ')');
    EXPECT_NE(error(deep).find("nested too deep"), std::string::npos);
    EXPECT_EQ(value(std::string(40, '(') + "1" + std::string(40, ')')), Number(1L));
}

TEST(Expression, WholeNumbersHaveNoFraction) {
    EXPECT_EQ(whole(Number(4.0)), 4);
    EXPECT_THROW(whole(Number(4.5)), LaunchError);
    EXPECT_THROW(whole(Number(1e300)), LaunchError);
}

}  // namespace
}  // namespace warpscope::launches
