#pragma once

#include "ui/editor/editor_view.h"
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
};

/// Where the text is on screen, in layout units.
struct EditorPlaces {
    ImVec2 low, high;  ///< of what is seen
    ImVec2 origin;     ///< of the first character
    float line = 0, character = 0;
    int first = 0, end = 0;  ///< rows in sight
    float y(int row) const { return origin.y + float(row) * line; }
};

/// ImGui's text field over the whole text, `size` large, which draws nothing but the selection.
/// What is typed there goes into the model, and back.
void draw_editor_field(const EditorFrame& frame, KernelEditor& editor, const EditorPlaces& at,
                       ImVec2 size);
/// Scrolls the current window where the cursor went, or where something is to be shown.
void keep_cursor_in_sight(const EditorFrame& frame, const KernelEditor& editor,
                          const EditorPlaces& at);
/// The text as it is edited, with its gutter.
void draw_editor_text(const EditorFrame& frame, KernelEditor& editor, ImVec2 size);
/// What differs from the shipped text.
void draw_editor_diff(const EditorFrame& frame, const KernelEditor& editor, ImVec2 size);
/// The popup where a path is typed, while it is open.
void draw_editor_path(const EditorFrame& frame, KernelEditor& editor);
void ask_for_path(const EditorFrame& frame, EditorPath::Wish wish);
/// Saves where the file was saved last; asks where it never was.
void save_kernel(const EditorFrame& frame, const KernelEditor& editor);

/// Whether the pane's text can be changed now.
bool can_edit(const EditorFrame& frame);
/// What a severity looks like.
ImU32 severity_colour(compiler::Severity severity);

}  // namespace warpscope::ui
