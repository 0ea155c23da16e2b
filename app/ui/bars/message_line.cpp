#include "ui/bars/message_line.h"

#include <fmt/format.h>

#include <chrono>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws the offer so that it ends at `right`; returns the width that it takes.
float offer_button(Ui& ui, const std::optional<Offer>& offer, float right) {
    if (!offer) return 0;
    ImGui::PushFont(ui.fonts.small);
    const float width = button_width(offer->label.c_str());
    const char* const decline = offer->decline_label.c_str();
    const float beside = offer->decline ? button_width(decline) + ui.px(6) : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({right - width - beside, at.y});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
    if (flat_button(ui, "offer", offer->label.c_str(), true)) ui.later(offer->accept);
    tooltip(ui, offer->help);
    if (offer->decline) {
        ImGui::SameLine(0, ui.px(6));
        if (flat_button(ui, "offer.decline", decline, false)) ui.later(offer->decline);
        tooltip(ui, tr("Discard it; it is not offered again."));
    }
    ImGui::PopStyleVar();
    ImGui::SetCursorScreenPos(at);
    ImGui::PopFont();
    return width + beside + ui.px(12);
}

}  // namespace

MessageWords result_words(const Stage& stage) {
    for (const auto verdict : {experiments::Verdict::fail, experiments::Verdict::finding})
        for (const experiments::Reading& r : stage.report())
            if (r.verdict == verdict && !r.sentence.empty())
                return {tr(r.label) + ": " + tr(r.sentence), verdict_colour(verdict),
                        verdict_colour(verdict)};
    for (const experiments::Reading& r : stage.report())
        if (r.verdict != experiments::Verdict::none && !r.sentence.empty())
            return {tr(r.label) + ": " + tr(r.sentence), colour::dim, verdict_colour(r.verdict)};
    return {"", colour::dim, colour::clear};
}

MessageWords message_words(const Stage& stage) {
    const Message& message = stage.message();
    const auto age = std::chrono::steady_clock::now() - message.at;
    if (message.tone == Tone::error && !message.text.empty())
        return {message.text, colour::bad, colour::bad};
    if (!message.text.empty() && age < std::chrono::seconds(12))
        return {message.text, colour::text, colour::text};
    return result_words(stage);
}

void MessageLine::draw(Ui& ui) {
    const compute::DeviceInfo& info = stage_.device();
    std::string right = tr(std::string_view(info.name));
    if (stage_.pixels())
        right += " · " + tr(std::string_view(gl::to_string(stage_.shown().picture.path)));
    ImGui::PushFont(ui.fonts.small);
    const float right_width = ImGui::CalcTextSize(right.c_str()).x;
    ImGui::PopFont();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    // The text at the right grows with the first picture, and a button must not move under the
    // mouse.
    const float offer_width = offer_button(ui, offer_, low.x + width);
    const float taken = right_width + offer_width + ui.px(50);
    const MessageWords line = message_words(stage_);
    const float dot = ui.px(3.5F);
    ImGui::GetWindowDrawList()->AddCircleFilled(
        {low.x + dot, low.y + ImGui::GetTextLineHeight() / 2}, dot, line.dot);
    ImGui::SetCursorScreenPos({low.x + 2 * dot + ui.px(8), low.y});
    clipped_text(ui.fonts.small, line.colour, line.text, width - taken);
    record(ui, "message", line.text);
    ImGui::SetCursorScreenPos({low.x + width - right_width - offer_width, low.y});
    text(ui.fonts.small, colour::dim, right);
    record(ui, "device.name", info.name);
}

}  // namespace warpscope::ui
