#include "ui/microscope_tile/tile_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ui/language/language.h"
#include "ui/microscope_tile/copies_rows.h"
#include "ui/widgets/format.h"
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

/// Draws the shared memory of the other blocks of the cluster, side by side, in the colours of the
/// tile. A click steps that block instead. Nothing for a block that runs alone.
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

/// A grid of square cells, a cell for each word, with `row` words in a row.
struct Grid {
    ImVec2 low;
    float cell;
    unsigned row;
    std::size_t words;
    ImVec2 at(std::size_t word) const {
        const std::size_t x = word % row, y = word / row;
        return {low.x + cell * float(x), low.y + cell * float(y)};
    }
    std::size_t rows() const { return (words + row - 1) / row; }
};

constexpr std::array<unsigned, 8> row_choices{0, 8, 16, 17, 18, 32, 33, 64};

/// What the colours of the states mean, each word in its colour.
void legend_of_states(Ui& ui) {
    const std::array<std::pair<WordState, const char*>, 5> states{
        {{WordState::free, tr("free")},
         {WordState::in_flight, tr("in flight")},
         {WordState::landed, tr("landed")},
         {WordState::read, tr("read")},
         {WordState::overwritten, tr("overwritten")}}};
    for (const auto& [state, word] : states) {
        if (state != WordState::free) {
            ImGui::SameLine(0, ui.px(8));
            ImGui::PushFont(ui.fonts.small);
            if (ImGui::CalcTextSize(word).x > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
            ImGui::PopFont();
        }
        text(ui.fonts.small, state == WordState::free ? colour::dim : state_colour(state), word);
    }
    record(ui, "tile.states");
}

void header(Ui& ui, TileLook& look, unsigned usual) {
    const float room = ImGui::GetContentRegionAvail().x;
    const float right = ImGui::GetCursorPosX() + room;
    ImGui::PushFont(ui.fonts.strong);
    const float beside = room - ImGui::CalcTextSize(tr("Shared memory")).x - ui.px(8);
    ImGui::PopFont();
    const bool wide = beside >= ui.px(110);
    const float field = std::min(ui.px(138), wide ? beside : room);
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.strong, colour::text, tr("Shared memory"));
    if (wide) ImGui::SameLine(right - field, 0);
    std::vector<std::string> ids, labels;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < row_choices.size(); ++i) {
        if (row_choices[i] == look.words_in_row) chosen = i;
        const unsigned row = row_choices[i] == 0 ? usual : row_choices[i];
        ids.push_back(i == 0 ? "auto" : fmt::format("{}", row));
        labels.push_back(tr("{}{} per row", i == 0 ? tr("auto: ") : "", row));
    }
    const int clicked = dropdown(ui, "tile.row", ids, labels, chosen, field);
    if (clicked >= 0) look.words_in_row = row_choices[std::size_t(clicked)];
    const int by = segments(ui, "tile.by", {"value", "writer", "epoch", "state"},
                            {tr("Value"), room >= ui.px(300) ? tr("Last writer") : tr("Writer"),
                             tr("Epoch"), tr("State")},
                            std::size_t(look.colour), ImGui::GetContentRegionAvail().x);
    if (by >= 0) look.colour = TileColour(by);
    if (look.colour == TileColour::state) legend_of_states(ui);
    ImGui::Dummy({0, ui.px(2)});
}

ImU32 rank_colour(int rank) {
    constexpr std::array<ImU32, 4> colours{IM_COL32(255, 150, 60, 255), IM_COL32(240, 220, 80, 255),
                                           IM_COL32(230, 110, 200, 255),
                                           IM_COL32(150, 230, 120, 255)};
    return colours[unsigned(rank) % colours.size()];
}

/// What the corners mean, where there are any.
void legend_of_corners(Ui& ui, std::span<const WordView> words) {
    const auto has = [&](auto is) { return std::any_of(words.begin(), words.end(), is); };
    const bool landed = has([](const WordView& w) { return w.copy == WordView::Copy::landed; });
    const bool others = has([](const WordView& w) { return w.writer_rank >= 0; });
    const std::string meaning = landed && others ? tr("corner below: landed, above: other block")
                                : landed         ? tr("corner below: a copy has landed")
                                : others         ? tr("corner above: another block wrote")
                                                 : "";
    if (meaning.empty()) return;
    clipped_text(ui.fonts.small, colour::dim, meaning, ImGui::GetContentRegionAvail().x);
    record(ui, "tile.corners", meaning);
    tooltip(ui,
            tr("Blue, below: an asynchronous copy has landed in the word, and no thread has stored "
               "there since. Above, in a colour of the rank: a thread of another block of the "
               "cluster wrote it last."));
}

/// What the red frames mean, where there are any.
void legend(Ui& ui, std::span<const WordView> words, const Reason* reason) {
    if (reason && reason->word) {
        const std::string meaning =
            tr("filled red: word {}, which was read{}", *reason->word,
               reason->shared.size() > 1 ? tr("; blue: other words behind the wrong value") : "");
        paragraph(ui.fonts.small, colour::bad, meaning);
        return record(ui, "tile.legend", meaning);
    }
    const auto has = [&](auto is) { return std::any_of(words.begin(), words.end(), is); };
    const bool races = has([](const WordView& word) { return word.hazard; });
    const bool stale = has(is_stale_read);
    const std::string meaning = races && stale ? tr("red: a race, or read before it was written")
                                : races        ? tr("red: a race")
                                : stale        ? tr("red: read before it was written")
                                               : "";
    paragraph(ui.fonts.small, colour::bad, meaning);
    record(ui, "tile.legend", meaning);
}

std::string thread_name(const Microscope& microscope, std::int32_t thread) {
    return name_of(microscope.thread(unsigned(thread) / 32, unsigned(thread) % 32));
}

/// The tooltip of a word: its value, its last writer and its last reader.
std::string words_about(const Microscope& microscope, std::size_t index) {
    const emulator::Stepper& stepper = microscope.stepper();
    const emulator::Kernel& kernel = stepper.kernel();
    const WordView& word = stepper.words()[index];
    const std::uint32_t bits = word_bits(stepper.shared_memory(), index);
    std::string words = tr("word {}, byte {}, bank {}\n{} (0x{:08x})", index, index * 4, index % 32,
                           word_text(word_type(kernel), bits), bits);
    const auto party = [&](const char* did, std::int32_t thread, int rank, std::uint32_t pc,
                           std::uint32_t epoch) {
        words +=
            tr("\n{} by thread {} of warp {}{}, {}, after {}", did, thread_name(microscope, thread),
               thread / 32, rank < 0 ? "" : tr(" of block {} of the cluster", rank),
               microscope.where(pc), counted(epoch, "barrier"));
    };
    if (is_stale_read(word))
        words += tr("\nread before this block wrote it; an earlier block left the value");
    else if (word.writer == WordView::nobody)
        words += tr("\nnot written by this block; an earlier block left the value");
    else
        party(tr("written"), word.writer, word.writer_rank, word.write_pc, word.write_epoch);
    if (word.reader != WordView::nobody)
        party(tr("read"), word.reader, word.reader_rank, word.read_pc, word.read_epoch);
    const Reason* reason = microscope.reason();
    if (reason && reason->word == index && reason->word_of_memory().writer) {
        const emulator::PartingWriter& writer = *reason->word_of_memory().writer;
        words +=
            tr("\nwarp {} writes the right value at {}", writer.warp, microscope.where(writer.pc));
        if (writer.step) words += tr(", step {}", *writer.step + 1);
    }
    if (word.hazard) words += tr("\nno barrier orders these accesses: a race");
    const std::string copy = words_of_copy_to(microscope, word);
    return copy.empty() ? words : words + "\n" + copy;
}

/// The words of the block's newest step, if it accessed shared memory.
std::vector<std::size_t> newest_words(const emulator::Stepper& stepper) {
    if (stepper.position() == 0) return {};
    const emulator::Step& step = stepper.history()[stepper.position() - 1];
    const auto access = stepper.shared_access(step.warp);
    if (!access || access->step + 1 != stepper.position()) return {};
    return words_of(*access);
}

void draw_cells(Ui& ui, Microscope& microscope, TileLook& look, const Grid& grid, std::size_t first,
                std::size_t last) {
    const emulator::Stepper& stepper = microscope.stepper();
    const std::span<const WordView> words = stepper.words();
    const std::vector<ImU32> colours = tile_colours(
        look.colour, word_type(stepper.kernel()), stepper.shared_memory(), words, stepper.epoch());
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float gap = grid.cell > ui.px(7) ? ui.px(1) : 0.5F;
    const auto fill = [&](std::size_t i, ImU32 colour) {
        const ImVec2 low = grid.at(i);
        list.AddRectFilled({low.x, low.y}, {low.x + grid.cell - gap, low.y + grid.cell - gap},
                           colour);
    };
    for (std::size_t i = first; i < last; ++i) fill(i, colours[i]);
    // Corners: who has filled the word, where it is not a store of this block.
    const auto corner = [&](std::size_t i, bool above, ImU32 colour) {
        const ImVec2 low = grid.at(i);
        const float side = std::min(grid.cell - gap, std::max(3.F, grid.cell * 0.45F));
        const float edge = above ? low.y : low.y + grid.cell - gap;
        list.AddTriangleFilled({low.x, edge}, {low.x + side, edge},
                               {low.x, above ? edge + side : edge - side}, colour);
    };
    for (std::size_t i = first; i < last; ++i) {
        if (words[i].copy == WordView::Copy::in_flight) fill(i, faded(in_flight_colour, 0.6F));
        if (words[i].copy == WordView::Copy::landed) corner(i, false, in_flight_colour);
        if (words[i].writer_rank >= 0) corner(i, true, rank_colour(words[i].writer_rank));
    }
    const auto frame = [&](std::size_t i, ImU32 colour, float width) {
        const ImVec2 low = grid.at(i);
        list.AddRect({low.x - gap / 2, low.y - gap / 2},
                     {low.x + grid.cell - gap / 2, low.y + grid.cell - gap / 2}, colour, 0, 0,
                     width);
    };
    for (const std::size_t i : newest_words(stepper))
        if (i >= first && i < last) frame(i, IM_COL32_WHITE, ui.px(1.2F));
    for (std::size_t i = first; i < last; ++i)
        if (words[i].hazard || is_stale_read(words[i])) frame(i, colour::bad, ui.px(1.6F));
    if (const Reason* reason = microscope.reason()) {
        for (const std::size_t i : reason->shared)
            if (i >= first && i < last) frame(i, colour::accent, ui.px(1.6F));
        if (reason->word && *reason->word >= first && *reason->word < last) {
            fill(*reason->word, faded(colour::bad, 0.75F));
            frame(*reason->word, colour::bad, ui.px(2.4F));
            record_rect(ui, grid.at(*reason->word), grid.at(*reason->word + 1), "tile.wrong",
                        std::to_string(*reason->word));
        }
    }
    if (const emulator::Finding* finding = microscope.shown_finding(); finding && finding->byte) {
        const std::size_t i = *finding->byte / 4;
        if (i >= first && i < last) {
            frame(i, colour::accent, ui.px(2.4F));
            record_rect(ui, grid.at(i), grid.at(i + 1), "tile.finding", std::to_string(i));
        }
    }
    for (const emulator::Watchpoint& watch : microscope.breaks().watches) {
        const std::size_t i = watch.address / 4;
        if (watch.space != emulator::Space::shared || i < first || i >= last) continue;
        const ImVec2 low = grid.at(i);
        const ImVec2 centre{low.x + (grid.cell - gap) / 2, low.y + (grid.cell - gap) / 2};
        const float radius = std::max(2.F, grid.cell * 0.28F);
        list.AddCircleFilled(centre, radius + ui.px(1), colour::canvas);
        if (watch.enabled)
            list.AddCircleFilled(centre, radius, colour::breakpoint);
        else
            list.AddCircle(centre, radius, colour::breakpoint);
    }
}

/// The mouse over a word shows its tooltip; a click lands the copy that is in flight to it, or else
/// picks the thread that wrote it; a right click sets or removes a watchpoint.
void pointer(Ui& ui, Microscope& microscope, const Grid& grid) {
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float x = (mouse.x - grid.low.x) / grid.cell, y = (mouse.y - grid.low.y) / grid.cell;
    if (x < 0 || y < 0 || unsigned(x) >= grid.row) return;
    const std::size_t word = std::size_t(y) * grid.row + std::size_t(x);
    if (word >= grid.words) return;
    const WordView& here = microscope.stepper().words()[word];
    const std::int32_t writer = here.writer;
    const bool lands = here.copy == WordView::Copy::in_flight && here.copy_rank < 0;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && lands)
        ui.later([&microscope, copy = here.copy_number] { microscope.land(copy); });
    else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && writer != WordView::nobody)
        ui.later([&microscope, writer] {
            microscope.pick(unsigned(writer) / 32, unsigned(writer) % 32);
        });
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        ui.later([&microscope, word] { microscope.toggle_watch(word); });
    quick_tooltip(ui, words_about(microscope, word) +
                          (lands ? tr("\nClick: land this copy now.") : "") +
                          tr("\nRight-click: watch this word, or stop watching it."));
}

void grid(Ui& ui, Microscope& microscope, TileLook& look, unsigned row) {
    const emulator::Stepper& stepper = microscope.stepper();
    const std::span<const WordView> all = stepper.words();
    const std::size_t words = all.size();
    const std::size_t rows = (words + row - 1) / row;
    // Below many rows about copies and blocks, the panel is scrolled.
    ImVec2 room = ImGui::GetContentRegionAvail();
    room.y = std::max(room.y, std::min(room.x, ui.px(120)));
    const float widest = std::floor(room.x / float(row));
    const float whole = std::floor(room.y / float(rows));
    // A cell is large enough to point at. Rows that have no room are reached by scrolling.
    const float cell = std::max(1.F, std::min(widest, std::max(whole, std::min(widest, ui.px(7)))));
    ImGui::BeginChild("cells", room, false);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float indent = std::floor((ImGui::GetContentRegionAvail().x - cell * float(row)) / 2);
    const Grid grid{{at.x + std::max(0.F, indent), at.y}, cell, row, words};
    const float scroll = ImGui::GetScrollY(), height = ImGui::GetWindowHeight();
    const auto first = std::size_t(scroll / cell) * row;
    const auto last = std::min(words, (std::size_t((scroll + height) / cell) + 1) * row);
    if (first < last) draw_cells(ui, microscope, look, grid, first, last);
    ImGui::SetCursorScreenPos(grid.low);
    hit_area("tile", {cell * float(row), cell * float(grid.rows())});
    const auto hazards =
        std::count_if(all.begin(), all.end(), [](const WordView& w) { return w.hazard; });
    const auto written =
        std::count_if(all.begin(), all.end(), [](const WordView& w) { return w.writer >= 0; });
    record_rect(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), "tile.stale",
                std::to_string(std::count_if(all.begin(), all.end(), is_stale_read)));
    record(ui, "tile",
           tr("{} words, {} a row, {} written, {} hazards", words, row, written, hazards));
    pointer(ui, microscope, grid);
    ImGui::EndChild();
}

}  // namespace

void TilePanel::draw(Ui& ui) {
    const Microscope& microscope = microscope_;
    if (!microscope.ready() || microscope.stepper().words().empty()) {
        text(ui.fonts.strong, colour::text, tr("Shared memory"));
        const std::string words =
            microscope.ready() ? tr("This kernel uses no shared memory.") : "";
        paragraph(ui.fonts.body, colour::dim, words);
        record(ui, "tile.none", words);
        return;
    }
    const std::size_t words = microscope.stepper().words().size();
    const unsigned usual = usual_row(microscope.launch().block, words);
    header(ui, look_, usual);
    draw_cluster_tiles(ui, microscope_, look_.colour);
    legend(ui, microscope.stepper().words(), microscope.reason());
    draw_copies(ui, microscope_);
    legend_of_corners(ui, microscope.stepper().words());
    grid(ui, microscope_, look_, look_.words_in_row == 0 ? usual : look_.words_in_row);
}

}  // namespace warpscope::ui
