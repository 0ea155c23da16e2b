#include "ui/microscope_tile/cluster_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::TileView;
using emulator::WordView;

/// Cells of all tiles together: more of them could not be told apart, and would take time.
constexpr std::size_t most_cells = 8192;

/// How many tiles stand beside each other. A single one takes half of the room.
std::size_t columns_of(std::size_t tiles) {
    return tiles <= 4 ? std::max<std::size_t>(tiles, 2) : 8;
}

std::string words_about(const Microscope& microscope, const TileView& tile) {
    const auto count = [&](WordState state) {
        return std::ranges::count(tile.words, state, [](const WordView& w) { return state_of(w); });
    };
    const emulator::Dim3 at = emulator::index_in(microscope.launch().grid, tile.block);
    return tr(
        "block {} of the cluster, ({}, {}, {}) of the grid{}: {} of {} words free, "
        "{} in flight, {} written, {} read since",
        tile.rank, at.x, at.y, at.z, tile.ended ? tr(", has ended") : "", count(WordState::free),
        tile.words.size(), count(WordState::in_flight), count(WordState::landed),
        count(WordState::read));
}

/// Fills the rectangle. A cell stands for `together` words, and has the colour of the first of them
/// to which a copy is in flight, or else of its first one.
void draw_words(const TileView& tile, const std::vector<ImU32>& colours, ImVec2 low, float width,
                float height, unsigned row, std::size_t together) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::size_t cells = (tile.words.size() + together - 1) / together;
    const std::size_t rows = (cells + row - 1) / row;
    const float wide = width / float(row), high = height / float(rows);
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::size_t word = cell * together;
        const std::size_t end = std::min(word + together, tile.words.size());
        for (std::size_t w = word; w < end; ++w)
            if (tile.words[w].copy == WordView::Copy::in_flight) word = w;
        const bool in_flight = tile.words[word].copy == WordView::Copy::in_flight;
        const ImVec2 at{low.x + wide * float(cell % row), low.y + high * float(cell / row)};
        list.AddRectFilled(at, {at.x + wide, at.y + high},
                           in_flight ? in_flight_colour : colours[word]);
    }
}

}  // namespace

void draw_cluster_tiles(Ui& ui, Microscope& microscope, TileColour by) {
    const emulator::Stepper& stepper = microscope.stepper();
    const std::vector<TileView> tiles = stepper.other_tiles();
    if (tiles.empty()) return;
    text(ui.fonts.small, colour::dim,
         tr("This is block {}. Other blocks of the cluster:", stepper.rank()));
    tooltip(
        ui,
        tr("The blocks of the cluster run together, each in its turns. Click a block to step it "
           "instead, from its start."));
    const std::size_t columns = columns_of(tiles.size()), words = tiles[0].words.size();
    const std::size_t together = words * tiles.size() / most_cells + 1;
    const unsigned row = usual_row(microscope.launch().block, words / together);
    const float gap = ui.px(6), room = ImGui::GetContentRegionAvail().x;
    const float rows = std::ceil(float(words) / float(together) / float(row));
    const float widest = std::floor((room - gap * float(columns - 1)) / float(columns));
    const float cell = std::min(widest / float(row), ui.px(72) / rows);
    const float width = columns > 4 ? widest : std::max(cell * float(row), ui.px(64));
    const float height = std::clamp(width * rows / float(row), ui.px(8), ui.px(72));
    ImGui::PushFont(ui.fonts.small);
    const float line = ImGui::GetTextLineHeight();
    for (std::size_t k = 0; k < tiles.size(); ++k) {
        const TileView& tile = tiles[k];
        if (k % columns) ImGui::SameLine(0, gap);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const std::string id = fmt::format("tile.block:{}", tile.rank);
        const bool clicked = hit_area(id, {width, height + line});
        const bool hovered = ImGui::IsItemHovered();
        draw_words(
            tile,
            tile_colours(by, word_type(stepper.kernel()), tile.memory, tile.words, tile.epoch),
            {at.x, at.y + line}, width, height, row, together);
        const std::string name = columns > 4  ? fmt::format("{}", tile.rank)
                                 : tile.ended ? tr("block {}, ended", tile.rank)
                                              : tr("block {}", tile.rank);
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddText(at, tile.ended ? colour::faint : colour::text, name.c_str());
        if (hovered)
            list.AddRect({at.x, at.y + line}, {at.x + width, at.y + line + height}, colour::accent);
        const std::string about = words_about(microscope, tile);
        record(ui, id, about);
        tooltip(ui, about);
        if (clicked) ui.later([&microscope, rank = tile.rank] { microscope.show_rank(rank); });
    }
    ImGui::PopFont();
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace warpscope::ui
