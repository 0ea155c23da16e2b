#include "ui/heat/heat_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "emulator/counters/access_counters.h"
#include "experiments/measure/heat_figures.h"
#include "ui/heat/heat_scale.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::banks;
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
