#pragma once

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

/// As in kernels/splat.cu, passed by value.
struct SplatCamera {
    float right[3], down[3], forward[3];
    float distance;
    float focal;               ///< pixels at depth 1
    float center_x, center_y;  ///< pixels
};

SplatCamera camera_of(const Orbit& orbit, Size size);

/// Draws bodies as points of light (kernels/splat.cu).
class NBodyPicture {
  public:
    explicit NBodyPicture(compute::Device& device);

    /// Each body's light is spread over 3x3 pixels and, weaker, over 24x24 for the glow. A body of
    /// `reference_speed` is white, slower ones blue, faster ones orange.
    void draw(const NBodyState& state, const Orbit& orbit, double exposure, double reference_speed,
              const PixelTarget& target);

  private:
    using Cells = compute::DevicePointer<std::uint64_t>;
    using Floats = compute::DevicePointer<float>;

    compute::Device& device_;
    compute::Kernel<Cells, Cells, Floats, Floats, Floats, int, int, SplatCamera, int, int, float,
                    float>
        splat_;
    compute::Kernel<compute::DevicePointer<Rgba>, Cells, Cells, int, int, float, float> tone_map_;
    Size size_;
    compute::Buffer<std::uint64_t> light_, glow_;
};

}  // namespace warpscope::experiments
