#pragma once

#include <functional>
#include <optional>
#include <string>

#include "emulator/slice/slice.h"
#include "files/sentence.h"

namespace warpscope::emulator {

/// A run of a block, and the slice of one word in it.
struct SlicedRun {
    BlockTrace trace;
    Slice slice;
};

/// The first instruction of a slice that executes in another run of the block, too, but has a value
/// from elsewhere there.
struct Parting {
    std::optional<std::uint32_t> node;  ///< index into Slice::nodes; nullopt: the word itself
    /// The first source that only this run has, and the first that only the right one has.
    std::optional<SliceSource> source, right;
};

/// Says what happens at the parting.
struct PartingWords {
    files::Sentence brief;  ///< "thread (3,9) read before warp 7 wrote"
    files::Sentence whole;  ///< sentences with the lines
};

/// The thread that writes what is read too early, or that has overwritten it; nullopt: no other
/// thread does. With its instruction, and the step in which `run` executes it, if it does.
struct PartingWriter {
    std::uint32_t warp = 0, lane = 0, pc = 0;
    std::optional<std::uint64_t> step{};
};

/// The index of a thread in a block, or of a block in a grid: "(3,9)" in two dimensions, "3" in
/// one.
std::string index_words(const Dim3& size, std::uint32_t linear);

/// An instruction of a slice: "warp 7 lane 12  kernels/ripple.cu:72  st.shared.f32 [%r9], %f121
/// = 75.3".
files::Sentence node_words(const Kernel& kernel, const SliceNode& node);

/// Of the newest step of a block, if its load got an older value (ListedTurn::reads_old): "thread
/// (0,0,0) reads 0, as it may: nothing orders the write of 5 before it"; else empty.
files::Sentence old_read_words(const Stepper& stepper);

/// A word of global memory that is wrong after a block, and why.
struct WrongWord {
    SlicedRun run;                   ///< with the schedule of the launch
    std::optional<SlicedRun> right;  ///< a run in which the word is right; nullopt: none is known
    files::Sentence order;           ///< of the right run: "all warps advance together, …"
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
/// which looks at global memory. Null: no right value is known, and the run is all. Compares the
/// slices of the bytes in both. Memory is afterwards as it was before. Throws Error: invalid
/// launch, an earlier block that fails; Stopped.
WrongWord explain(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                  GlobalBytes bytes, const std::function<bool(const Stepper&)>& is_right);

}  // namespace warpscope::emulator
