#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ui/source/kernel_lines.h"

namespace warpscope::ui {

/// A line's barriers, for its mark.
enum class BarrierState { in, out, mixed };
struct BarrierLine {
    int line = 0;  ///< from 1
    BarrierState state = BarrierState::in;
    bool operator==(const BarrierLine&) const = default;
};

/// One file as it is edited: its text, the steps that led there, and the cursor. A model: draws
/// nothing. Lines count from 1, as the compiler's do; cursor and columns are bytes.
class KernelEditor {
  public:
    explicit KernelEditor(std::string text = {});

    const std::string& text() const { return text_; }
    const KernelLines& lines() const { return lines_; }
    /// Another number: another text.
    std::uint64_t version() const { return version_; }
    std::size_t cursor() const { return cursor_; }
    void set_cursor(std::size_t byte) { cursor_ = std::min(byte, text_.size()); }

    /// The whole text after a person typed something, with the cursor then. What is typed in one
    /// go, up to the next word or line, becomes one step.
    void typed(std::string_view text, std::size_t cursor);
    /// Another text, as one step: a file opened, a revert.
    void replace(std::string_view text);

    /// Takes the barriers of a line out or puts them back, as one step; false: it has none.
    bool toggle_barrier(int line);
    /// Every line with barriers, in the text's order.
    std::vector<BarrierLine> barriers() const;
    /// Of one line.
    std::vector<BarrierLine> barriers(int line) const;

    bool can_undo() const { return done_ > 0; }
    bool can_redo() const { return done_ < steps_.size(); }
    void undo();
    void redo();

  private:
    /// At byte `at`, `removed` became `added`.
    struct Step {
        std::size_t at = 0;
        std::string removed, added;
        std::size_t cursor_before = 0, cursor_after = 0;
        bool typing = false;  ///< more of the same may join
    };
    Step difference(std::string_view text, std::size_t cursor) const;
    bool join(const Step& step);
    void take(Step step);
    void put(std::size_t at, std::size_t removed, std::string_view added, std::size_t cursor);

    std::string text_;
    KernelLines lines_;
    std::deque<Step> steps_;
    std::size_t done_ = 0;  ///< of steps_; the rest have been undone
    std::size_t held_ = 0;  ///< bytes in steps_
    std::size_t cursor_ = 0;
    std::uint64_t version_ = 1;
};

}  // namespace warpscope::ui
