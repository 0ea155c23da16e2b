#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/machine/printed.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

inline constexpr unsigned lanes_per_warp = 32;
inline constexpr uint32_t all_lanes = ~0u;
inline constexpr unsigned barriers_per_block = 16;

// Where shared and local memory stand in the generic address space. No host has memory there.
inline constexpr uint64_t shared_window = 0xE000'0000'0000'0000;
inline constexpr uint64_t local_window = 0xE100'0000'0000'0000;
inline constexpr uint64_t window_size = 0x0000'0100'0000'0000;

// What the warps of the running block share.
struct BlockContext {
    const Kernel* kernel = nullptr;
    const Launch* launch = nullptr;
    const Memory* memory = nullptr;
    std::byte* shared = nullptr;
    uint32_t shared_bytes = 0;
    std::byte* local = nullptr;  // local_bytes for each thread of the block
    std::span<const std::byte> arguments;
    uint32_t block = 0;  // linear index
    uint32_t sm = 0;
    uint32_t live_threads = 0;
    uint64_t clock = 0;       // instructions that the block has run, at its last turn
    uint64_t timer_base = 0;  // %globaltimer's, so that a replay reads the same; 0: the host's

    // Allocations found lately, by instruction: most accesses hit the one that they hit before.
    struct Range {
        uint64_t begin = 1, end = 0;
    };
    std::array<Range, 16> ranges;
    PrintLog printed;
};

// Lanes of a warp that run together.
struct Split {
    enum State : uint8_t { runnable, at_barrier, at_warp_sync };
    const Instruction* pc = nullptr;
    uint32_t mask = 0;
    int32_t record = -1;
    State state = runnable;
    uint8_t barrier = 0;
    uint32_t members = 0;  // lanes that a warp-wide instruction waits for
};

// Lanes that parted at a branch and meet again at `join`.
struct Record {
    const Instruction* join = nullptr;
    uint32_t expected = 0;
    uint32_t arrived = 0;
    int32_t parent = -1;
};

// One warp: registers, splits and the turn that it is in. Handlers work on the members directly.
class Warp {
  public:
    enum class Outcome : uint8_t { paused, split_gone, at_barrier, at_warp_sync };

    // --- the running split; hot
    std::byte* registers = nullptr;
    uint32_t mode = Instruction::full;
    uint32_t mask = 0;
    int64_t left = 0;  // instructions left of the turn
    BlockContext* block = nullptr;

    // --- the warp
    uint32_t index = 0;
    uint32_t threads = 0;  // mask of the lanes that the block has
    uint32_t exited = 0;
    uint32_t turns = 0;  // since the last barrier: see Block
    Outcome outcome = Outcome::paused;
    uint32_t current = 0;
    uint64_t thread_instructions = 0;
    int64_t left_at_entry = 0, left_at_mask = 0;
    std::vector<Split> splits;
    std::vector<Record> records;

    void begin(const Instruction* entry);
    bool finished() const { return splits.empty(); }

    // Makes split `s` the running one. Between enter() and leave() mask and left are live.
    void enter(uint32_t s);
    void leave();

    // --- for handlers: each returns the next instruction, or nullptr to end the split's run
    const Instruction* checkpoint(const Instruction* i, const Instruction* next) {
        left -= i->cost;
        return left > 0 ? next : pause(next);
    }
    const Instruction* pause(const Instruction* next);
    const Instruction* diverge(const Instruction* branch, uint32_t taken);
    const Instruction* arrive(const Instruction* join);
    const Instruction* exit_lanes();
    const Instruction* wait_at_barrier(const Instruction* i, unsigned barrier);
    // True when the running split holds all of `members` that have not exited.
    bool has_all(uint32_t members) const { return (members & ~exited & ~mask) == 0; }
    const Instruction* wait_for_members(const Instruction* i, uint32_t members);

    // Joins splits that stand at the same place, as after a barrier.
    void merge_splits();
    // Runs a warp-wide instruction whose members have all come; true when there was one.
    bool complete_warp_sync();

    // Address of `bytes` bytes in `space` for one lane; throws AccessError for a bad or misaligned
    // one.
    std::byte* resolve(const Instruction* i, unsigned lane, Space space, uint64_t address,
                       unsigned bytes, unsigned align);
    // True when global addresses [low, high) lie in one allocation.
    bool in_global(const Instruction* i, uint64_t low, uint64_t high) {
        BlockContext::Range& range = block->ranges[(uintptr_t(i) / sizeof(Instruction)) % 16];
        return (low >= range.begin && high <= range.end && low <= high) ||
               find_global(range, low, high);
    }
    [[noreturn]] void fail(const Instruction* i, unsigned lane, const std::string& what) const;
    [[noreturn]] void fail_access(const Instruction* i, unsigned lane,
                                  const std::string& what) const;
    std::string thread_name(unsigned lane) const;  // "thread (3,0,0) of block (1,0,0)"

    // --- register access for code outside the SIMD handlers
    template <typename T>
    T get(uint32_t operand, unsigned lane) const {
        const std::byte* p = registers + (operand & ~1u);
        if (!(operand & 1)) p += lane * (sizeof(T) == 8 ? 8 : 4);
        T value;
        std::memcpy(&value, p, sizeof(T));
        return value;
    }
    template <typename T>
    void set(uint32_t operand, unsigned lane, T value) {
        std::byte* p = registers + (operand & ~1u);
        if (!(operand & 1)) p += lane * (sizeof(T) == 8 ? 8 : 4);
        std::memcpy(p, &value, sizeof(T));
    }
    uint32_t& predicate(uint32_t operand) {
        return *reinterpret_cast<uint32_t*>(registers + (operand & ~1u));
    }

    void set_mask(uint32_t lanes) {
        thread_instructions += uint64_t(left_at_mask - left) * uint64_t(__builtin_popcount(mask));
        left_at_mask = left;
        mask = lanes;
        mode = lanes == all_lanes ? Instruction::full : Instruction::masked;
    }

  private:
    std::string failure(const Instruction* i, unsigned lane, const std::string& what) const;
    bool find_global(BlockContext::Range& range, uint64_t low, uint64_t high);
    int32_t new_record(const Record& record);
    void remove_split(uint32_t s);
};

}  // namespace warpscope::emulator
