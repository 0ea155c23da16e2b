#pragma once

#include "ui/editor/editor_view.h"
#include "ui/edits/compiler_download.h"
#include "ui/needed/need_finder.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

// The parts of the editor's pane, each in a file of its own.

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
/// Carries out the commands find_text, find_next, find_previous and go_to_line. Returns false for
/// another command.
bool ask_find(const EditorFrame& frame, const KernelDocument& document, Command command);
/// Draws the bar that searches the text, while it is open.
void draw_editor_find(const EditorFrame& frame, const KernelDocument& document);
/// Closes the bar and puts the cursor at the last match. Returns false if it is not open.
bool close_editor_find(EditorView& view, const KernelDocument& document);
/// If no compiler was found, draws a button that downloads it, and why that has failed.
void draw_editor_download(const EditorFrame& frame);
/// True if no compiler was found and the pane can download it.
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
