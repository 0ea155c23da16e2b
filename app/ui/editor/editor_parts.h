#pragma once

#include "ui/editor/editor_view.h"
#include "ui/edits/compiler_download.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

// The parts of the editor's pane, each in a file of its own.

/// What the parts draw with, and what they draw. It lives for one frame.
struct EditorFrame {
    Ui& ui;
    Stage& stage;
    ViewOptions& options;
    EditorView& view;
    CompilerDownload& download;
};

/// Where the text is on screen, in layout units.
struct EditorPlaces {
    ImVec2 low, high;  ///< of what is seen
    ImVec2 origin;     ///< of the first character
    float line = 0, character = 0;
    int first = 0, end = 0;  ///< rows in sight
    float y(int row) const { return origin.y + float(row) * line; }
};

/// ImGui's text field over the whole text, of this size. It draws only the selection. What is typed
/// there changes the document, and changes of the document appear there.
void draw_editor_field(const EditorFrame& frame, KernelDocument& document, const EditorPlaces& at,
                       ImVec2 size);
/// Scrolls the current window to the cursor where it has moved, or to the row to reveal.
void keep_cursor_in_sight(const EditorFrame& frame, const KernelDocument& document,
                          const EditorPlaces& at);
/// The text as it is edited, with its gutter.
void draw_editor_text(const EditorFrame& frame, KernelDocument& document, ImVec2 size);
/// The differences from the built-in text.
void draw_editor_diff(const EditorFrame& frame, const KernelDocument& document, ImVec2 size);
/// Carries out the commands find_text, find_next, find_previous and go_to_line. False: it is
/// another command.
bool ask_find(const EditorFrame& frame, const KernelDocument& document, Command command);
/// The bar that searches the text, while it is open.
void draw_editor_find(const EditorFrame& frame, const KernelDocument& document);
/// Closes the bar; the cursor goes to the match that was found last. False: it is not open.
bool close_editor_find(EditorView& view, const KernelDocument& document);
/// Where no compiler was found: a button that downloads it, what the download does, and why it has
/// failed.
void draw_editor_download(const EditorFrame& frame);
/// No compiler was found, and the pane can download it.
bool offers_download(const EditorFrame& frame);
/// The popup where the path of a file to save is typed, while it is open.
void draw_editor_save(const EditorFrame& frame, KernelDocument& document);
void ask_where_to_save(const EditorFrame& frame, const KernelDocument& document);
/// Saves to the document's file; asks for a path where there is none.
void save_kernel(const EditorFrame& frame, KernelDocument& document);

/// Whether the pane's text can be changed now.
bool can_edit(const EditorFrame& frame);
/// The colour of a severity.
ImU32 severity_colour(compiler::Severity severity);

}  // namespace warpscope::ui
