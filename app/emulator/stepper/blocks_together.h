#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/together/resident_blocks.h"

namespace warpscope::emulator {

/// A stepped block and the blocks that run together with it: those of its cluster, all blocks of a
/// cooperative launch, or those of LaunchSettings::together, of which it is one.
class BlocksTogether {
  public:
    /// The most registers, shared and local memory of all of them, because the microscope keeps
    /// many copies of it.
    static constexpr std::uint64_t most_bytes = 32 << 20;

    /// `stepped` is the runner of `block`. Throws Error where the blocks need more than
    /// `most_bytes`.
    BlocksTogether(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                   Budget& budget, BlockRunner& stepped);

    /// Runs the blocks that come before listed ones; else the clusters before this one, where the
    /// kernel depends on the order of its blocks. Throws Error.
    void run_earlier(Observer& observer);
    /// Begins all blocks.
    void begin(Observer& observer);
    ResidentBlocks& blocks() { return blocks_; }
    std::span<std::byte> shared_memory() const { return blocks_.shared_memory(place_); }
    // A block of the stepped block's cluster, by its rank:
    std::span<const std::byte> shared_memory(std::uint32_t rank) const {
        return blocks_.shared_memory(place_of(rank));
    }
    bool has_ended(std::uint32_t rank) const { return blocks_.has_ended(place_of(rank)); }
    const Cluster* cluster() const { return blocks_.cluster_of(place_); }
    std::uint64_t bytes() const;  ///< of all their registers, shared and local memory

  private:
    std::size_t place_of(std::uint32_t rank) const { return place_ - at_.rank + rank; }

    Machine& machine_;
    const FrozenLaunch& launch_;
    Budget& budget_;
    const ClusterPlace at_;
    const std::vector<std::uint32_t> together_;  ///< by place
    const std::size_t place_;                    ///< of the stepped block
    ResidentBlocks blocks_;
};

/// Runs the blocks whose shared memory a block finds: the earlier blocks of its virtual SM, or all
/// earlier blocks if the kernel is order-dependent. Returns the shared memory of each virtual SM, a
/// copy, so that the machine's own does not change. Throws the errors of the blocks.
std::vector<std::vector<std::byte>> run_earlier_blocks(Machine& machine, const FrozenLaunch& launch,
                                                       std::uint32_t block, BlockRunner& runner,
                                                       Observer& observer);

/// Returns the launch after the checks that Machine::run makes. Throws Error, too, for a block that
/// is not there.
FrozenLaunch checked_launch(const FrozenLaunch& launch, std::uint32_t block);

}  // namespace warpscope::emulator
