#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/device/exchange.h"
#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_kernel.h"

namespace warpscope::experiments {

/// The bodies that one rank owns: `count` of them, from body `begin` on.
struct BodyShare {
    std::size_t begin = 0, count = 0;
    bool operator==(const BodyShare&) const = default;
};

/// The share of a rank: shares follow each other in the order of the ranks, and their sizes differ
/// by at most one. With more ranks than bodies some ranks own none.
constexpr BodyShare share_of(std::size_t bodies, std::size_t ranks, std::size_t rank) {
    const std::size_t begin = bodies * rank / ranks;
    return {begin, bodies * (rank + 1) / ranks - begin};
}

/// Where each share begins in an array with `bytes` for each body, and behind them its end.
inline std::vector<std::size_t> byte_bounds(std::size_t bodies, std::size_t ranks,
                                            std::size_t bytes) {
    std::vector<std::size_t> bounds;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        bounds.push_back(share_of(bodies, ranks, rank).begin * bytes);
    bounds.push_back(bodies * bytes);
    return bounds;
}

/// The devices of this process that compute together with `device`, itself the first of them.
inline std::vector<compute::Device*> devices_of(compute::Device& device) {
    if (const compute::Exchange* exchange = device.exchange()) return exchange->devices();
    return {&device};
}

/// What a step needs to know beside the bodies. Blocks have `block` threads; those of `several` and
/// later kernels have NBodyPartition::threads.
struct NBodyStep {
    unsigned block = 256;
    float dt = 0, eps = 0;
};

/// The bodies in the memory of one device, laid out as one kernel wants them. The device has the
/// positions of all bodies, which pull, and moves the bodies of its share. Threads beyond the share
/// write bodies of other ranks, whose positions the next exchange replaces.
class NBodyRank {
  public:
    NBodyRank(compute::Device& device, NBodyKernel kernel, const NBodyPartition& partition,
              const Bodies& bodies, BodyShare share);

    compute::Device& device() const { return *device_; }
    NBodyKernel kernel() const { return kernel_; }
    const BodyShare& share() const { return share_; }
    /// Pairs of bodies of a step.
    double interactions() const { return double(share_.count) * double(size_); }
    /// The kernels that a step launches, in their order.
    std::vector<std::string_view> launches() const;
    /// Bodies of a launch that fill the multiprocessors once.
    std::size_t bodies_of_wave(unsigned block) const;

    /// Queues the kernel that computes the forces on `count` bodies, from the `begin`-th of the
    /// share on. For all kernels that do not divide sums it also moves them.
    void find_forces(std::size_t begin, std::size_t count, const NBodyStep& step);
    /// Where sums are divided, when all forces are found: queues the kernel that moves the share.
    void integrate(float dt);
    /// What the kernels have written is the state now.
    void swap_states() { current_ = 1 - current_; }

    /// Floats of a body in the arrays below: 3 or 4, x, y, z first.
    int stride() const { return kernel_ == NBodyKernel::float3 ? 3 : 4; }
    compute::DevicePointer<float> positions() const { return position_[current_].pointer(); }
    compute::DevicePointer<float> velocities() const { return velocity_[current_].pointer(); }
    compute::DevicePointer<float> luminosities() const { return luminosity_.pointer(); }
    /// Replaces positions and velocities by those in the device's memory; waits for the device.
    void download(Bodies& bodies) const { download(bodies, current_); }
    /// Replaces them by those from before the newest swap_states().
    void download_old(Bodies& bodies) const { download(bodies, 1 - current_); }

  private:
    using Pointer = compute::DevicePointer<float>;

    void download(Bodies& bodies, int state) const;
    void load_kernels();
    unsigned bodies_of_thread() const;
    unsigned block_of(const NBodyStep& step) const;
    void move(compute::LaunchShape shape, int begin, std::size_t count, const NBodyStep& step);
    void find_partial_forces(const compute::LaunchShape& shape, int begin, std::size_t count,
                             float eps);

    compute::Device* device_;
    NBodyKernel kernel_;
    NBodyPartition partition_;  ///< where sums are divided
    BodyShare share_;
    std::size_t size_;  ///< of all bodies
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, int, int, float, float> float4_kernel_;
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, float, float>
        float3_kernel_;
    compute::Kernel<Pointer, Pointer, int, int, float, int> partial_kernel_;
    compute::Kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, int, float>
        integrate_kernel_;
    compute::Buffer<float> position_[2], velocity_[2];  ///< old and new state, swapped by each step
    compute::Buffer<float> mass_;                       ///< float3 only; else in position's w
    compute::Buffer<float> partial_;  ///< where sums are divided: each row's forces, float4
    compute::Buffer<float> luminosity_;
    int current_ = 0;
};

}  // namespace warpscope::experiments
