#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpscope::compute {

class Device;

/// The data that ranks send to each other. A rank is a device that computes a share of something
/// with the other ranks; a process has one rank for each of its devices, and rank 0 leads. All
/// ranks call the functions in the same order. They throw DeviceLost if another rank has failed or
/// does not answer.
class Exchange {
  public:
    Exchange(std::vector<Device*> devices, std::size_t ranks, std::size_t first,
             std::size_t memory_bytes)
        : devices_(std::move(devices)), ranks_(ranks), first_(first), memory_bytes_(memory_bytes) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    virtual ~Exchange() = default;

    /// The devices of this process: ranks first(), first() + 1, …
    const std::vector<Device*>& devices() const { return devices_; }
    std::size_t ranks() const { return ranks_; }
    std::size_t first() const { return first_; }
    bool has_other_processes() const { return ranks_ > devices_.size(); }
    /// The memory of the rank that has the least.
    std::size_t memory_bytes() const { return memory_bytes_; }

    /// `arrays` has one address for each device of this process. Rank r contributes the bytes
    /// bounds[r] to bounds[r + 1] - 1 of its array; then each array has the bytes of all ranks. The
    /// exchange is queued behind the work of each device.
    virtual void all_gather(std::span<const std::uint64_t> arrays,
                            std::span<const std::size_t> bounds) = 0;
    /// Replaces each of the `count` integers by its sum over all ranks, in every array.
    virtual void sum(std::span<const std::uint64_t> arrays, std::size_t count) = 0;
    /// Sends one value of each device of this process; returns those of all ranks.
    virtual std::vector<double> gather_values(std::span<const double> own) = 0;

    /// Sends from the process of rank 0 to all others, whose CallReceiver carries it out.
    virtual void tell(std::span<const std::byte> content) = 0;

    /// What moves the data: "Open MPI 4.1.4".
    virtual std::string words() const = 0;

  private:
    std::vector<Device*> devices_;
    std::size_t ranks_, first_, memory_bytes_;
};

/// Names of the timings of exchanges.
inline constexpr const char* all_gather_timing = "all_gather";
inline constexpr const char* waiting_timing = "waiting for other ranks";

}  // namespace warpscope::compute
