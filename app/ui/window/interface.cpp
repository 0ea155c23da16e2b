#include "ui/window/interface.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/panels/panels.h"

namespace warpscope::ui {
namespace {

/// A child window with its own background (or none, on the cleared window) and padding.
template <class Contents>
void panel(Interface& ui, const char* name, const Box& box, ImU32 background, ImVec2 padding,
           bool scrolls, Contents&& contents) {
    ImGui::SetCursorPos({box.x, box.y});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(padding.x), ui.px(padding.y)});
    const ImGuiWindowFlags still =
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    ImGui::BeginChild(name, {box.width, box.height}, false,
                      ImGuiWindowFlags_AlwaysUseWindowPadding | (scrolls ? 0 : still));
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    std::forward<Contents>(contents)();
    ImGui::EndChild();
}

/// A border that can be dragged; changes `size` (logical pixels) by the movement times `sign`.
void splitter(Interface& ui, const char* name, const Box& box, bool upright, float sign,
              float& size, float least, float most) {
    ImGui::SetCursorPos({box.x, box.y});
    ImGui::InvisibleButton(name, {box.width, box.height});
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
    if (hot) ImGui::SetMouseCursor(upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    // How the pointer came here before it was pressed is no dragging.
    if (ImGui::IsItemActive() && !ImGui::IsItemActivated()) {
        const ImVec2 moved = ImGui::GetIO().MouseDelta;
        size += sign * (upright ? moved.x : moved.y) / ui.scale;
    }
    size = std::clamp(size, least, most);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled(low, high,
                                              hot ? colour::accent_deep : colour::background);
}

void begin_root(ImVec2 size) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("##root", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
}

bool shows_tree(Interface& ui) {
    return !ui.stage.pixels() && ui.stage.tree();
}

void draw_canvas(Interface& ui) {
    shows_tree(ui) ? draw_tree(ui) : draw_picture(ui);
}

void draw_open_microscope(Interface& ui) {
    const Layout& at = ui.layout;
    panel(ui, "microscope", at.microscope, colour::clear, {10, 7}, false,
          [&] { draw_microscope_bar(ui); });
    panel(ui, "source.panel", at.source, colour::background, {10, 6}, false,
          [&] { draw_source(ui); });
    panel(ui, "warps", at.warps, colour::clear, {14, 10}, true, [&] { draw_warps(ui); });
    panel(ui, "tile.panel", at.tile, colour::clear, {14, 8}, false, [&] { draw_tile(ui); });
}

}  // namespace

Interface::Interface(Stage& on_show, const ViewOptions& chosen, float ui_scale,
                     float framebuffer_ratio)
    : Ui(ui_scale, framebuffer_ratio), stage(on_show), options(chosen) {}

experiments::Size Interface::view_size() const {
    return {std::max(1, int(std::lround(layout.canvas.width * raster))),
            std::max(1, int(std::lround(layout.canvas.height * raster)))};
}

void Interface::run_requests() {
    // A request may ask for more, which then waits for the next frame.
    for (const auto& request : std::exchange(requests, {})) request();
}

void Interface::fit() {
    canvas.fit();
    tree = {};
    tree.cell = 0.01F;  // as narrow as the array allows
}

void Interface::open_microscope(std::optional<gl::Point> pixel) {
    stage.pause(true);
    microscope.open(stage.entry(), stage.experiment());
    source.left = source.right = {};
    if (!block_shows()) return;
    pick_pixel(pixel ? *pixel : gl::Point{canvas.view().centre_x, canvas.view().centre_y});
}

void Interface::open_microscope(const MicroscopePlace& place) {
    stage.pause(true);
    microscope.open(stage.entry(), stage.experiment(), place.block);
    microscope.seek(place.step);
}

void Interface::toggle_editor() {
    const bool open = editor_shows();
    if (!open && microscope.is_open()) microscope.close();
    options.editor = !open;
}

bool Interface::block_shows() const {
    const gl::PixelBuffer* pixels = stage.pixels();
    if (!pixels || !microscope.is_open() || !microscope.ready()) return false;
    const emulator::Launch& launch = microscope.launch();
    const int side = stage.tile_side();
    const auto covers = [&](std::uint32_t blocks, int texels) {
        return int(blocks) == (texels + side - 1) / side;
    };
    return side > 0 && int(launch.block.x) == side && int(launch.block.y) == side &&
           covers(launch.grid.x, pixels->width()) && covers(launch.grid.y, pixels->height());
}

void Interface::pick_pixel(gl::Point pixel) {
    if (!block_shows()) return;
    const auto inside = [](double at, int size) {
        return std::uint32_t(std::clamp(at, 0.0, double(size - 1)));
    };
    const std::uint32_t x = inside(pixel.x, stage.pixels()->width()),
                        y = inside(pixel.y, stage.pixels()->height());
    const emulator::Dim3 size = microscope.launch().block;
    const emulator::Dim3 block{x / size.x, y / size.y, 0}, now = microscope.block();
    if (block.x != now.x || block.y != now.y) microscope.set_block(block);
    microscope.pick_thread({x % size.x, y % size.y, 0});
}

void Interface::place(ImVec2 size) {
    layout = lay_out(size.x, size.y, scale, options, microscope.is_open());
    if (shown == stage.entry().id) return;
    // Another experiment's picture has another size and meaning: its view starts anew.
    shown = stage.entry().id;
    canvas = {};
    tree = {};
    pointer = {};
    pointed = false;
}

void Interface::draw(ImVec2 size) {
    microscope.follow(stage.entry(), stage.experiment(), stage.paused());
    microscope.advance(double(ImGui::GetIO().DeltaTime));
    if (microscope.notice() != noticed) {
        // What no longer holds is not said any longer.
        const bool said = !noticed.empty() && stage.message().text == noticed;
        noticed = microscope.notice();
        if (said || !noticed.empty()) stage.say(noticed);
    }
    inspector.follow(stage.entry(), stage.experiment(), options.inspect);
    refresh_measured(*this);
    place(size);
    widgets.begin_frame();
    ImGui::PushFont(fonts.body);
    begin_root(size);
    splitter(*this, "split.left", layout.left_edge, true, 1, options.left, 220, 520);
    splitter(*this, "split.bottom", layout.lower_edge, false, -1, options.bottom, 80, 500);
    if (editor_shows())
        splitter(*this, "split.right", layout.right_edge, true, -1, options.editor_width, 300,
                 1600);
    else
        splitter(*this, "split.right", layout.right_edge, true, -1, options.right, 220, 560);
    panel(*this, "top", layout.top, colour::clear, {14, 8}, false, [&] { draw_top_bar(*this); });
    panel(*this, "controls", layout.controls, colour::clear, {16, 14}, true,
          [&] { draw_controls(*this); });
    panel(*this, "transport", layout.transport, colour::clear, {10, 7}, false,
          [&] { draw_transport(*this); });
    panel(*this, "canvas", layout.canvas, stage.pixels() ? colour::clear : colour::canvas, {0, 0},
          false, [&] { draw_canvas(*this); });
    if (microscope.is_open())
        draw_open_microscope(*this);
    else if (options.editor)
        panel(*this, "editor", layout.editor, colour::background, {10, 7}, false,
              [&] { editor.draw(*this); });
    else
        panel(*this, "results", layout.results, colour::clear, {16, 12}, true,
              [&] { draw_results(*this); });
    panel(*this, "dock", layout.dock, colour::clear, {16, 0}, false, [&] { draw_dock(*this); });
    panel(*this, "foot", layout.foot, colour::background, {16, 7}, false,
          [&] { draw_message(*this); });
    editor.forget_asked();
    ImGui::End();
    draw_keys(*this);
    ImGui::PopFont();
}

void Interface::draw_view(ImVec2 size) {
    widgets.begin_frame();
    ImGui::PushFont(fonts.body);
    begin_root(size);
    panel(*this, "canvas", {0, 0, size.x, size.y}, stage.pixels() ? colour::clear : colour::canvas,
          {0, 0}, false, [&] { draw_canvas(*this); });
    ImGui::End();
    ImGui::PopFont();
}

}  // namespace warpscope::ui
