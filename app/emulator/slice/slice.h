#pragma once

#include <cstdint>
#include <vector>

#include "emulator/slice/block_trace.h"

namespace warpscope::emulator {

/// Where a value that an instruction has read comes from.
struct SliceSource {
    enum class Kind : std::uint8_t {
        instruction,  ///< `at`: index into Slice::nodes
        parameter,    ///< `at`: its offset in the packed arguments
        special,      ///< `at`: a Special, such as %tid.x
        global,       ///< a word that the block has not written before; `at`: its address
        shared,       ///< a word of shared memory that the block has not written before
        local,        ///< a word of the thread's local memory that it has not written before
        image,        ///< a texture or a surface
        threads,      ///< what other threads have done: a vote of the block, an mbarrier
        undefined     ///< a register that nothing has written; `at`: its index
    };
    Kind kind = Kind::instruction;
    std::uint64_t at = 0;
    auto operator<=>(const SliceSource&) const = default;
};

/// One lane's execution of one instruction.
struct SliceNode {
    std::uint64_t step = 0;
    std::uint32_t warp = 0, lane = 0, pc = 0;
    std::uint32_t executions = 0;      ///< of this instruction by the thread, before
    std::uint64_t value = 0;           ///< raw bits of its first result, or of what it stores
    std::vector<SliceSource> sources;  ///< in ascending order, each once
};

/// The instructions from which bytes of global memory have their value at the end of a block, back
/// to the inputs of the kernel: through registers, through the lanes of shuffles, and through the
/// memory that the block has written (a dynamic backward slice, Agrawal and Horgan 1990). A guard
/// counts as a source, and so does the branch that has decided that the instruction is executed.
struct Slice {
    std::vector<SliceSource> bytes;  ///< the sources of the bytes themselves: their last stores
    std::vector<SliceNode> nodes;    ///< the latest ones first
    bool is_cut = false;             ///< there are more nodes than `most_nodes`
    static constexpr std::size_t most_nodes = 100'000;
};

/// Bytes of global memory.
struct GlobalBytes {
    std::uint64_t address = 0;
    std::uint32_t count = 4;
};

/// The slice of these bytes at the end of the trace. With a stepper of this history, sets the
/// values of the nodes, and leaves it at the end.
Slice backward_slice(const BlockTrace& trace, GlobalBytes bytes, Stepper* stepper = nullptr);

}  // namespace warpscope::emulator
