#include "ui/results/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using experiments::Comparison;
using experiments::Verdict;
using Counts = Comparison::Counts;

struct CountColumn {
    const char* id;
    std::string title;  ///< two lines
    std::string help;
    double Counts::*value;
    float left = 0, width = 0;  ///< of the column, in layout units
};

/// The columns in a panel of this width: each has room for its title, and an equal part of the
/// rest.
std::array<CountColumn, 4> columns_of(Ui& ui, const Comparison& table, float width) {
    std::array<CountColumn, 4> columns{
        {{"sectors", tr("Sectors\nof 32 B"),
          tr("Sectors of global memory, 32 bytes each, that are moved."), &Counts::sectors},
         {"bank_passes", tr("Bank\npasses"),
          tr("Passes over the banks of shared memory. A bank conflict takes more than one pass."),
          &Counts::bank_passes},
         {"barriers", tr("Barriers\n"), tr("Barriers that were passed, over all blocks."),
          &Counts::barriers},
         {"instructions", tr("Instr. /\n{}", tr(table.element)),
          tr("Instructions for each {}: 32 for each warp instruction, also where some "
             "of the 32 threads are inactive.",
             tr(table.element)),
          &Counts::instructions}}};
    ImGui::PushFont(ui.fonts.small);
    float rest = width;
    for (CountColumn& column : columns)
        rest -= column.width = ImGui::CalcTextSize(column.title.c_str()).x;
    ImGui::PopFont();
    float left = 0;
    for (CountColumn& column : columns) {
        column.left = left;
        column.width += rest / float(columns.size());
        left += column.width;
    }
    return columns;
}

/// The colour of a count. Smaller counts are faster, as far as this count decides it.
ImU32 colour_of(double value, double first) {
    if (value < 0.995 * first) return colour::good;
    return value > 1.005 * first ? colour::finding : colour::dim;
}

void cell(ImFont* font, ImU32 colour, float x, float y, const std::string& words) {
    ImGui::SetCursorScreenPos({x, y});
    text(font, colour, words);
}

void count_heads(Ui& ui, const Comparison& table) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    for (const CountColumn& column : columns_of(ui, table, ImGui::GetContentRegionAvail().x)) {
        ImGui::SetCursorScreenPos({low.x + column.left, low.y});
        text(ui.fonts.small, colour::faint, column.title);
        tooltip(ui, column.help);
    }
    ImGui::Dummy({0, ui.px(2)});
}

std::string error_words(const Comparison::Row& row) {
    return tr("error {}", compute::relative_error(row.error));
}

/// Draws a bar that is as long as `share`: the number, divided by the largest one of its column.
void bar(Ui& ui, float x, float y, float width, double share, ImU32 colour) {
    const float height = ui.px(3);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({x, y}, {x + width, y + height}, colour::raised, height / 2);
    if (share <= 0) return;
    const float length = std::max(height, width * float(share));
    list.AddRectFilled({x, y}, {x + length, y + height}, colour, height / 2);
}

double largest(const Comparison& table, double Counts::*value) {
    double most = 0;
    for (const Comparison::Row& row : table.rows)
        if (row.counts) most = std::max(most, (*row.counts).*value);
    return most;
}

void counted_row(Ui& ui, const Comparison& table, const Comparison::Row& row) {
    const bool wrong = row.verdict == Verdict::fail;
    const float width = ImGui::GetContentRegionAvail().x;
    paragraph(ui.fonts.body, wrong ? colour::bad : colour::text, tr(row.label));
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float line = ui.px(17);
    const Counts none, &counts = row.counts ? *row.counts : none,
                       &first = *table.rows.front().counts;
    for (const CountColumn& column : columns_of(ui, table, width)) {
        const double value = counts.*column.value, base = first.*column.value;
        const std::string words = compute::count(value), times = multiple(value, base);
        const float x = low.x + column.left;
        cell(ui.fonts.small, colour::text, x, low.y, words);
        record(ui, "compare." + row.id + "." + column.id, words + " " + times);
        cell(ui.fonts.small, colour_of(value, base), x, low.y + line, times);
        const double most = largest(table, column.value);
        bar(ui, x, low.y + 2 * line, column.width - ui.px(6), most > 0 ? value / most : 0,
            wrong ? colour::bad : colour::accent);
    }
    ImGui::SetCursorScreenPos({low.x, low.y + 2 * line + ui.px(6)});
    text(ui.fonts.small, wrong ? colour::bad : colour::dim, error_words(row) + " ·");
    ImGui::SameLine(0, ui.px(5));
    const std::string time = tr("emulated in {} ms", milliseconds(row.median_ms));
    text(ui.fonts.small, colour::faint, time);
    record(ui, "compare." + row.id + ".time", time);
    tooltip(
        ui,
        tr("The time that this computer's processor took to emulate the kernel. It says nothing "
           "about a GPU, which runs many warps at one time and waits where the emulator does "
           "not."));
    ImGui::Dummy({0, ui.px(4)});
}

void timed_row(Ui& ui, const Comparison& table, const Comparison::Row& row, double best) {
    const std::string value =
        row.rate > 0 ? quantity(row.rate, table.rate_unit) : milliseconds(row.median_ms) + " ms";
    const std::string times = multiple(row.rate, table.rows.front().rate);
    const std::string words = times.empty() ? value : value + "  " + times;
    const float width = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
    const float value_width = ImGui::CalcTextSize(words.c_str()).x;
    paragraph(ui.fonts.body, colour::text, tr(row.label), width - value_width - ui.px(12));
    ImGui::SameLine();
    ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), left + width - value_width));
    text(ui.fonts.body, colour::text, words);
    record(ui, "compare." + row.id, words);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ui.px(6), share = best > 0 ? float(row.rate / best) : 0;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, {low.x + width, low.y + height}, colour::raised, height / 2);
    list.AddRectFilled(low, {low.x + std::max(height, width * share), low.y + height},
                       row.verdict == Verdict::fail ? colour::bad : colour::accent, height / 2);
    ImGui::Dummy({width, height});
    std::string details = milliseconds(row.median_ms) + " ms · " + error_words(row);
    if (!row.published.empty()) details += tr(" · published: {}", row.published);
    paragraph(ui.fonts.small, row.verdict == Verdict::fail ? colour::bad : colour::faint, details);
    if (!row.published.empty()) {
        record(ui, "compare." + row.id + ".published", row.published);
        tooltip(ui, tr("Published: {}.", table.published_title));
    }
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace

void draw_comparison_table(Ui& ui, const Comparison& table) {
    paragraph(ui.fonts.strong, colour::text, tr(std::string_view(table.title)));
    record(ui, "compare.title", table.title);
    ImGui::Dummy({0, ui.px(1)});
    double best = 0;
    for (const Comparison::Row& row : table.rows) best = std::max(best, row.rate);
    if (table.counted()) count_heads(ui, table);
    for (const Comparison::Row& row : table.rows)
        if (table.counted())
            counted_row(ui, table, row);
        else
            timed_row(ui, table, row, best);
    if (table.scaling.empty()) return;
    paragraph(ui.fonts.small, colour::text, table.scaling);
    record(ui, "compare.scaling", table.scaling);
}

}  // namespace warpscope::ui
