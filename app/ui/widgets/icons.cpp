#include "ui/widgets/icons.h"

#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws a triangle that points right (sign 1) or left (-1), from x0 to x1 in radii.
void arrow(ImDrawList& list, ImVec2 c, float r, float sign, float x0, float x1, ImU32 colour) {
    list.AddTriangleFilled({c.x + sign * x0 * r, c.y - r}, {c.x + sign * x1 * r, c.y},
                           {c.x + sign * x0 * r, c.y + r}, colour);
}

void bar(ImDrawList& list, ImVec2 c, float r, float x0, float x1, ImU32 colour) {
    list.AddRectFilled({c.x + x0 * r, c.y - r}, {c.x + x1 * r, c.y + r}, colour);
}

void restart(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    list.PathArcTo(c, r * 0.85F, -0.6F, 4.2F, 20);
    list.PathStroke(colour, 0, r * 0.3F);
    list.AddTriangleFilled({c.x + 0.25F * r, c.y - 0.75F * r}, {c.x + 1.15F * r, c.y - 0.95F * r},
                           {c.x + 0.95F * r, c.y + 0.05F * r}, colour);
}

/// Draws an arrow that points from one line of text down to the next.
void next_line(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    list.AddRectFilled({c.x - 1.1F * r, c.y - r}, {c.x + 1.1F * r, c.y - 0.65F * r}, colour);
    list.AddTriangleFilled({c.x - 0.75F * r, c.y - 0.35F * r}, {c.x + 0.75F * r, c.y - 0.35F * r},
                           {c.x, c.y + 0.5F * r}, colour);
    list.AddRectFilled({c.x - 1.1F * r, c.y + 0.7F * r}, {c.x + 1.1F * r, c.y + 1.05F * r}, colour);
}

/// Draws arrows side by side that stop at a line.
void barrier(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    for (const float y : {-0.75F, 0.F, 0.75F})
        list.AddTriangleFilled({c.x - 0.9F * r, c.y + (y - 0.36F) * r},
                               {c.x + 0.2F * r, c.y + y * r},
                               {c.x - 0.9F * r, c.y + (y + 0.36F) * r}, colour);
    list.AddRectFilled({c.x + 0.5F * r, c.y - 1.15F * r}, {c.x + 0.9F * r, c.y + 1.15F * r},
                       colour);
}

void magnifier(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    const ImVec2 lens{c.x - 0.2F * r, c.y - 0.2F * r};
    list.AddCircle(lens, 0.8F * r, colour, 24, r * 0.32F);
    list.AddLine({lens.x + 0.6F * r, lens.y + 0.6F * r}, {c.x + 1.05F * r, c.y + 1.05F * r}, colour,
                 r * 0.42F);
}

/// Draws angle brackets with a slash between.
void code(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    for (const float sign : {-1.F, 1.F}) {
        list.PathLineTo({c.x + sign * 0.65F * r, c.y - 0.75F * r});
        list.PathLineTo({c.x + sign * 1.3F * r, c.y});
        list.PathLineTo({c.x + sign * 0.65F * r, c.y + 0.75F * r});
        list.PathStroke(colour, 0, r * 0.3F);
    }
    list.AddLine({c.x + 0.28F * r, c.y - r}, {c.x - 0.28F * r, c.y + r}, colour, r * 0.28F);
}

/// Draws an arrow that points right (sign 1) or left (-1), at a dot.
void to_break(ImDrawList& list, ImVec2 c, float r, float sign, ImU32 colour) {
    arrow(list, c, r, sign, -1.2F, 0, colour);
    list.AddCircleFilled({c.x + sign * 0.72F * r, c.y}, 0.56F * r, colour::breakpoint);
}

/// Draws three sliders.
void sliders(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    const float knobs[] = {0.35F, -0.4F, 0.1F};
    for (int i = 0; i < 3; ++i) {
        const float y = c.y + (float(i) - 1) * 0.8F * r;
        list.AddLine({c.x - 1.1F * r, y}, {c.x + 1.1F * r, y}, colour, r * 0.22F);
        list.AddCircleFilled({c.x + knobs[i] * r, y}, 0.32F * r, colour);
    }
}

/// Draws bars of three heights.
void numbers(ImDrawList& list, ImVec2 c, float r, ImU32 colour) {
    const float heights[] = {0.9F, 1.9F, 1.3F};
    for (int i = 0; i < 3; ++i) {
        const float x = c.x + (float(i) - 1) * 0.75F * r;
        list.AddRectFilled({x - 0.25F * r, c.y + r - heights[i] * r}, {x + 0.25F * r, c.y + r},
                           colour);
    }
}

/// Draws an angle that points down (sign 1) or up (-1).
void angle(ImDrawList& list, ImVec2 c, float r, float sign, ImU32 colour) {
    list.PathLineTo({c.x - 0.9F * r, c.y - sign * 0.4F * r});
    list.PathLineTo({c.x, c.y + sign * 0.5F * r});
    list.PathLineTo({c.x + 0.9F * r, c.y - sign * 0.4F * r});
    list.PathStroke(colour, 0, r * 0.32F);
}

}  // namespace

void draw_icon(Icon icon, ImVec2 c, float r, ImU32 colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    switch (icon) {
        case Icon::pause:
            bar(list, c, r, -0.75F, -0.2F, colour);
            return bar(list, c, r, 0.2F, 0.75F, colour);
        case Icon::play:
            return arrow(list, c, r, 1, -0.7F, 1, colour);
        case Icon::step:
            arrow(list, c, r, 1, -0.9F, 0.4F, colour);
            return bar(list, c, r, 0.55F, 1, colour);
        case Icon::back:
            arrow(list, c, r, -1, -0.9F, 0.4F, colour);
            return bar(list, c, r, -1, -0.55F, colour);
        case Icon::to_start:
            arrow(list, c, r, -1, -1.2F, -0.2F, colour);
            arrow(list, c, r, -1, -0.2F, 0.8F, colour);
            return bar(list, c, r, -1.2F, -0.85F, colour);
        case Icon::to_end:
            arrow(list, c, r, 1, -1.2F, -0.2F, colour);
            arrow(list, c, r, 1, -0.2F, 0.8F, colour);
            return bar(list, c, r, 0.85F, 1.2F, colour);
        case Icon::to_break:
            return to_break(list, c, r, 1, colour);
        case Icon::back_to_break:
            return to_break(list, c, r, -1, colour);
        case Icon::restart:
            return restart(list, c, r, colour);
        case Icon::line:
            return next_line(list, c, r, colour);
        case Icon::barrier:
            return barrier(list, c, r, colour);
        case Icon::microscope:
            return magnifier(list, c, r, colour);
        case Icon::code:
            return code(list, c, r, colour);
        case Icon::sliders:
            return sliders(list, c, r, colour);
        case Icon::numbers:
            return numbers(list, c, r, colour);
        case Icon::fold:
            return angle(list, c, r, 1, colour);
        case Icon::unfold:
            return angle(list, c, r, -1, colour);
        case Icon::close:
            list.AddLine({c.x - 0.8F * r, c.y - 0.8F * r}, {c.x + 0.8F * r, c.y + 0.8F * r}, colour,
                         r * 0.3F);
            return list.AddLine({c.x - 0.8F * r, c.y + 0.8F * r}, {c.x + 0.8F * r, c.y - 0.8F * r},
                                colour, r * 0.3F);
    }
}

float icon_button_width(const Ui& ui) {
    return ImGui::GetFrameHeight() + ui.px(6);
}

bool icon_button(Ui& ui, const char* id, Icon icon, const std::string& help,
                 const std::string& value, bool enabled, bool on) {
    ImGui::BeginDisabled(!enabled);
    if (on)
        ImGui::PushStyleColor(ImGuiCol_Button, ImGui::ColorConvertU32ToFloat4(colour::accent_deep));
    const bool clicked = ImGui::Button((std::string("##") + id).c_str(),
                                       {icon_button_width(ui), ImGui::GetFrameHeight()});
    if (on) ImGui::PopStyleColor();
    record(ui, id, value, enabled);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    draw_icon(icon, {(low.x + high.x) / 2, (low.y + high.y) / 2}, ui.px(5.5F),
              enabled ? colour::text : faded(colour::text, 0.4F));
    ImGui::EndDisabled();
    tooltip(ui, help);
    ImGui::SameLine(0, ui.px(4));
    return clicked;
}

}  // namespace warpscope::ui
