#include "ui/heat/heat_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "emulator/counters/access_counters.h"
#include "experiments/measure/kernel_figures.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::banks;

constexpr float most_height = 18, most_width = 36, least_height = 7;  ///< cells of shared memory
constexpr float most_side = 18, least_side = 4;                       ///< cells of global memory

std::uint64_t fitting(float room, float cell) {
    return std::uint64_t(std::max(1.F, std::floor(room / cell)));
}

std::uint64_t whole(std::uint64_t words, std::uint64_t in_each) {
    return (words + in_each - 1) / in_each;
}

HeatLayout in_rows(std::uint64_t words, std::uint64_t row, ImVec2 room, float unit) {
    HeatLayout layout{.words = words, .row = row};
    const auto fits = [&](float side) {
        return layout.columns() <= fitting(room.x, side) && layout.rows() <= fitting(room.y, side);
    };
    while (!fits(least_side * unit) && layout.across < row) layout.down = ++layout.across;
    float side = most_side * unit;
    while (!fits(side) && side > least_side * unit) side -= 1;
    layout.width = layout.height = std::max(1.F, std::floor(side));
    return layout;
}

HeatLayout as_many_as_fit(std::uint64_t words, ImVec2 room, float unit) {
    HeatLayout layout{.words = words};
    const auto columns = [&](float side) {
        const std::uint64_t fit = fitting(room.x, side);
        return fit >= banks ? fit / banks * banks : fit;
    };
    float side = most_side * unit;
    while (columns(side) * fitting(room.y, side) < words && side > least_side * unit) side -= 1;
    layout.width = layout.height = std::max(1.F, std::floor(side));
    layout.across = std::bit_ceil(whole(words, columns(side) * fitting(room.y, side)));
    layout.row = columns(side) * layout.across;
    return layout;
}

}  // namespace

HeatLayout shared_layout(const emulator::HeatArray& array, ImVec2 room, float unit) {
    HeatLayout layout{.words = array.words(),
                      .lead = array.begin / emulator::WordCounts::word_bytes % banks,
                      .row = banks};
    layout.width = std::floor(std::clamp(room.x / float(banks), 1.F, most_width * unit));
    layout.height = std::floor(std::clamp(room.y / float(std::max<std::size_t>(1, layout.rows())),
                                          least_height * unit, most_height * unit));
    return layout;
}

std::uint64_t row_of(const emulator::LaunchShape& launch, std::uint64_t words) {
    const std::uint64_t width = std::uint64_t(launch.grid.x) * launch.block.x;
    const std::uint64_t height = std::uint64_t(launch.grid.y) * launch.block.y;
    return height > 1 && words % width == 0 && words / width > 1 ? width : 0;
}

HeatLayout global_layout(std::uint64_t words, std::uint64_t row, ImVec2 room, float unit) {
    return row > 0 ? in_rows(words, row, room, unit) : as_many_as_fit(words, room, unit);
}

std::vector<HeatCell> heat_cells(const emulator::HeatArray& array, emulator::HeatFigure figure,
                                 const HeatLayout& layout) {
    std::vector<HeatCell> cells(layout.columns() * layout.rows());
    for (std::uint64_t word = 0; word < layout.words; ++word) {
        HeatCell& cell = cells[layout.cell_of(word)];
        const std::uint64_t count = array.count(figure, word);
        if (cell.words++ == 0) cell.first = cell.hottest = word;
        cell.sum += count;
        if (count > cell.most) {
            cell.most = count;
            cell.hottest = word;
        }
    }
    return cells;
}

ImU32 heat_colour(double share) {
    constexpr std::array<std::array<double, 3>, 9> stops{{{68, 1, 84},
                                                          {71, 45, 123},
                                                          {59, 82, 139},
                                                          {44, 114, 142},
                                                          {33, 145, 140},
                                                          {40, 174, 128},
                                                          {94, 201, 98},
                                                          {173, 220, 48},
                                                          {253, 231, 37}}};
    const double at = std::clamp(share, 0.0, 1.0) * double(stops.size() - 1);
    const auto below = std::min(std::size_t(at), stops.size() - 2);
    const double part = at - double(below);
    std::array<int, 3> mixed{};
    for (std::size_t c = 0; c < 3; ++c)
        mixed[c] = int(std::lround(stops[below][c] * (1 - part) + stops[below + 1][c] * part));
    return IM_COL32(mixed[0], mixed[1], mixed[2], 255);
}

void heat_scale(Ui& ui, const std::string& id, float right, float top, std::uint64_t most) {
    ImGui::PushFont(ui.fonts.mono_small);
    const std::string high = quantity(double(most), "");
    const float line = ImGui::GetTextLineHeight(), gap = ui.px(6);
    const float y = top + (ImGui::GetFrameHeight() - line) / 2;
    const float end = right - ImGui::CalcTextSize(high.c_str()).x - gap;
    const float width = ui.px(120), begin = end - width;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    constexpr int steps = 24;
    for (int i = 0; i < steps; ++i)
        list.AddRectFilled({begin + width * float(i) / steps, y},
                           {begin + width * float(i + 1) / steps, y + line},
                           heat_colour((i + 0.5) / steps));
    list.AddText({begin - gap - ImGui::CalcTextSize("0").x, y}, colour::dim, "0");
    list.AddText({end + gap, y}, colour::dim, high.c_str());
    ImGui::PopFont();
    record_rect(ui, {begin, y}, {end, y + line}, id, std::to_string(most));
}

namespace {

using emulator::HeatArray;
using emulator::HeatFigure;
using emulator::KernelHeat;

const ImU32& untouched = colour::raised;
constexpr float gutter = 56;  ///< for the index of a row's first word

std::string number(std::uint64_t n) {
    return quantity(double(n), "");
}

/// The figures that an array can have: global memory has no banks.
std::span<const compute::Word<HeatFigure>> figures_of(const HeatArray& array) {
    const std::span all(compute::words_of<HeatFigure>);
    return array.shared ? all : all.first(std::size_t(HeatFigure::conflicts));
}

std::string help_of(HeatFigure figure) {
    switch (figure) {
        case HeatFigure::reads:
            return tr("How many threads read each word.");
        case HeatFigure::writes:
            return tr("How many threads write each word.");
        case HeatFigure::atomics:
            return tr("How many threads access each word with an atomic.");
        case HeatFigure::races:
            return tr(
                "How many hazards the race check finds at each word: accesses that nothing "
                "orders after an earlier one by another thread.");
        case HeatFigure::conflicts:
            return tr(
                "Bank conflicts: wavefronts that the word's bank takes in addition, because a "
                "warp accesses other words of the bank too.");
    }
    return {};
}

/// Returns how many cells lie between two labels along an axis, so that the labels do not touch.
std::size_t label_distance(float label, float cell) {
    return std::bit_ceil(std::max<std::size_t>(1, std::size_t(std::ceil(label / cell))));
}

}  // namespace

const HeatArray& HeatPanel::choose_array(Ui& ui, const KernelHeat& kernel) {
    if (named_ != stage_.checks().inspection) {
        named_ = stage_.checks().inspection;
        names_.clear();
        for (const HeatArray& array : kernel.arrays)
            names_.push_back(experiments::heat_name(kernel, array, stage_.shown().edits));
    }
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < names_.size(); ++i)
        labels.push_back(tr("{}, {} memory, {}", names_[i],
                            kernel.arrays[i].shared ? tr("shared") : tr("global"),
                            quantity(double(kernel.arrays[i].bytes), "B")));
    auto chosen = std::size_t(std::ranges::find(names_, chosen_) - names_.begin());
    if (chosen == names_.size()) chosen = 0;
    const int clicked = dropdown(ui, "heat.array", names_, labels, chosen, ui.px(280));
    if (clicked >= 0) chosen_ = names_[chosen = std::size_t(clicked)];
    return kernel.arrays[chosen];
}

HeatPanel::Choice HeatPanel::choose(Ui& ui, const KernelHeat& kernel, float width) {
    const float right = ImGui::GetCursorScreenPos().x + width - ui.px(heat_scale_room);
    const HeatArray& array = choose_array(ui, kernel);
    const auto figures = figures_of(array);
    std::vector<std::string> ids, labels;
    std::size_t chosen = 0;
    for (const auto& word : figures) {
        if (word.value == figure_) chosen = ids.size();
        ids.emplace_back(word.name);
        labels.emplace_back(tr(word.label));
    }
    same_line_if_room(ui.px(10), ui.px(160));
    const float left = std::max(ui.px(160), right - ImGui::GetCursorScreenPos().x);
    const float wide = segments_width(labels);
    const int clicked = wide <= left ? segments(ui, "heat.figure", ids, labels, chosen, wide)
                                     : dropdown(ui, "heat.figure", ids, labels, chosen, ui.px(160));
    if (clicked >= 0) figure_ = figures[chosen = std::size_t(clicked)].value;
    const bool scale = ImGui::GetItemRectMax().x <= right + ui.px(60);
    ImGui::SameLine(0, ui.px(14));
    const auto& inspection = *stage_.checks().inspection;
    const std::string what =
        tr("{}, {} of {} blocks. {}", inspection.kernel, number(inspection.blocks),
           number(inspection.of_blocks), help_of(figures[chosen].value));
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(ui.fonts.small);
    const float needed = ImGui::CalcTextSize(what.c_str()).x;
    ImGui::PopFont();
    if (needed > right - ImGui::GetCursorScreenPos().x) ImGui::NewLine();
    paragraph(ui.fonts.small, colour::dim, what);
    record(ui, "heat.kernel", inspection.kernel);
    return {&array, figures[chosen].value, scale};
}

void HeatPanel::compute(const Choice& choice, const HeatLayout& layout) {
    const auto& inspection = stage_.checks().inspection;
    if (picture_.inspection == inspection && picture_.choice == choice && picture_.layout == layout)
        return;
    picture_ = {inspection, choice, layout, heat_cells(*choice.array, choice.figure, layout), 0};
    for (const HeatCell& cell : picture_.cells) picture_.most = std::max(picture_.most, cell.most);
}

std::string HeatPanel::words_about(const HeatCell& cell) const {
    const HeatArray& array = *picture_.choice.array;
    const auto counts = [&](std::uint64_t word) {
        std::string words;
        for (const auto& figure : figures_of(array))
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                                 number(array.count(figure.value, word)), figure.name);
        return words;
    };
    const std::uint64_t word = cell.hottest;
    std::string place = tr("word {}, byte {}", word, word * 4);
    if (array.shared) place += tr(", bank {}", (array.begin / 4 + word) % banks);
    if (cell.words == 1) return fmt::format("{}\n{}", place, counts(word));
    return tr("{} from word {} on: {} {}\nhottest: {}\n{}", counted(cell.words, "word"), cell.first,
              number(cell.sum), compute::name(picture_.choice.figure), place, counts(word));
}

void HeatPanel::draw_cells(Ui& ui, ImVec2 low) const {
    const HeatLayout& layout = picture_.layout;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float gap = std::min(layout.width, layout.height) >= ui.px(6) ? ui.px(1) : 0;
    const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
    ImGui::PushFont(ui.fonts.mono_small);
    const float line = ImGui::GetTextLineHeight();
    const std::size_t labelled = label_distance(line, layout.height);
    for (std::size_t y = 0; y < layout.rows(); ++y) {
        const float at = low.y + layout.height * float(y);
        if (at + layout.height < top || at > bottom) continue;
        for (std::size_t x = 0; x < layout.columns(); ++x) {
            const HeatCell& cell = picture_.cells[y * layout.columns() + x];
            if (cell.words == 0) continue;
            const float left = low.x + layout.width * float(x);
            list.AddRectFilled({left, at}, {left + layout.width - gap, at + layout.height - gap},
                               cell.most == 0
                                   ? untouched
                                   : heat_colour(double(cell.most) / double(picture_.most)));
        }
        if (y % labelled != 0) continue;
        const std::uint64_t before = y * layout.row * layout.down;
        const std::string index =
            fmt::format("{}", before > layout.lead ? before - layout.lead : 0);
        list.AddText({low.x - ui.px(8) - ImGui::CalcTextSize(index.c_str()).x,
                      at + (layout.height - gap - line) / 2},
                     colour::faint, index.c_str());
    }
    ImGui::PopFont();
}

void HeatPanel::grid(Ui& ui, const KernelHeat& kernel, const Choice& choice) {
    const HeatArray& array = *choice.array;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::PushFont(ui.fonts.mono_small);
    const float line = ImGui::GetTextLineHeight();
    ImGui::PopFont();
    const float head = array.shared ? line + ui.px(2) : 0;
    const ImVec2 inner{std::max(1.F, room.x - ui.px(gutter) - ui.px(16)),
                       std::max(1.F, room.y - head)};
    const HeatLayout layout =
        array.shared
            ? shared_layout(array, inner, ui.scale)
            : global_layout(array.words(), row_of(kernel.launch, array.words()), inner, ui.scale);
    compute(choice, layout);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (array.shared) {
        const std::size_t every = label_distance(ui.px(18), layout.width);
        ImGui::PushFont(ui.fonts.mono_small);
        for (std::size_t bank = 0; bank < banks; bank += every) {
            const std::string words = fmt::format("{}", bank);
            const float x = at.x + ui.px(gutter) + layout.width * float(bank) +
                            (layout.width - ImGui::CalcTextSize(words.c_str()).x) / 2;
            ImGui::GetWindowDrawList()->AddText({x, at.y}, colour::faint, words.c_str());
        }
        ImGui::GetWindowDrawList()->AddText({at.x, at.y}, colour::faint, tr("bank"));
        ImGui::PopFont();
        ImGui::SetCursorScreenPos({at.x, at.y + head});
    }
    ImGui::BeginChild("heat.cells", {room.x, inner.y}, false);
    const ImVec2 begin = ImGui::GetCursorScreenPos();
    const ImVec2 low{begin.x + ui.px(gutter), begin.y};
    draw_cells(ui, low);
    ImGui::SetCursorScreenPos(low);
    hit_area("heat.grid",
             {layout.width * float(layout.columns()), layout.height * float(layout.rows())});
    record(ui, "heat.grid",
           tr("{} words, {} in a row, at most {}", array.words(), layout.row, picture_.most));
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsItemHovered()) {
        const auto x = std::size_t(std::max(0.F, (mouse.x - low.x) / layout.width));
        const auto y = std::size_t(std::max(0.F, (mouse.y - low.y) / layout.height));
        if (x < layout.columns() && y < layout.rows()) {
            const HeatCell& cell = picture_.cells[y * layout.columns() + x];
            if (cell.words > 0) quick_tooltip(ui, words_about(cell));
        }
    }
    ImGui::EndChild();
}

void HeatPanel::draw(Ui& ui) {
    const Checks& checks = stage_.checks();
    const auto& inspection = checks.inspection;
    const KernelHeat* const kernel = inspection ? inspection->heat.get() : nullptr;
    if (!kernel || kernel->arrays.empty()) {
        paragraph(ui.fonts.body, colour::dim,
                  checks.checking         ? tr("The emulator is counting…")
                  : !checks.error.empty() ? checks.error
                  : inspection            ? tr("The kernel accesses no memory.")
                               : tr("Nothing counted yet. Click “Check now” in the findings."));
        record(ui, "heat.none");
        return;
    }
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const Choice choice = choose(ui, *kernel, width);
    grid(ui, *kernel, choice);
    if (choice.scale) heat_scale(ui, "heat.scale", low.x + width, low.y, picture_.most);
}

}  // namespace warpscope::ui
