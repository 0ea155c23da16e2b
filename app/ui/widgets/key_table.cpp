#include "ui/widgets/key_table.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "ui/language/language.h"
#include "ui/widgets/edition.h"

namespace warpscope::ui {
namespace {

constexpr int control = GLFW_MOD_CONTROL, shift = GLFW_MOD_SHIFT;

constexpr auto general = KeyScope::general, microscope = KeyScope::microscope,
               editor = KeyScope::editor, presentation = KeyScope::presentation;

/// The rows without the commands that this edition lacks.
std::vector<KeyRow> offered(std::vector<KeyRow> rows) {
    std::erase_if(rows, [](KeyRow& row) {
        if (row.scope == editor && !offers(Command::toggle_editor)) return true;
        const bool listed = row.shortcuts.empty();
        std::erase_if(row.shortcuts, [](const Shortcut& one) { return !offers(one.command); });
        return !listed && row.shortcuts.empty();
    });
    return rows;
}

const std::vector<KeyRow> table = offered({
    {general, "pause or run", {{Command::toggle_pause, GLFW_KEY_SPACE, 0, "Space"}}},
    {general,
     "run one frame, then pause",
     {{Command::step_frame, GLFW_KEY_PERIOD, 0, "."},
      {Command::step_frame, GLFW_KEY_RIGHT, 0, "→"}}},
    {general, "reset to frame 0", {{Command::reset, GLFW_KEY_R, 0, "R"}}},
    {general, "switch the barrier of the ripple", {{Command::toggle_barrier, GLFW_KEY_S, 0, "S"}}},
    {general,
     "switch the shared-memory tile of N-body",
     {{Command::toggle_tile, GLFW_KEY_T, 0, "T"}}},
    {general, "show the next view", {{Command::next_view, GLFW_KEY_W, 0, "W"}}},
    {general,
     "undo, redo a change of parameters; of the launch form, where it was used last",
     {{Command::undo_change, GLFW_KEY_Z, control, "Ctrl+Z", 1, "undo a change of parameters"},
      {Command::redo_change, GLFW_KEY_Z, control | shift, "Ctrl+Shift+Z", 1,
       "redo a change of parameters"}}},
    {general, "choose the experiment", {{Command::select_experiment, GLFW_KEY_1, 0, "1 … 6", 6}}},
    {general, "open or close the microscope", {{Command::toggle_microscope, GLFW_KEY_M, 0, "M"}}},
    {general, "open or close the editor", {{Command::toggle_editor, GLFW_KEY_E, 0, "E"}}},
    {general, "fit the picture", {{Command::fit_picture, GLFW_KEY_F, 0, "F"}}},
    {general, "show or hide block borders", {{Command::toggle_grid, GLFW_KEY_G, 0, "G"}}},
    {general, "toggle V-sync", {{Command::toggle_vsync, GLFW_KEY_V, 0, "V"}}},
    {general, "save the window as PNG", {{Command::save_window, GLFW_KEY_F12, 0, "F12"}}},
    {general,
     "save the picture alone as PNG",
     {{Command::save_picture, GLFW_KEY_F12, shift, "Shift+F12"}}},
    {general,
     "copy the value that the mouse is on",
     {{Command::copy_value, GLFW_KEY_C, control, "Ctrl+C"}}},
    {general, "copy the findings, with file and line", {{Command::copy_findings, 0, 0, ""}}},
    {general, "copy the table on show as CSV", {{Command::copy_csv, 0, 0, ""}}},
    {general, "copy the table on show as Markdown", {{Command::copy_markdown, 0, 0, ""}}},
    {general, "copy the table on show as JSON", {{Command::copy_json, 0, 0, ""}}},
    {general, "copy the command line of the picture", {{Command::copy_command, 0, 0, ""}}},
    {general, "copy a link to what is on show", {{Command::copy_link, 0, 0, ""}}},
    {general,
     "copy the picture alone",
     {{Command::copy_picture, GLFW_KEY_C, control | shift, "Ctrl+Shift+C"}}},
    {general,
     "save a page: picture, findings, source lines, numbers (HTML)",
     {{Command::save_page, 0, 0, ""}}},
    {general, "save the timeline for Perfetto or Chrome", {{Command::save_trace, 0, 0, ""}}},
    {general, "record: choose what, how and how long", {{Command::ask_recording, 0, 0, ""}}},
    {general,
     "begin or end a recording of the window",
     {{Command::toggle_recording, GLFW_KEY_F12, control, "Ctrl+F12"}}},
    {general,
     "begin or end a recording of the picture alone",
     {{Command::toggle_picture_recording, GLFW_KEY_F12, control | shift, "Ctrl+Shift+F12"}}},
    {general, "end the recording and discard it", {{Command::discard_recording, 0, 0, ""}}},
    {general,
     "in a source: find words, go to a line",
     {{Command::find_text, GLFW_KEY_F, control, "Ctrl+F", 1, "find words in the source"},
      {Command::go_to_line, GLFW_KEY_G, control, "Ctrl+G", 1, "go to a line of the source"}}},
    {general,
     "next match, the one before",
     {{Command::find_next, GLFW_KEY_F3, 0, "F3", 1, "go to the next match"},
      {Command::find_previous, GLFW_KEY_F3, shift, "Shift+F3", 1, "go to the match before"}}},
    {general,
     "search all commands",
     {{Command::show_palette, GLFW_KEY_P, control | shift, "Ctrl+Shift+P"}}},
    {general, "show or hide the lessons", {{Command::toggle_lessons, GLFW_KEY_L, 0, "L"}}},
    {general,
     "begin or end the presentation: picture, barrier and one sentence",
     {{Command::toggle_presentation, GLFW_KEY_F11, 0, "F11"}}},
    {general,
     "open or close a second window with the picture alone",
     {{Command::toggle_second_window, GLFW_KEY_F11, shift, "Shift+F11"}}},
    {general,
     "make everything larger, smaller, as large as usual",
     {{Command::larger, GLFW_KEY_EQUAL, control, "Ctrl++", 1, "make everything larger"},
      {Command::larger, GLFW_KEY_KP_ADD, control, ""},
      {Command::smaller, GLFW_KEY_MINUS, control, "Ctrl+-", 1, "make everything smaller"},
      {Command::smaller, GLFW_KEY_KP_SUBTRACT, control, ""},
      {Command::usual_size, GLFW_KEY_0, control, "Ctrl+0", 1,
       "make everything as large as usual"}}},
    {general,
     "show or hide the parameters, the results, the tabs at the foot",
     {{Command::toggle_controls, GLFW_KEY_B, control, "Ctrl+B", 1, "show or hide the parameters"},
      {Command::toggle_results, GLFW_KEY_B, control | shift, "Ctrl+Shift+B", 1,
       "show or hide the results"},
      {Command::toggle_dock, GLFW_KEY_J, control, "Ctrl+J", 1,
       "fold or open the tabs at the foot"}}},
    {general,
     "let the panel under the mouse fill the window, or end that",
     {{Command::toggle_maximized, GLFW_KEY_SPACE, control, "Ctrl+Space"}}},
    {general, "on the head of a panel: let it fill the window, or end that", {}, "Double click"},
    {general, "change between the dark and the light theme", {{Command::toggle_light, 0, 0, ""}}},
    {general,
     "show the words of CUDA, at the word under the mouse or the cursor",
     {{Command::show_words, GLFW_KEY_F2, 0, "F2"}}},
    {general, "read the book from its first page", {{Command::show_book, 0, 0, ""}}},
    {general,
     "open the next, the previous prepared state: a PNG that Warpscope saved",
     {{Command::next_state, GLFW_KEY_PAGE_DOWN, 0, "PageDown", 1, "open the next prepared state"},
      {Command::previous_state, GLFW_KEY_PAGE_UP, 0, "PageUp", 1,
       "open the previous prepared state"}}},
    {general,
     "show or hide a halo of the pointer and the keys that are pressed",
     {{Command::toggle_marks, 0, 0, ""}}},
    {general, "take the tour of the window", {{Command::start_tour, 0, 0, ""}}},
    {general, "open a file", {{Command::open_file, GLFW_KEY_O, control, "Ctrl+O"}}},
    {general, "zoom; in N-body: move the camera", {}, "Wheel"},
    {general, "zoom, in N-body too", {}, "Ctrl+Wheel"},
    {general, "pan or turn the picture", {}, "Drag"},
    {general, "over a timeline: zoom", {}, "Wheel"},
    {general, "over a timeline: move along it", {}, "Right drag"},
    {general, "over a timeline: show all of it", {}, "Double click"},
    {general, "over a slider: its default value", {}, "Double click"},
    {general, "over a slider: type a number", {}, "Ctrl+Click"},
    {general, "on a parameter, a number or a table: copy, reset, explain", {}, "Right click"},
    {general,
     "show or hide this list",
     {{Command::toggle_keys, GLFW_KEY_SLASH, shift, "?"},
      {Command::toggle_keys, GLFW_KEY_H, 0, "H"},
      {Command::toggle_keys, GLFW_KEY_F1, 0, "F1"}}},
    {general,
     "go to the next widget or word, or back; Space and Enter use it",
     {},
     "Tab  Shift+Tab"},
    {general,
     "close this list or a search, or cancel long work",
     {{Command::close_topmost, GLFW_KEY_ESCAPE, 0, "Esc"}}},
    {general,
     "quit",
     {{Command::quit, GLFW_KEY_Q, control, "Ctrl+Q"},
      {Command::quit, GLFW_KEY_W, control, "Ctrl+W"}}},
    {microscope,
     "step one instruction forward, back",
     {{Command::step_instruction, GLFW_KEY_RIGHT, 0, "→", 1, "step one instruction"},
      {Command::step_instruction_back, GLFW_KEY_LEFT, 0, "←", 1, "step back one instruction"}}},
    {microscope,
     "step one source line forward, back",
     {{Command::step_line, GLFW_KEY_DOWN, 0, "↓", 1, "step one source line"},
      {Command::step_line_back, GLFW_KEY_UP, 0, "↑", 1, "step back one source line"}}},
    {microscope,
     "run to the next barrier, back to the last one",
     {{Command::step_barrier, GLFW_KEY_B, 0, "B", 1, "run to the next barrier"},
      {Command::step_barrier_back, GLFW_KEY_B, shift, "Shift+B", 1,
       "run back to the last barrier"}}},
    {microscope,
     "run to the next breakpoint, back to the one before",
     {{Command::run_to_break, GLFW_KEY_F5, 0, "F5", 1, "run to the next breakpoint"},
      {Command::run_back_to_break, GLFW_KEY_F5, shift, "Shift+F5", 1,
       "run back to the breakpoint before"}}},
    {microscope,
     "set or remove a breakpoint at the line that runs next",
     {{Command::toggle_breakpoint, GLFW_KEY_F9, 0, "F9"}}},
    {microscope,
     "go to the next race of the block, to the one before",
     {{Command::next_race, GLFW_KEY_N, 0, "N", 1, "go to the next race of the block"},
      {Command::previous_race, GLFW_KEY_N, shift, "Shift+N", 1,
       "go to the race of the block before"}}},
    {microscope, "play or pause", {{Command::toggle_play, GLFW_KEY_SPACE, 0, "Space"}}},
    {microscope,
     "go to the start, to the end",
     {{Command::go_to_start, GLFW_KEY_HOME, 0, "Home", 1, "go to the start of the block"},
      {Command::go_to_end, GLFW_KEY_END, 0, "End", 1, "go to the end of the block"}}},
    {microscope,
     "show or hide the PTX beside the source",
     {{Command::toggle_ptx, GLFW_KEY_P, 0, "P"}}},
    {microscope,
     "set or remove a bookmark at this step, go to the next one",
     {{Command::toggle_bookmark, GLFW_KEY_K, 0, "K", 1, "set or remove a bookmark at this step"},
      {Command::next_bookmark, GLFW_KEY_K, shift, "Shift+K", 1, "go to the next bookmark"}}},
    {microscope,
     "explain the words of the line that runs next",
     {{Command::explain_line, GLFW_KEY_F1, 0, "F1"}}},
    {microscope, "choose another thread in the picture", {}, "Click"},
    {microscope, "beside a line's number: set or remove a breakpoint", {}, "Click"},
    {microscope,
     "on a word of shared memory: watch its writes, or stop watching them",
     {},
     "Right click"},
    {microscope, "close the microscope", {{Command::close_microscope, GLFW_KEY_ESCAPE, 0, "Esc"}}},
    {editor, "on a mark: take a barrier out, put it back", {}, "Click"},
    {editor,
     "undo, redo",
     {{Command::undo, GLFW_KEY_Z, control, "Ctrl+Z", 1, "undo in the editor"},
      {Command::redo, GLFW_KEY_Y, control, "Ctrl+Y", 1, "redo in the editor"},
      {Command::redo, GLFW_KEY_Z, control | shift, "Ctrl+Shift+Z"}}},
    {editor, "explain the word at the cursor", {{Command::explain_word, GLFW_KEY_F1, 0, "F1"}}},
    {editor, "save the source", {{Command::save_kernel, GLFW_KEY_S, control, "Ctrl+S"}}},
    {editor,
     "save the source to another file, and go on in that",
     {{Command::save_kernel_as, GLFW_KEY_S, control | shift, "Ctrl+Shift+S"}}},
    {editor, "indent, unindent", {}, "Tab  Shift+Tab"},
    {editor, "comment lines out, or in again", {}, "Ctrl+/"},
    {editor, "move lines up, down", {}, "Alt+↑  Alt+↓"},
    {editor, "delete lines", {}, "Ctrl+Shift+K"},
    {editor, "leave the text", {}, "Esc"},
    {presentation,
     "open the next, the previous prepared state",
     {{Command::next_state, GLFW_KEY_RIGHT, 0, "→"},
      {Command::previous_state, GLFW_KEY_LEFT, 0, "←"}}},
});

const Shortcut* find_exactly(KeyScope scope, int key, int modifiers) {
    for (const KeyRow& row : table) {
        if (row.scope != scope) continue;
        for (const Shortcut& one : row.shortcuts)
            if (key >= one.key && key < one.key + one.keys && one.modifiers == modifiers)
                return &one;
    }
    return nullptr;
}

}  // namespace

bool Shortcut::works_while_typing() const {
    return (modifiers & control) != 0 || key >= GLFW_KEY_F1;
}

std::string KeyRow::keys() const {
    std::string words(other);
    const Shortcut* before = nullptr;
    for (const Shortcut& one : shortcuts) {
        if (!*one.name) continue;
        if (before) words += before->command == one.command ? " or " : "  ";
        words += one.name;
        before = &one;
    }
    return words;
}

std::span<const KeyRow> key_table() {
    return table;
}

const Shortcut* find_shortcut(KeyScope scope, int key, int modifiers) {
    modifiers &= control | shift;
    const Shortcut* exact = find_exactly(scope, key, modifiers);
    return exact ? exact : find_exactly(scope, key, modifiers & ~shift);
}

std::string keys_of(Command command) {
    std::string names;
    for (const KeyRow& row : table)
        for (const Shortcut& one : row.shortcuts)
            if (one.command == command && *one.name)
                names += (names.empty() ? "" : tr(" or ")) + std::string(one.name);
    return names;
}

std::string with_key(std::string_view sentence, Command command) {
    const std::string names = keys_of(command);
    return names.empty() ? tr("{}.", sentence) : tr("{} ({}).", sentence, names);
}

}  // namespace warpscope::ui
