#include "ui/dock/lines_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/device/kernel_source.h"
#include "experiments/measure/line_figures.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/table_columns.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::KernelCounters;
using emulator::LineCounters;
using emulator::MemoryCounts;
using experiments::LineFigure;

constexpr LineFigure figures[] = {LineFigure::instructions, LineFigure::divergence,
                                  LineFigure::sectors, LineFigure::wavefronts,
                                  LineFigure::conflicts};

/// Returns the parts of which a line's figure consists.
std::string detail_of(const LineCounters& line, LineFigure figure) {
    const MemoryCounts global = line.global(), shared = line.shared();
    const auto number = [](std::uint64_t n) { return quantity(double(n), ""); };
    switch (figure) {
        case LineFigure::instructions:
            return tr("{} warp instructions of the PTX, {} thread instructions",
                      number(line.warp_instructions), number(line.thread_instructions));
        case LineFigure::divergence:
            return tr(
                "{} idle lanes: {:.1f} of 32 lanes take part. Branches that separated lanes: {}.",
                number(line.idle_lanes()),
                line.warp_instructions
                    ? double(line.thread_instructions) / double(line.warp_instructions)
                    : 0.0,
                number(line.separations));
        case LineFigure::sectors:
            return tr("{} sectors where {} hold all the bytes that lanes use",
                      number(global.sectors), number(global.least_sectors));
        case LineFigure::wavefronts:
        case LineFigure::conflicts:
            return tr("{} passes where {} would be enough, {}", number(shared.wavefronts),
                      number(shared.least_wavefronts),
                      shared.degree > 1 ? tr("at worst {}-way conflicts", shared.degree)
                                        : std::string(tr("no conflict")));
    }
    return {};
}

std::string help_of(LineFigure figure) {
    switch (figure) {
        case LineFigure::instructions:
            return tr("Executed warp instructions, of the PTX.");
        case LineFigure::divergence:
            return tr("Idle lanes: those that do not take part in a warp's instruction.");
        case LineFigure::sectors:
            return tr("Sectors of global memory, 32 bytes each.");
        case LineFigure::wavefronts:
            return tr("Passes over shared memory.");
        case LineFigure::conflicts:
            return tr("Passes over shared memory that bank conflicts add.");
    }
    return {};
}

}  // namespace

// A click on a title chooses the figure that sorts the table and that the editor shows.
void LinesPanel::head(Ui& ui) {
    ImGui::TableSetupScrollFreeze(0, 1);
    constexpr float place = 44, each = 96;  // logical pixels
    ImGui::TableSetupColumn("place", ImGuiTableColumnFlags_WidthFixed, ui.px(place));
    // A narrow table has the first figures and the chosen one.
    const float padding = 2 * ImGui::GetStyle().CellPadding.x;
    const float room = ImGui::GetContentRegionAvail().x - ui.px(place) - 2 * padding;
    auto others = std::size_t(std::max(1.F, room / (ui.px(each) + padding))) - 1;
    for (const LineFigure figure : figures) {
        const bool chosen = figure == options_.figure, shown = chosen || others > 0;
        if (!chosen && shown) --others;
        ImGui::TableSetupColumn(
            "figure",
            ImGuiTableColumnFlags_WidthFixed |
                (shown ? ImGuiTableColumnFlags_None : ImGuiTableColumnFlags_Disabled),
            ui.px(each));
    }
    ImGui::TableSetupColumn("source", ImGuiTableColumnFlags_WidthStretch, 1);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    right_cell(ui.fonts.small, colour::faint, tr("Line"));
    for (const auto& word : compute::words_of<LineFigure>) {
        if (!ImGui::TableNextColumn()) continue;
        const bool chosen = word.value == options_.figure;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const std::string id = fmt::format("lines.by.{}", word.name);
        if (hit_area(id, {ImGui::GetContentRegionAvail().x, text_size(ui.fonts.small)}))
            options_.figure = word.value;
        record(ui, id, chosen ? "on" : "off");
        hover_label(tr(word.label));
        tooltip(ui, help_of(word.value) + tr(" Click: sort by it, and show it beside the source."));
        const bool hovered = ImGui::IsItemHovered();
        ImGui::SetCursorScreenPos(at);
        right_cell(ui.fonts.small, chosen || hovered ? colour::accent : colour::faint,
                   tr(word.label) + (chosen ? " ↓" : ""));
    }
    ImGui::TableNextColumn();
    ImGui::PushFont(ui.fonts.small);
    const bool fits = ImGui::CalcTextSize(tr("Source")).x <= ImGui::GetContentRegionAvail().x;
    ImGui::PopFont();
    if (fits) text(ui.fonts.small, colour::faint, tr("Source"));
}

void LinesPanel::row(Ui& ui, const LineCounters& line, const KernelCounters& kernel) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string place =
        line.file.empty() ? tr("PTX {}", line.line) : fmt::format("{}", line.line);
    const std::string id = fmt::format("line.{}", place);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string file = compute::kernel_file(line.file);
    ImGui::PushID(line.file.c_str());
    const bool clicked =
        ImGui::Selectable(("##" + place).c_str(), false, ImGuiSelectableFlags_SpanAllColumns,
                          {0, text_size(ui.fonts.mono)});
    ImGui::PopID();
    const std::string_view source =
        experiments::text_of_line(stage_.shown().edits, line.file, line.line);
    record(ui, id, std::string(source));
    if (clicked && !file.empty())
        ui.later([this, file, row = line.line - 1] {
            options_.editor = true;
            editor_.reveal(file, row);
        });
    ImGui::SetCursorScreenPos(at);
    right_cell(ui.fonts.mono, colour::dim, place);
    for (const LineFigure figure : figures) {
        if (!ImGui::TableNextColumn()) continue;
        const std::uint64_t value = experiments::figure_of(line, figure);
        const std::uint64_t all = experiments::figure_of(kernel, figure);
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x, height = text_size(ui.fonts.mono);
        const float share = all > 0 ? float(value) / float(all) : 0;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {low.x + width * (1 - share), low.y}, {low.x + width, low.y + height},
            faded(figure == options_.figure ? colour::accent : colour::dim, 0.25F));
        right_cell(ui.fonts.mono, value ? colour::text : colour::faint,
                   value ? compute::count(double(value)) : "-");
        record(ui, fmt::format("{}.{}", id, compute::name(figure)), std::to_string(value));
        if (value && ImGui::IsItemHovered()) quick_tooltip(ui, detail_of(line, figure));
    }
    ImGui::TableNextColumn();
    const std::string words = source.empty() ? line.file : std::string(source);
    clipped_text(ui.fonts.mono, source.empty() ? colour::faint : colour::text, words,
                 ImGui::GetContentRegionAvail().x);
}

void LinesPanel::draw(Ui& ui) {
    const Checks& checks = stage_.checks();
    const KernelCounters* kernel = checks.newest_counters();
    if (!kernel) {
        paragraph(ui.fonts.body, colour::dim,
                  checks.checking ? tr("The emulator is counting…")
                  : checks.error.empty()
                      ? tr("Nothing counted yet. Click “Check now” in the findings.")
                      : checks.error);
        record(ui, "lines.none");
        return;
    }
    const auto& inspection = *checks.inspection;
    const std::string what =
        tr("{}, counted in {} of {} blocks. Instructions are those of the PTX.", kernel->kernel,
           quantity(double(inspection.blocks), ""), quantity(double(inspection.of_blocks), ""));
    paragraph(ui.fonts.small, colour::dim, what);
    record(ui, "lines.kernel", kernel->kernel);
    constexpr auto flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
    if (!ImGui::BeginTable("lines", int(std::size(figures)) + 2, flags,
                           ImGui::GetContentRegionAvail()))
        return;
    head(ui);
    for (const LineCounters* line : experiments::sorted_lines(*kernel, options_.figure))
        row(ui, *line, *kernel);
    ImGui::EndTable();
}

}  // namespace warpscope::ui
