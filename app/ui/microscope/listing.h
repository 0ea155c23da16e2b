#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "ui/microscope/microscope.h"
#include "ui/source/find_bar.h"
#include "ui/source/kernel_text.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The lanes of a warp that are at one line.
struct Chip {
    std::uint32_t row = 0;
    unsigned warp = 0;
    std::uint32_t mask = 0;
    emulator::SplitView::State state = emulator::SplitView::State::running;
    bool whole = true;    ///< these are all lanes that have not exited
    bool acting = false;  ///< these lanes take the next step
};

/// A kernel's text with the warps at their lines.
struct Listing {
    std::string id;  ///< prefix of the widgets' ids: "source", "ptx"
    const KernelText* text = nullptr;
    std::vector<Chip> chips;             ///< ordered by row, then by warp
    std::vector<std::uint32_t> hazards;  ///< rows with races
    std::optional<std::uint32_t> focus;  ///< the row that the next step runs
    /// The file to whose lines breakpoints belong; empty: the PTX.
    std::string file;
    const FindBar* find = nullptr;  ///< searches this text; null: it searches another
    CodeHelp* help = nullptr;       ///< explains the focused row; null: that of another text
    /// Words at the right edge of a row.
    struct Remark {
        std::uint32_t row = 0;
        std::string words;
        std::optional<std::size_t> barrier{};  ///< index into Microscope::needed()
    };
    std::vector<Remark> needed{};   ///< how much depends on a barrier
    std::vector<Remark> reasons{};  ///< where a wrong value was read, and who writes the right one
    std::vector<std::uint32_t> slice{};  ///< rows behind the wrong value, ascending
};

/// How a listing is scrolled.
struct ListingView {
    bool following = true;      ///< the focused row stays in sight
    int settling = 0;           ///< frames until scrolling has come to rest
    std::optional<int> reveal;  ///< a row to scroll into the middle
    bool clicked = false;       ///< the person clicked it last
    double seen = 0;            ///< when the focused row was last in sight, in ImGui's seconds
};

/// Draws the listing in a scrolling child window of `size`. A click on a chip picks its warp in the
/// microscope; a click beside a line's number sets or removes a breakpoint. `moved`: the focus may
/// have moved, so the row is brought into sight.
void draw_listing(Ui& ui, Microscope& microscope, ListingView& view, const Listing& listing,
                  ImVec2 size, bool moved);

/// Where to scroll from `scroll` so that a line at `y` is in sight, with a margin: for a near line
/// no farther than needed, so that the eye finds its place again.
float scroll_into_sight(float y, float line, float scroll, float height);

}  // namespace warpscope::ui
