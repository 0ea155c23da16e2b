#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace warpscope::ui {

/// Makes the last item a stop of Tab, if it takes keys. Stops follow each other in the order in
/// which they are drawn, through all panels of the window that has the focus. (Dear ImGui's own Tab
/// key goes through the text fields of one panel.)
void tab_stop(std::string_view id);

/// Whether a person uses the keyboard for widgets.
bool keyboard_is_used();

/// Makes a word of the last item, a text, a stop of Tab while the keyboard is in use. A panel has
/// one stop for each word, at its first place. Returns whether the stop has the focus; then it has
/// a ring.
bool word_stop(ImVec2 low, ImVec2 high, const std::string& word);

struct FocusedStop {
    std::string id;  ///< of a word: "word:WORD"; empty: no stop has the focus, or it moves
    ImVec2 low, high;
};
/// At the end of a frame: moves the focus to the next stop (1), to the one before (-1), or not (0).
/// Returns the stop that has it in this frame.
FocusedStop end_stops(int direction);

/// Draws a ring around the last item if the keys go to it. `unit`: a logical pixel.
void focus_ring(float unit);

}  // namespace warpscope::ui
