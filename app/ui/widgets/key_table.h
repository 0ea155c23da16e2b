#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// The commands of keys and of buttons.
enum class Command {
    toggle_pause,
    step_frame,
    reset,
    select_experiment,  ///< the experiment's number is the key's
    toggle_microscope,
    toggle_editor,
    fit_picture,
    toggle_grid,
    toggle_vsync,
    save_window,
    save_picture,
    toggle_keys,
    close_topmost,
    toggle_barrier,
    toggle_tile,
    next_view,
    undo_change,
    redo_change,
    open_file,
    show_palette,
    toggle_lessons,
    start_tour,
    show_words,
    show_book,
    next_state,
    previous_state,
    toggle_marks,
    toggle_presentation,
    toggle_second_window,
    larger,
    smaller,
    usual_size,
    toggle_light,
    copy_value,
    copy_findings,
    copy_csv,
    copy_markdown,
    copy_json,
    copy_command,
    copy_link,
    copy_picture,
    save_page,
    save_trace,
    ask_recording,
    toggle_recording,
    toggle_picture_recording,
    discard_recording,
    toggle_controls,
    toggle_results,
    toggle_dock,
    toggle_maximized,
    quit,
    // Commands while the microscope is open.
    close_microscope,
    step_instruction,
    step_instruction_back,
    step_line,
    step_line_back,
    step_barrier,
    step_barrier_back,
    run_to_break,
    run_back_to_break,
    toggle_breakpoint,
    next_race,
    previous_race,
    toggle_play,
    go_to_start,
    go_to_end,
    toggle_ptx,
    toggle_bookmark,
    next_bookmark,
    explain_line,
    // Commands while the editor is open.
    undo,
    redo,
    save_kernel,
    save_kernel_as,
    explain_word,
    // in texts: of the editor and of the microscope
    find_text,
    find_next,
    find_previous,
    go_to_line
};

/// When a key has its meaning. Keys of the open microscope or editor, and of a presentation, stand
/// before general ones.
enum class KeyScope { general, microscope, editor, presentation };

struct Shortcut {
    Command command;
    int key = 0;        ///< GLFW's number
    int modifiers = 0;  ///< GLFW_MOD_CONTROL, GLFW_MOD_SHIFT
    const char* name;   ///< "Shift+F12"; empty: the command has no key
    int keys = 1;       ///< select_experiment: this many keys from `key` on
    /// What this command alone does, where the row has several; empty: KeyRow::does says it.
    std::string_view does{};
    /// Whether the key is a command even while a person types text: with Ctrl, or a function key.
    bool works_while_typing() const;
};

/// A line of the list of keys. Lines of the mouse and of text fields have no shortcuts, since ImGui
/// carries them out, and say their keys in `other`.
struct KeyRow {
    KeyScope scope;
    std::string_view does;  ///< "fit the picture"
    std::vector<Shortcut> shortcuts;
    std::string_view other{};
    /// Names the keys: "H or F1", "→  ←"; empty: only the command palette has the commands.
    std::string keys() const;
};

/// Every key and every command of the app. The window's keys, the list that it shows, the command
/// palette and docs/keys.md come from this table. Tooltips take their keys from it with with_key().
std::span<const KeyRow> key_table();

/// The shortcut that a pressed key stands for; nullptr: none. Shift is ignored where no shortcut
/// asks for it.
const Shortcut* find_shortcut(KeyScope scope, int key, int modifiers);

/// "H or F1": the keys of a command; empty: it has none.
std::string keys_of(Command command);

/// Adds the keys of a command to a sentence: "Show the whole picture (F)."
std::string with_key(std::string_view sentence, Command command);

}  // namespace warpscope::ui
