#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/printed.h"

namespace warpscope::emulator {

/// Blocks of a launch that run together and may wait for each other: those of a cluster, or all
/// blocks of a cooperative launch. They take turns on one host thread, in the order of their index:
/// in its turn, a block runs one of its warps, and the block of a cluster runs until its threads
/// only wait. Each block has shared memory of its own, zero at first.
class ResidentBlocks {
  public:
    /// `count` blocks, whole clusters of them, take turns.
    ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                   Budget& budget, std::size_t count);

    /// Runs as many blocks of the launch as there are places, each cluster's by rank, to their end.
    /// Throws the Error of the first one that fails. `observer` may be null.
    void run(std::span<const std::uint32_t> blocks, unsigned virtual_sms, bool from_last,
             Observer* observer);

    Statistics statistics() const;
    std::vector<ExecutionCount> executions() const;  ///< of all observed blocks so far, by pc
    void add_prints_to(LaunchPrints& prints) const;  ///< of the newest blocks

  private:
    struct Place {
        Place(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
              Budget& budget);

        const AlignedBytes shared;
        BlockRunner runner;
        std::uint32_t block = 0;
    };
    void begin(unsigned virtual_sms, Observer* observer);
    /// False where the block has ended.
    bool takes_turns(Place& place) const;

    LaunchProgress* progress_;
    const std::size_t cluster_size_;
    std::vector<std::unique_ptr<Place>> places_;
    std::vector<AsyncCopies*> copies_;  ///< of all places
    std::vector<std::unique_ptr<Cluster>> clusters_;
    std::uint32_t waiting_turns_ = 0;
};

}  // namespace warpscope::emulator
