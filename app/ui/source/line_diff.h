#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// A difference of two texts: rows [before, before + removed) of one text are replaced by rows
/// [after, after + added) of the other. Rows count from 0.
struct Hunk {
    int before = 0, removed = 0, after = 0, added = 0;
    bool operator==(const Hunk&) const = default;
};

/// Returns the differences of two texts, line by line, with as few lines as possible (E. Myers, "An
/// O(ND) difference algorithm and its variations", Algorithmica 1, 1986). More than 500 differing
/// lines become one hunk.
std::vector<Hunk> diff_lines(std::string_view before, std::string_view after);

/// Returns the row of the new text that corresponds to a row of the old text; for a changed row,
/// the row in its place; nullopt: the row was removed.
std::optional<int> moved_row(const std::vector<Hunk>& hunks, int row);

/// A line of a difference on the screen.
struct DiffLine {
    enum class Kind { same, removed, added, gap };
    Kind kind = Kind::same;
    int before = 0, after = 0;  ///< line numbers from 1; 0: not in that text
    std::string_view text;      ///< points into one of the two texts
    int skipped = 0;            ///< number of equal lines that a gap stands for
};

/// Returns the hunks with `context` lines around each; empty where the texts are equal. The texts
/// must outlive it.
std::vector<DiffLine> show_diff(std::string_view before, std::string_view after, int context);

}  // namespace warpscope::ui
