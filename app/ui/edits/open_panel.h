#pragma once

#include <string>

#include "compute/libraries/shared_file.h"
#include "ui/edits/file_opener.h"
#include "ui/edits/path_picker.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The popup in which a person chooses a file to open: recent ones, the galaxy that comes with
/// Warpscope, or any other. Beside the open editor, a source can also replace the text there.
class OpenPanel {
  public:
    OpenPanel(FileOpener& opener, ViewOptions& options) : opener_(opener), options_(options) {}

    void show() { asked_ = true; }
    /// Draws the popup over the window, while it is open. `edited`: the kernel file in the editor;
    /// empty: it is closed, or nothing can be edited.
    void draw(Ui& ui, const std::string& edited);

  private:
    void begin();
    bool recent(Ui& ui, float width);
    bool is_file();
    bool load(const std::string& edited);

    FileOpener& opener_;
    ViewOptions& options_;
    const std::string galaxy_ = compute::shared_file("galaxy_20k.tipsy");
    PathPicker picker_{"open.path"};
    bool asked_ = false;
};

}  // namespace warpscope::ui
