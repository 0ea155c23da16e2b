#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A row of the command palette.
struct PaletteRow {
    std::string id;    ///< for the widget map
    std::string does;  ///< "fit the picture"
    std::string keys;  ///< "F"; empty: it has none
    std::function<void()> action;
};

/// The rows whose words begin with all words that were typed, in any order and any case.
std::vector<const PaletteRow*> matching(const std::vector<PaletteRow>& rows,
                                        const std::string& typed);

/// A popup in which a person types words of a command and chooses it.
class CommandPalette {
  public:
    void show() { asked_ = true; }
    /// It is open, or will be in the next frame.
    bool shown() const { return asked_ || open_; }
    /// Draws the popup while it is open. `rows` makes the rows when it opens.
    void draw(Ui& ui, const std::function<std::vector<PaletteRow>()>& rows);

  private:
    bool list(Ui& ui, float width, float height, bool begins, bool entered);

    bool asked_ = false, open_ = false, scrolls_ = false;
    std::string typed_;
    std::size_t chosen_ = 0;
    std::vector<PaletteRow> rows_;
};

}  // namespace warpscope::ui
