#include "ui/dock/verdict_card.h"

#include <array>
#include <cmath>
#include <numbers>

#include "ui/language/language.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using State = RaceSummary::State;

/// The tooltip of the newest item, with the meaning of its word.
void explain(Ui& ui, const RaceSummary& summary, std::string_view words) {
    hover_label(summary.state == State::race ? "hazard" : summary.chip);
    tooltip(ui, words);
}

}  // namespace

Mark mark_of(const RaceSummary& summary) {
    if (summary.checking || summary.state == State::unknown) return Mark::ring;
    if (summary.state == State::clean) return Mark::disc;
    return summary.state == State::warning ? Mark::triangle : Mark::octagon;
}

ImU32 colour_of(Mark mark) {
    switch (mark) {
        case Mark::ring:
            return colour::dim;
        case Mark::disc:
            return colour::good;
        case Mark::triangle:
            return colour::warning;
        case Mark::octagon:
            return colour::bad;
    }
    return colour::dim;
}

void draw_mark(Mark mark, ImVec2 centre, float r, ImU32 ink) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 ground = colour::background;
    const float stroke = r * 0.28F;
    const auto at = [&](float x, float y) { return ImVec2{centre.x + r * x, centre.y + r * y}; };
    switch (mark) {
        case Mark::ring:
            return list.AddCircle(centre, r - stroke / 2, ink, 0, stroke);
        case Mark::disc: {
            list.AddCircleFilled(centre, r, ink);
            const std::array tick{at(-0.45F, 0.05F), at(-0.1F, 0.4F), at(0.5F, -0.35F)};
            return list.AddPolyline(tick.data(), int(tick.size()), ground, 0, stroke);
        }
        case Mark::triangle:
            list.AddTriangleFilled(at(0, -1), at(1, 0.85F), at(-1, 0.85F), ink);
            list.AddLine(at(0, -0.35F), at(0, 0.3F), ground, stroke);
            return list.AddCircleFilled(at(0, 0.58F), stroke / 2, ground);
        case Mark::octagon: {
            std::array<ImVec2, 8> corners;
            for (std::size_t k = 0; k < corners.size(); ++k) {
                const float turn = std::numbers::pi_v<float> * (float(k) + 0.5F) / 4;
                corners[k] = at(1.05F * std::cos(turn), 1.05F * std::sin(turn));
            }
            list.AddConvexPolyFilled(corners.data(), int(corners.size()), ink);
            list.AddLine(at(-0.4F, -0.4F), at(0.4F, 0.4F), ground, stroke);
            return list.AddLine(at(0.4F, -0.4F), at(-0.4F, 0.4F), ground, stroke);
        }
    }
}

bool verdict_card(Ui& ui, const RaceSummary& summary) {
    const float width = ImGui::GetContentRegionAvail().x, edge = ui.px(12), r = ui.px(9);
    const float left = edge + 2 * r + ui.px(10), room = width - left - edge;
    ImGui::PushFont(ui.fonts.value);
    const bool races = summary.state == State::race && !summary.checking;
    const std::string title = wrapped(races ? summary.brief : summary.chip, room);
    const float title_height = ImGui::CalcTextSize(title.c_str()).y;
    ImGui::PopFont();
    ImGui::PushFont(ui.fonts.small);
    const std::string sentence = wrapped(summary.sentence, room);
    const float height = title_height + ImGui::CalcTextSize(sentence.c_str()).y + ui.px(26);
    ImGui::PopFont();

    const ImVec2 low = ImGui::GetCursorScreenPos(), high{low.x + width, low.y + height};
    const bool clicked = hit_area("race", {width, height});
    record(ui, "race", summary.chip);
    explain(ui, summary, tr("Click: the findings, with their lines and threads."));
    const Mark mark = mark_of(summary);
    const ImU32 ink = colour_of(mark);
    const float fill = ImGui::IsItemHovered() ? colour::hovered_chip_fill : colour::badge_fill;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, faded(ink, fill), ui.px(6));
    draw_mark(mark, {low.x + edge + r, low.y + ui.px(22)}, r, ink);
    ImGui::SetCursorScreenPos({low.x + left, low.y + ui.px(10)});
    text(ui.fonts.value, ink, title);
    ImGui::SetCursorScreenPos({low.x + left, low.y + ui.px(14) + title_height});
    text(ui.fonts.small, colour::text, sentence);
    record_rect(ui, low, high, "race.words", title);
    ImGui::SetCursorScreenPos({low.x, high.y});
    ImGui::Dummy({width, ui.px(6)});
    return clicked;
}

float pill_width(const Ui& ui, const std::string& words) {
    ImGui::PushFont(ui.fonts.small);
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    ImGui::PopFont();
    return width + ui.px(36);
}

bool verdict_pill(Ui& ui, const RaceSummary& summary, float right) {
    const float room = ImGui::GetContentRegionAvail().x - right;
    const std::string& words = pill_width(ui, summary.chip) <= room ? summary.chip : summary.brief;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    note_if_cut(words, room - ui.px(36));
    ImGui::PopFont();
    const float height = ui.px(22), width = pill_width(ui, words);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    ImVec2 low = ImGui::GetCursorScreenPos();
    low.y += ui.px(4);
    ImGui::SetCursorScreenPos(low);
    const bool clicked = hit_area("race", {width, height});
    record(ui, "race", summary.chip);
    record_rect(ui, low, {low.x + width, low.y + height}, "race.words", words);
    explain(ui, summary, summary.sentence);
    const Mark mark = mark_of(summary);
    const ImU32 ink = colour_of(mark);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(
        low, {low.x + width, low.y + height},
        faded(ink, ImGui::IsItemHovered() ? colour::hovered_chip_fill : colour::badge_fill),
        height / 2);
    draw_mark(mark, {low.x + ui.px(14), low.y + height / 2}, ui.px(6), ink);
    list.AddText(ui.fonts.small, text_size(ui.fonts.small),
                 {low.x + ui.px(25), low.y + (height - size.y) / 2}, ink, words.c_str());
    return clicked;
}

}  // namespace warpscope::ui
