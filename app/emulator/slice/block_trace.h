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

}  // namespace warpscope::emulator
