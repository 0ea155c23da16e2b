#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include "experiments/framework/experiment.h"
#include "ui/edits/barrier_switch.h"
#include "ui/panels/picture_panel.h"
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

void WindowView::follow_keyboard() {
    ImGuiIO& io = ImGui::GetIO();
    const auto flag = ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigFlags =
        by_keyboard_ || list_is_open() ? io.ConfigFlags | flag : io.ConfigFlags & ~flag;
}

void WindowView::press(int key, int modifiers) {
    if (key == GLFW_KEY_TAB) by_keyboard_ = true;
    follow_keyboard();
    const bool list_open = list_is_open();
    if ((by_keyboard_ || list_open) && is_for_widgets(key, list_open)) return;
    const bool grabbed = microscope_.is_open() ? microscope_.ready() && source_.takes_keyboard()
                                               : editor_shows() && editor_.takes_keyboard();
    const bool typing = ImGui::GetIO().WantTextInput || grabbed;
    // The key's scope is looked up when the request runs, after the keys before it.
    ui_.later([this, key, modifiers, typing] {
        const Shortcut* shortcut = nullptr;
        if (editor_shows()) shortcut = find_shortcut(KeyScope::editor, key, modifiers);
        const bool of_text =
            shortcut && (shortcut->command == Command::undo || shortcut->command == Command::redo);
        if (of_text && !editor_.has_focus()) shortcut = nullptr;
        if (!shortcut && microscope_.is_open())
            shortcut = find_shortcut(KeyScope::microscope, key, modifiers);
        if (!shortcut) shortcut = find_shortcut(KeyScope::general, key, modifiers);
        if (!shortcut || (typing && !shortcut->works_while_typing())) return;
        // A field that has the keyboard undoes what was typed in it.
        const bool of_parameters =
            shortcut->command == Command::undo_change || shortcut->command == Command::redo_change;
        if (typing && of_parameters) return;
        if (shortcut->command == Command::select_experiment)
            select(key - shortcut->key);
        else
            carry_out(shortcut->command);
    });
}

void WindowView::carry_out(Command command) {
    if (microscope_.is_open() && is_search(command)) return source_.find(command);
    if (!carry_out_general(command) && !carry_out_in_microscope(command)) editor_.ask(command);
}

/// Returns false if the command is not one of the general ones.
bool WindowView::carry_out_general(Command command) {
    switch (command) {
        case Command::toggle_pause:
            stage_.pause(!stage_.paused());
            return true;
        case Command::step_frame:
            stage_.step_once();
            return true;
        case Command::reset:
            stage_.reset();
            return true;
        case Command::toggle_microscope:
            toggle_microscope();
            return true;
        case Command::toggle_editor:
            toggle_editor();
            return true;
        case Command::fit_picture:
            picture_.canvas().fit();
            tree_.fit();
            return true;
        case Command::toggle_grid:
            options_.grid = !options_.grid;
            return true;
        case Command::toggle_vsync:
            options_.vsync = !options_.vsync;
            return true;
        case Command::save_window:
            shot_ = Shot::window;
            return true;
        case Command::save_picture:
            shot_ = Shot::picture;
            return true;
        case Command::toggle_keys:
            keys_.show(!keys_.shown());
            return true;
        case Command::toggle_barrier:
            return turn("sync");
        case Command::toggle_tile:
            return turn("tile");
        case Command::next_view:
            return turn("view");
        case Command::close_topmost:
            if (keys_.shown())
                keys_.show(false);
            else if (editor_shows() && editor_.close_find())
                return true;
            else if (options_.drawer != Drawer::none)
                options_.drawer = Drawer::none;
            else if (work_chip_.shows())
                work_chip_.cancel();
            else if (editor_shows())
                download_.cancel();
            return true;
        case Command::open_file:
            open_panel_.show();
            return true;
        case Command::undo_change:
            dock_.launch().has_focus() ? dock_.launch().undo() : stage_.undo();
            return true;
        case Command::redo_change:
            dock_.launch().has_focus() ? dock_.launch().redo() : stage_.redo();
            return true;
        case Command::quit:
            quit_ = true;
            return true;
        default:
            return false;
    }
}

/// Returns false if the command is not one of the microscope's.
bool WindowView::carry_out_in_microscope(Command command) {
    switch (command) {
        case Command::close_microscope:
            // Esc closes one thing at a time, beginning with the one in front.
            if (!keys_.shown() && source_.close_find()) return true;
            if (keys_.shown() || work_chip_.shows())
                return carry_out_general(Command::close_topmost);
            microscope_.close();
            return true;
        case Command::step_instruction:
            microscope_.step();
            return true;
        case Command::step_instruction_back:
            microscope_.back();
            return true;
        case Command::step_line:
            microscope_.step_line();
            return true;
        case Command::step_line_back:
            microscope_.back_line();
            return true;
        case Command::step_barrier:
            microscope_.step_barrier();
            return true;
        case Command::step_barrier_back:
            microscope_.back_barrier();
            return true;
        case Command::run_to_break:
            microscope_.run_to_break();
            return true;
        case Command::run_back_to_break:
            microscope_.run_back_to_break();
            return true;
        case Command::toggle_breakpoint:
            microscope_.toggle_breakpoint();
            return true;
        case Command::toggle_play:
            microscope_.play(!microscope_.playing());
            return true;
        case Command::go_to_start:
            microscope_.restart();
            return true;
        case Command::go_to_end:
            microscope_.to_end();
            return true;
        case Command::toggle_ptx:
            source_.toggle_ptx();
            return true;
        default:
            return false;
    }
}

/// Gives a toggle, or a choice, of the experiment its next value. Returns true.
bool WindowView::turn(std::string_view id) {
    for (const experiments::Parameter* p : stage_.parameters().all()) {
        if (p->id() != id || !p->matters()) continue;
        if (const auto* toggle = dynamic_cast<const experiments::Toggle*>(p))
            flip(stage_, *toggle);
        else if (const auto* choice = dynamic_cast<const experiments::Choice*>(p))
            stage_.assign(*p, choice->words()[(choice->index() + 1) % choice->words().size()].id);
        break;
    }
    return true;
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
