#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/nvrtc.h"
#include "ui/documents/kernel_documents.h"
#include "ui/edits/compiler_download.h"
#include "ui/edits/open_panel.h"
#include "ui/finders/need_finder.h"
#include "ui/source/find_bar.h"
#include "ui/source/line_diff.h"
#include "ui/stage/stage.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

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

    // The marks below belong to these texts and this outcome, and are made anew for others.
    SharedText placed_text, placed_base;  ///< the base is KernelDocument::shipped()
    std::shared_ptr<const EditOutcome> placed_outcome;
    std::vector<PlacedDiagnostic> placed;
    std::optional<PlacedDiagnostic> fault;  ///< where the kernel failed as it ran
    unsigned target = 0;          ///< the compute capability that the text is compiled for
    std::vector<Hunk> changes;    ///< from the built-in text
    std::vector<DiffLine> shown;  ///< the changes as the diff view shows them
};

// The parts of the editor's pane: editor_field.cpp has ImGui's field, editor_text.cpp the text and
// its differences.

/// What all parts use to draw, and what they draw. It lives for one frame.
struct EditorFrame {
    Ui& ui;
    Stage& stage;
    ViewOptions& options;
    EditorView& view;
    CompilerDownload& download;
    NeedFinder& needs;
};

/// Where the text is on screen, in layout units.
struct EditorPlaces {
    ImVec2 low, high;  ///< corners of the visible part
    ImVec2 origin;     ///< place of the first character
    float line = 0, character = 0;
    int first = 0, end = 0;  ///< rows in sight
    float y(int row) const { return origin.y + float(row) * line; }
};

/// Draws ImGui's text field over the whole text, in this size. It draws only the selection. Typing
/// in it changes the document, and changes of the document appear in it.
void draw_editor_field(const EditorFrame& frame, KernelDocument& document, const EditorPlaces& at,
                       ImVec2 size);
/// Scrolls the current window to the cursor if it has moved, or to the row to reveal.
void keep_cursor_in_sight(const EditorFrame& frame, const KernelDocument& document,
                          const EditorPlaces& at);
/// Explains the word of the text under the mouse and, once a key has asked for it, the one at the
/// cursor. The current window is the one with the field.
void explain_code(const EditorFrame& frame, const KernelDocument& document, const EditorPlaces& at);
/// Draws the text that is edited, with its gutter.
void draw_editor_text(const EditorFrame& frame, KernelDocument& document, ImVec2 size);
/// Draws the differences from the built-in text.
void draw_editor_diff(const EditorFrame& frame, const KernelDocument& document, ImVec2 size);

/// Whether the pane's text can be changed now.
bool can_edit(const EditorFrame& frame);
/// The colour of a severity.
ImU32 severity_colour(compiler::Severity severity);

}  // namespace warpscope::ui
