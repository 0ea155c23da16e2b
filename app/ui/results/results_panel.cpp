#include "ui/results/results_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ui/dock/verdict_card.h"
#include "ui/language/language.h"
#include "ui/microscope/why_panel.h"
#include "ui/widgets/format.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

std::vector<unsigned> histogram(std::span<const double> values, std::size_t bins) {
    std::vector<unsigned> counts(std::max<std::size_t>(1, bins));
    if (values.empty()) return counts;
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    const double width = (*greatest - *least) / double(counts.size());
    for (const double value : values) {
        const std::size_t bin = width > 0 ? std::size_t((value - *least) / width) : 0;
        ++counts[std::min(bin, counts.size() - 1)];
    }
    return counts;
}

namespace {

using experiments::Reading;
using experiments::Verdict;

/// Text aligned with the right edge of the panel.
void right_text(ImFont* font, ImU32 colour, const std::string& words) {
    ImGui::PushFont(font);
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
    ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), right - width));
    ImGui::PopFont();
    text(font, colour, words);
}

/// Draws the values of the newest launches as a histogram from the smallest to the largest.
void spread(Ui& ui, const Reading& r, float width) {
    if (r.recent.size() < 2) return;
    const auto [least, most] = std::minmax_element(r.recent.begin(), r.recent.end());
    const std::string id = "result." + r.name + ".recent";
    if (*least == *most) {
        const std::string words = tr("equal in the last {} launches", r.recent.size());
        text(ui.fonts.small, colour::faint, words);
        return record(ui, id, words);
    }
    const auto bins = histogram(r.recent, std::size_t(std::max(1.F, width / ui.px(7))));
    const unsigned highest = *std::max_element(bins.begin(), bins.end());
    ImGui::Dummy({0, ui.px(1)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ui.px(26), unit = width / float(bins.size());
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < bins.size(); ++i) {
        if (bins[i] == 0) continue;
        const float bar = std::max(ui.px(2), height * float(bins[i]) / float(highest));
        const float x = low.x + unit * float(i);
        list.AddRectFilled({x, low.y + height - bar}, {x + unit - ui.px(1), low.y + height},
                           colour::accent);
    }
    list.AddLine({low.x, low.y + height}, {low.x + width, low.y + height}, colour::line, ui.px(1));
    ImGui::Dummy({width, height});
    const std::string words = tr("{} to {} in the last {} launches", quantity(*least, r.unit),
                                 quantity(*most, r.unit), r.recent.size());
    record(ui, id, words);
    paragraph(ui.fonts.small, colour::faint, words);
}

/// Draws the parts of a time side by side. The first one is the useful part.
void parts_bar(Ui& ui, const Reading& r, float width) {
    double whole = 0;
    for (const auto& [label, ms] : r.parts) whole += ms;
    if (whole <= 0) return;
    const ImU32 colours[] = {colour::accent, colour::warning, colour::line};
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ui.px(8);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    std::string words;
    float x = low.x;
    for (std::size_t i = 0; i < r.parts.size(); ++i) {
        const auto& [label, ms] = r.parts[i];
        const float part = width * float(ms / whole);
        list.AddRectFilled({x, low.y}, {x + part, low.y + height},
                           colours[std::min(i, std::size(colours) - 1)]);
        x += part;
        words += fmt::format("{}{} {:.0f} %", i ? ", " : "", label, 100 * ms / whole);
    }
    ImGui::Dummy({width, height});
    record(ui, "result." + r.name + ".parts", words);
}

/// Draws a number without verdict or sentence, which takes one line.
void plain_reading(Ui& ui, const Reading& r, const std::vector<float>& newest) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const std::string value = quantity(r.value, r.unit);
    const float value_width = ImGui::CalcTextSize(value.c_str()).x;
    paragraph(ui.fonts.small, colour::dim, tr(r.label), width - value_width - ui.px(12));
    ImGui::SameLine();
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(1));
    right_text(ui.fonts.body, colour::text, value);
    const ImVec2 high{low.x + width, ImGui::GetItemRectMax().y};
    record_rect(ui, low, high, "result." + r.name, value);
    context_menu(ui, "result." + r.name, low, high, value, tr(r.label), {}, newest);
}

void judged_reading(Ui& ui, const Reading& r, const std::vector<float>& newest) {
    if (r.verdict == Verdict::none && !r.expected && r.sentence.empty() && r.recent.empty())
        return plain_reading(ui, r, newest);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::BeginGroup();
    const bool judged = r.verdict != Verdict::none;
    const std::string word = verdict_word(r.verdict);
    ImGui::PushFont(ui.fonts.small);
    const float badge_width = judged ? ImGui::CalcTextSize(word.c_str()).x + ui.px(14) : 0;
    ImGui::PopFont();
    paragraph(ui.fonts.small, colour::dim, tr(r.label), width - badge_width - ui.px(6));
    if (judged) {
        const float below = std::max(low.y + ui.px(18), ImGui::GetItemRectMax().y);
        ImGui::SetCursorScreenPos({low.x + width - badge_width, low.y - ui.px(2)});
        badge(ui, word, verdict_colour(r.verdict));
        record(ui, "result." + r.name + ".verdict", std::string(experiments::to_string(r.verdict)));
        ImGui::SetCursorScreenPos({low.x, below});
    }
    const std::string value = quantity(r.value, r.unit);
    const bool alarming = r.verdict == Verdict::finding || r.verdict == Verdict::fail;
    text(ui.fonts.value, alarming ? verdict_colour(r.verdict) : colour::text, value);
    record_rect(ui, low, {low.x + width, ImGui::GetItemRectMax().y}, "result." + r.name, value);
    if (r.expected) {
        const std::string expected = tr("expected {}", quantity(*r.expected, r.unit));
        const float room = width - ImGui::GetItemRectSize().x - ui.px(10);
        ImGui::PushFont(ui.fonts.small);
        const bool beside = ImGui::CalcTextSize(expected.c_str()).x <= room;
        ImGui::PopFont();
        if (beside) {
            ImGui::SameLine(0, ui.px(10));
            ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ui.px(5));
        }
        if (beside)
            right_text(ui.fonts.small, colour::faint, expected);
        else
            text(ui.fonts.small, colour::faint, expected);
    }
    if (!r.sentence.empty()) {
        ImGui::SetCursorScreenPos({low.x, ImGui::GetCursorScreenPos().y - ui.px(2)});
        const std::string sentence = tr(r.sentence);
        paragraph(ui.fonts.small, colour::dim, sentence);
        record(ui, "result." + r.name + ".sentence", sentence);
    }
    parts_bar(ui, r, width);
    spread(ui, r, width);
    ImGui::EndGroup();
    context_menu(ui, "result." + r.name, low, {low.x + width, ImGui::GetItemRectMax().y}, value,
                 tr(r.sentence.empty() ? r.label : r.sentence), {}, newest);
}

/// Draws a reading as a label above its value, or where the strip is too low, before it. Returns
/// its width, or 0 if `room` is too little.
float strip_cell(Ui& ui, const Reading& r, ImVec2 room) {
    const std::string value = quantity(r.value, r.unit);
    ImGui::PushFont(ui.fonts.small);
    const float label = ImGui::CalcTextSize(tr(r.label).c_str()).x;
    ImGui::PopFont();
    const bool above = room.y >= ui.px(17) + text_size(ui.fonts.value);
    ImFont* const font = above ? ui.fonts.value : ui.fonts.strong;
    ImGui::PushFont(font);
    const float number = ImGui::CalcTextSize(value.c_str()).x;
    ImGui::PopFont();
    const float width = above ? std::max(number, label) : label + ui.px(8) + number;
    if (width > room.x) return 0;
    const bool alarming = r.verdict == Verdict::finding || r.verdict == Verdict::fail;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    text(ui.fonts.small, colour::dim, tr(r.label));
    ImGui::SetCursorScreenPos(above ? ImVec2{low.x, low.y + ui.px(17)}
                                    : ImVec2{low.x + label + ui.px(8), low.y - ui.px(1)});
    text(font,
         r.verdict == Verdict::pass ? colour::good
         : alarming                 ? verdict_colour(r.verdict)
                                    : colour::text,
         value);
    ImGui::EndGroup();
    record_rect(ui, low, {low.x + width, ImGui::GetItemRectMax().y}, "result." + r.name, value);
    if (!r.sentence.empty()) tooltip(ui, tr(r.sentence));
    return width;
}

}  // namespace

void ResultsPanel::compare_button(Ui& ui) {
    const bool busy = wanted_ && (!asked_ || stage_.comparing());
    if (wanted_ && !busy) {
        wanted_ = asked_ = false;
        scroll_to_comparison_ = stage_.comparison().has_value();
    }
    const char* label = busy                  ? tr("Comparing …")
                        : stage_.comparison() ? tr("Compare again")
                                              : tr("Compare variants");
    const float width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SameLine();
    const float free = ImGui::GetContentRegionAvail().x - width;
    if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
    ImGui::BeginDisabled(busy);
    if (flat_button(ui, "compare", label)) {
        wanted_ = true;
        ui.later([this] {
            stage_.compare();
            asked_ = true;
        });
    }
    ImGui::EndDisabled();
    tooltip(
        ui,
        stage_.device().kind == compute::DeviceKind::emulator
            ? tr("Runs every variant of this experiment in the emulator and counts its work: "
                 "memory accesses, barriers, instructions. This may take some seconds.")
            : tr("Runs every variant of this experiment on this device and lists their times. This "
                 "may take some seconds."));
    ImGui::Dummy({0, ui.px(2)});
}

void ResultsPanel::draw_comparison(Ui& ui) {
    const auto& table = stage_.comparison();
    if (!table) return;
    rule(ui);
    if (std::exchange(scroll_to_comparison_, false)) ImGui::SetScrollHereY(0);
    draw_comparison_table(ui, *table);
}

/// For a reading under the mouse, the newest item: why the first wrong element is wrong.
void ResultsPanel::explain_if_wrong(Ui& ui, const Reading& r) {
    const bool is_wrong = r.verdict == Verdict::finding || r.verdict == Verdict::fail;
    if (!is_wrong || !ImGui::IsItemHovered()) return;
    if (const std::string why = ask_why(ui, stage_, microscope_, "first"); !why.empty())
        tooltip(ui, why);
}

void ResultsPanel::draw_strip(Ui& ui) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    float x = low.x;
    for (const Reading& r : stage_.report()) {
        ImGui::SetCursorScreenPos({x, low.y});
        const float width = strip_cell(ui, r, {low.x + room.x - x, room.y});
        if (width == 0) break;
        explain_if_wrong(ui, r);
        x += width + ui.px(26);
    }
    if (stage_.report().empty()) text(ui.fonts.small, colour::faint, tr("Nothing measured yet."));
}

/// Adds the numbers on show to those before, unless they are of other settings.
void ResultsPanel::remember() {
    constexpr std::size_t most = 240;
    if (!stage_.shows_results_of_settings()) history_.clear();
    if (std::exchange(remembered_, stage_.frame()) == stage_.frame()) return;
    for (const Reading& r : stage_.report()) {
        std::vector<float>& values = history_[r.name];
        if (values.size() == most) values.erase(values.begin());
        values.push_back(float(r.value));
    }
}

bool ResultsPanel::draw(Ui& ui) {
    remember();
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.strong, colour::text, tr("Results"));
    compare_button(ui);
    const bool clicked = verdict_card(ui, stage_.race_summary());
    const experiments::Report& report = stage_.report();
    // Numbers of earlier settings are faint until those of the new ones are there.
    const bool old = !stage_.shows_results_of_settings();
    if (!report.empty()) record_rect(ui, {}, {}, "results.state", old ? "old" : "current");
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, old ? 0.45F : 1.F);
    if (report.empty())
        paragraph(ui.fonts.small, colour::faint,
                  stage_.paused()
                      ? with_key(tr("Nothing measured yet. Run the kernel"), Command::toggle_pause)
                      : tr("Nothing measured yet."));
    for (const Reading& r : report) {
        ImGui::PushID(r.name.c_str());
        judged_reading(ui, r, history_[r.name]);
        explain_if_wrong(ui, r);
        ImGui::PopID();
        ImGui::Dummy({0, ui.px(3)});
    }
    ImGui::PopStyleVar();
    draw_comparison(ui);
    return clicked;
}

namespace {

using experiments::Comparison;
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
    return value > 1.005 * first ? colour::warning : colour::dim;
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
