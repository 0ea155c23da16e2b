#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/observe/findings.h"
#include "emulator/stepper/timeline.h"

namespace warpscope::emulator {

/// Lanes of a warp that execute or wait together.
struct SplitView {
    enum class State : std::uint8_t { running, at_barrier, at_warp_sync, at_join };
    State state = State::running;
    std::uint32_t mask = 0;  ///< lanes
    /// The instruction at which the lanes are: to execute next, or to wait.
    std::uint32_t pc = 0;
    std::uint32_t barrier = 0;  ///< the number of the barrier, 0..15, for at_barrier
};

struct WarpView {
    std::uint32_t threads = 0;      ///< lanes that belong to a thread of the block
    std::uint32_t exited = 0;       ///< those of `threads` that have exited
    std::vector<SplitView> splits;  ///< the next one to run comes first; empty: all exited
};

/// One 4-byte word of shared memory: its last write and its last read by the block or, where it is
/// in a cluster, by another block.
struct WordView {
    static constexpr std::int32_t nobody = -1;
    std::int32_t writer = nobody;  ///< linear index of the thread in its block
    std::int32_t reader = nobody;
    /// The rank of the block of the writer and of the reader; negative: the block whose word it is.
    std::int8_t writer_rank = -1, reader_rank = -1;
    bool is_read = false;  ///< since it was written last
    /// The newest asynchronous copy to the word (CopyFlight::rank and number) is in flight, or has
    /// landed and is the last write.
    enum class Copy : std::uint8_t { none, in_flight, landed };
    Copy copy = Copy::none;
    std::int8_t copy_rank = -1;
    std::uint32_t copy_number = 0;
    /// Number of barriers that the block had passed.
    std::uint32_t write_epoch = 0, read_epoch = 0;
    std::uint32_t write_pc = 0, read_pc = 0;
    bool hazard = false;  ///< the word has taken part in a race
};

/// The shared memory of another block of the stepped block's cluster.
struct TileView {
    std::uint32_t rank = 0, block = 0;
    bool ended = false;       ///< the block has ended
    std::uint32_t epoch = 0;  ///< barriers that it has passed
    std::span<const std::byte> memory;
    std::span<const WordView> words;  ///< races in them are not known
};

/// A load, store or atomic of shared or global memory, as one warp executed it.
struct AccessView {
    std::uint64_t step = 0;  ///< index into Stepper::history()
    std::uint32_t warp = 0, mask = 0, pc = 0;
    std::uint32_t bytes = 0;  ///< width of one lane's access
    MemoryAccess kind = MemoryAccess::none;
    std::array<std::uint64_t, 32> addresses{};  ///< offsets into shared memory, or host addresses
};

/// One executed instruction.
struct Step {
    std::uint8_t warp = 0;
    bool by_hand = false;      ///< the user chose the warp; the schedule had chosen another one
    std::uint16_t turn = 0;    ///< of LaunchSettings::turns, counted from 1; 0: it is not listed
    std::uint32_t landed = 0;  ///< no instruction: the user landed the copy with this number
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;
};

/// Runs one block of a launch step by step, forwards and backwards. A step is one PTX instruction
/// together with its guard; instructions that the decoder has inserted run with their neighbours.
/// The schedule chooses the warp of each step, in the order in which Machine::run would execute the
/// block, or the user chooses another warp. A step of another warp is inserted into the current
/// turn and does not end that turn. An instruction that fails is a step too.
///
/// The other blocks of its cluster, or of a cooperative launch, run with the block: each has its
/// turns between those of the block, as under Machine::run. Their instructions are no steps.
///
/// While the Stepper lives, what the block writes to global memory is visible in the machine's
/// memory; back(), seek() and the destructor undo it. Only one Stepper may use a machine at a time.
class Stepper {
  public:
    /// Runs the earlier blocks of this virtual SM, whose shared memory the block finds, or all
    /// earlier blocks if the kernel is order-dependent. Then stops before the block's first
    /// instruction. Throws Error: invalid launch, no such block, an earlier block that fails, the
    /// launch's time limit or stop request.
    Stepper(Machine& machine, FrozenLaunch launch, std::uint32_t block);
    ~Stepper();
    Stepper(const Stepper&) = delete;
    Stepper& operator=(const Stepper&) = delete;

    /// --- Forwards. These functions do nothing at the end of the block. A block that cannot
    /// continue (deadlock, invalid access, instruction budget) is at its end and has an error().
    enum class End : std::uint8_t { open, finished, failed };
    /// Executes one instruction of `warp`, by default of the warp that the schedule chooses.
    /// Returns false if that warp cannot run.
    bool step(std::optional<std::uint32_t> warp = {});
    /// Lands an asynchronous copy that is in flight (AsyncCopy::number), as a step of its own.
    /// Returns false if there is none.
    bool land(std::uint32_t copy);
    /// This function and the next two run at most for the launch's time limit, and end at the stop
    /// request. This one runs until the warp reaches another source line, waits or has exited.
    void step_line(std::optional<std::uint32_t> warp = {});
    /// Runs until the next barrier completes, or the block ends.
    void step_barrier();
    /// Runs until the block ends, or the history has `most` steps.
    void run(std::uint64_t most = 4'000'000);

    /// Repeats the known steps and then follows the schedule, until `done` holds after a step, the
    /// block ends, or position() is `most`. Returns false if the time limit or the stop request
    /// ended it.
    bool run_until(std::uint64_t most, const std::function<bool()>& done);

    /// Sets the stop request of later runs, in place of the launch's.
    void set_stop(std::stop_token stop);
    /// Tells an observer of the accesses and the asynchronous copies of later steps, of known ones
    /// too. Null: nobody.
    void tell(Observer* observer);

    /// --- Backwards. seek() goes to any position in the history: it restores the nearest saved
    /// position before it and repeats the steps from there. A step with another warp than the one
    /// in the history removes the later steps from the history.
    void seek(std::uint64_t position);
    void back() {
        if (position() > 0) seek(position() - 1);
    }
    /// The newest position before this one, which is not 0, that seek() reaches without a step.
    std::uint64_t saved_before(std::uint64_t position) const;
    /// Goes back to where the warp of the newest step reached its source line.
    void back_line();
    void back_barrier();  ///< goes back to the previous completed barrier, or the start

    /// --- State at the current position.
    const FrozenLaunch& launch() const;
    const Kernel& kernel() const { return *launch().kernel; }
    std::uint32_t block() const;
    /// Blocks of a cluster that run together, the stepped one included; 1: it runs alone.
    std::uint32_t cluster_size() const;
    std::uint32_t rank() const;             ///< of the block in its cluster
    std::uint64_t position() const;         ///< number of executed steps
    std::span<const Step> history() const;  ///< the executed steps and the known later ones
    // Parts of the whole history:
    std::span<const BarrierWait> waits() const;
    std::span<const CopyFlight> copies() const;
    std::span<const BlockMark> marks() const;
    End end() const;
    const std::string& error() const;                ///< the error of End::failed; empty otherwise
    const std::string& printed() const;              ///< output of printf()
    std::uint32_t epoch() const;                     ///< completed barriers
    std::optional<std::uint32_t> next_warp() const;  ///< the schedule's choice; none at the end

    /// The asynchronous copies of the block and its mbarriers; nothing in most kernels.
    const AsyncCopies& async() const;
    std::uint32_t warps() const;
    /// Returns the instruction of the warp's next step; none if it cannot run.
    std::optional<std::uint32_t> next_pc(std::uint32_t warp) const;
    WarpView warp(std::uint32_t warp) const;
    /// Raw bits of a register (Kernel::registers) in a lane; a predicate is 0 or 1.
    std::uint64_t value(const RegisterInfo& reg, std::uint32_t warp, unsigned lane) const;
    std::span<const std::byte> shared_memory() const;
    std::span<const WordView> words() const;  ///< the words of shared memory
    /// By rank, without the stepped block; valid until the next step.
    std::vector<TileView> other_tiles() const;
    /// The 4 bytes at a global address; none outside all allocations.
    std::optional<std::uint32_t> global_word(std::uint64_t address) const;
    std::vector<Finding> findings() const;  ///< what the race and barrier checks have found
    /// The newest access of a warp.
    std::optional<AccessView> shared_access(std::uint32_t warp) const;
    std::optional<AccessView> global_access(std::uint32_t warp) const;

  private:
    struct StepHistory;
    std::unique_ptr<StepHistory> history_;
};

}  // namespace warpscope::emulator
