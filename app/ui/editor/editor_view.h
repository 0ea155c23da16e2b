#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diagnostic.h"
#include "ui/editor/kernel_editor.h"
#include "ui/source/line_diff.h"
#include "ui/widgets/key_table.h"

namespace warpscope::ui {

/// A diagnostic at the row where its line stands by now; -1: that line is gone, or it is of the
/// text as a whole.
struct PlacedDiagnostic {
    int row = -1;
    compiler::Diagnostic what;
};

/// What ImGui's text field holds. Its own copy, which follows the model and leads it while a person
/// types.
struct EditorField {
    std::string file;  ///< that the rest is of
    std::string text;
    std::uint64_t version = 0;           ///< of the editor's text that it holds
    bool active = false;                 ///< keys go there
    bool editable = true;                ///< the field can hold this text as it is
    std::size_t cursor = 0, anchor = 0;  ///< bytes; between them is the selection
    std::size_t seen = 0;                ///< the cursor that has been brought into sight
    std::optional<std::size_t> go;       ///< where the cursor is to stand
    double moved = 0;                    ///< when the cursor was, ImGui's seconds
    float scroll_x = 0, scroll_y = 0;
    float wheel = 0;            ///< pixels that the gutter was scrolled by
    std::optional<int> reveal;  ///< a row to bring into the middle
};

/// A path that is being typed, for opening or saving.
struct EditorPath {
    enum class Wish { none, open, save };
    Wish wish = Wish::none;  ///< while its popup is open
    std::string typed;
    std::string error;     ///< a sentence
    std::string replaces;  ///< the file there that a second Save replaces
};

/// The source pane.
struct EditorView {
    std::map<std::string, KernelEditor> files;
    std::string file;    ///< on show
    std::string kernel;  ///< the experiment's, when that was looked at last
    bool diff = false;
    std::uint64_t texts_version = 0;  ///< of the kernels' texts, when they were followed last
    EditorField field;
    EditorPath path;
    std::vector<Command> asked;                ///< with keys, since the last frame
    std::map<std::string, std::string> saved;  ///< by file: where it was opened from or saved to

    // Made anew when the numbers say so.
    std::uint64_t placed_version = 0, placed_outcomes = 0;
    std::string placed_file;
    std::vector<PlacedDiagnostic> placed;
    std::optional<PlacedDiagnostic> fault;  ///< where the kernel failed as it ran
    std::vector<Hunk> changes;              ///< against the shipped text
    std::vector<DiffLine> shown;            ///< the same for the eye
};

}  // namespace warpscope::ui
