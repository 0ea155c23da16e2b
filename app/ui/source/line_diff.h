#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// Rows [before, before + removed) of one text stand as rows [after, after + added) in another.
/// Rows count from 0.
struct Hunk {
    int before = 0, removed = 0, after = 0, added = 0;
    bool operator==(const Hunk&) const = default;
};

/// Where two texts differ, line by line, with as few lines as can be (Myers 1986, "An O(ND)
/// difference algorithm and its variations"); where they differ in more than 500, as one hunk.
std::vector<Hunk> diff_lines(std::string_view before, std::string_view after);

/// Where a row of the text before stands in the one after; of a changed row, the one in its place;
/// nullopt: it is gone.
std::optional<int> moved_row(const std::vector<Hunk>& hunks, int row);

/// A line of a difference as it is shown.
struct DiffLine {
    enum class Kind { same, removed, added, gap };
    Kind kind = Kind::same;
    int before = 0, after = 0;  ///< line numbers from 1; 0: it is not in that text
    std::string_view text;      ///< of one of the two texts
    int skipped = 0;            ///< by a gap: lines that are the same
};

/// The hunks with `context` lines around each; empty where the texts are equal. The texts must
/// outlive it.
std::vector<DiffLine> show_diff(std::string_view before, std::string_view after, int context);

}  // namespace warpscope::ui
