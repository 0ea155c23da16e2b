#include "ui/editor/editor_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "compiler/nvrtc.h"
#include "compute/device/kernel_files.h"
#include "experiments/framework/frame_cost.h"
#include "ui/documents/source_files.h"
#include "ui/editor/editor_parts.h"
#include "ui/language/language.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

bool can_edit(const EditorFrame& frame) {
    return frame.stage.read_only().empty() && frame.view.field.editable;
}

ImU32 severity_colour(compiler::Severity severity) {
    switch (severity) {
        case compiler::Severity::error:
            return colour::bad;
        case compiler::Severity::warning:
            return colour::warning;
        case compiler::Severity::note:
            break;
    }
    return colour::dim;
}

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

/// Carries out the commands find_text, find_next, find_previous and go_to_line. Returns false for
/// another command.
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

/// Draws the bar that searches the text, while it is open.
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

/// Closes the bar and puts the cursor at the last match. Returns false if it is not open.
bool close_editor_find(EditorView& view, const KernelDocument& document) {
    if (!view.find.is_open()) return false;
    if (const TextMatch* match = view.find.current())
        view.field.go = document.lines().begin(match->row) + match->begin;
    view.find.close();
    return true;
}

void say(const EditorFrame& frame, const char* id, ImU32 colour, const std::string& words) {
    paragraph(frame.ui.fonts.small, colour, words);
    record(frame.ui, id, words);
}

/// True if no compiler was found and the pane can download it.
bool offers_download(const EditorFrame& frame) {
    return frame.stage.compiler_missing() && frame.download.has_script() &&
           (frame.download.runs() || CompilerDownload::can_run());
}

/// If no compiler was found, draws a button that downloads it, and why that has failed.
void draw_editor_download(const EditorFrame& frame) {
    CompilerDownload& download = frame.download;
    if (!frame.stage.compiler_missing() || !download.has_script()) return;
    if (download.runs()) {
        ImGui::AlignTextToFramePadding();
        const std::string took = experiments::duration_words(std::ceil(download.seconds()));
        say(frame, "editor.downloading", colour::text, tr("Downloading NVRTC · {} so far", took));
        ImGui::SameLine(0, frame.ui.px(10));
        if (flat_button(frame.ui, "editor.download.cancel", tr("Cancel")))
            frame.ui.later([&download] { download.cancel(); });
        tooltip(frame.ui, tr("End the download (Esc). Nothing of it stays on the disk."));
    } else if (offers_download(frame)) {
        if (flat_button(frame.ui, "editor.download", tr("Download NVRTC (96 MB)"), true))
            frame.ui.later([&download] { download.start(); });
        tooltip(frame.ui, tr("Download one version with a fixed checksum from PyPI, with pip, into "
                             "~/.local/share/warpscope. Kernels can be edited when it is there."));
    } else {
        say(frame, "editor.download.needs", colour::dim,
            tr("To download NVRTC here, install the packages python3 and python3-pip."));
    }
    if (!download.error().empty())
        say(frame, "editor.download.error", colour::bad, download.error());
}

bool is_file_of(const KernelDocument& document, const std::string& path) {
    std::error_code error;
    return !document.path().empty() &&
           std::filesystem::equivalent(with_home(path), document.path(), error);
}

/// The launch file as it is beside another source. What it names stays where it is.
launches::LaunchFile beside(launches::LaunchFile launch, const std::filesystem::path& source) {
    const auto keep = [&, from = launch](std::filesystem::path& path) {
        if (!path.empty()) path = std::filesystem::absolute(from.in_folder(path));
    };
    for (std::filesystem::path& folder : launch.include) keep(folder);
    for (launches::BufferSpec& buffer : launch.buffers)
        if (auto* path = std::get_if<std::filesystem::path>(&buffer.fill)) keep(*path);
    for (launches::Expectation& expected : launch.expect)
        if (auto* fill = std::get_if<launches::Fill>(&expected.equals))
            if (auto* path = std::get_if<std::filesystem::path>(fill)) keep(*path);
    keep(launch.schedule);
    launch.source = source.filename();
    launch.file = std::filesystem::path(source).replace_extension(".launch.json");
    launch.saved = false;
    return launch;
}

/// The source that a person has saved to another file is on show from there, with its launches.
/// False: it is not the source on show, or it belongs to a program, and a copy was saved.
bool go_on_in(const EditorFrame& frame, KernelDocument& document, const std::string& path) {
    const auto& plan = frame.stage.shown().plan;
    if (!plan || plan->kernel_file != frame.view.file || plan->file.of_program) return false;
    const auto file = std::filesystem::absolute(with_home(path)).lexically_normal();
    launches::LaunchFile launch = beside(plan->file, file);
    if (std::filesystem::exists(launch.file)) launch = launches::read_launch_file(launch.file);
    frame.ui.later([&stage = frame.stage, text = document.text(),
                    values = frame.stage.parameters().assignments(false),
                    launch] { stage.open_launch(launch, text, values); });
    document.follow(document.shared_shipped());
    return true;
}

/// Throws what write_whole throws.
void save(const EditorFrame& frame, KernelDocument& document, const std::string& path) {
    save_kernel(document, path);
    frame.options.kernel_path = path;
    const bool is_elsewhere = !is_file_of(document, path);  // the source has a file of its own
    const bool is_copy = is_elsewhere && !go_on_in(frame, document, path);
    frame.stage.say(is_copy ? tr("Saved a copy, {}. Ctrl+S still saves {}.", path, document.path())
                    : is_elsewhere ? tr("Saved {}, which is edited from now on.", path)
                                   : tr("Saved {}.", path));
}

/// Saves to the path that was typed. Returns false, with an error to show, where that fails.
bool save_to_typed(const EditorFrame& frame, KernelDocument& document) {
    EditorView& view = frame.view;
    const std::string path = view.save.path();
    try {
        if (path.empty() || path.ends_with('/'))
            throw std::runtime_error(tr("This is the path of a folder. Type the path of a file."));
        std::error_code error;
        const bool asks = std::filesystem::exists(with_home(path), error) &&
                          (!is_file_of(document, path) || is_changed_on_disk(document));
        if (asks && !(view.save.refused() && view.replaces == path)) {
            view.replaces = path;
            throw std::runtime_error(tr("A file is there already. Save again to replace it."));
        }
        save(frame, document, path);
        return true;
    } catch (const std::exception& error) {
        view.save.refuse(error.what());
        return false;
    }
}

void ask_where_to_save(const EditorFrame& frame, const KernelDocument& document) {
    const std::string& last = frame.options.kernel_path;
    const std::string folder = last.empty() ? "~/" : last.substr(0, last.rfind('/') + 1);
    const std::string& kernel = frame.view.file;
    frame.view.save.begin(document.path().empty()
                              ? folder + kernel.substr(kernel.rfind('/') + 1) + ".cu"
                              : document.path(),
                          PathFiles::sources);
    frame.view.replaces.clear();
    ImGui::OpenPopup("editor.save");
}

/// Saves to the document's file; asks for a path where there is none.
void save_kernel(const EditorFrame& frame, KernelDocument& document) {
    if (document.path().empty()) return ask_where_to_save(frame, document);
    if (is_changed_on_disk(document)) {
        ask_where_to_save(frame, document);
        frame.view.replaces = document.path();
        return frame.view.save.refuse(
            tr("Another program has changed this file. Save again to replace what it wrote."));
    }
    try {
        save(frame, document, document.path());
    } catch (const std::exception& error) {
        frame.stage.say(error.what(), Tone::error);
    }
}

/// The popup where the path of a file to save is typed, while it is open.
void draw_editor_save(const EditorFrame& frame, KernelDocument& document) {
    if (!begin_popup(frame.ui, "editor.save", {16, 14})) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    heading(frame.ui, tr("Save this kernel"));
    const float width = std::min(frame.ui.px(420), ImGui::GetIO().DisplaySize.x - frame.ui.px(40));
    bool go = frame.view.save.draw(frame.ui, width, frame.ui.px(170));
    frame.view.save.draw_error(frame.ui, width, tr("Tab completes the path."));
    go |= flat_button(frame.ui, "editor.path.go", tr("Save"));
    ImGui::SameLine();
    const bool leave =
        flat_button(frame.ui, "editor.path.cancel", tr("Cancel")) || key_pressed(ImGuiKey_Escape);
    if (leave || (go && save_to_typed(frame, document))) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor(2);
    ImGui::EndPopup();
}

/// The document of the file on show.
KernelDocument& document_on_show(const EditorFrame& frame) {
    EditorView& view = frame.view;
    const std::string kernel = frame.stage.parameters().kernel_file();
    // Another experiment, or another of its kernels, is on show, so the pane shows its source.
    if (kernel != view.kernel) view.kernel = view.file = kernel;
    return frame.stage.documents()[view.file];
}

/// The first line of `file` that the error of a failed launch names; 0: it names none.
int line_named(std::string_view sentence, std::string_view file) {
    const std::string place = compute::kernel_path(file) + ":";
    const std::size_t at = sentence.find(place);
    if (at == std::string_view::npos) return 0;
    int line = 0;
    std::from_chars(sentence.data() + at + place.size(), sentence.data() + sentence.size(), line);
    return line;
}

/// Finds the lines that the diagnostics are about in the current text, which may be newer than the
/// text that was compiled, and the differences from the built-in text.
void place_marks(const EditorFrame& frame, const KernelDocument& document) {
    EditorView& view = frame.view;
    if (view.placed_text == document.shared_text() &&
        view.placed_base == document.shared_shipped() && view.placed_outcome == document.outcome())
        return;
    view.placed_text = document.shared_text();
    view.placed_base = document.shared_shipped();
    view.placed_outcome = document.outcome();
    view.placed.clear();
    view.fault.reset();
    const EditOutcome& outcome = *document.outcome();
    const int failed = line_named(outcome.error, view.file);
    const auto edits = outcome.diagnostics.empty() && failed == 0
                           ? std::vector<Hunk>()
                           : diff_lines(*outcome.text, document.text());
    for (const compiler::Diagnostic& one : outcome.diagnostics) {
        const auto row = one.line > 0 ? moved_row(edits, one.line - 1) : std::nullopt;
        view.placed.push_back({row && *row < document.lines().count() ? *row : -1, one});
    }
    // The compiler may report the cause of an error after the lines that suffer from it. Messages
    // about the whole text come last.
    std::stable_sort(view.placed.begin(), view.placed.end(), [](const auto& a, const auto& b) {
        return unsigned(a.what.line) - 1 < unsigned(b.what.line) - 1;
    });
    const auto row = failed > 0 ? moved_row(edits, failed - 1) : std::nullopt;
    if (row && *row < document.lines().count())
        view.fault = {*row, {failed, 0, compiler::Severity::error, tr("the kernel failed here")}};
    view.changes = diff_lines(document.shipped(), document.text());
    view.target = compiler::target_of(document.text());
    view.shown = show_diff(*view.placed_base, *view.placed_text, 3);
}

std::vector<std::string> files_to_choose(const EditorFrame& frame) {
    std::vector<std::string> files{frame.view.kernel};
    const auto add = [&](const std::string& file) {
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    };
    for (const auto& [file, text] : frame.stage.documents().edited_sources()) add(file);
    for (const char* file : {"ripple", "ripple_layouts", "ripple_stamped", "ripple_cluster",
                             "nbody", "nbody_ladder", "nbody_async", "nbody_bulk", "splat", "dot",
                             "dot_ladder", "reduce", "reduce_ladder", "pipeline", "pipeline_bulk"})
        if (!KernelDocuments::shipped(file).empty()) add(file);
    return files;
}

struct StateWords {
    std::string text;
    ImU32 colour;
};

StateWords state_words(const EditorFrame& frame) {
    const bool emulator = frame.stage.device().kind == compute::DeviceKind::emulator;
    if (!frame.stage.read_only().empty()) return {tr("read-only"), colour::faint};
    switch (frame.stage.documents()[frame.view.file].state()) {
        case EditState::shipped:
            return {frame.stage.entry().built_in ? tr("built-in") : tr("not compiled"),
                    colour::dim};
        case EditState::waiting:
            return {tr("compiling…"), colour::accent};
        case EditState::running:
            return {emulator ? tr("runs in the emulator") : tr("runs on the GPU"), colour::good};
        case EditState::failed:
            if (frame.stage.shown().edits.empty() && !frame.stage.entry().built_in)
                return {tr("error: no kernel runs"), colour::bad};
            return {tr("error: the last good kernel runs"), colour::bad};
    }
    return {};
}

void choose_file(const EditorFrame& frame, float width) {
    const std::vector<std::string> files = files_to_choose(frame);
    std::vector<std::string> labels;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const KernelDocument& document = frame.stage.documents()[files[i]];
        const bool unsaved = document.edited() && !document.saved();
        labels.push_back(frame.stage.documents().name_of(files[i]) + (unsaved ? " *" : ""));
        if (files[i] == frame.view.file) chosen = i;
    }
    const int clicked = dropdown(frame.ui, "editor.file", files, labels, chosen, width);
    // The request runs between frames: the rest of this one draws the file on show now.
    if (clicked >= 0)
        frame.ui.later(
            [&view = frame.view, file = files[std::size_t(clicked)]] { view.file = file; });
    tooltip(
        frame.ui,
        tr("The kernel file on show; the experiment's own comes first. A star: it has edits that "
           "are not saved."));
}

void say_state(const EditorFrame& frame, const StateWords& state) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float dot = frame.ui.px(4);
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + dot, at.y + ImGui::GetFrameHeight() / 2},
                                                dot, state.colour);
    ImGui::SetCursorScreenPos({at.x + 2 * dot + frame.ui.px(6), at.y});
    ImGui::AlignTextToFramePadding();
    paragraph(frame.ui.fonts.small, state.colour, state.text);
    record(frame.ui, "editor.state", state.text);
    if (frame.view.target > compiler::target_of(""))
        tooltip(frame.ui, tr("The source uses what only newer GPUs have, so it is compiled "
                             "for compute_{}. The emulator runs it; a GPU needs compute "
                             "capability {}.{} or higher.",
                             frame.view.target, frame.view.target / 10, frame.view.target % 10));
}

void title(const EditorFrame& frame) {
    const float width = ImGui::GetContentRegionAvail().x;
    choose_file(frame, std::min(frame.ui.px(190), width * 0.42F));
    ImGui::SameLine(0, frame.ui.px(10));
    StateWords state = state_words(frame);
    // Most sources are compiled for the oldest GPU that kernels are compiled for.
    if (frame.view.target > compiler::target_of(""))
        state.text += tr(", for compute_{}", frame.view.target);
    ImGui::PushFont(frame.ui.fonts.small);
    const float needed = ImGui::CalcTextSize(state.text.c_str()).x + frame.ui.px(14 + 8 + 8);
    ImGui::PopFont();
    const float room = ImGui::GetContentRegionAvail().x - icon_button_width(frame.ui);
    if (needed <= room) say_state(frame, state);
    ImGui::SameLine(0, std::max(0.F, room - (needed <= room ? needed : 0)));
    if (icon_button(frame.ui, "editor.close", Icon::close,
                    with_key(tr("Close the editor"), Command::toggle_editor)))
        frame.ui.later([&options = frame.options] { options.editor = false; });
    ImGui::NewLine();
    if (needed > room) say_state(frame, state);
}

bool button(const EditorFrame& frame, const char* id, const char* label, bool enabled,
            std::string_view help, bool on = false) {
    const float width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    ImGui::BeginDisabled(!enabled);
    const bool clicked = flat_button(frame.ui, id, label, on);
    frame.ui.widgets.last().enabled = enabled;
    ImGui::EndDisabled();
    tooltip(frame.ui, help);
    ImGui::SameLine(0, frame.ui.px(4));
    return clicked;
}

std::string words_of_change(const KernelDocument& document, bool forward) {
    const int line = document.line_of_change(forward);
    return line > 0 ? tr("line {}", line) : "";
}

void buttons(const EditorFrame& frame, KernelDocument& document) {
    const bool may = can_edit(frame), free = frame.stage.read_only().empty();
    const auto help = [&](const char* does, Command command) {
        const std::string change = words_of_change(document, command == Command::redo);
        return with_key(change.empty() ? does : fmt::format("{}: {}", does, change), command);
    };
    ImGui::PushFont(frame.ui.fonts.small);
    if (button(frame, "editor.undo", tr("Undo"), may && document.can_undo(),
               help(tr("Undo the last change"), Command::undo)))
        document.undo();
    if (button(frame, "editor.redo", tr("Redo"), may && document.can_redo(),
               help(tr("Redo the change that was undone"), Command::redo)))
        document.redo();
    const bool built_in = !KernelDocuments::shipped(frame.view.file).empty();
    const std::string before = built_in ? tr("built-in kernel source") : tr("text of its file");
    if (button(frame, "editor.revert", tr("Revert"), free && !frame.view.changes.empty(),
               tr("Go back to the {}. Undo brings the edit back.", before)))
        document.replace(document.shipped());
    if (button(frame, "editor.diff", tr("Diff"), true,
               tr("Show the differences from the {}.", before), frame.view.diff))
        frame.view.diff = !frame.view.diff;
    if (offers(Command::save_kernel) &&
        button(frame, "editor.save", tr("Save"), document.path().empty() || !document.saved(),
               with_key(document.path().empty() ? tr("Save this kernel source to a file")
                                                : tr("Save {}", document.path()),
                        Command::save_kernel)))
        save_kernel(frame, document);
    if (offers(Command::save_kernel_as) &&
        button(frame, "editor.save_as", tr("Save as…"), true,
               with_key(tr("Save this kernel source to another file, and go on in that"),
                        Command::save_kernel_as)))
        ask_where_to_save(frame, document);
    ImGui::NewLine();
    ImGui::PopFont();
}

void keys(const EditorFrame& frame, KernelDocument& document) {
    std::erase_if(frame.view.asked,
                  [&](Command command) { return ask_find(frame, document, command); });
    // The keys are meant for a text field of another panel.
    if (ImGui::GetIO().WantTextInput && !frame.view.field.active) return;
    const bool may = can_edit(frame);
    for (const Command command : frame.view.asked) {
        if (may && command == Command::undo) document.undo();
        if (may && command == Command::redo) document.redo();
        if (command == Command::save_kernel) save_kernel(frame, document);
        if (command == Command::save_kernel_as) ask_where_to_save(frame, document);
        if (command == Command::explain_word) frame.view.field.help.ask();
    }
}

/// Why the text cannot be edited; empty: it can.
std::string why_not(const EditorFrame& frame) {
    if (offers_download(frame))
        return tr(
            "NVRTC, the compiler of edits, is not installed. Download it here, or install the "
            "CUDA Toolkit and start again.");
    if (!frame.stage.read_only().empty()) return frame.stage.read_only();
    if (can_edit(frame)) return {};
    return tr(
        "This text is not valid UTF-8, so it cannot be edited here. Revert it or open another "
        "file.");
}

void notices(const EditorFrame& frame) {
    const auto say = [&](const char* id, const std::string& words, ImU32 hue) {
        if (words.empty()) return;
        paragraph(frame.ui.fonts.small, hue, words);
        record(frame.ui, id, words);
    };
    say("editor.read_only", why_not(frame), colour::warning);
    // The compiler's errors are left out, because the list at the foot of the pane shows them.
    const auto is_error = [](const PlacedDiagnostic& one) {
        return one.what.severity == compiler::Severity::error;
    };
    if (std::any_of(frame.view.placed.begin(), frame.view.placed.end(), is_error)) return;
    say("editor.error", frame.stage.documents()[frame.view.file].outcome()->error, colour::bad);
}

float row_height(const EditorFrame& frame) {
    return text_size(frame.ui.fonts.small) + frame.ui.px(6);
}

void diagnostic_row(const EditorFrame& frame, KernelDocument& document, std::size_t index) {
    const PlacedDiagnostic& one = frame.view.placed[index];
    const ImU32 hue = severity_colour(one.what.severity);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = row_height(frame);
    ImGui::PushID(int(index));
    const bool clicked = ImGui::Selectable("##row", false, 0, {width, height});
    ImGui::PopID();
    record(frame.ui, fmt::format("editor.diagnostic.{}", index),
           fmt::format("{}: {}", one.row + 1, one.what.text));
    if (ImGui::IsItemHovered()) quick_tooltip(frame.ui, one.what.text);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled({at.x + frame.ui.px(5), at.y + height / 2}, frame.ui.px(3.5F), hue);
    const std::string line = one.row < 0 ? "" : fmt::format("{}", one.row + 1);
    const float y = at.y + frame.ui.px(3), start = at.x + frame.ui.px(46);
    list.AddText({start - frame.ui.px(8) - ImGui::CalcTextSize(line.c_str()).x, y}, colour::dim,
                 line.c_str());
    list.AddText({start, y}, colour::text, one.what.text.c_str());
    if (!clicked || one.row < 0) return;
    frame.view.diff = false;
    frame.view.field.reveal = one.row;
    frame.view.field.go = document.lines().begin(one.row);
}

float list_height(const EditorFrame& frame, float room) {
    const float rows = float(frame.view.placed.size());
    return frame.view.placed.empty()
               ? 0
               : std::min(rows * row_height(frame) + frame.ui.px(10), room * 0.35F);
}

void diagnostics_list(const EditorFrame& frame, KernelDocument& document, float height) {
    if (frame.view.placed.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + ImGui::GetContentRegionAvail().x, at.y},
                                        colour::line, frame.ui.px(1));
    ImGui::SetCursorScreenPos({at.x, at.y + frame.ui.px(5)});
    ImGui::BeginChild("editor.diagnostics", {0, std::max(1.F, height - frame.ui.px(5))});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::PushFont(frame.ui.fonts.small);
    for (std::size_t i = 0; i < frame.view.placed.size(); ++i) diagnostic_row(frame, document, i);
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndChild();
}

}  // namespace

std::string EditorPanel::change_ahead(bool forward) const {
    const KernelDocument* const document = std::as_const(stage_).documents().find(view_.file);
    return document ? words_of_change(*document, forward) : "";
}

bool EditorPanel::close_find() {
    return close_editor_find(view_, stage_.documents()[view_.file]);
}

void EditorPanel::reveal(const std::string& file, int row) {
    // The pane is now that of this file, as if it had been drawn for it.
    view_.kernel = stage_.parameters().kernel_file();
    view_.file = file;
    view_.diff = false;
    view_.field.reveal = row;
}

void EditorPanel::draw(Ui& ui) {
    const EditorFrame frame{ui, stage_, options_, view_, download_, needs_};
    focused_ = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    KernelDocument& document = document_on_show(frame);
    keys(frame, document);
    title(frame);
    buttons(frame, document);
    draw_editor_save(frame, document);
    draw_editor_find(frame, document);
    place_marks(frame, document);
    notices(frame);
    draw_editor_download(frame);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float foot = list_height(frame, room.y);
    const ImVec2 size{room.x, std::max(frame.ui.px(20), room.y - foot - frame.ui.px(4))};
    if (frame.view.diff)
        draw_editor_diff(frame, document, size);
    else
        draw_editor_text(frame, document, size);
    diagnostics_list(frame, document, foot);
    view_.asked.clear();
}

}  // namespace warpscope::ui
