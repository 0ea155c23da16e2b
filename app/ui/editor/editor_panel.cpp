#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ui/editor/editor_parts.h"
#include "ui/panels/panels.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

bool can_edit(const Interface& ui) {
    return ui.stage.read_only().empty() && ui.editor.field.editable;
}

ImU32 severity_colour(compiler::Severity severity) {
    switch (severity) {
        case compiler::Severity::error:
            return colour::bad;
        case compiler::Severity::warning:
            return colour::finding;
        case compiler::Severity::note:
            break;
    }
    return colour::dim;
}

namespace {

using State = KernelTexts::State;

/// The file on show and the texts, which a watched folder may have changed.
KernelEditor& follow_texts(Interface& ui) {
    EditorView& view = ui.editor;
    KernelTexts& texts = ui.stage.texts();
    const std::string kernel = ui.stage.experiment().kernel_file();
    // Another experiment, or another kernel of it: its source is what is wanted now.
    if (kernel != view.kernel) view.kernel = view.file = kernel;
    if (!view.files.contains(view.file))
        view.files.emplace(view.file, KernelEditor(texts.text(view.file)));
    if (texts.version() != view.texts_version)
        for (auto& [file, editor] : view.files)
            if (editor.text() != texts.text(file)) editor.replace(texts.text(file));
    view.texts_version = texts.version();
    return view.files.find(view.file)->second;
}

/// The line of `file` that a sentence about a failed launch names first; 0: none.
int line_named(std::string_view sentence, std::string_view file) {
    const std::string place = fmt::format("kernels/{}.cu:", file);
    const std::size_t at = sentence.find(place);
    if (at == std::string_view::npos) return 0;
    int line = 0;
    std::from_chars(sentence.data() + at + place.size(), sentence.data() + sentence.size(), line);
    return line;
}

/// Diagnostics at the lines where they belong by now, and what differs from the shipped text.
void place_marks(Interface& ui, const KernelEditor& editor) {
    EditorView& view = ui.editor;
    const KernelTexts& texts = ui.stage.texts();
    if (view.placed_file == view.file && view.placed_version == editor.version() &&
        view.placed_outcomes == texts.outcomes())
        return;
    view.placed_file = view.file;
    view.placed_version = editor.version();
    view.placed_outcomes = texts.outcomes();
    view.placed.clear();
    view.fault.reset();
    const auto& said = texts.diagnostics(view.file);
    const int failed = line_named(texts.error(view.file), view.file);
    const auto edits = said.empty() && failed == 0
                           ? std::vector<Hunk>()
                           : diff_lines(texts.tried(view.file), editor.text());
    for (const compiler::Diagnostic& one : said) {
        const auto row = one.line > 0 ? moved_row(edits, one.line - 1) : std::nullopt;
        view.placed.push_back({row && *row < editor.lines().count() ? *row : -1, one});
    }
    const auto row = failed > 0 ? moved_row(edits, failed - 1) : std::nullopt;
    if (row && *row < editor.lines().count())
        view.fault = {*row, {failed, 0, compiler::Severity::error, "the kernel failed here"}};
    const std::string_view shipped = KernelTexts::shipped(view.file);
    view.changes = diff_lines(shipped, editor.text());
    view.shown = show_diff(shipped, editor.text(), 3);
}

std::vector<std::string> files_to_choose(Interface& ui) {
    std::vector<std::string> files{ui.editor.kernel};
    const auto add = [&](const std::string& file) {
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    };
    for (const auto& [file, text] : ui.stage.texts().edited_sources()) add(file);
    for (const char* file : {"ripple", "nbody", "splat", "dot", "reduce"})
        if (!KernelTexts::shipped(file).empty()) add(file);
    return files;
}

struct Words {
    std::string text;
    ImU32 colour;
};

Words state_words(Interface& ui) {
    const bool emulator = ui.stage.device().info().kind == compute::DeviceKind::emulator;
    if (!ui.stage.read_only().empty()) return {"read-only", colour::faint};
    switch (ui.stage.texts().state(ui.editor.file)) {
        case State::shipped:
            return {"as shipped", colour::dim};
        case State::waiting:
            return {"compiling…", colour::accent};
        case State::running:
            return {emulator ? "runs in the emulator" : "runs on the GPU", colour::good};
        case State::failed:
            return {"error: the last good kernel runs", colour::bad};
    }
    return {};
}

void choose_file(Interface& ui, float width) {
    const std::vector<std::string> files = files_to_choose(ui);
    std::vector<std::string> labels;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const bool edited = ui.stage.texts().edited(files[i]);
        labels.push_back(files[i] + ".cu" + (edited ? "  ·  edited" : ""));
        if (files[i] == ui.editor.file) chosen = i;
    }
    const int clicked = dropdown(ui, "editor.file", files, labels, chosen, width);
    // Between frames: what follows in this one is of the file that was on show.
    if (clicked >= 0)
        ui.later([&ui, file = files[std::size_t(clicked)]] { ui.editor.file = file; });
    tooltip(ui, "The kernel file on show; the experiment's own comes first.");
}

void title(Interface& ui) {
    const float width = ImGui::GetContentRegionAvail().x;
    choose_file(ui, std::min(ui.px(190), width * 0.42F));
    ImGui::SameLine(0, ui.px(10));
    const Words state = state_words(ui);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float dot = ui.px(4);
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + dot, at.y + ImGui::GetFrameHeight() / 2},
                                                dot, state.colour);
    ImGui::SetCursorScreenPos({at.x + 2 * dot + ui.px(6), at.y});
    ImGui::AlignTextToFramePadding();
    const float room = ImGui::GetContentRegionAvail().x - icon_button_width(ui) - ui.px(8);
    clipped_text(ui.fonts.small, state.colour, state.text, std::max(ui.px(20), room));
    record(ui, "editor.state", state.text);
    ImGui::SameLine();
    const float free = ImGui::GetContentRegionAvail().x - icon_button_width(ui);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.F, free));
    if (icon_button(ui, "editor.close", Icon::close, "Close the editor (E)."))
        ui.later([&ui] { ui.options.editor = false; });
    ImGui::NewLine();
}

bool button(Interface& ui, const char* id, const char* label, bool enabled, const char* help,
            bool on = false) {
    const float width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    ImGui::BeginDisabled(!enabled);
    const bool clicked = flat_button(ui, id, label, on);
    ui.widgets.last().enabled = enabled;
    ImGui::EndDisabled();
    tooltip(ui, help);
    ImGui::SameLine(0, ui.px(4));
    return clicked;
}

void buttons(Interface& ui, KernelEditor& editor) {
    const bool may = can_edit(ui), free = ui.stage.read_only().empty();
    ImGui::PushFont(ui.fonts.small);
    if (button(ui, "editor.undo", "Undo", may && editor.can_undo(), "Take a step back (Ctrl+Z)."))
        editor.undo();
    if (button(ui, "editor.redo", "Redo", may && editor.can_redo(), "A step again (Ctrl+Y)."))
        editor.redo();
    if (button(ui, "editor.revert", "Revert", free && !ui.editor.changes.empty(),
               "Back to the text as shipped; a step that can be undone."))
        editor.replace(KernelTexts::shipped(ui.editor.file));
    if (button(ui, "editor.diff", "Diff", true, "What differs from the text as shipped.",
               ui.editor.diff))
        ui.editor.diff = !ui.editor.diff;
    if (button(ui, "editor.load", "Open…", free,
               "Another file's text in this one's place (Ctrl+O)."))
        ask_for_path(ui, EditorPath::Wish::open);
    if (button(ui, "editor.save", "Save…", true,
               "This text as a file (Ctrl+S saves it there again)."))
        ask_for_path(ui, EditorPath::Wish::save);
    ImGui::NewLine();
    ImGui::PopFont();
}

void keys(Interface& ui, KernelEditor& editor) {
    // A field elsewhere has keys of its own.
    if (ImGui::GetIO().WantTextInput && !ui.editor.field.active) return;
    const bool may = can_edit(ui);
    for (const EditorKey& key : ui.editor.keys) {
        if (may && key.letter == 'Z' && !key.shift) editor.undo();
        if (may && (key.letter == 'Y' || (key.letter == 'Z' && key.shift))) editor.redo();
        if (key.letter == 'S') save_kernel(ui, editor);
        if (key.letter == 'O' && ui.stage.read_only().empty())
            ask_for_path(ui, EditorPath::Wish::open);
    }
}

/// Why nothing can be typed here; empty: it can.
std::string why_not(const Interface& ui) {
    if (!ui.stage.read_only().empty()) return ui.stage.read_only();
    if (can_edit(ui)) return {};
    return "This text holds bytes that are no characters, so it can't be typed in. Revert or open "
           "another file.";
}

void notices(Interface& ui) {
    const auto say = [&](const char* id, const std::string& words, ImU32 hue) {
        if (words.empty()) return;
        paragraph(ui.fonts.small, hue, words);
        record(ui, id, words);
    };
    say("editor.read_only", why_not(ui), colour::finding);
    // Where the compiler says what is wrong, the list at the foot does.
    const auto is_error = [](const PlacedDiagnostic& one) {
        return one.what.severity == compiler::Severity::error;
    };
    if (std::any_of(ui.editor.placed.begin(), ui.editor.placed.end(), is_error)) return;
    say("editor.error", ui.stage.texts().error(ui.editor.file), colour::bad);
}

float row_height(const Interface& ui) {
    return ui.fonts.small->FontSize * ImGui::GetIO().FontGlobalScale + ui.px(6);
}

void diagnostic_row(Interface& ui, KernelEditor& editor, std::size_t index) {
    const PlacedDiagnostic& one = ui.editor.placed[index];
    const ImU32 hue = severity_colour(one.what.severity);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = row_height(ui);
    ImGui::PushID(int(index));
    const bool clicked = ImGui::Selectable("##row", false, 0, {width, height});
    ImGui::PopID();
    record(ui, fmt::format("editor.diagnostic.{}", index),
           fmt::format("{}: {}", one.row + 1, one.what.text));
    if (ImGui::IsItemHovered()) quick_tooltip(ui, one.what.text);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled({at.x + ui.px(5), at.y + height / 2}, ui.px(3.5F), hue);
    const std::string line = one.row < 0 ? "" : fmt::format("{}", one.row + 1);
    const float y = at.y + ui.px(3), start = at.x + ui.px(46);
    list.AddText({start - ui.px(8) - ImGui::CalcTextSize(line.c_str()).x, y}, colour::dim,
                 line.c_str());
    list.AddText({start, y}, colour::text, one.what.text.c_str());
    if (!clicked || one.row < 0) return;
    ui.editor.diff = false;
    ui.editor.field.reveal = one.row;
    ui.editor.field.go = editor.lines().begin(one.row);
}

float list_height(const Interface& ui, float room) {
    const float rows = float(ui.editor.placed.size());
    return ui.editor.placed.empty() ? 0 : std::min(rows * row_height(ui) + ui.px(10), room * 0.35F);
}

void diagnostics_list(Interface& ui, KernelEditor& editor, float height) {
    if (ui.editor.placed.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + ImGui::GetContentRegionAvail().x, at.y},
                                        colour::line, ui.px(1));
    ImGui::SetCursorScreenPos({at.x, at.y + ui.px(5)});
    ImGui::BeginChild("editor.diagnostics", {0, std::max(1.F, height - ui.px(5))});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::PushFont(ui.fonts.small);
    for (std::size_t i = 0; i < ui.editor.placed.size(); ++i) diagnostic_row(ui, editor, i);
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndChild();
}

}  // namespace

void draw_editor(Interface& ui) {
    KernelEditor& editor = follow_texts(ui);
    const std::string file = ui.editor.file;
    const std::uint64_t before = editor.version();
    keys(ui, editor);
    title(ui);
    buttons(ui, editor);
    draw_editor_path(ui, editor);
    place_marks(ui, editor);
    notices(ui);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float foot = list_height(ui, room.y);
    const ImVec2 size{room.x, std::max(ui.px(20), room.y - foot - ui.px(4))};
    ui.editor.diff ? draw_editor_diff(ui, editor, size) : draw_editor_text(ui, editor, size);
    diagnostics_list(ui, editor, foot);
    if (editor.version() == before) return;
    ui.stage.texts().set(file, editor.text());
    ui.editor.texts_version = ui.stage.texts().version();
}

}  // namespace warpscope::ui
