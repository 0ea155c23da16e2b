#pragma once

#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"
#include "experiments/nbody/nbody_state.h"

namespace warpscope::experiments {

/// Position of the camera. It looks at the origin, z is up, angles are in degrees.
struct Orbit {
    double yaw = 0;
    double pitch = 0;     ///< above the plane z = 0
    double distance = 1;  ///< to the origin
};

/// The struct of kernels/splat.cu, passed by value.
struct SplatCamera {
    float right[3], down[3], forward[3];
    float distance;
    float focal;               ///< pixels at depth 1
    float center_x, center_y;  ///< pixels
};

/// How the bodies are looked at. A body of `reference_speed` is white, slower ones are blue, faster
/// ones orange.
struct NBodyView {
    Orbit orbit{};
    double exposure = 1, reference_speed = 1;
    Size size{};
};

SplatCamera camera_of(const Orbit& orbit, Size size);

/// Draws bodies as points of light (kernels/splat.cu). Each rank draws the bodies of its share; the
/// light of all ranks is added as integers, so the picture does not depend on their number.
class NBodyPicture {
  public:
    explicit NBodyPicture(compute::Device& device);

    /// Each body's light is spread over 3x3 pixels and, weaker, over 24x24 for the glow. In a
    /// process that follows, `pixels` is null.
    void draw(const NBodyState& state, const NBodyView& view, compute::DevicePointer<Rgba> pixels);

  private:
    using Cells = compute::DevicePointer<std::uint64_t>;
    using Floats = compute::DevicePointer<float>;

    /// The light of one rank.
    struct Light {
        compute::Device* device;
        compute::Kernel<Cells, Cells, Floats, Floats, Floats, int, int, SplatCamera, int, int,
                        float, float>
            splat;
        compute::Buffer<std::uint64_t> sharp{}, glow{};
    };

    void draw_light(const NBodyState& state, const NBodyView& view, float quanta);
    void splat(Light& light, const NBodyRank& rank, const NBodyView& view, float quanta);
    void add_up(compute::Exchange& exchange);

    compute::Kernel<compute::DevicePointer<Rgba>, Cells, Cells, int, int, float, float> tone_map_;
    std::vector<Light> lights_;
    Size size_;
};

}  // namespace warpscope::experiments
