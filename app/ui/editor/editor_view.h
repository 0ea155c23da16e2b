#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diagnostic.h"
#include "ui/documents/kernel_document.h"
#include "ui/edits/path_picker.h"
#include "ui/source/code_help.h"
#include "ui/source/find_bar.h"
#include "ui/source/line_diff.h"
#include "ui/widgets/key_table.h"

namespace warpscope::ui {

/// A diagnostic and the row that its line has in the current text; -1: that line is gone, or the
/// diagnostic is about the whole text.
struct PlacedDiagnostic {
    int row = -1;
    compiler::Diagnostic what;
};

/// The state of ImGui's text field. Its own copy of the text follows the document, and is ahead of
/// it within a frame in which a person types.
struct EditorField {
    std::string file;  ///< the file that the other members are about
    std::string text;
    /// The version of the document's text that the field holds.
    SharedText of;
    bool active = false;                 ///< the field gets the keys
    bool editable = true;                ///< the field can hold this text unchanged
    std::size_t cursor = 0, anchor = 0;  ///< in bytes; the selection is between them
    std::size_t seen = 0;                ///< the cursor that was scrolled to
    std::optional<std::size_t> go;       ///< where the cursor is to be put
    double moved = 0;                    ///< when the cursor moved, in ImGui's seconds
    float scroll_x = 0, scroll_y = 0;
    CodeHelp help;              ///< of the word at the cursor
    float wheel = 0;            ///< pixels to scroll by: the mouse wheel over the gutter
    std::optional<int> reveal;  ///< a row to scroll into the middle
};

/// The source pane.
struct EditorView {
    std::string file;    ///< the file on show
    std::string kernel;  ///< the experiment's file in the last frame
    bool diff = false;
    EditorField field;
    PathPicker save{"editor.path"};  ///< while its popup is open
    std::string replaces;            ///< the existing file that a second Save replaces
    FindBar find;
    std::vector<Command> asked;  ///< with keys, since the last frame

    // The marks below belong to this text and outcome, and are made anew for others.
    SharedText placed_text;
    std::shared_ptr<const EditOutcome> placed_outcome;
    std::vector<PlacedDiagnostic> placed;
    std::optional<PlacedDiagnostic> fault;  ///< where the kernel failed as it ran
    unsigned target = 0;          ///< the compute capability that the text is compiled for
    std::vector<Hunk> changes;    ///< from the built-in text
    std::vector<DiffLine> shown;  ///< the changes as the diff view shows them
};

}  // namespace warpscope::ui
