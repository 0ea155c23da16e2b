#pragma once

#include "ui/stage/inspector.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A state as a shape, which tells what its colour tells.
enum class Mark {
    ring,      ///< grey: not known, or a note
    disc,      ///< green, with a tick: no finding
    triangle,  ///< amber, with a stroke and a dot: a warning
    octagon    ///< red, with a cross: an error, or a value that may be wrong
};
Mark mark_of(const RaceSummary& summary);
ImU32 colour_of(Mark mark);
/// `r`: from the centre to the edge.
void draw_mark(Mark mark, ImVec2 centre, float r, ImU32 ink);

/// The verdict on the launch on show, as wide as the panel. True when clicked.
bool verdict_card(Ui& ui, const RaceSummary& summary);

/// The card's short form, for a window without the results: ends `right` before the right edge, in
/// as many words as have room. True when clicked.
bool verdict_pill(Ui& ui, const RaceSummary& summary, float right);
/// The width of a pill with these words.
float pill_width(const Ui& ui, const std::string& words);

}  // namespace warpscope::ui
