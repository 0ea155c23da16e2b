#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// The lines of a text, kept up with its changes at the cost of what changed: where each begins,
/// whether it begins within a /* comment */, and how wide it is. Rows count from 0; a text that
/// ends with a newline has an empty last one.
class KernelLines {
  public:
    /// Columns of a tab, wherever it stands.
    static constexpr int tab = 4;

    KernelLines() = default;
    explicit KernelLines(std::string_view text) { set(text); }
    void set(std::string_view text);
    /// `text` is what came of replacing `removed` bytes at `at` by `added` ones.
    void change(std::string_view text, std::size_t at, std::size_t removed, std::size_t added);

    int count() const { return int(lines_.size()); }
    std::size_t begin(int row) const { return lines_[std::size_t(row)].begin; }
    bool in_comment(int row) const { return lines_[std::size_t(row)].in_comment; }
    /// The widest line's columns.
    int columns() const { return columns_; }

    /// A row without its newline. `text` as it was given last.
    std::string_view line(std::string_view text, int row) const;
    /// The row that a byte is in; of a byte behind the end, the last.
    int row(std::size_t byte) const;

  private:
    struct Line {
        std::size_t begin = 0;
        int columns = 0;
        bool in_comment = false;
    };
    void find_lines(std::string_view text, std::size_t from, std::size_t to,
                    std::vector<Line>& into) const;
    void find_comments(std::string_view text, int first, int surely);
    void find_widest();

    std::vector<Line> lines_{{}};
    int columns_ = 0;
};

/// Columns of a part of a line: characters of UTF-8, and tabs.
int columns_of(std::string_view part);
/// The byte of a line at which a column stands or, between two, the nearer one.
std::size_t byte_at(std::string_view line, double column);

}  // namespace warpscope::ui
