#include "ui/microscope/picture_block.h"

#include <algorithm>
#include <cstdint>

namespace warpscope::ui {

bool has_place_in_picture(const Microscope& microscope, const Stage& stage) {
    const gl::Texture* pixels = stage.pixels();
    if (!pixels || !microscope.is_open() || !microscope.ready()) return false;
    const emulator::LaunchShape& launch = microscope.launch();
    const int side = stage.tile_side();
    const auto cover = [&](std::uint32_t blocks, int texels) {
        return int(blocks) == (texels + side - 1) / side;
    };
    return side > 0 && int(launch.block.x) == side && int(launch.block.y) == side &&
           cover(launch.grid.x, pixels->width()) && cover(launch.grid.y, pixels->height());
}

void pick_pixel(Microscope& microscope, const Stage& stage, gl::Point pixel) {
    if (!has_place_in_picture(microscope, stage)) return;
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

void open_microscope(Microscope& microscope, Stage& stage, gl::Point pixel) {
    stage.pause(true);
    microscope.open(stage.launch());
    microscope.when_ready([&microscope, &stage, pixel] { pick_pixel(microscope, stage, pixel); });
}

}  // namespace warpscope::ui
