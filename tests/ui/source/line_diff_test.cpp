#include "ui/source/line_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace warpscope::ui {
namespace {

std::vector<std::string> rows(const std::string& text) {
    std::vector<std::string> list{""};
    for (const char c : text)
        if (c == '\n')
            list.emplace_back();
        else
            list.back() += c;
    return list;
}

/// The text after, made of the one before and the hunks.
std::vector<std::string> applied(const std::string& before, const std::string& after,
                                 const std::vector<Hunk>& hunks) {
    const auto a = rows(before), b = rows(after);
    std::vector<std::string> made;
    int at = 0;
    for (const Hunk& hunk : hunks) {
        for (; at < hunk.before; ++at) made.push_back(a[std::size_t(at)]);
        EXPECT_EQ(int(made.size()), hunk.after);
        for (int i = 0; i < hunk.added; ++i) made.push_back(b[std::size_t(hunk.after + i)]);
        at += hunk.removed;
    }
    for (; at < int(a.size()); ++at) made.push_back(a[std::size_t(at)]);
    return made;
}

int edits(const std::vector<Hunk>& hunks) {
    int count = 0;
    for (const Hunk& hunk : hunks) count += hunk.removed + hunk.added;
    return count;
}

/// The least number of removed and added lines, by the textbook's table.
int least_edits(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            common[i + 1][j + 1] =
                a[i] == b[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    return int(a.size() + b.size()) - 2 * common[a.size()][b.size()];
}

TEST(LineDiffTest, ReconstructsRandomTextsWithTheFewestLines) {
    std::mt19937 random(3);
    const auto text = [&](int lines) {
        std::string made;
        for (int i = 0; i < lines; ++i) made += std::string(1, char('a' + random() % 4)) + "\n";
        return made;
    };
    for (int i = 0; i < 400; ++i) {
        const std::string a = text(int(random() % 14)), b = text(int(random() % 14));
        const auto hunks = diff_lines(a, b);
        ASSERT_EQ(applied(a, b, hunks), rows(b)) << a << "---\n" << b;
        ASSERT_EQ(edits(hunks), least_edits(rows(a), rows(b))) << a << "---\n" << b;
    }
}

TEST(LineDiffTest, FindsInsertionsRemovalsAndChanges) {
    EXPECT_TRUE(diff_lines("a\nb", "a\nb").empty());
    EXPECT_TRUE(diff_lines("", "").empty());
    EXPECT_EQ(diff_lines("a\nb\nc", "a\nx\nc"), (std::vector<Hunk>{{1, 1, 1, 1}}));
    EXPECT_EQ(diff_lines("a\nc", "a\nb\nc"), (std::vector<Hunk>{{1, 0, 1, 1}}));
    EXPECT_EQ(diff_lines("a\nb\nc", "b"), (std::vector<Hunk>{{0, 1, 0, 0}, {2, 1, 1, 0}}));
    EXPECT_EQ(diff_lines("", "a\n"), (std::vector<Hunk>{{0, 0, 0, 1}}));
}

TEST(LineDiffTest, TextsWithoutACommonLineGiveOneHunk) {
    std::string a, b;
    for (int i = 0; i < 30000; ++i) {
        a += "a" + std::to_string(i) + "\n";
        b += "b" + std::to_string(i) + "\n";
    }
    EXPECT_EQ(diff_lines(a + "end", b + "end"), (std::vector<Hunk>{{0, 30000, 0, 30000}}));
}

TEST(LineDiffTest, RowsAreFoundAgainAfterEdits) {
    const std::vector<Hunk> hunks = diff_lines("a\nb\nc\nd\ne\nf", "new\na\nB\nc\ne\nf");
    EXPECT_EQ(moved_row(hunks, 0), 1);
    EXPECT_EQ(moved_row(hunks, 1), 2);  // a line that was edited
    EXPECT_EQ(moved_row(hunks, 2), 3);
    EXPECT_EQ(moved_row(hunks, 3), std::nullopt);
    EXPECT_EQ(moved_row(hunks, 5), 5);
}

TEST(LineDiffTest, ShowsChangesWithLinesOfContext) {
    using Kind = DiffLine::Kind;
    const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9", after = "1\n2\n3\n4\n5\n6\n7\nx\n9";
    const auto list = show_diff(before, after, 1);
    ASSERT_EQ(list.size(), 5U);
    EXPECT_EQ(list[0].kind, Kind::gap);
    EXPECT_EQ(list[0].skipped, 6);
    EXPECT_EQ(list[1].kind, Kind::same);
    EXPECT_EQ(list[1].before, 7);
    EXPECT_EQ(list[2].kind, Kind::removed);
    EXPECT_EQ(list[2].text, "8");
    EXPECT_EQ(list[3].kind, Kind::added);
    EXPECT_EQ(list[3].after, 8);
    EXPECT_EQ(list[3].text, "x");
    EXPECT_EQ(list[4].text, "9");
    EXPECT_TRUE(show_diff(after, after, 1).empty());
}

}  // namespace
}  // namespace warpscope::ui
