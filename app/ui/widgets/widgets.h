#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "experiments/framework/report.h"
#include "ui/language/language.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Adds the last ImGui item, or a rectangle, to the widget map.
void record(Ui& ui, std::string id, std::string value = {}, bool enabled = true);
void record_rect(Ui& ui, ImVec2 low, ImVec2 high, std::string id, std::string value = {});

/// An invisible item at the cursor that takes the mouse and the keyboard, at least one pixel wide
/// and high, as Dear ImGui demands (a tiny window leaves some panels less). True when clicked.
bool hit_area(const std::string& id, ImVec2 size,
              ImGuiButtonFlags buttons = ImGuiButtonFlags_MouseButtonLeft);

/// True in the frame in which the key goes down, and when it repeats.
bool key_pressed(ImGuiKey key);

/// ImGui::BeginPopup() with this padding, in logical pixels.
bool begin_popup(const Ui& ui, const char* name, ImVec2 padding);
/// A popup in the middle of the window that asks something. False: it is closed.
bool begin_dialog(const Ui& ui, const char* name);
/// Ends a dialog that is open, and closes it if it is `done`.
void end_dialog(bool done);

/// ImGui::BeginChild() without a border, but with the style's padding.
void begin_padded_child(const char* name, ImVec2 size, ImGuiWindowFlags flags = 0);
/// ImGui::EndChild() where the cursor may lie below the last item: the contents reach to it.
void end_child();

/// Width of a character of the current, monospaced font; not rounded, unlike CalcTextSize().
float character_width();
/// Size of text in a font, for ImDrawList::AddText().
float text_size(const ImFont* font);

/// Adds words that are drawn with less room than they need to `words` from now on. Null, as at
/// first: to none. For tests.
void collect_cut_words(std::vector<std::string>* words);
/// Collects the words where `width` is too little for them.
void note_if_cut(std::string_view words, float width);

/// ImGui::SameLine(), unless the line has no room for an item of this width.
void same_line_if_room(float gap, float width);
/// Text in a font and colour, from the current place on.
void text(ImFont* font, ImU32 colour, std::string_view words);
/// The words with line ends where a line of the current font would be wider than `width`.
std::string wrapped(std::string_view words, float width);
/// The words, or those of them that fit into the width in the current font, and "…".
std::string shortened(std::string_view words, float width);
/// Text that is wrapped at the right edge of the panel, or after `width`.
void paragraph(ImFont* font, ImU32 colour, std::string_view words, float width = 0);
/// Text on one line. Where `width` is too narrow it ends in "…", and a tooltip has the whole text.
void clipped_text(ImFont* font, ImU32 colour, std::string_view words, float width);
void heading(Ui& ui, std::string_view words);
/// A thin line that separates two parts of a panel.
void rule(Ui& ui);
/// A small label on a filled background. Returns its width.
float badge(Ui& ui, std::string_view words, ImU32 colour);
ImU32 verdict_colour(experiments::Verdict verdict);
/// "pass", "unproven", "wrong".
std::string verdict_word(experiments::Verdict verdict);

/// A menu that a right click on an area opens: it explains what is there, copies the value, and
/// sets it back where `reset` can, and plots its newest values, the oldest on the left.
void context_menu(Ui& ui, const std::string& id, ImVec2 low, ImVec2 high, const std::string& value,
                  std::string_view words, const std::function<void()>& reset = {},
                  const std::vector<float>& newest = {});

/// Shows a sentence near the mouse after the mouse has rested on the last item for half a second.
void tooltip(Ui& ui, std::string_view words);
/// Shows the delayed tooltip of something that is no ImGui item. Call it while the mouse is on it.
/// `corner` tells it from others.
void tooltip_at(Ui& ui, ImVec2 corner, std::string_view words);
/// At the end of a frame: explains the word under the mouse where no tooltip did (glossary.h).
void explain_hovered_word(Ui& ui);
/// A tooltip without delay, for contents that change with every movement of the mouse.
void quick_tooltip(Ui& ui, std::string_view words);
/// A tooltip below a rectangle where the keyboard is.
void tooltip_beside(Ui& ui, ImVec2 low, ImVec2 high, std::string_view words);

/// A switch with the word on or off; `width` includes the word. True when clicked.
bool toggle_switch(Ui& ui, const std::string& id, bool on, float width);
/// Width of a button with this label.
float button_width(const char* label);
/// A push button; `on` draws it as switched on. True when clicked.
bool flat_button(Ui& ui, const std::string& id, const char* label, bool on = false,
                 ImVec2 size = {0, 0});
/// Labels side by side, one of which is chosen. Returns the index of the label clicked, or -1. The
/// widget map has the entries as "ID:ENTRY".
int segments(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width);
float segments_width(const std::vector<std::string>& labels);
/// A list that opens. Returns the index of the entry clicked, or -1. The widget map has the open
/// list's entries as "ID:ENTRY".
int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width);
/// A text field that shows `current` until a person types. Returns true when Enter, or leaving the
/// field, confirms another text, which is then in `typed`. `hint` stands there while it is empty.
bool field(Ui& ui, const std::string& id, const std::string& current, float width,
           std::string& typed, const std::string& hint = {});

/// The values as a line, the oldest on the left. The lower end is at most 80 % of the largest
/// value, so that small changes look small.
void sparkline(Ui& ui, const std::vector<float>& values, ImVec2 size);

/// The values of an enum as entries of a list, in the order of compute::words_of.
struct EnumEntries {
    std::vector<std::string> ids, labels;
    std::size_t chosen = 0;
};

template <class Enum>
EnumEntries entries_of(Enum chosen) {
    EnumEntries entries;
    for (const compute::Word<Enum>& word : compute::words_of<Enum>) {
        if (word.value == chosen) entries.chosen = entries.ids.size();
        entries.ids.emplace_back(word.name);
        entries.labels.emplace_back(tr(word.label));
    }
    return entries;
}

template <class Enum>
std::optional<Enum> entry_clicked(int index) {
    if (index < 0 || std::size_t(index) >= compute::words_of<Enum>.size()) return {};
    return compute::words_of<Enum>[std::size_t(index)].value;
}

/// The tooltip of a choice of the barrier policy.
inline constexpr const char* barrier_policy_help = tr_later(
    "The threads for which a barrier of the emulator waits. Volta and later: every thread that has "
    "not exited. Before Volta: one arrival of a warp counts for all its lanes. Strict PTX ISA: as "
    "Volta, but lanes that arrive without the rest of their warp are an error.");

/// Draws a list that opens, of the values of an enum. Returns the value that was clicked.
template <class Enum>
std::optional<Enum> enum_dropdown(Ui& ui, const std::string& id, Enum chosen, float width) {
    const EnumEntries all = entries_of(chosen);
    return entry_clicked<Enum>(dropdown(ui, id, all.ids, all.labels, all.chosen, width));
}

/// Draws the values of an enum side by side. Returns the value that was clicked.
template <class Enum>
std::optional<Enum> enum_segments(Ui& ui, const std::string& id, Enum chosen, float width) {
    const EnumEntries all = entries_of(chosen);
    return entry_clicked<Enum>(segments(ui, id, all.ids, all.labels, all.chosen, width));
}

}  // namespace warpscope::ui
