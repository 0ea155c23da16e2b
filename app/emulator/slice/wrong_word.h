#pragma once

#include <functional>
#include <optional>
#include <string>

#include "emulator/slice/parting.h"

namespace warpscope::emulator {

/// A word of global memory that is wrong after a block, and why.
struct WrongWord {
    SlicedRun run;                   ///< with the schedule of the launch
    std::optional<SlicedRun> right;  ///< a run in which the word is right; nullopt: none is known
    std::string order;               ///< of the right run: "all warps advance together, …"
    /// Where the two runs part; without a right one, the first read of shared memory that the block
    /// had not written. nullopt: they do not part, or there is no read of that kind.
    std::optional<Parting> parting{};
    PartingWords words{};  ///< why it is wrong, or why that is not known
    std::optional<PartingWriter> writer{};

    /// The step before which to look, and its thread: that of the parting, else the last store.
    /// nullopt: the block has not written the word.
    struct Place {
        std::uint64_t step = 0;
        std::uint32_t warp = 0, lane = 0;
    };
    std::optional<Place> place() const;
};

/// Runs a block as its launch would, and then in other orders until `is_right` holds at the end,
/// which looks at global memory. Compares the slices of the bytes in both. Memory is
/// afterwards as it was before. Throws Error: invalid launch, an earlier block that fails; Stopped.
WrongWord explain(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                  GlobalBytes bytes, const std::function<bool(const Stepper&)>& is_right);

}  // namespace warpscope::emulator
