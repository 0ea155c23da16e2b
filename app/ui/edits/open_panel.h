#pragma once

#include <string>

#include "ui/documents/shared_file.h"
#include "ui/edits/file_opener.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The popup in which a person chooses a file to open: recent ones, the galaxy that comes with
/// Warpscope, or a path.
class OpenPanel {
  public:
    OpenPanel(FileOpener& opener, ViewOptions& options) : opener_(opener), options_(options) {}

    void show() { asked_ = true; }
    /// Draws the popup over the window, while it is open.
    void draw(Ui& ui);

  private:
    bool list(Ui& ui, float width);
    bool path_field(Ui& ui, float width);

    FileOpener& opener_;
    ViewOptions& options_;
    const std::string galaxy_ = shared_file("galaxy_20k.tipsy");
    std::string typed_;
    bool asked_ = false;
};

}  // namespace warpscope::ui
