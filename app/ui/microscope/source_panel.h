#pragma once

#include <cstdint>

#include "ui/microscope/listing.h"
#include "ui/microscope/microscope.h"
#include "ui/source/kernel_text.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The texts of the microscope's kernel and how they are scrolled.
struct SourceTexts {
    std::uint64_t copy = 0;     ///< Microscope::copy() that the texts belong to
    std::uint64_t version = 0;  ///< Microscope::version() that was drawn last
    KernelText source, ptx;
    bool show_ptx = false;
    bool ptx_shown = false;  ///< the PTX was drawn in the last frame
    ListingView left, right;
    FindBar find;
    CodeHelp help;  ///< of the source, or of the PTX where there is none or it is alone on show
    bool find_in_ptx = false;  ///< where both texts are on show, the bar searches the PTX
};

/// The source and the PTX of the kernel in the microscope, with the warps at their lines.
class SourcePanel {
  public:
    SourcePanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);
    /// Shows or hides the PTX beside the source.
    void toggle_ptx() { source_.show_ptx = !source_.show_ptx; }

    /// Carries out find_text, find_next, find_previous or go_to_line.
    void find(Command command) { source_.find.ask(command); }
    /// True if a field of the panel is about to get the keyboard.
    bool takes_keyboard() const { return source_.find.takes_keyboard(); }
    /// Closes the bar that searches the text. Returns false if it is not open.
    bool close_find();
    /// Explains the words of the line that runs next, or no longer.
    void explain();
    /// Returns false if nothing is explained.
    bool close_help() { return source_.help.close(); }

  private:
    Stage& stage_;
    Microscope& microscope_;
    SourceTexts source_;
};

}  // namespace warpscope::ui
