#pragma once

#include <algorithm>
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

#include "emulator/async/async_copies.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/machine/machine.h"
#include "emulator/observe/findings.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Lanes of a warp that wait: from the step in which they arrive, or look for the first time, to
/// the step that lets them go on (history().size() if no step does).
struct BarrierWait {
    enum class At : std::uint8_t { barrier, mbarrier, cluster };
    std::uint32_t warp = 0, mask = 0, pc = 0;
    std::uint64_t from = 0, to = 0;
    At at = At::barrier;
    std::uint32_t barrier = 0;  ///< its number, or the address of the mbarrier
    /// The warp executes an instruction again and again that looks whether the phase has ended.
    bool looks() const { return at != At::barrier; }
};

/// An asynchronous copy that the stepped block has started, or that another block of the cluster
/// has started to its shared memory: from the step in which it starts to the one in which its last
/// part lands (history().size() if none does).
struct CopyFlight {
    std::uint32_t number = 0;  ///< of the copies of the block that has started it, from 1 on
    int rank = -1;             ///< of that block in the cluster; negative: the stepped block
    std::uint32_t warp = 0, pc = 0;
    int lane = -1;  ///< that has started a bulk copy; negative: all lanes have parts
    std::uint64_t bytes = 0;
    std::uint64_t from = 0, to = 0;
    Completion completion = Completion::group;
    std::uint32_t group = 0;     ///< of its first lane, for both kinds of groups
    std::uint32_t mbarrier = 0;  ///< its address
    int mbarrier_rank = -1;      ///< negative: of the block that has started the copy
    std::uint32_t phase = 0;     ///< of the mbarrier, that counts the bytes
    bool to_shared = true;
    bool to_stepped = false;  ///< to the shared memory of the stepped block
};

/// A moment of the stepped block that has to do with other blocks.
struct BlockMark {
    enum Kind : std::uint8_t {
        arrival_from_other,  ///< a thread of another block arrives at an mbarrier of this one
        arrival_at_other,    ///< a thread of this block arrives at an mbarrier of another one
        cluster_phase        ///< the barrier of the cluster: all have arrived
    };
    Kind kind = cluster_phase;
    std::uint64_t step = 0;
    std::uint32_t rank = 0;      ///< of the other block
    std::uint32_t thread = 0;    ///< that arrives: linear index in its block
    std::uint32_t mbarrier = 0;  ///< its address
    std::uint32_t phase = 0;     ///< the number of the phase
};

/// Things of one kind that last for some steps of the history, in the order of their beginning.
template <typename T>
class Lasting {
  public:
    void begin(const T& thing) {
        open_.push_back(all_.size());
        all_.push_back(thing);
        all_.back().to = open;
    }
    bool is_open(const auto& is) const {
        return std::any_of(open_.begin(), open_.end(), [&](auto k) { return is(all_[k]); });
    }
    /// `step` ends those for which is(thing).
    void end(std::uint64_t step, const auto& is) {
        std::erase_if(open_, [&](std::size_t k) {
            if (!is(all_[k])) return false;
            all_[k].to = step;
            return true;
        });
    }
    /// The history ends at `position` now.
    void forget_from(std::uint64_t position) {
        while (!all_.empty() && all_.back().from >= position) all_.pop_back();
        open_.clear();
        for (std::size_t k = 0; k < all_.size(); ++k) {
            if (all_[k].to >= position) all_[k].to = open;
            if (all_[k].to == open) open_.push_back(k);
        }
    }
    /// All of them, where the history has this many steps.
    std::span<const T> all(std::uint64_t steps) {
        for (const std::size_t k : open_) all_[k].to = std::max(steps, all_[k].from);
        return all_;
    }

  private:
    static constexpr std::uint64_t open = ~std::uint64_t(0);
    std::vector<T> all_;
    std::vector<std::size_t> open_;
};

/// What a timeline shows of the whole history beside its steps.
class Timeline {
  public:
    void begin_step(std::uint64_t step);
    void forget_from(std::uint64_t position);

    // What happens in the step; nothing is noted where it is repeated.
    void begin_wait(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc, BarrierWait::At at,
                    std::uint32_t barrier);
    /// A warp looks for a phase. Notes the first time.
    void look(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc, BarrierWait::At at,
              std::uint32_t barrier);
    void end_looking(std::uint32_t warp, BarrierWait::At at, std::uint32_t barrier);
    void release(std::uint32_t barrier);
    void begin_copy(CopyFlight copy);
    void end_copy(int rank, std::uint32_t number);
    void mark(BlockMark mark);

    std::span<const BarrierWait> waits(std::uint64_t steps) { return waits_.all(steps); }
    std::span<const CopyFlight> copies(std::uint64_t steps) { return copies_.all(steps); }
    std::span<const BlockMark> marks() const { return marks_; }
    /// The steps that released a barrier of the block.
    const std::vector<std::uint64_t>& releases() const { return releases_; }

  private:
    std::uint64_t step_ = 0;
    bool is_new_ = true;       ///< the step is not a repetition
    std::uint64_t known_ = 0;  ///< number of steps in the history
    Lasting<BarrierWait> waits_;
    Lasting<CopyFlight> copies_;
    std::vector<BlockMark> marks_;
    std::vector<std::uint64_t> releases_;
};

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
    bool reads_old = false;    ///< the load got older values: see ListedTurn
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
    const files::Sentence& error() const;            ///< the error of End::failed; empty otherwise
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
    std::span<const std::byte> local_memory(std::uint32_t warp, unsigned lane) const;
    std::span<const WordView> words() const;  ///< the words of shared memory
    /// By rank, without the stepped block; valid until the next step.
    std::vector<TileView> other_tiles() const;
    /// The 4 bytes at a global address; none outside all allocations.
    std::optional<std::uint32_t> global_word(std::uint64_t address) const;
    std::vector<Finding> findings() const;  ///< what the race and barrier checks have found
    std::size_t finding_count() const;      ///< grows when one is new
    /// The newest access of a warp.
    std::optional<AccessView> shared_access(std::uint32_t warp) const;
    std::optional<AccessView> global_access(std::uint32_t warp) const;

  private:
    struct StepHistory;
    std::unique_ptr<StepHistory> history_;
};

}  // namespace warpscope::emulator
