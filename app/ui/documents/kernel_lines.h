#pragma once

#include <cstddef>
#include <string>
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

/// A barrier in a line of CUDA C++. Bytes [begin, end) are those that a comment encloses when the
/// barrier is commented out: for __syncthreads() and __syncwarp() the call without its semicolon,
/// so that `if (ready) __syncthreads(); else …` still compiles; for __syncthreads_count(),
/// __syncthreads_and() and __syncthreads_or() the name alone, so that the value of the expression
/// is each thread's own argument.
struct BarrierCall {
    std::size_t begin = 0, end = 0;
    bool out = false;  ///< it is commented out; the bytes include the comment's marks
    bool operator==(const BarrierCall&) const = default;
};

/// The barriers of one line, as its mark in the gutter shows them.
/// `off`: it stands in the source, and the kernel that runs was compiled without it.
enum class BarrierState { in, out, mixed, off };
struct BarrierLine {
    int line = 0;  ///< from 1
    BarrierState state = BarrierState::in;
    bool operator==(const BarrierLine&) const = default;
};

/// The barriers of a line. `in_comment`: the line begins within a /* comment */. Barriers within a
/// longer comment or a string do not count, nor do calls that go on in the next line.
std::vector<BarrierCall> find_barriers(std::string_view line, bool in_comment);

/// NAME where the source ends with `if (NAME)`; else empty.
std::string_view condition_before(std::string_view source);

/// The line with all of its barriers commented out; where all of them are already, with all of them
/// restored.
std::string toggle_barriers(std::string_view line, bool in_comment);

}  // namespace warpscope::ui
