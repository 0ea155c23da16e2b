#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "experiments/framework/experiment.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/picture/picture_panel.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/glossary.h"
#include "ui/window/window_view.h"

namespace warpscope::ui {
namespace {

bool is_search(Command command) {
    return command == Command::find_text || command == Command::find_next ||
           command == Command::find_previous || command == Command::go_to_line;
}

bool list_is_open() {
    return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

/// Whether a field takes what is typed. WantTextInput alone says so one frame longer, and a key
/// that came then would be lost.
bool is_typing() {
    return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

/// Whether a command may run while a list, a dialog or the tour covers the panels: it does not
/// change what they show.
bool works_behind_cover(Command command) {
    switch (command) {
        case Command::toggle_keys:
        case Command::show_words:
        case Command::show_palette:
        case Command::close_topmost:
        case Command::close_microscope:
        case Command::larger:
        case Command::smaller:
        case Command::usual_size:
        case Command::save_window:
        case Command::toggle_recording:
        case Command::quit:
            return true;
        default:
            return false;
    }
}

/// Whether the widget with the focus, or an open list, takes the key before any shortcut.
bool is_for_widgets(int key, bool list_open) {
    switch (key) {
        case GLFW_KEY_TAB:
        case GLFW_KEY_SPACE:
        case GLFW_KEY_ENTER:
        case GLFW_KEY_LEFT:
        case GLFW_KEY_RIGHT:
        case GLFW_KEY_UP:
        case GLFW_KEY_DOWN:
            return true;
        case GLFW_KEY_ESCAPE:
            return list_open;
        default:
            return false;
    }
}

}  // namespace

bool WindowView::is_covered() const {
    return list_is_open() || palette_.shown() || keys_.shown() || words_.shown();
}

void WindowView::follow_keyboard() {
    ImGuiIO& io = ImGui::GetIO();
    const auto flag = ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigFlags =
        by_keyboard_ || list_is_open() ? io.ConfigFlags | flag : io.ConfigFlags & ~flag;
}

/// Whether Tab is for the text of the editor.
bool WindowView::indents() const {
    return editor_shows() && editor_.view().field.active && stage_.read_only().empty();
}

void WindowView::press(int key, int modifiers) {
    const bool list_open = list_is_open();
    const bool closes_keys = key == GLFW_KEY_ESCAPE && keys_.shown();  // also while it searches
    const bool leaves = key == GLFW_KEY_ESCAPE && by_keyboard_ && !list_open && !closes_keys;
    if (key == GLFW_KEY_TAB && !(modifiers & GLFW_MOD_CONTROL) && !indents()) {
        by_keyboard_ = true;
        tabs_ = modifiers & GLFW_MOD_SHIFT ? -1 : 1;
    }
    if (leaves && !is_typing()) by_keyboard_ = false;
    follow_keyboard();
    if (leaves) return;
    if (tour_.shows() && !is_covered() && tour_.press(key)) return;
    if ((by_keyboard_ || list_open) && is_for_widgets(key, list_open)) return;
    const bool grabbed = microscope_.is_open() ? microscope_.ready() && source_.takes_keyboard()
                                               : editor_shows() && editor_.takes_keyboard();
    const bool typing = is_typing() || grabbed;
    // The key's scope is looked up when the request runs, after the keys before it.
    ui_.later([this, key, modifiers, typing, closes_keys] {
        const Shortcut* shortcut = nullptr;
        if (editor_shows()) shortcut = find_shortcut(KeyScope::editor, key, modifiers);
        const bool of_text =
            shortcut && (shortcut->command == Command::undo || shortcut->command == Command::redo ||
                         shortcut->command == Command::explain_word);
        if (of_text && !editor_.has_focus()) shortcut = nullptr;
        if (!shortcut && microscope_.is_open())
            shortcut = find_shortcut(KeyScope::microscope, key, modifiers);
        else if (!shortcut && options_.presentation)
            shortcut = find_shortcut(KeyScope::presentation, key, modifiers);
        if (!shortcut) shortcut = find_shortcut(KeyScope::general, key, modifiers);
        if (shortcut && (is_covered() || tour_.shows()) && !works_behind_cover(shortcut->command))
            return;
        // The palette has the keyboard from the frame after the one in which it opens.
        const bool typed = (typing && !closes_keys) || palette_.shown();
        if (!shortcut || (typed && !shortcut->works_while_typing())) return;
        // A field that has the keyboard undoes what was typed in it.
        const bool of_parameters =
            shortcut->command == Command::undo_change || shortcut->command == Command::redo_change;
        if (typed && (of_parameters || shortcut->command == Command::copy_value)) return;
        marks_.press(shortcut->name);
        if (shortcut->command == Command::select_experiment)
            select(key - shortcut->key);
        else
            carry_out(shortcut->command);
    });
}

void WindowView::carry_out(Command command) {
    if (!offers(command)) return;
    if (microscope_.is_open() && is_search(command)) return source_.find(command);
    if (!carry_out_general(command) && !carry_out_of_view(command) &&
        !text_clipboard_.carry_out(command, ui_.widgets) && !carry_out_in_microscope(command))
        editor_.ask(command);
}

/// Returns false if the command is not one of the general ones.
bool WindowView::carry_out_general(Command command) {
    using V = WindowView;
    static const std::map<Command, void (*)(V&)> actions{
        {Command::toggle_pause, [](V& v) { v.stage_.pause(!v.stage_.paused()); }},
        {Command::step_frame, [](V& v) { v.stage_.step_once(); }},
        {Command::reset, [](V& v) { v.stage_.reset(); }},
        {Command::toggle_microscope, [](V& v) { v.toggle_microscope(); }},
        {Command::toggle_editor, [](V& v) { v.toggle_editor(); }},
        {Command::fit_picture,
         [](V& v) {
             v.picture_.canvas().fit();
             v.tree_.fit();
         }},
        {Command::toggle_grid, [](V& v) { v.options_.grid = !v.options_.grid; }},
        {Command::toggle_vsync, [](V& v) { v.options_.vsync = !v.options_.vsync; }},
        {Command::save_window, [](V& v) { v.shot_ = Shot::window; }},
        {Command::save_picture, [](V& v) { v.shot_ = Shot::picture; }},
        {Command::copy_picture, [](V& v) { v.shot_ = Shot::copy; }},
        {Command::save_page, [](V& v) { v.shot_ = Shot::page; }},
        {Command::save_trace, [](V& v) { v.shot_ = Shot::trace; }},
        {Command::toggle_keys, [](V& v) { v.keys_.show(!v.keys_.shown()); }},
        {Command::toggle_barrier, [](V& v) { v.turn("sync"); }},
        {Command::toggle_tile, [](V& v) { v.turn("tile"); }},
        {Command::next_view, [](V& v) { v.turn("view"); }},
        {Command::close_topmost, [](V& v) { v.close_topmost(); }},
        {Command::open_file, [](V& v) { v.open_panel_.show(); }},
        {Command::undo_change,
         [](V& v) { v.dock_.launch().has_focus() ? v.dock_.launch().undo() : v.stage_.undo(); }},
        {Command::redo_change,
         [](V& v) { v.dock_.launch().has_focus() ? v.dock_.launch().redo() : v.stage_.redo(); }},
        {Command::quit, [](V& v) { v.asked_to_quit_ = true; }},
    };
    const auto action = actions.find(command);
    if (action == actions.end()) return false;
    action->second(*this);
    return true;
}

/// Returns false if the command is not one that changes how the window looks.
bool WindowView::carry_out_of_view(Command command) {
    using V = WindowView;
    static const std::map<Command, void (*)(V&)> actions{
        {Command::show_palette, [](V& v) { v.palette_.show(); }},
        {Command::toggle_lessons, [](V& v) { v.options_.lessons = !v.options_.lessons; }},
        {Command::start_tour, [](V& v) { v.tour_.start(); }},
        {Command::show_words,
         [](V& v) { v.words_.shown() ? v.words_.hide() : v.words_.show(newest_word()); }},
        {Command::show_book, [](V& v) { v.words_.show_book(); }},
        {Command::next_state, [](V& v) { v.opener_.open_state(1); }},
        {Command::previous_state, [](V& v) { v.opener_.open_state(-1); }},
        {Command::toggle_marks, [](V& v) { v.options_.marks = !v.options_.marks; }},
        {Command::toggle_presentation,
         [](V& v) { v.options_.presentation = !v.options_.presentation; }},
        {Command::toggle_second_window,
         [](V& v) { v.options_.second_window = !v.options_.second_window; }},
        {Command::larger, [](V& v) { v.resize(1); }},
        {Command::smaller, [](V& v) { v.resize(-1); }},
        {Command::usual_size, [](V& v) { v.draw_at(100); }},
        {Command::toggle_light, [](V& v) { v.options_.light = !v.options_.light; }},
        {Command::ask_recording, [](V& v) { v.record_.show(); }},
        {Command::toggle_maximized, [](V& v) { v.maximize_pointed(); }},
        {Command::toggle_recording, [](V& v) { v.toggle_recording(Recorded::window); }},
        {Command::toggle_picture_recording, [](V& v) { v.toggle_recording(Recorded::picture); }},
        {Command::discard_recording,
         [](V& v) {
             v.discards_ = v.options_.records != Recorded::none;
             v.stop_recording();
         }},
        {Command::toggle_controls,
         [](V& v) { v.options_.hide_controls = !v.options_.hide_controls; }},
        {Command::toggle_results, [](V& v) { v.options_.hide_results = !v.options_.hide_results; }},
        {Command::toggle_dock, [](V& v) { v.options_.dock_folded = !v.options_.dock_folded; }},
    };
    const auto action = actions.find(command);
    if (action == actions.end()) return false;
    action->second(*this);
    return true;
}

/// Each of the two commands ends either recording.
void WindowView::toggle_recording(Recorded what) {
    record_.cancel();
    options_.records = options_.records == Recorded::none ? what : Recorded::none;
}

/// The panel under the mouse fills the window, or no panel does any longer.
void WindowView::maximize_pointed() {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    std::string name;
    for (const auto& [panel, boxes] : panels_to_maximize(layout_))
        for (const Box* box : boxes)
            if (mouse.x >= box->x && mouse.x < box->x + box->width && mouse.y >= box->y &&
                mouse.y < box->y + box->height)
                name = panel;
    options_.maximized = options_.maximized.empty() ? name : "";
}

/// Takes the next larger size (`direction` 1) or the next smaller one (-1).
void WindowView::resize(int direction) {
    const auto* const now = std::ranges::lower_bound(percents, options_.percent);
    const auto place = now - std::begin(percents) + direction;
    draw_at(percents[std::clamp<std::ptrdiff_t>(place, 0, std::ssize(percents) - 1)]);
}

void WindowView::draw_at(int percent) {
    options_.percent = percent;
    stage_.say(tr("Everything is drawn at {} %.", options_.percent));
}

/// What a command would take back, or make again; empty: it is another command, or has nothing to
/// do.
std::string WindowView::change_of(Command command) {
    const bool forward = command == Command::redo || command == Command::redo_change;
    if (command == Command::undo || command == Command::redo) return editor_.change_ahead(forward);
    if (command != Command::undo_change && command != Command::redo_change) return {};
    return dock_.launch().has_focus() ? dock_.launch().change_ahead(forward)
                                      : stage_.change_ahead(forward);
}

void WindowView::add_commands(std::vector<PaletteRow>& rows, KeyScope scope) {
    std::set<Command> added;
    for (const KeyRow& row : key_table()) {
        if (row.scope != scope) continue;
        for (const Shortcut& one : row.shortcuts) {
            const Command command = one.command;
            if (command == Command::select_experiment || !added.insert(command).second) continue;
            const std::string does(one.does.empty() ? row.does : one.does);
            const std::string change = change_of(command);
            rows.push_back({does, change.empty() ? tr(does) : tr("{} ({})", tr(does), change),
                            keys_of(command), [this, command] { carry_out(command); }});
        }
    }
}

std::vector<PaletteRow> WindowView::palette_rows() {
    std::vector<PaletteRow> rows;
    if (microscope_.is_open()) add_commands(rows, KeyScope::microscope);
    if (editor_shows()) add_commands(rows, KeyScope::editor);
    add_commands(rows, KeyScope::general);
    for (PaletteRow& row : text_clipboard_.other_tables()) rows.push_back(std::move(row));
    int number = 0;
    for (const experiments::Entry& entry : experiments::registry())
        rows.push_back({entry.id, tr("show the experiment {}", tr(entry.title)),
                        std::to_string(number + 1), [this, i = number++] { select(i); }});
    for (const ListedLesson& one : lessons_.lessons())
        rows.push_back({one.name, tr("open the lesson {}", tr(one.title)), "",
                        [this, file = one.file] { lessons_.open(file); }});
    for (const std::filesystem::path& state : opener_.states())
        rows.push_back({fmt::format("state {}", state.stem().string()),
                        tr("open the prepared state {}", state.stem().string()), "",
                        [this, state] { opener_.open(state.string()); }});
    for (const LanguageName& one : languages)
        rows.push_back({fmt::format("language {}", one.english),
                        tr("show the window in {}", shown_name(one.language)), "",
                        [this, &one] { speak(one.language); }});
    return rows;
}

void WindowView::speak(Language wished) {
    const LanguageName& names = name_of(wished);
    if (!has_font_for(wished))
        return stage_.say(
            tr("No font for {} is installed. Install one, such as the package {}, "
               "and start again.",
               names.english, names.font));
    set_language(wished);
    stage_.say({});  // the newest message is in the language of before
    options_.language = names.code;
}

bool WindowView::may_close() {
    asked_to_quit_ = false;
    return quit_.may_quit();
}

void WindowView::close_topmost() {
    if (tour_.shows())
        tour_.end();
    else if (words_.shown())
        words_.hide();
    else if (keys_.shown())
        keys_.show(false);
    else if (record_.counts())
        record_.cancel();
    else if (editor_shows() && editor_.close_find())
        return;
    else if (!options_.maximized.empty())
        options_.maximized.clear();
    else if (options_.drawer != Drawer::none)
        options_.drawer = Drawer::none;
    else if (work_chip_.shows())
        work_chip_.cancel();
    else if (editor_shows() && download_.runs())
        download_.cancel();
    else
        options_.presentation = false;
}

/// Returns false if the command is not one of the microscope's.
bool WindowView::carry_out_in_microscope(Command command) {
    using M = Microscope;
    static const std::map<Command, void (*)(M&)> actions{
        {Command::step_instruction, [](M& m) { m.step(); }},
        {Command::step_instruction_back, [](M& m) { m.back(); }},
        {Command::step_line, [](M& m) { m.step_line(); }},
        {Command::step_line_back, [](M& m) { m.back_line(); }},
        {Command::step_barrier, [](M& m) { m.step_barrier(); }},
        {Command::step_barrier_back, [](M& m) { m.back_barrier(); }},
        {Command::run_to_break, [](M& m) { m.run_to_break(); }},
        {Command::run_back_to_break, [](M& m) { m.run_back_to_break(); }},
        {Command::toggle_breakpoint, [](M& m) { m.toggle_breakpoint(); }},
        {Command::toggle_bookmark, [](M& m) { m.toggle_bookmark(); }},
        {Command::next_bookmark, [](M& m) { m.next_bookmark(); }},
        {Command::next_race, [](M& m) { m.go_to_race(true); }},
        {Command::previous_race, [](M& m) { m.go_to_race(false); }},
        {Command::toggle_play, [](M& m) { m.play(!m.playing()); }},
        {Command::go_to_start, [](M& m) { m.restart(); }},
        {Command::go_to_end, [](M& m) { m.to_end(); }},
    };
    if (const auto action = actions.find(command); action != actions.end())
        action->second(microscope_);
    else if (command == Command::toggle_ptx)
        source_.toggle_ptx();
    else if (command == Command::explain_line)
        source_.explain();
    else if (command == Command::close_microscope)
        close_in_microscope();
    else
        return false;
    return true;
}

/// Esc closes one thing at a time, beginning with the one in front.
void WindowView::close_in_microscope() {
    if (keys_.shown() || words_.shown()) return close_topmost();
    if (source_.close_help() || source_.close_find()) return;
    if (work_chip_.shows() || record_.counts() || !options_.maximized.empty())
        return close_topmost();
    microscope_.close();
}

/// Gives a toggle, or a choice, of the experiment its next value.
void WindowView::turn(std::string_view id) {
    for (const experiments::Parameter* p : stage_.parameters().all()) {
        if (p->id() != id || !p->matters()) continue;
        if (const auto* toggle = dynamic_cast<const experiments::Toggle*>(p))
            flip(stage_, *toggle);
        else if (const auto* choice = dynamic_cast<const experiments::Choice*>(p))
            stage_.assign(*p, choice->words()[(choice->index() + 1) % choice->words().size()].id);
        return;
    }
    stage_.say(tr("The experiment on show has nothing that this key switches."));
}

void WindowView::select(int experiment) {
    stage_.select(stage_.newest(experiments::registry()[std::size_t(experiment)]));
}

void WindowView::toggle_microscope() {
    const gl::View& view = picture_.canvas().view();
    if (microscope_.is_open())
        microscope_.close();
    else if (stage_.shown().inspected.failed_block)
        open_at_failure(microscope_, stage_);
    else
        ui::open_microscope(microscope_, stage_, {view.centre_x, view.centre_y});
}

/// The editor and the microscope need the same place, so the editor closes an open microscope.
void WindowView::toggle_editor() {
    const bool open = editor_shows();
    microscope_.close();
    options_.editor = !open;
}

}  // namespace warpscope::ui
