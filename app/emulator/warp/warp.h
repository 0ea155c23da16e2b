#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "emulator/program/lanes.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {

inline constexpr unsigned half_warp = lanes_per_warp / 2;
inline constexpr std::uint32_t all_lanes = ~0u;
inline constexpr unsigned barriers_per_block = 16;

/// The number of lanes of a mask. The oldest CPUs have no instruction for it, so that std::popcount
/// would be a function call.
inline std::uint32_t lane_count(std::uint32_t mask) {
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F;
    return mask * 0x01010101 >> 24;
}

/// Where shared and local memory and the parameters of the kernel lie in the generic address space.
/// No host has memory there.
inline constexpr std::uint64_t shared_window = 0xE000'0000'0000'0000;
inline constexpr std::uint64_t local_window = 0xE100'0000'0000'0000;
inline constexpr std::uint64_t param_window = 0xE200'0000'0000'0000;
inline constexpr std::uint64_t window_size = 0x0000'0100'0000'0000;

/// What warps have executed of the instructions that a cost point counts (Instruction::cost). The
/// threads have executed 32 * warps - idle_lanes.
struct ExecutionCount {
    std::uint64_t warps = 0;        ///< times that a warp, or some of its lanes, executed them
    std::uint64_t idle_lanes = 0;   ///< lanes that did not take part, over all these times
    std::uint64_t separations = 0;  ///< of a branch: times that some of the lanes took it
};

/// Lanes that execute a warp-wide instruction (shfl.sync, vote.sync, match.sync, redux.sync,
/// bar.warp.sync) in a way that the PTX ISA leaves undefined (9.7.9.6, 9.7.13.5).
struct MemberFault {
    enum class Kind : std::uint8_t {
        not_member,    ///< a lane executes it, but is not in its own member mask
        masks_differ,  ///< a lane in the mask of another lane has another mask
    };
    Kind kind = Kind::not_member;
    const Instruction* instruction = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;       ///< at fault, as a mask
    std::uint32_t members = 0;     ///< the member mask of the first of them
    std::uint32_t other = 0;       ///< masks_differ: the other lane of the first one
    std::uint32_t other_mask = 0;  ///< masks_differ: of that lane
};

/// What the events of an observed block, the interpreter and compiled code share.
struct ObservedBlock {
    std::uint32_t wanted = 0;  ///< events, see BlockEvents::wanted()
    // See ExecutionCounter
    ExecutionCount* executions = nullptr;  ///< by pc; only cost points count
    const Instruction* last = nullptr;     ///< that the newest call of a handler has executed
    std::int64_t left_before_last = 0;     ///< Warp::left before it
};

class AsyncCopies;
class Cluster;

/// The running block, as its warps see it.
struct BlockContext {
    const Kernel* kernel = nullptr;
    const LaunchShape* launch = nullptr;
    const Memory* memory = nullptr;
    std::byte* shared = nullptr;
    std::uint32_t shared_bytes = 0;
    std::byte* local = nullptr;  ///< Kernel::local_bytes for each thread of the block
    std::span<const std::byte> arguments;
    PrintLog* printed = nullptr;
    std::uint32_t block = 0;  ///< linear index
    std::uint32_t sm = 0;
    std::uint32_t live_threads = 0;
    std::uint64_t clock = 0;  ///< instructions that the block has executed before the current run
    /// Base of %globaltimer, so that a repeated step reads the same time; 0: the host's timer.
    std::uint64_t timer_base = 0;
    AsyncCopies* async = nullptr;  ///< null: the kernel has no asynchronous copies or mbarriers
    Cluster* cluster = nullptr;    ///< null: the block runs alone
    std::uint32_t rank = 0;        ///< in its cluster
    std::uint32_t passes = ~0u;    ///< turnstiles that the block may still pass in its turn
    ObservedBlock* observed = nullptr;  ///< wants no events where nobody observes the block
    /// The faults of an observed block since the observer was told; null: nobody observes it.
    std::vector<MemberFault>* member_faults = nullptr;
    /// The allocation that an instruction accessed last, by range_of(): most accesses of an
    /// instruction are to one allocation.
    std::array<AddressRange, 64> ranges;
    static std::size_t range_of(const Instruction* i) {
        return uintptr_t(i) / sizeof(Instruction) % std::tuple_size_v<decltype(ranges)>;
    }

    Dim3 block_index() const { return index_in(launch->grid, block); }
};

/// Lanes of a warp that run together. A warp that does not diverge has one split.
struct Split {
    /// gathering: will arrive at a barrier with the lanes of its warp that can still run
    enum State : std::uint8_t { runnable, at_barrier, at_warp_sync, gathering };
    const Instruction* pc = nullptr;
    std::uint32_t mask = 0;
    std::int32_t join = -1;  ///< index into Warp::joins: where the split reconverges; -1: nowhere
    State state = runnable;
    std::uint8_t barrier = 0;
    std::uint32_t members = 0;  ///< lanes that a warp-wide instruction waits for
};

/// Lanes that diverged at a branch and reconverge at an instruction.
struct PendingJoin {
    const Instruction* at = nullptr;  ///< nullptr: unused, may be overwritten
    std::uint32_t expected = 0;       ///< lanes
    std::uint32_t arrived = 0;        ///< lanes
    std::int32_t parent = -1;         ///< the enclosing join, index into Warp::joins
};

/// One warp: its registers, its splits and its current turn. Handlers use the members directly.
class Warp {
  public:
    /// Why the run of a split has ended. The first three leave it in a state of Split.
    enum class Outcome : std::uint8_t { paused, at_barrier, at_warp_sync, split_ended };

    /// The running split. These members come first: the handlers use them most.
    std::byte* registers = nullptr;
    std::uint32_t mode = Instruction::full;
    std::uint32_t mask = 0;
    std::int64_t left = 0;  ///< instructions left of the turn
    BlockContext* block = nullptr;
    // Where the run of the split has ended, unless the split has: leave() moves this into the
    // split. Between turns, a warp with one split goes on there.
    const Instruction* stopped_at = nullptr;
    std::uint32_t waits_for = 0;  ///< the barrier, or the members of a warp-wide instruction
    Outcome outcome = Outcome::paused;
    std::uint16_t entry = 0;  ///< Instruction::entry of stopped_at, for compiled code

    std::uint32_t index = 0;
    std::uint32_t threads = 0;  ///< mask of the lanes that belong to a thread of the block
    std::uint32_t exited = 0;
    std::uint32_t turns = 0;    ///< since the last barrier: see WarpScheduler
    std::uint32_t current = 0;  ///< index of the running split
    std::uint64_t thread_instructions = 0;
    std::int64_t left_at_entry = 0, left_at_mask = 0;
    std::vector<Split> splits;
    std::vector<PendingJoin> joins;

    void begin(const Instruction* first);
    bool finished() const { return splits.empty(); }
    std::uint32_t live() const { return threads & ~exited; }  ///< a mask
    /// Another warp of its block: they lie in one array.
    const Warp& sibling(std::uint32_t other) const { return *(this - index + other); }

    /// Makes split `s` the running one. `mask` and `left` are valid between enter() and leave().
    void enter(std::uint32_t s) {
        current = s;
        if (mask != splits[s].mask) use_lanes(splits[s].mask);
        left_at_entry = left;
        left_at_mask = left;
    }
    void leave() {
        count_threads();
        if (outcome == Outcome::split_ended) return;
        Split& split = splits[current];
        split.pc = stopped_at;
        if (outcome == Outcome::paused) {  // the split is runnable, as it was
            entry = stopped_at->entry;
            return;
        }
        split.state = Split::State(outcome);
        if (outcome == Outcome::at_barrier)
            split.barrier = std::uint8_t(waits_for);
        else
            split.members = waits_for;
    }
    void will_go_on_at(const Instruction* i) {
        stopped_at = i;
        entry = i->entry;
    }
    /// Between turns, after splits have ended or joined.
    void note_only_split() {
        if (splits.size() == 1) will_go_on_at(splits[0].pc);
    }
    /// Instructions that the running split has executed since enter().
    std::uint64_t executed() const { return std::uint64_t(left_at_entry - left); }

    /// For handlers. Each function returns the next instruction, or nullptr to end the run of the
    /// split.
    const Instruction* cost_point(const Instruction* i, const Instruction* next) {
        left -= i->cost;
        return left > 0 ? next : pause(next);
    }
    const Instruction* pause(const Instruction* next) { return stop(Outcome::paused, next); }
    /// True for a turnstile that the block may not pass in this turn.
    bool is_stopped_by(const Instruction* i) const {
        return i->role == Role::turnstile && block->passes == 0;
    }
    const Instruction* diverge(const Instruction* branch, std::uint32_t taken);
    const Instruction* arrive(const Instruction* join);
    const Instruction* exit_lanes();
    const Instruction* wait_at_barrier(const Instruction* i, unsigned barrier) {
        waits_for = barrier;
        return stop(Outcome::at_barrier, i);
    }
    /// True when the running split holds all of `members` that have not exited.
    bool has_all(std::uint32_t members) const { return (members & ~exited & ~mask) == 0; }
    const Instruction* wait_for_members(const Instruction* i, std::uint32_t members) {
        waits_for = members;
        return stop(Outcome::at_warp_sync, i);
    }

    /// Joins splits that are at one instruction, as after a barrier.
    void merge_splits();
    /// Executes a warp-wide instruction at which all members wait; false if there is none.
    bool complete_warp_sync();

    /// The host address of `bytes` bytes in `space` for one lane. Throws AccessError for an invalid
    /// or misaligned address.
    std::byte* checked_address(const Instruction* i, unsigned lane, Space space,
                               std::uint64_t address, unsigned bytes, unsigned align);
    /// True when global addresses [low, high) lie in one allocation.
    bool in_global(const Instruction* i, std::uint64_t low, std::uint64_t high) {
        AddressRange& range = block->ranges[BlockContext::range_of(i)];
        return (low >= range.begin && high <= range.end && low <= high) ||
               find_range(range, low, high);
    }
    [[noreturn]] void fail(const Instruction* i, unsigned lane, const std::string& what) const;
    /// `allocation`: see AccessError.
    [[noreturn]] void fail_access(const Instruction* i, unsigned lane, const std::string& what,
                                  std::uint64_t allocation = 0) const;
    [[noreturn]] void fail_alignment(const Instruction* i, unsigned lane,
                                     const std::string& what) const;
    std::string thread_name(unsigned lane) const;  ///< "thread (3,0,0) of block (1,0,0)"

    /// The value of an operand in a lane, for code outside of the SIMD handlers.
    template <typename T>
    T get(std::uint32_t operand, unsigned lane) const {
        const std::byte* p = registers + slot_offset(operand);
        if (!is_uniform(operand)) p += lane * (sizeof(T) == 8 ? 8 : 4);
        T value;
        std::memcpy(&value, p, sizeof(T));
        return value;
    }
    template <typename T>
    void set(std::uint32_t operand, unsigned lane, T value) {
        std::byte* p = registers + slot_offset(operand);
        if (!is_uniform(operand)) p += lane * (sizeof(T) == 8 ? 8 : 4);
        std::memcpy(p, &value, sizeof(T));
    }
    /// A predicate register holds a bit for each lane.
    std::uint32_t& predicate(std::uint32_t operand) {
        return *reinterpret_cast<std::uint32_t*>(registers + slot_offset(operand));
    }
    std::uint32_t predicate(std::uint32_t operand) const {
        return get<std::uint32_t>(operand | uniform_operand, 0);
    }

    void set_mask(std::uint32_t lanes) {
        count_threads();
        use_lanes(lanes);
    }

  private:
    const Instruction* stop(Outcome why, const Instruction* at) {
        outcome = why;
        stopped_at = at;
        return nullptr;
    }
    void use_lanes(std::uint32_t lanes) {
        mask = lanes;
        mode = lanes == all_lanes ? Instruction::full : Instruction::masked;
    }
    /// Counts what the lanes of the mask have executed.
    void count_threads() {
        const auto executed = std::uint64_t(left_at_mask - left);
        thread_instructions += executed * (mask == all_lanes ? lanes_per_warp : lane_count(mask));
        left_at_mask = left;
    }
    std::string failure(const Instruction* i, unsigned lane, const std::string& what) const;
    bool find_range(AddressRange& range, std::uint64_t low, std::uint64_t high);
    struct PrivateMemory {
        std::uint32_t bytes;
        const char *name, *owner;
    };
    void check_in_block(const Instruction* i, unsigned lane, std::uint64_t address,
                        const PrivateMemory& memory, unsigned bytes, unsigned align) const;
    std::byte* address_in_cluster_of(const Instruction* i, unsigned lane, std::uint64_t address,
                                     unsigned bytes, unsigned align) const;
    std::int32_t add_join(const PendingJoin& join);
    void remove_split(std::uint32_t s);
};

/// The next instruction of the PTX text at or after `i`. It skips what the decoder has inserted:
/// joins and prefixes.
inline const Instruction* skip_inserted(const Kernel& kernel, const Instruction* i) {
    while (kernel.lines[kernel.index_of(i)].pseudo) ++i;
    return i;
}

/// Lanes of a warp that have not exited and do not exit with their next instruction.
inline std::uint32_t staying_lanes(const Warp& warp) {
    std::uint32_t lanes = warp.live();
    for (const Split& s : warp.splits)
        if (skip_inserted(*warp.block->kernel, s.pc)->role == Role::exit) lanes &= ~s.mask;
    return lanes;
}

/// An instruction and the lanes for which it executes.
struct GuardedInstruction {
    const Instruction* instruction = nullptr;
    std::uint32_t lanes = 0;
};

/// The instruction behind the prefixes at `i`, which is `i` itself where there are none.
inline GuardedInstruction behind_prefixes(const Instruction* i, const Warp& warp) {
    std::uint32_t lanes = warp.mask;
    for (; is_prefix(i->role); ++i)
        if (i->role == Role::guard)
            lanes &= warp.predicate(i->operands[0]);
        else if (i->role == Role::guard_not)
            lanes &= ~warp.predicate(i->operands[0]);
    return {i, lanes};
}

}  // namespace warpscope::emulator
