#include <algorithm>
#include <functional>
#include <optional>

#include "ui/editor/editor_parts.h"

namespace warpscope::ui {
namespace {

TextRows rows_of(const KernelDocument& document) {
    return {document.lines().count(),
            [&](int row) { return document.lines().line(document.text(), row); }};
}

/// Returns the selected words if they are on one line.
std::string selected_words(const EditorField& field, const KernelDocument& document) {
    const std::size_t begin = std::min(field.cursor, field.anchor);
    const std::size_t end = std::min(std::max(field.cursor, field.anchor), document.text().size());
    if (begin >= end || document.lines().row(begin) != document.lines().row(end)) return {};
    return document.text().substr(begin, end - begin);
}

}  // namespace

bool ask_find(const EditorFrame& frame, const KernelDocument& document, Command command) {
    if (command != Command::find_text && command != Command::find_next &&
        command != Command::find_previous && command != Command::go_to_line)
        return false;
    const EditorField& field = frame.view.field;
    const bool fresh = command == Command::find_text;
    frame.view.find.ask(command, fresh ? selected_words(field, document) : "",
                        document.lines().row(field.cursor));
    frame.view.diff = false;
    return true;
}

void draw_editor_find(const EditorFrame& frame, const KernelDocument& document) {
    FindBar& find = frame.view.find;
    EditorField& field = frame.view.field;
    const KernelLines& lines = document.lines();
    const auto text = std::hash<std::string>()(frame.view.file) + document.version();
    const TextMatch* found = find.current();
    const std::optional<TextMatch> last = found ? std::optional(*found) : std::nullopt;
    const auto goal = find.draw(frame.ui, "editor.find", rows_of(document), text);
    // After Esc, the cursor stands at the match.
    if (last && !find.is_open()) field.go = lines.begin(last->row) + last->begin;
    if (!goal) return;
    if (goal->line == 0) {
        field.reveal = goal->match.row;
        return;
    }
    const int row = std::min(goal->line, lines.count()) - 1;
    field.reveal = row;
    field.go = lines.begin(row);
}

bool close_editor_find(EditorView& view, const KernelDocument& document) {
    if (!view.find.is_open()) return false;
    if (const TextMatch* match = view.find.current())
        view.field.go = document.lines().begin(match->row) + match->begin;
    view.find.close();
    return true;
}

}  // namespace warpscope::ui
