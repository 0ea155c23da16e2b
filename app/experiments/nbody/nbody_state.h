#pragma once

#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/step_launches.h"
#include "experiments/nbody/bodies.h"
#include "experiments/nbody/nbody_kernel.h"
#include "experiments/nbody/nbody_partition.h"

namespace warpscope::experiments {

/// Bodies in device memory, laid out as one kernel wants them, and that kernel's steps.
class NBodyState {
  public:
    NBodyState(compute::Device& device, NBodyKernel kernel, const Bodies& bodies);
    /// The kernel `fast` with the given shape.
    NBodyState(compute::Device& device, const NBodyPartition& partition, const Bodies& bodies);

    std::size_t size() const { return luminosity_.size(); }
    NBodyKernel kernel() const { return kernel_; }

    /// Queues one step of semi-implicit Euler: v += a dt, x += v dt. Blocks have `block` threads;
    /// those of `several` and `fast` have NBodyPartition::threads.
    void step(unsigned block, float dt, float eps);
    /// Queues the kernel that computes the forces. For all kernels but `fast` it is the whole step;
    /// a long one on a GPU is divided into several launches (StepLaunches). `fast` leaves the state
    /// unchanged.
    void find_forces(unsigned block, float dt, float eps);
    /// The kernels that a step launches, in their order.
    std::vector<std::string_view> launches() const;
    /// The current state; waits for the device.
    Bodies download() const;

    /// Floats of a body in the arrays below: 3 or 4, x, y, z first.
    int stride() const { return kernel_ == NBodyKernel::float3 ? 3 : 4; }
    compute::DevicePointer<float> positions() const { return position_[current_].pointer(); }
    compute::DevicePointer<float> velocities() const { return velocity_[current_].pointer(); }
    compute::DevicePointer<float> luminosities() const { return luminosity_.pointer(); }

    /// Device bytes of a state of n bodies with the kernel that needs the most.
    static std::size_t bytes_for(std::size_t n);
    /// Throws DeviceError that says what to do where the device can't hold n bodies twice: the
    /// state and the scratch copy that checks run in.
    static void require_room(const compute::Device& device, std::size_t n);

  private:
    using Pointer = compute::DevicePointer<float>;

    NBodyState(compute::Device& device, NBodyKernel kernel, const NBodyPartition& partition,
               const Bodies& bodies);
    void load_kernels();
    unsigned bodies_of_thread() const;
    void move(compute::LaunchShape shape, int begin, std::size_t count, float dt, float eps);
    void find_partial_forces(const compute::LaunchShape& shape, int begin, std::size_t count,
                             float eps);
    void integrate(float dt);

    compute::Device* device_;
    NBodyKernel kernel_;
    NBodyPartition partition_;  ///< fast only
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, int, int, float, float> float4_kernel_;
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, float, float>
        float3_kernel_;
    compute::Kernel<Pointer, Pointer, int, int, float, int> partial_kernel_;
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, float> integrate_kernel_;
    compute::Buffer<float> position_[2], velocity_[2];  ///< old and new state, swapped by each step
    compute::Buffer<float> mass_;                       ///< float3 only; else in position's w
    compute::Buffer<float> partial_;                    ///< fast only: each row's forces, float4
    compute::Buffer<float> luminosity_;
    Bodies bodies_;  ///< as given: masses and luminosities stay
    int current_ = 0;
    StepLaunches launches_;
};

}  // namespace warpscope::experiments
