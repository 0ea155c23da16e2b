#include "ui/dock/finding_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/measure/kernel_figures.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::ThreadAtLine;

/// One of the two accesses of a race.
struct Side {
    const ThreadAtLine* at;
    CardPress::What press;
    const char* does;
};

std::vector<Side> sides_of(const Finding& finding) {
    if (finding.kind != FindingKind::race || !finding.second) return {};
    const bool first_reads = finding.hazard == Hazard::write_after_read;
    const bool second_reads = finding.hazard == Hazard::read_after_write;
    return {{&finding.first, CardPress::What::first, first_reads ? tr("reads") : tr("writes")},
            {&*finding.second, CardPress::What::second, second_reads ? tr("reads") : tr("writes")}};
}

/// "256 hazards": of the whole launch.
std::string count_words(const Finding& finding) {
    return counted(finding.count, counted_noun(finding.kind), quantity(double(finding.count), ""));
}

/// The line without the folder of its file.
std::string short_place(const ThreadAtLine& at) {
    const std::string whole = at.where();
    return whole.substr(whole.rfind('/', whole.find(':')) + 1);
}

/// The thread, with its block where the other access is in another one.
std::string thread_words(const Finding& finding, const ThreadAtLine& at) {
    const std::string thread = name_of(at.thread);
    if (finding.second && finding.second->block == finding.first.block)
        return tr("thread {}", thread);
    return tr("block {} thread {}", name_of(at.block), thread);
}

/// A word in a frame, which ends at `right`. Returns whether the mouse is on it.
bool chip(Ui& ui, const std::string& id, const std::string& words, ImVec2 right) {
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    ImGui::PopFont();
    const ImVec2 low{right.x - size.x - ui.px(12), right.y};
    const ImVec2 high{right.x, right.y + size.y + ui.px(4)};
    const bool hovered = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, hovered ? colour::accent_deep : colour::background, ui.px(4));
    list.AddText(ui.fonts.small, text_size(ui.fonts.small), {low.x + ui.px(6), low.y + ui.px(2)},
                 colour::text, words.c_str());
    record_rect(ui, low, high, id, words);
    return hovered;
}

/// "reads  ripple.cu:54  pixel = tile[15 - ty][15 - tx];" and the thread. Returns whether the mouse
/// is on the thread.
bool side_row(Ui& ui, const Stage& stage, const Finding& finding, const Side& side,
              const std::string& id, ImVec2 low, float width) {
    const std::string thread = thread_words(finding, *side.at);
    const bool on_thread = chip(ui, id, thread, {low.x + width, low.y});
    ImGui::PushFont(ui.fonts.small);
    const float end = low.x + width - ImGui::CalcTextSize(thread.c_str()).x - ui.px(24);
    const float does =
        std::max(ImGui::CalcTextSize(tr("reads")).x, ImGui::CalcTextSize(tr("writes")).x);
    ImGui::PopFont();
    const float y = low.y + ui.px(2);
    ImGui::SetCursorScreenPos({low.x, y});
    text(ui.fonts.small, colour::dim, side.does);
    const std::string place = short_place(*side.at);
    const std::string_view line =
        experiments::text_of_line(stage.shown().edits, side.at->file, side.at->line);
    const float left = low.x + does + ui.px(10);
    ImGui::SetCursorScreenPos({left, y});
    clipped_text(ui.fonts.mono_small, colour::text, fmt::format("{}  {}", place, line), end - left);
    return on_thread;
}

}  // namespace

std::string kind_of(const Finding& finding) {
    if (finding.kind == FindingKind::members) return tr("member mask");
    if (finding.kind != FindingKind::race) return tr(to_string(finding.kind));
    if (!finding.misread()) return tr("race {}", to_string(finding.hazard));
    return finding.hazard == Hazard::write_after_read ? tr("read too early") : tr("read too late");
}

Mark mark_of(const Finding& finding) {
    if (spoils_results(finding)) return Mark::octagon;
    return finding.severity == emulator::Severity::note ? Mark::ring : Mark::triangle;
}

CardPress finding_card(Ui& ui, const Stage& stage, const Finding& finding, const std::string& id,
                       const CardStyle& style) {
    using What = CardPress::What;
    const std::vector<Side> sides = sides_of(finding);
    const float width = ImGui::GetContentRegionAvail().x, left = ui.px(34), row = ui.px(22);
    const float inner = width - left - ui.px(10);
    const std::string sentence = tr(finding.sentence);
    const bool says = sides.empty() || style.is_open;
    ImGui::PushFont(ui.fonts.small);
    const std::string lines = says ? wrapped(sentence, inner) : "";
    const float said = says ? ImGui::CalcTextSize(lines.c_str()).y + ui.px(4) : 0;
    ImGui::PopFont();
    const float height = ui.px(14) + row + row * float(sides.size()) + said;

    const ImVec2 low = ImGui::GetCursorScreenPos(), high{low.x + width, low.y + height};
    const bool clicked = hit_area(id, {width, height});
    record(ui, id, sentence);
    CardPress press{.hovered = ImGui::IsItemHovered()};
    press.by_right_button = press.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right);
    const ImU32 ink = style.ink.value_or(colour_of(style.mark));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, press.hovered || style.is_lit ? colour::hovered : colour::raised,
                       ui.px(6));
    list.AddRectFilled(low, {low.x + ui.px(3), high.y}, ink, ui.px(1.5F));
    draw_mark(style.mark, {low.x + ui.px(19), low.y + ui.px(7) + row / 2}, ui.px(7), ink);

    float y = low.y + ui.px(7);
    ImGui::SetCursorScreenPos({low.x + left, y});
    const std::string kind = kind_of(finding);
    text(ui.fonts.strong, ink, kind);
    const bool is_plain_race = finding.kind == FindingKind::race && !finding.misread();
    hover_label(is_plain_race ? to_string(finding.hazard) : kind);
    ImGui::SameLine(0, ui.px(12));
    ImGui::SetCursorScreenPos({ImGui::GetCursorScreenPos().x, y + ui.px(2)});
    const std::string times = count_words(finding);
    text(ui.fonts.small, colour::dim, times);
    record(ui, id + ".count", std::to_string(finding.count));
    What on = What::place;
    if (!sides.empty()) {
        const ImVec2 arrow{high.x - ui.px(18), y + row / 2};
        const ImVec2 from{arrow.x - ui.px(12), y}, to{high.x, y + row};
        const bool hovered = press.hovered && ImGui::IsMouseHoveringRect(from, to);
        if (hovered) on = What::sentence;
        draw_icon(style.is_open ? Icon::unfold : Icon::fold, arrow, ui.px(5),
                  hovered ? colour::text : colour::dim);
        record_rect(ui, from, to, id + ".sentence", style.is_open ? "open" : "folded");
    }
    y += row;
    for (const Side& side : sides) {
        const std::string name = side.press == What::first ? ".first" : ".second";
        if (side_row(ui, stage, finding, side, id + name, {low.x + left, y}, inner))
            on = side.press;
        y += row;
    }
    if (says) {
        ImGui::SetCursorScreenPos({low.x + left, y + ui.px(2)});
        text(ui.fonts.small, colour::text, lines);
    }
    if (clicked) press.what = on;
    ImGui::SetCursorScreenPos({low.x, high.y + ui.px(6)});
    return press;
}

Finding of_one_side(const Finding& finding, CardPress::What side) {
    using What = CardPress::What;
    if (side != What::first && side != What::second) return finding;
    Finding alone = finding;
    if (side == What::second) alone.first = *finding.second;
    alone.second.reset();
    const Hazard reads = side == What::first ? Hazard::write_after_read : Hazard::read_after_write;
    alone.hazard = finding.hazard == reads ? Hazard::none : Hazard::write_after_write;
    return alone;
}

}  // namespace warpscope::ui
