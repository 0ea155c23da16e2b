#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/observe/observer.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// An access of one step to shared, global or local memory.
struct TracedAccess {
    std::uint64_t step = 0;
    Space space = Space::shared;
    MemoryAccess kind = MemoryAccess::none;
    std::uint32_t mask = 0, bytes = 0;          ///< bytes of one lane
    std::array<std::uint64_t, 32> addresses{};  ///< of local memory: in that of the thread
};

/// Lanes of a warp have got the results of an instruction that they execute together. The step is
/// that of the lanes that came last.
struct TracedExchange {
    std::uint64_t step = 0;
    std::uint32_t mask = 0;
    std::array<std::uint8_t, 32> from{};  ///< of a shuffle: the lane whose value each lane gets
};

/// Parts of an asynchronous copy (`copy.parts`) have landed after the instruction of a step.
struct TracedLanding {
    std::uint64_t step = 0;
    std::uint64_t started = 0;  ///< the step of the instruction that has started the copy
    AsyncCopy copy;
};

/// What each step of a block has read and written besides registers.
class BlockTrace : public Observer {
  public:
    /// Repeats the known history of the stepper, which afterwards is at its end. Throws Stopped
    /// after a stop request.
    explicit BlockTrace(Stepper& stepper, const std::stop_token& stop = {});

    const Kernel& kernel() const { return *kernel_; }
    std::uint32_t warps() const { return warps_; }
    const std::vector<Step>& steps() const { return steps_; }
    /// The accesses of a step, in their order.
    std::span<const TracedAccess> accesses(std::uint64_t step) const;
    std::span<const TracedLanding> landings(std::uint64_t step) const;
    const TracedExchange* exchange(std::uint64_t step) const;  ///< or null

    /// How often the thread has executed the instruction of this step before it.
    std::uint32_t executions_before(std::uint64_t step, unsigned lane) const;
    /// The step in which a thread executes an instruction after so many executions of it; nullopt:
    /// it does not.
    std::optional<std::uint64_t> step_of(std::uint32_t warp, unsigned lane, std::uint32_t pc,
                                         std::uint32_t executions) const;

    bool wants_instructions(const Kernel&) const override { return false; }
    void on_shared_access(const Access& access) override { note(access, Space::shared); }
    void on_global_access(const Access& access) override { note(access, Space::global); }
    void on_async(std::uint32_t block, const AsyncEvent& event) override;

  private:
    void note(const Access& access, Space space);
    void before(const Stepper& stepper, std::uint64_t step);
    void after(const Stepper& stepper, std::uint64_t step);
    void note_local(const Stepper& stepper, const Step& step);

    const Kernel* kernel_;
    std::uint32_t warps_;
    std::vector<Step> steps_;
    std::vector<TracedAccess> accesses_;
    std::vector<TracedExchange> exchanges_;
    std::vector<TracedLanding> landings_;
    std::map<std::uint32_t, std::uint64_t> started_;  ///< by AsyncCopy::number
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>>
        of_pc_;  ///< by warp and pc: the steps
    std::uint64_t now_ = 0;
    std::vector<std::uint32_t> waiting_;  ///< by warp: lanes that wait to exchange
    TracedExchange next_;
};

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
