#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ui/widgets/glossary.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Explains words of a source that the keyboard is at, once a key asks for it: until the keyboard
/// is at another place, a click, Tab, or the key again.
class CodeHelp {
  public:
    void ask() { asked_ = true; }
    /// Returns false if nothing is explained.
    bool close();
    /// Once a frame: the keyboard is at place number `here`, with these words, which the rectangle
    /// surrounds.
    void draw(Ui& ui, std::uint64_t here, const std::vector<ExplainedWord>& words, ImVec2 low,
              ImVec2 high);

  private:
    bool asked_ = false;
    std::optional<std::uint64_t> place_;  ///< what is explained
};

}  // namespace warpscope::ui
