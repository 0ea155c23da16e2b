#pragma once

#include <optional>
#include <string>

#include "emulator/slice/slice.h"

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

/// Instructions of both runs are the same if one thread executes them for the same time. What a
/// read finds in memory comes before other sources, as a loop that polls differs in any two runs.
/// nullopt: all of them have the same sources.
std::optional<Parting> where_they_part(const Kernel& kernel, const Slice& slice,
                                       const Slice& right);

/// Says what happens at the parting.
struct PartingWords {
    std::string brief;  ///< "thread (3,9) read before warp 7 wrote"
    std::string whole;  ///< sentences with the lines
};
PartingWords words_of(const Parting& parting, const SlicedRun& run, const SlicedRun& right,
                      const Dim3& block);

/// The thread that writes what is read too early, or that has overwritten it; nullopt: no other
/// thread does. With its instruction, and the step in which `run` executes it, if it does.
struct PartingWriter {
    std::uint32_t warp = 0, lane = 0, pc = 0;
    std::optional<std::uint64_t> step{};
};
std::optional<PartingWriter> writer_of(const Parting& parting, const SlicedRun& run,
                                       const SlicedRun& right);

/// The text with a capital letter at its beginning.
std::string capital(std::string text);
/// The index of a thread in a block: "(3,9)" if the block has two dimensions, "3" if it has one.
std::string thread_words(const Dim3& block, std::uint32_t warp, std::uint32_t lane);
/// An instruction of a slice: "warp 7 lane 12  kernels/ripple.cu:72  st.shared.f32 [%r9], %f121
/// = 75.3".
std::string node_words(const Kernel& kernel, const SliceNode& node);
/// The value of a node as a number: "75.3"; empty: it has none.
std::string value_words(const Kernel& kernel, const SliceNode& node);
/// What the source of a value is, beside instructions: "the kernel's argument 2", "%tid.x".
std::string source_words(const Kernel& kernel, const SliceSource& source);

}  // namespace warpscope::emulator
