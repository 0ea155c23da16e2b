#include "experiments/nbody/nbody_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/nbody/nbody_order.h"

namespace warpscope::experiments {
namespace {

constexpr int glow_pixels = 8;               // as in kernels/splat.cu
constexpr double half_height_tangent = 0.4;  // of the angle of view

unsigned blocks(int threads, unsigned block) {
    return (unsigned(threads) + block - 1) / block;
}

/// Cells of the glow along a side of the picture.
int glow_side(int pixels) {
    return (pixels + glow_pixels - 1) / glow_pixels;
}

/// Light of one body, in the units of the cells. The units are small, and a cell cannot overflow
/// even if all bodies are in it.
float quanta_for(std::size_t bodies) {
    return float(std::min(65536.0, std::floor(4.2e9 / double(bodies))));
}

}  // namespace

SplatCamera camera_of(const Orbit& orbit, Size size) {
    const double yaw = orbit.yaw * std::numbers::pi / 180;
    const double pitch = orbit.pitch * std::numbers::pi / 180;
    const double cy = std::cos(yaw), sy = std::sin(yaw);
    const double cp = std::cos(pitch), sp = std::sin(pitch);
    return {{float(-sy), float(cy), 0.0f},
            {float(sp * cy), float(sp * sy), float(-cp)},
            {float(-cp * cy), float(-cp * sy), float(-sp)},
            float(orbit.distance),
            float(size.height / 2.0 / half_height_tangent),
            float(size.width / 2.0),
            float(size.height / 2.0)};
}

NBodyPicture::NBodyPicture(compute::Device& device)
    : tone_map_(device.kernel<compute::DevicePointer<Rgba>, Cells, Cells, int, int, float, float>(
          "splat", "tone_map")) {
    for (compute::Device* own : devices_of(device))
        lights_.push_back(
            {own, own->kernel<Cells, Cells, Floats, Floats, Floats, int, int, SplatCamera, int, int,
                              float, float>("splat", "splat_bodies")});
}

void NBodyPicture::splat(Light& light, const NBodyRank& rank, const NBodyView& view, float quanta) {
    light.sharp.fill(0);
    light.glow.fill(0);
    const auto [begin, count] = rank.share();
    if (count == 0) return;
    const std::size_t first = begin * std::size_t(rank.stride());
    const double body_bytes = (2.0 * rank.stride() + 1) * sizeof(float);
    light.device->launch(light.splat, {{blocks(int(count), 256)}, {256}},
                         {double(count) * body_bytes}, light.sharp.pointer(), light.glow.pointer(),
                         rank.positions() + first, rank.velocities() + first,
                         rank.luminosities() + begin, rank.stride(), int(count),
                         camera_of(view.orbit, view.size), view.size.width, view.size.height,
                         quanta, float(view.reference_speed));
}

void NBodyPicture::add_up(compute::Exchange& exchange) {
    std::vector<std::uint64_t> sharp, glow;
    for (const Light& light : lights_) {
        sharp.push_back(light.sharp.pointer().address);
        glow.push_back(light.glow.pointer().address);
    }
    exchange.sum(sharp, lights_.front().sharp.size());
    exchange.sum(glow, lights_.front().glow.size());
}

/// The light of all bodies, in the memory of each rank.
void NBodyPicture::draw_light(const NBodyState& state, const NBodyView& view, float quanta) {
    const auto [width, height] = view.size;
    for (Light& light : lights_) {
        if (size_ == view.size) break;
        light.sharp = {*light.device, std::size_t(width) * std::size_t(height)};
        light.glow = {*light.device,
                      std::size_t(glow_side(width)) * std::size_t(glow_side(height))};
    }
    size_ = view.size;
    for (std::size_t i = 0; i < lights_.size(); ++i)
        splat(lights_[i], state.ranks()[i], view, quanta);
    if (state.exchange()) add_up(*state.exchange());
}

void NBodyPicture::draw(const NBodyState& state, const NBodyView& view,
                        compute::DevicePointer<Rgba> pixels) {
    const float quanta = quanta_for(state.size());
    carry_out(state, {.task = NBodyOrder::Task::draw, .view = view},
              [&] { draw_light(state, view, quanta); });
    if (pixels.address == 0) return;

    // With a constant brightness of each body, a picture of 10^6 bodies would be white. With a
    // constant total brightness, one of 4096 bodies would be too dark to see. Larger pictures
    // spread the light over more pixels.
    const auto [width, height] = view.size;
    const double crowd = std::max(double(state.size()), 1024.0) / 4096;
    const double gain = view.exposure * 3.8 * std::pow(crowd, -0.6) * (height / 720.0) / quanta;
    const double glow_share = 3 * std::pow(std::max(crowd, 1.0), -0.4);
    const double glow_gain = gain * glow_share / (glow_pixels * glow_pixels);
    const Light& light = lights_.front();
    const double cell_bytes =
        double(light.sharp.size() + light.glow.size()) * sizeof(std::uint64_t);
    const double pixel_bytes = double(light.sharp.size()) * sizeof(Rgba);
    light.device->launch(tone_map_, {{blocks(glow_side(width), 32), blocks(height, 4)}, {32, 4}},
                         {cell_bytes + pixel_bytes}, pixels, light.sharp.pointer(),
                         light.glow.pointer(), width, height, float(gain), float(glow_gain));
}

}  // namespace warpscope::experiments
