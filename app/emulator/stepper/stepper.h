#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/checks/findings.h"
#include "emulator/machine/machine.h"

namespace warpscope::emulator {

// Lanes of a warp at one place.
struct SplitView {
    enum class State : uint8_t { running, at_barrier, at_warp_sync, at_join };
    State state = State::running;
    uint32_t mask = 0;     // lanes
    uint32_t pc = 0;       // of the instruction that they execute next or wait at
    uint32_t barrier = 0;  // 0..15, of at_barrier
};

struct WarpView {
    uint32_t threads = 0;           // lanes that the block has
    uint32_t exited = 0;            // of those
    std::vector<SplitView> splits;  // the one that goes on first comes first; empty: all exited
};

// One 4-byte word of shared memory: what the block has done to it.
struct WordView {
    static constexpr int32_t nobody = -1;
    int32_t writer = nobody;                   // linear index of the thread in the block
    int32_t reader = nobody;                   // the newest one
    uint32_t write_epoch = 0, read_epoch = 0;  // barriers that the block had passed
    uint32_t write_pc = 0, read_pc = 0;
    bool hazard = false;  // part of a race that was found
};

// A shared or global memory instruction as one warp executed it.
struct AccessView {
    uint64_t step = 0;  // index into Stepper::history()
    uint32_t warp = 0, mask = 0, pc = 0;
    uint32_t bytes = 0;  // of one lane
    MemoryAccess kind = MemoryAccess::none;
    std::array<uint64_t, 32> addresses{};  // offsets into shared memory, or host addresses
};

// An executed instruction.
struct Step {
    uint8_t warp = 0;
    bool by_hand = false;  // the warp was picked, not the schedule's choice
    uint32_t pc = 0;
    uint32_t mask = 0;
};

// Lanes of a warp that stood at a barrier, from the step that brought them there to the one that
// released it (history().size() where none has).
struct BarrierWait {
    uint32_t warp = 0, mask = 0, pc = 0;
    uint64_t from = 0, to = 0;
};

// One block of a launch under a person's hand. Steps are single instructions (a guard and what it
// guards are one; what the decoder inserted is none), taken by the schedule, exactly as
// Machine::run would take them, or by a warp of one's own choice. A step of a warp whose turn it
// isn't is put in between and leaves the turn as it is. A step that fails is one, too.
//
// The machine's memory is the block's own while the Stepper lives: what the block writes to global
// memory is taken back by back(), seek() and the destructor. One Stepper a machine at a time.
class Stepper {
  public:
    // Runs the blocks before `block` whose shared memory it would find (those of its virtual SM;
    // all, where the kernel's atomics tell their order), then stands before its first instruction.
    // Throws Error: bad shape, no such block, a block before it that fails, the launch's time
    // limit or its stop.
    Stepper(Machine& machine, FrozenLaunch launch, uint32_t block);
    ~Stepper();
    Stepper(const Stepper&) = delete;
    Stepper& operator=(const Stepper&) = delete;

    // --- going on. Each does nothing at the end. A block that can't go on (deadlock, wild access,
    // budget) is at its end, with error().
    enum class End : uint8_t { open, finished, failed };
    // One instruction of `warp`, or of the warp whose turn the schedule says it is. A warp that
    // can't run takes no step: false.
    bool step(std::optional<uint32_t> warp = {});
    // The following run ahead, at most for the launch's time limit, and until its stop.
    // Until that warp stands on another source line, or waits, or has ended.
    void step_line(std::optional<uint32_t> warp = {});
    // Until the next release of a barrier, or the end.
    void step_barrier();
    // To the end, or until `most` steps of history.
    void run(uint64_t most = 4'000'000);

    // --- and back. What was stepped once is remembered: seek(n) goes to any of those states, by
    // the nearest snapshot before it. Another choice of warp than before forgets what came after.
    void seek(uint64_t position);
    void back() {
        if (position() > 0) seek(position() - 1);
    }
    void back_line();     // to where the newest step's warp came to its line
    void back_barrier();  // to just after the release before, or the start

    // --- what is on show
    const FrozenLaunch& launch() const;
    const Kernel& kernel() const { return *launch().kernel; }
    uint32_t block() const;
    uint64_t position() const;                   // steps taken
    std::span<const Step> history() const;       // those and the ones after them that are known
    std::span<const BarrierWait> waits() const;  // of the whole history
    End end() const;
    const std::string& error() const;           // why it failed; empty else
    const std::string& printed() const;         // by printf(), up to here
    uint32_t epoch() const;                     // barriers released
    std::optional<uint32_t> next_warp() const;  // whose turn it is

    uint32_t warps() const;
    WarpView warp(uint32_t warp) const;
    // Raw bits of a register (Kernel::registers) in a lane; a predicate is 0 or 1.
    uint64_t value(const RegisterInfo& reg, uint32_t warp, unsigned lane) const;
    std::span<const std::byte> shared_memory() const;
    std::span<const WordView> words() const;  // shared memory, by word
    std::vector<Finding> findings() const;    // races and barriers up to here
    // The newest access of a warp up to here.
    std::optional<AccessView> shared_access(uint32_t warp) const;
    std::optional<AccessView> global_access(uint32_t warp) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace warpscope::emulator
