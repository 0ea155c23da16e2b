#include "launches/lanes/lane_expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace warpscope::launches {
namespace {

std::string text_of(const ValuePath& path) {
    std::string text;
    for (const auto& step : path)
        text += step.index() == 0 ? "." + std::get<std::string>(step)
                                  : fmt::format("[{}]", std::get<std::int64_t>(step));
    return text;
}

/// Each name is worth its number of letters, an element its index.
Number lookup(const ValuePath& path) {
    if (const auto* index = std::get_if<std::int64_t>(&path.back())) return *index;
    return std::int64_t(std::get<std::string>(path.back()).size());
}

std::int64_t value(const char* text) {
    return whole(LaneExpression(text).value(lookup));
}

TEST(LaneExpression, ReadsRegistersMembersAndElements) {
    EXPECT_EQ(value("%r4 + 1"), 4);
    EXPECT_EQ(value("%r4 % 2"), 1);
    EXPECT_EQ(value("10 % %r4"), 1);
    EXPECT_EQ(value("(%r4) % abc"), 0);
    EXPECT_EQ(value("cache[threadIdx.x + 5] * 2"), 12);
    EXPECT_EQ(value("a[b[0x10]] == 16 && !0"), 1);
    EXPECT_EQ(value("max(ab, abc) + min(1, 2)"), 4);
    EXPECT_EQ(value("1e2 + ab"), 102);
    EXPECT_EQ(value("true + false + truely"), 7);
}

TEST(LaneExpression, IsAPathWhereItIsOneName) {
    for (const auto& [text, path] : {std::pair{"cache", ".cache"},
                                     {" %r4 ", ".%r4"},
                                     {"p->x[abc]", ".p[0].x[3]"},
                                     {"m[1][2].y", ".m[1][2].y"}}) {
        const LaneExpression expression(text);
        ASSERT_TRUE(expression.is_path()) << text;
        EXPECT_EQ(text_of(expression.path(lookup)), path);
    }
    for (const char* text : {"1", "a + b", "-a", "a b[0] + 0 * 1 ? 1 : 2"}) try {
            EXPECT_FALSE(LaneExpression(text).is_path()) << text;
        } catch (const LaunchError&) {
        }
}

TEST(LaneExpression, HasTheNamesOfItsIndicesToo) {
    EXPECT_EQ(LaneExpression("a[b[%r1] + c] < max(d.x, 2)").names(),
              (std::vector<std::string>{"a", "b", "%r1", "c", "d"}));
}

TEST(LaneExpression, RefusesOtherTextsWithTheirOwnWords) {
    for (const char* text :
         {"", "a[", "a.", "a->", "1 +", "a b", "a = 1", "f(1)", "\"x\"", "a[1"}) {
        try {
            LaneExpression expression(text);
            ADD_FAILURE() << text;
        } catch (const LaunchError& error) {
            EXPECT_EQ(std::string(error.what()).find("v0"), std::string::npos) << error.what();
            EXPECT_EQ(std::string(error.what()).find(fmt::format("\"{}\"", text)), 0U);
        }
    }
    EXPECT_THROW(LaneExpression(std::string(5000, '[')), LaunchError);
}

}  // namespace
}  // namespace warpscope::launches
