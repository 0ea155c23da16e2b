#pragma once

#include <optional>
#include <set>
#include <string>

#include "ui/dock/verdict_card.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// What a press on a card asks for.
struct CardPress {
    enum class What {
        nothing,
        place,    ///< to see finding.place() in the microscope
        first,    ///< to see the thread of finding.first
        second,   ///< to see the thread of finding.second
        sentence  ///< to read the sentence, or no longer
    };
    What what = What::nothing;
    bool hovered = false;
    bool by_right_button = false;
};

/// How a card is drawn.
struct CardStyle {
    Mark mark = Mark::octagon;
    std::optional<ImU32> ink{};  ///< empty: the mark's
    bool is_lit = false;
    bool is_open = false;  ///< the sentence of a race is on show; that of others always is
};

/// A finding's kind in a word or two: "read too early".
std::string kind_of(const emulator::Finding& finding);
Mark mark_of(const emulator::Finding& finding);

/// Draws a finding, as wide as the panel: its kind, its count and, of a race, the two source lines
/// with a thread each.
CardPress finding_card(Ui& ui, const Stage& stage, const emulator::Finding& finding,
                       const std::string& id, const CardStyle& style);

/// The finding as if it were about the thread of one of its two sides alone; its hazard is then
/// `none` for a thread that reads and `write_after_write` for one that writes.
emulator::Finding of_one_side(const emulator::Finding& finding, CardPress::What side);

}  // namespace warpscope::ui
