#include "ui/bars/caption.h"

#include <algorithm>

#include "ui/bars/message_line.h"
#include "ui/bars/transport_panel.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/stage/race_summary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// True when clicked.
bool large_switch(Ui& ui, const std::string& label, bool on) {
    ImGui::PushFont(ui.fonts.value);
    const float words = ImGui::CalcTextSize(label.c_str()).x;
    ImGui::PopFont();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetContentRegionAvail().y;
    const ImVec2 size{ui.px(64), ui.px(34)};
    const float width = size.x + words + ui.px(34);
    const bool clicked = hit_area("caption.barrier", {width, height});
    record(ui, "caption.barrier", on ? "on" : "off");
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool hovered = ImGui::IsItemHovered();
    const float top = low.y + (height - size.y) / 2, r = size.y / 2;
    list.AddRectFilled({low.x, top}, {low.x + size.x, top + size.y},
                       on        ? colour::good
                       : hovered ? colour::faint
                                 : colour::hovered,
                       r);
    list.AddCircleFilled({on ? low.x + size.x - r : low.x + r, top + r}, r - ui.px(4),
                         IM_COL32_WHITE);
    const float y = low.y + (height - text_size(ui.fonts.value)) / 2;
    list.AddText(ui.fonts.value, text_size(ui.fonts.value), {low.x + size.x + ui.px(14), y},
                 on ? colour::text : colour::dim, label.c_str());
    return clicked;
}

/// Says beside the verdict that it is about an edited kernel.
void edited_mark(Ui& ui, const Stage& stage) {
    const std::string files = edited_files(stage);
    if (files.empty()) return;
    ImGui::SameLine(0, ui.px(12));
    draw_edited_badge(ui, files);
}

}  // namespace

void Caption::draw(Ui& ui) {
    const experiments::Toggle* const barrier = stage_.parameters().barrier_switch();
    const float top = ImGui::GetCursorPosY();
    if (barrier) {
        if (large_switch(ui, tr(barrier->label()), is_on(stage_, *barrier)))
            ui.later([this, held = stage_.held(*barrier)] { flip(stage_, *held); });
        ImGui::SameLine(0, ui.px(10));
    }
    const RaceSummary race = summarize(stage_.checks());
    // An audience reads what the picture means; what a key has changed, it sees.
    const bool failed = stage_.message().tone == Tone::error;
    const MessageWords said = failed ? message_words(stage_) : result_words(stage_);
    ImGui::SetCursorPosY(top + ui.px(4));
    ImGui::BeginGroup();
    const bool bad = race.state != RaceSummary::State::clean;
    const float bottom = ImGui::GetCursorPosY() + ImGui::GetContentRegionAvail().y;
    paragraph(ui.fonts.strong,
              race.checking ? colour::dim
              : bad         ? colour::bad
                            : colour::good,
              race.chip);
    record(ui, "caption.race", race.chip);
    edited_mark(ui, stage_);
    // A long sentence is smaller, rather than cut.
    const float room = bottom - ImGui::GetCursorPosY();
    const std::string lines = wrapped(said.text, ImGui::GetContentRegionAvail().x);
    const bool fits = ImGui::CalcTextSize(lines.c_str()).y <= room;
    paragraph(fits ? ui.fonts.body : ui.fonts.small, colour::text, said.text);
    record(ui, "caption", said.text);
    ImGui::EndGroup();
}

}  // namespace warpscope::ui
