#include "experiments/nbody/nbody_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpscope::experiments {
namespace {

constexpr int glow_pixels = 8;               // as in kernels/splat.cu
constexpr double half_height_tangent = 0.4;  // of the angle of view

unsigned blocks(int threads, unsigned block) {
    return (unsigned(threads) + block - 1) / block;
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
    : device_(device),
      splat_(device.kernel<Cells, Cells, Floats, Floats, Floats, int, int, SplatCamera, int, int,
                           float, float>("splat", "splat_bodies")),
      tone_map_(device.kernel<compute::DevicePointer<Rgba>, Cells, Cells, int, int, float, float>(
          "splat", "tone_map")) {}

void NBodyPicture::draw(const NBodyState& state, const Orbit& orbit, double exposure,
                        double reference_speed, const PixelTarget& target) {
    const auto [width, height] = target.size;
    const int glow_width = (width + glow_pixels - 1) / glow_pixels;
    const int glow_height = (height + glow_pixels - 1) / glow_pixels;
    if (size_ != target.size) {
        light_ = {device_, std::size_t(width) * std::size_t(height)};
        glow_ = {device_, std::size_t(glow_width) * std::size_t(glow_height)};
        size_ = target.size;
    }
    light_.fill(0);
    glow_.fill(0);

    const auto n = double(state.size());
    const float quanta = quanta_for(state.size());
    const double body_bytes = (2.0 * state.stride() + 1) * sizeof(float);
    device_.launch(splat_, {{blocks(int(n), 256)}, {256}}, {n * body_bytes}, light_.pointer(),
                   glow_.pointer(), state.positions(), state.velocities(), state.luminosities(),
                   state.stride(), int(n), camera_of(orbit, target.size), width, height, quanta,
                   float(reference_speed));

    // With a constant brightness of each body, a picture of 10^6 bodies would be white. With a
    // constant total brightness, one of 4096 bodies would be too dark to see. Larger pictures
    // spread the light over more pixels.
    const double crowd = std::max(n, 1024.0) / 4096;
    const double gain = exposure * 3.8 * std::pow(crowd, -0.6) * (height / 720.0) / quanta;
    const double glow_share = 3 * std::pow(std::max(crowd, 1.0), -0.4);
    const double glow_gain = gain * glow_share / (glow_pixels * glow_pixels);
    const double cell_bytes = double(light_.size() + glow_.size()) * sizeof(std::uint64_t);
    const double pixel_bytes = double(light_.size()) * sizeof(Rgba);
    device_.launch(tone_map_, {{blocks(glow_width, 32), blocks(height, 4)}, {32, 4}},
                   {cell_bytes + pixel_bytes}, target.pixels, light_.pointer(), glow_.pointer(),
                   width, height, float(gain), float(glow_gain));
}

}  // namespace warpscope::experiments
