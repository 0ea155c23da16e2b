#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// The lines of a text: the byte at which each begins, whether it begins inside a /* comment */,
/// and its width. A change costs as much as the lines that it touches. Rows count from 0; a text
/// that ends with a newline has an empty last row.
class KernelLines {
  public:
    /// Columns of a tab, wherever it stands in the line.
    static constexpr int tab = 4;

    KernelLines() = default;
    explicit KernelLines(std::string_view text) { set(text); }
    void set(std::string_view text);
    /// `text` is the new text, in which `added` bytes at `at` have replaced `removed` bytes.
    void change(std::string_view text, std::size_t at, std::size_t removed, std::size_t added);

    int count() const { return int(lines_.size()); }
    std::size_t begin(int row) const { return lines_[std::size_t(row)].begin; }
    bool in_comment(int row) const { return lines_[std::size_t(row)].in_comment; }
    /// Returns the columns of the widest line.
    int columns() const { return columns_; }

    /// Returns a row without its newline. `text` is the text that was given last.
    std::string_view line(std::string_view text, int row) const;
    /// Returns the row of a byte; the last row for a byte beyond the end.
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

/// The columns of a part of a line: one for each UTF-8 character, `KernelLines::tab` for a tab.
int columns_of(std::string_view part);
/// Returns the byte of a line at a column; between two characters, the nearer one.
std::size_t byte_at(std::string_view line, double column);

}  // namespace warpscope::ui
