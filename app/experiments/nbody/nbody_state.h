#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/device/exchange.h"
#include "experiments/nbody/nbody_rank.h"

namespace warpscope::experiments {

/// Divides a long step into several launches on a GPU. A launch on a GPU can't be ended, so a
/// person who cancels the step waits for one launch. All other steps are one launch: those on the
/// emulator, whose launches can be ended, those that nobody can cancel, and those of fewer than
/// `long_step` interactions.
class StepLaunches {
  public:
    /// Launches the kernel for bodies begin to begin + count - 1.
    using Launch = std::function<void(std::size_t begin, std::size_t count)>;

    static constexpr double long_step = 65536.0 * 65536.0;
    static constexpr double wanted_seconds = 0.08;  ///< of one launch

    /// Calls `launch` until each of the n bodies was in one call. All counts but the last are
    /// multiples of `unit`, the bodies that fill the multiprocessors once. Throws Cancelled.
    void run(compute::Device& device, std::size_t n, std::size_t unit, const Launch& launch);

    /// Units of the next launch after a launch of `units` units that took `seconds`.
    static std::size_t next_units(std::size_t units, double seconds);

  private:
    std::size_t units_ = 1;
};

/// Bodies that the ranks of a device's exchange move together, or the device alone. In the process
/// of rank 0 every call is also carried out by the other processes (NBodyOrder).
class NBodyState {
  public:
    NBodyState(compute::Device& device, NBodyKernel kernel, const Bodies& bodies);
    /// A kernel that divides sums, with the given shape.
    NBodyState(compute::Device& device, const NBodyPartition& partition, const Bodies& bodies,
               NBodyKernel kernel = NBodyKernel::fast);
    /// Makes the state on this device alone, even if it has other ranks.
    static NBodyState on_one(compute::Device& device, NBodyKernel kernel, const Bodies& bodies);
    NBodyState(NBodyState&& other) noexcept;
    NBodyState& operator=(NBodyState&& other) noexcept;
    ~NBodyState();

    std::size_t size() const { return bodies_.size(); }
    NBodyKernel kernel() const { return ranks_.front().kernel(); }
    /// The ranks of this process.
    const std::vector<NBodyRank>& ranks() const { return ranks_; }
    /// Null if its device computes alone.
    compute::Exchange* exchange() const { return exchange_; }
    /// The number of this state in orders.
    std::uint32_t number() const { return number_; }

    /// Queues one step of semi-implicit Euler: v += a dt, x += v dt. Blocks have `block` threads;
    /// those of `several` and later kernels have NBodyPartition::threads.
    void step(unsigned block, float dt, float eps);
    /// Queues the kernel that computes the forces. Where it does not divide sums it is the whole
    /// step; a long one on a GPU is divided into several launches (StepLaunches). Kernels that
    /// divide sums leave the state unchanged.
    void find_forces(unsigned block, float dt, float eps);
    /// The kernels that a step launches, in their order.
    std::vector<std::string_view> launches() const { return ranks_.front().launches(); }
    /// The current state; waits for the device.
    Bodies download() const;
    /// The state before the newest step of this device alone, whose kernel moves the bodies; waits
    /// for the device.
    Bodies before_step() const;
    /// Sends the velocities of each share to all ranks.
    void gather_velocities() const;

    /// Device bytes of a state of n bodies with the kernel that needs the most.
    static std::size_t bytes_for(std::size_t n);
    /// Throws DeviceError that says what to do where the device can't hold n bodies twice: the
    /// state and the scratch copy that checks run in.
    static void require_room(const compute::Device& device, std::size_t n);

  private:
    NBodyState(compute::Device& device, compute::Exchange* exchange, NBodyKernel kernel,
               const std::optional<NBodyPartition>& partition, const Bodies& bodies);
    void make_ranks(compute::Device& device, NBodyKernel kernel,
                    const std::optional<NBodyPartition>& partition);
    void drop() const noexcept;
    void queue_forces(const NBodyStep& step);
    void end_step();
    void gather(bool velocities) const;

    compute::Exchange* exchange_;
    std::vector<NBodyRank> ranks_;
    std::uint32_t number_;
    Bodies bodies_;  ///< as given: masses and luminosities stay
    StepLaunches launches_;
    unsigned steps_ = 0;
};

}  // namespace warpscope::experiments
