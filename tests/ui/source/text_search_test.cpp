#include "ui/source/find_bar.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::ui {
namespace {

std::vector<TextMatch> find(const std::vector<std::string>& rows, std::string_view words,
                            std::size_t most = 10'000) {
    const auto row = [&](int i) -> std::string_view { return rows[std::size_t(i)]; };
    return find_words({int(rows.size()), row}, words, most);
}

TEST(TextSearchTest, FindsEveryPlaceFromTheTopDown) {
    EXPECT_EQ(find({"tile[a] = tile[b]", "", " tile"}, "tile"),
              (std::vector<TextMatch>{{0, 0, 4}, {0, 10, 14}, {2, 1, 5}}));
    EXPECT_TRUE(find({"tile"}, "tiles").empty());
    EXPECT_TRUE(find({"tile"}, "").empty());
}

TEST(TextSearchTest, PlacesDoNotOverlap) {
    EXPECT_EQ(find({"aaaaa"}, "aa"), (std::vector<TextMatch>{{0, 0, 2}, {0, 2, 4}}));
}

TEST(TextSearchTest, OnlyAnUpperCaseLetterDistinguishesCase) {
    EXPECT_EQ(find({"blockIdx blockidx"}, "blockidx").size(), 2U);
    EXPECT_EQ(find({"blockIdx blockidx"}, "blockIdx"), (std::vector<TextMatch>{{0, 0, 8}}));
}

TEST(TextSearchTest, EndsAtTheMostMatches) {
    EXPECT_EQ(find({"a a a", "a a"}, "a", 4).size(), 4U);
}

}  // namespace
}  // namespace warpscope::ui
