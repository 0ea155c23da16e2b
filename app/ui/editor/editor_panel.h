#pragma once

#include "ui/editor/editor_parts.h"
#include "ui/edits/compiler_download.h"
#include "ui/finders/need_finder.h"
#include "ui/stage/stage.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The pane where a person edits kernels.
class EditorPanel {
  public:
    EditorPanel(Stage& stage, ViewOptions& options, CompilerDownload& download, NeedFinder& needs)
        : stage_(stage), options_(options), download_(download), needs_(needs) {}

    void draw(Ui& ui);
    /// Carries out undo, redo or save in the next frame that draws the pane.
    void ask(Command command) { view_.asked.push_back(command); }
    /// Drops the commands that were asked for while the pane was not drawn.
    void forget_asked() { view_.asked.clear(); }
    /// True if a field of the pane is about to get the keyboard.
    bool takes_keyboard() const { return view_.find.takes_keyboard(); }
    /// Closes the bar that searches the text. Returns false if it is not open.
    bool close_find();
    /// True if the pane was used last: undo and redo are about its text.
    bool has_focus() const { return focused_; }
    /// Shows a row of a kernel file; the first one is 0.
    void reveal(const std::string& file, int row);
    const EditorView& view() const { return view_; }
    /// What redo (`forward`) or undo would change in the text: "line 54"; empty: nothing.
    std::string change_ahead(bool forward) const;

  private:
    Stage& stage_;
    ViewOptions& options_;
    CompilerDownload& download_;
    NeedFinder& needs_;
    EditorView view_;
    bool focused_ = false;
};

}  // namespace warpscope::ui
