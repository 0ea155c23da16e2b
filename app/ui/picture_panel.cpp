#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cmath>

#include "ui/panels.h"
#include "ui/widgets.h"

namespace warpscope::ui {
namespace {

void render_picture(const ImDrawList*, const ImDrawCmd* command) {
    Interface& ui = *static_cast<Interface*>(command->UserCallbackData);
    const PictureDraw& draw = ui.picture_draw;
    glDisable(GL_SCISSOR_TEST);
    ui.picture_view.draw(draw.picture, draw.view, draw.rect, draw.target_height, draw.style);
}

gl::Rect framebuffer_rect(const Interface& ui, ImVec2 low, ImVec2 size) {
    const auto whole = [&](float layout) { return int(std::lround(layout * ui.raster)); };
    return {whole(low.x), whole(low.y), std::max(1, whole(size.x)), std::max(1, whole(size.y))};
}

void queue_picture(Interface& ui, const gl::PixelBuffer& pixels) {
    PictureDraw& draw = ui.picture_draw;
    draw.picture = {pixels.texture(), pixels.width(), pixels.height()};
    draw.view = ui.canvas.view();
    draw.rect = ui.canvas.area();
    draw.target_height = int(std::lround(ImGui::GetIO().DisplaySize.y * ui.raster));
    draw.style.linear = draw.view.pixels_per_texel < 1;
    draw.style.grid_texels = ui.options.grid ? ui.stage.tile_side() : 0;
    draw.style.grid_pixels = std::max(1, int(ui.scale * ui.raster));
    draw.style.background = {11 / 255.F, 12 / 255.F, 15 / 255.F};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCallback(render_picture, &ui);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void navigate(Interface& ui, ImVec2 size) {
    const ImGuiIO& io = ImGui::GetIO();
    const gl::Point mouse{io.MousePos.x * double(ui.raster), io.MousePos.y * double(ui.raster)};
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && io.MouseWheel != 0) {
        if (io.KeyCtrl || !ui.stage.scroll(io.MouseWheel))
            ui.canvas.zoom(mouse, std::pow(1.2, io.MouseWheel));
    }
    if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && !io.KeyCtrl)
        ui.canvas.fit();
    if (!ImGui::IsItemActive() || (io.MouseDelta.x == 0 && io.MouseDelta.y == 0)) return;
    const bool left = ImGui::IsMouseDown(ImGuiMouseButton_Left) && !io.KeyCtrl;
    if (left && ui.stage.drag(double(io.MouseDelta.x) / size.y, double(io.MouseDelta.y) / size.y))
        return;
    ui.canvas.pan(io.MouseDelta.x * ui.raster, io.MouseDelta.y * ui.raster);
}

/// The value under the mouse. Reading pixels back makes a running frame wait, so it is done once
/// a frame of a paused experiment.
std::string value_text(Interface& ui, const gl::PixelBuffer& pixels, int x, int y) {
    if (!ui.stage.paused()) return {};
    const std::size_t at = (std::size_t(y) * std::size_t(pixels.width()) + std::size_t(x)) * 4;
    if (ui.sampled_version != ui.stage.picture_version()) {
        ui.sampled = pixels.read_pixels();
        ui.sampled_version = ui.stage.picture_version();
    }
    if (at + 3 >= ui.sampled.size()) return {};
    return fmt::format("   rgb {} {} {}", ui.sampled[at], ui.sampled[at + 1], ui.sampled[at + 2]);
}

void hover_line(Interface& ui, const gl::PixelBuffer& pixels, ImVec2 low, ImVec2 high) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const gl::Point at =
        ui.canvas.to_texel({mouse.x * double(ui.raster), mouse.y * double(ui.raster)});
    const int x = int(std::floor(at.x)), y = int(std::floor(at.y));
    if (x < 0 || y < 0 || x >= pixels.width() || y >= pixels.height()) return;
    std::string line = fmt::format("x {}  y {}", x, y);
    if (const int side = ui.stage.tile_side(); side > 0)
        line += fmt::format("   block ({}, {})", x / side, y / side);
    line += value_text(ui, pixels, x, y);
    ImGui::PushFont(ui.fonts.mono);
    const ImVec2 size = ImGui::CalcTextSize(line.c_str());
    const ImVec2 corner{low.x + ui.px(10), high.y - size.y - ui.px(18)};
    const ImVec2 far{corner.x + size.x + ui.px(16), corner.y + size.y + ui.px(10)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(corner, far, faded(colour::background, 0.88F), ui.px(5));
    list.AddText({corner.x + ui.px(8), corner.y + ui.px(5)}, colour::text, line.c_str());
    ImGui::PopFont();
    record_rect(ui, corner, far, "picture.hover", line);
}

}  // namespace

void draw_picture(Interface& ui) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImVec2 size = ImGui::GetContentRegionAvail();
    size = {std::max(size.x, 16.F), std::max(size.y, 16.F)};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const gl::PixelBuffer* pixels = ui.stage.pixels();
    ui.canvas.place(framebuffer_rect(ui, low, size), pixels ? pixels->width() : 0,
                    pixels ? pixels->height() : 0);
    ImGui::InvisibleButton("picture", size,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                               ImGuiButtonFlags_MouseButtonMiddle);
    record(ui, "picture");
    if (!pixels) return;
    navigate(ui, size);
    queue_picture(ui, *pixels);
    const gl::Point corner = ui.canvas.to_screen({0, 0});
    const gl::Point end = ui.canvas.to_screen({double(pixels->width()), double(pixels->height())});
    record_rect(ui, {float(corner.x) / ui.raster, float(corner.y) / ui.raster},
                {float(end.x) / ui.raster, float(end.y) / ui.raster}, "picture.pixels",
                fmt::format("{}x{}", pixels->width(), pixels->height()));
    if (ImGui::IsItemHovered()) hover_line(ui, *pixels, low, high);
}

}  // namespace warpscope::ui
