#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "ui/source/kernel_text.h"
#include "ui/window/interface.h"

namespace warpscope::ui {

/// Of source text.
ImU32 ink_colour(Ink ink);
/// Of the monospaced font in use, not rounded as CalcTextSize() does.
float character_width();

/// Lanes of a warp at a line.
struct Chip {
    std::uint32_t row = 0;
    unsigned warp = 0;
    std::uint32_t mask = 0;
    emulator::SplitView::State state = emulator::SplitView::State::running;
    bool whole = true;    ///< all lanes that the warp still has
    bool acting = false;  ///< the next step moves these
};

/// A kernel's text with the warps in it.
struct Listing {
    std::string id;  ///< of the widgets: "source", "ptx"
    const KernelText* text = nullptr;
    std::vector<Chip> chips;             ///< by row, then by warp
    std::vector<std::uint32_t> hazards;  ///< rows
    std::optional<std::uint32_t> focus;  ///< the row that the next step runs
};

/// Draws it, `size` large, scrolling. `moved`: the focus may have moved, so bring it into sight.
void draw_listing(Interface& ui, ListingView& view, const Listing& listing, ImVec2 size,
                  bool moved);

}  // namespace warpscope::ui
