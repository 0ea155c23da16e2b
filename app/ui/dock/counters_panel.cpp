#include "ui/dock/counters_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compute/device/kernel_files.h"
#include "emulator/counters/access_counters.h"
#include "experiments/measure/kernel_figures.h"
#include "ui/language/language.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::KernelCounters;
using emulator::MemoryCounts;

struct Cell {
    const char* id;
    std::string words;
    std::string exact;  ///< the whole number, for tests
    std::string detail;
    ImU32 colour = colour::text;
};

std::string whole(std::uint64_t n) {
    return quantity(double(n), "");
}

std::string short_number(std::uint64_t n) {
    return compute::count(double(n));
}

/// A line for each kind of access that occurred: "loads: …\nstores: …".
template <class Say>
std::string each(const MemoryCounts& loads, const MemoryCounts& stores, const MemoryCounts& atomics,
                 Say say) {
    std::string lines;
    for (const auto& [name, counts] :
         {std::pair{"loads", &loads}, {"stores", &stores}, {"atomics", &atomics}})
        if (counts->requests > 0)
            lines += fmt::format("{}{}: {}", lines.empty() ? "" : "\n", name, say(*counts));
    return lines;
}

ImU32 share_colour(double share) {
    return share >= 0.8 ? colour::good : share >= 0.4 ? colour::warning : colour::bad;
}

/// A share in percent; above 100 where lanes ask for the same bytes.
std::string efficiency_words(double efficiency) {
    return efficiency == 0 ? "-" : fmt::format("{:.0f}", 100 * efficiency);
}

std::vector<Cell> global_cells(const KernelCounters& k) {
    const MemoryCounts all = k.global();
    const std::uint64_t moved = all.sectors * emulator::sector_bytes;
    const double efficiency = moved > 0 ? double(all.bytes) / double(moved) : 0;
    const std::string detail =
        each(k.global_loads, k.global_stores, k.global_atomics, [](const MemoryCounts& m) {
            return tr("{} sectors of 32 bytes for {} bytes used by {} instructions",
                      whole(m.sectors), whole(m.bytes), whole(m.requests));
        });
    return {{"sectors", short_number(all.sectors), std::to_string(all.sectors), detail},
            {"moved", quantity(double(moved), "B"), std::to_string(moved), detail},
            {"efficiency", efficiency_words(efficiency), fmt::format("{:.3f}", efficiency), detail,
             moved > 0 ? share_colour(efficiency) : colour::faint}};
}

std::vector<Cell> shared_cells(const KernelCounters& k) {
    const MemoryCounts all = k.shared();
    const std::string detail =
        each(k.shared_loads, k.shared_stores, k.shared_atomics, [](const MemoryCounts& m) {
            return tr("{} instructions, {} passes where {} would be enough, {}", whole(m.requests),
                      whole(m.wavefronts), whole(m.least_wavefronts),
                      m.degree > 1 ? tr("at worst {}-way conflicts", m.degree)
                                   : std::string(tr("no conflict")));
        });
    if (all.requests == 0)
        return {{"shared", "-", "0", "", colour::faint},
                {"conflict", "-", "0", "", colour::faint},
                {"passes", "-", "0", "", colour::faint}};
    const double passes =
        all.least_wavefronts > 0 ? double(all.wavefronts) / double(all.least_wavefronts) : 0;
    return {{"shared", short_number(all.requests), std::to_string(all.requests), detail},
            {"conflict", all.degree > 1 ? tr("{}-way", all.degree) : tr("none"),
             std::to_string(all.degree), detail, share_colour(1.0 / std::max(1U, all.degree))},
            {"passes", fmt::format("{:.3g}×", passes), std::to_string(all.wavefronts), detail,
             share_colour(passes > 0 ? 1 / passes : 1)}};
}

std::vector<Cell> cells_of(const KernelCounters& k) {
    std::vector<Cell> cells{
        {"instructions", short_number(k.warp_instructions), std::to_string(k.warp_instructions),
         tr("{} warp instructions, {} thread instructions", whole(k.warp_instructions),
            whole(k.thread_instructions))},
        {"barriers", short_number(k.barriers), std::to_string(k.barriers),
         tr("{} released in {} blocks", whole(k.barriers), whole(k.blocks))}};
    for (Cell& cell : global_cells(k)) cells.push_back(std::move(cell));
    for (Cell& cell : shared_cells(k)) cells.push_back(std::move(cell));
    return cells;
}

constexpr TableColumn counter_columns[] = {
    {tr_later("Kernel"), "", 0, true},
    {tr_later("Median, ms"), tr_later("The median of the launches on the device in use."), 76},
    {tr_later("Instructions"), tr_later("Warp instructions: 32 threads execute one together."), 84},
    {tr_later("Barriers"), tr_later("Barriers that were passed, over all blocks."), 60},
    {tr_later("Sectors"),
     tr_later("Sectors of global memory, 32 bytes each, that loads, stores and atomics move."), 66},
    {tr_later("Global bytes moved"),
     tr_later("Bytes of global memory that were moved: 32 for each sector."), 124},
    {tr_later("Bytes used, %"),
     tr_later("Bytes that threads use, as a share of the bytes moved. More than 100 where lanes of "
              "a warp use the same bytes."),
     90},
    {tr_later("Shared accesses"), tr_later("Warp instructions that access shared memory."), 108},
    {tr_later("Conflict"),
     tr_later(
         "The most words that one bank had to serve for one warp instruction: n-way conflict."),
     66},
    {tr_later("Passes"),
     tr_later("Passes over shared memory, as a multiple of the passes without bank conflicts."),
     56}};
/// In a narrow window these columns give their room to the kernel's name, in this order.
constexpr std::size_t least_counters_first[] = {5, 1, 7, 3, 2, 9, 6};

/// The columns in which each kernel has "-".
std::vector<bool> empty_columns(const compute::KernelTimings& timings,
                                const std::vector<KernelCounters>& kernels) {
    std::vector<bool> empty(std::size(counter_columns), true);
    empty[0] = kernels.empty();
    for (const KernelCounters& k : kernels) {
        if (timings.find(k.kernel)) empty[1] = false;
        const std::vector<Cell> cells = cells_of(k);
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (cells[i].words != "-") empty[2 + i] = false;
    }
    return empty;
}

void row(Ui& ui, const compute::KernelTimings& timings, const KernelCounters& k, bool newest) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    clipped_text(ui.fonts.mono, newest ? colour::text : colour::dim, k.kernel,
                 ImGui::GetContentRegionAvail().x);
    const std::string id = "counter." + k.kernel;
    record(ui, id, newest ? "on" : "off");
    ImGui::TableNextColumn();
    const compute::KernelTiming* timing = timings.find(k.kernel);
    right_cell(ui.fonts.mono, timing ? colour::text : colour::faint,
               timing ? milliseconds(timing->median_ms()) : "-");
    for (const Cell& cell : cells_of(k)) {
        ImGui::TableNextColumn();
        const bool grey = !newest && cell.colour == colour::text;
        right_cell(ui.fonts.mono, grey ? colour::dim : cell.colour, cell.words);
        record(ui, id + "." + cell.id, cell.exact);
        if (!cell.detail.empty() && ImGui::IsItemHovered()) quick_tooltip(ui, cell.detail);
    }
}

}  // namespace

void CountersPanel::draw(Ui& ui) {
    const Checks& checks = stage_.checks();
    const auto& kernels = checks.counters;
    if (kernels.empty()) {
        paragraph(ui.fonts.body, colour::dim,
                  checks.checking ? tr("The emulator is counting…")
                  : checks.error.empty()
                      ? tr("Nothing counted yet. Click “Check now” in the findings.")
                      : checks.error);
        record(ui, "counters.none");
        return;
    }
    constexpr auto flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
    if (!ImGui::BeginTable("counters", int(std::size(counter_columns)), flags,
                           ImGui::GetContentRegionAvail()))
        return;
    const compute::KernelTimings& timings = stage_.timings();
    const float padding = 2 * ImGui::GetStyle().CellPadding.x / ui.scale;
    table_head(
        ui, counter_columns,
        columns_left_out(counter_columns, empty_columns(timings, kernels), least_counters_first,
                         ImGui::GetContentRegionAvail().x / ui.scale, 150, padding));
    const auto& inspection = checks.inspection;
    for (const KernelCounters& k : kernels)
        row(ui, timings, k, inspection && k.kernel == inspection->kernel);
    ImGui::EndTable();
}

namespace {

using emulator::LineCounters;
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
