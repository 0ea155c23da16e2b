#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/machine/warp.h"

namespace warpscope::emulator {

// What a launch may still take, over all host threads: instructions, time, and nobody's stop.
class Budget {
  public:
    enum class Verdict : uint8_t { goes_on, spent, late, stopped };

    explicit Budget(const Options& options)
        : left_(options.instruction_budget), time_(options.time_limit), stop_(options.stop) {
        restart();
    }
    uint64_t left() const { return left_.load(std::memory_order_relaxed); }
    void set(uint64_t instructions) { left_.store(instructions, std::memory_order_relaxed); }
    Verdict take(uint64_t instructions) {
        uint64_t left = left_.load(std::memory_order_relaxed);
        do
            if (left < instructions) return Verdict::spent;
        while (!left_.compare_exchange_weak(left, left - instructions, std::memory_order_relaxed));
        return untimed_ ? Verdict::goes_on : look();
    }
    // What time and stop say.
    Verdict look() const {
        if (stop_.stop_requested()) return Verdict::stopped;
        return time_.count() > 0 && Clock::now() > end_ ? Verdict::late : Verdict::goes_on;
    }
    void restart() { end_ = Clock::now() + time_; }
    // A block under a person's hand: take() counts instructions only.
    void set_untimed() { untimed_ = true; }

  private:
    using Clock = std::chrono::steady_clock;
    std::atomic<uint64_t> left_;
    std::chrono::milliseconds time_;
    std::stop_token stop_;
    Clock::time_point end_;
    bool untimed_ = false;
};

// Runs the blocks of a launch one after the other, on one host thread: their warps' turns,
// barriers, deadlocks. Holds the register files.
class BlockRunner {
  public:
    BlockRunner(const Kernel& kernel, const Launch& launch, const Memory& memory,
                std::span<const std::byte> arguments, const Options& options, Budget& budget);

    void run(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared, Observer* observer);
    const Statistics& statistics() const { return statistics_; }
    const PrintLog& printed() const { return context_.printed; }  // by the newest block

    // --- the same, one instruction at a time, always observed: block_step.cpp
    // Stands before the block's first instruction. What the decoder inserted is run at once, here
    // and by step().
    void stand(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared,
               Observer& observer);
    bool finished() const { return finished_; }
    bool can_run(uint32_t warp) const { return !finished_ && (runnable_ >> warp & 1); }
    std::optional<uint32_t> turn_of() const;  // the warp; none when finished
    // The instruction that a warp that can run executes next.
    uint32_t pc_ahead(uint32_t warp) const;
    // Executes that. By run()'s order where it is the warp's turn; another warp's is put in between
    // and leaves the turn as it is.
    void step(uint32_t warp);
    // What it executed, also where that failed. A guard may let no lane through.
    struct Executed {
        uint32_t pc = 0;
        uint32_t mask = 0;
    };
    const Executed& executed() const { return executed_; }
    const std::vector<Warp>& warps() const { return warps_; }

    struct Snapshot;
    void save(Snapshot& into) const;
    void restore(const Snapshot& from);

  private:
    struct Barrier {
        uint32_t arrived = 0;   // threads
        uint32_t counted = 0;   // those as the policy counts them
        uint32_t expected = 0;  // a count that the instruction gave; 0: all threads
        uint32_t ayes = 0;      // threads whose predicate holds, of a reduction
    };
    // The turn that step() is in.
    struct Turn {
        bool open = false;
        uint32_t warp = 0;
        const Instruction* next = nullptr;
        int64_t before = 0;  // instructions that were left when the split was entered
    };

    void prepare_registers(std::span<const std::byte> arguments);
    void fill_special(const SpecialSlot& s, Warp& warp);
    void begin(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared);
    void clear_local();
    template <bool observed>
    void run_warps();
    template <bool observed>
    void turn(Warp& warp, uint64_t instructions);
    // A warp has one program counter, as before Volta.
    bool one_counter() const { return options_.barriers == BarrierPolicy::before_volta; }
    const Split* next_split(const Warp& warp) const;
    const Instruction* enter_split(Warp& warp);
    bool leave_split(Warp& warp, int64_t before);
    void run_observed();
    static uint32_t wanted_by(const Observer& observer);
    void observe(const Instruction* i, Warp& warp);
    void observe_access(const Instruction* i, const Warp& warp, uint32_t mask);
    void observe_uniform(const Instruction* i, const Warp& warp);
    void observe_generic(Access& access, uint64_t* addresses);
    void observe_warp_barrier(const Instruction* i, const Warp& warp, uint32_t mask);
    void observe_arrival(const Instruction* i, const Warp& warp, uint32_t mask,
                         const Barrier& barrier, unsigned id);
    void complete_observed_syncs(Warp& warp);
    void account(uint64_t instructions);
    Warp* pick_warp();
    uint32_t first_in_order() const;
    uint64_t turn_length(Warp& warp);
    uint64_t random();

    void step_between(Warp& warp);
    void interrupt(Warp& warp, Turn& turn);
    void enter(Turn& turn, Warp& warp, uint32_t split);
    bool advance(Turn& turn);
    bool open_turn();
    void settle();
    bool is_inserted(const Instruction* i) const;
    Executed under_prefixes(const Instruction* i, Warp& warp) const;

    void arrive_at_barrier(Warp& warp);
    void release_if_complete(unsigned barrier);
    void release(unsigned barrier);
    void release_warp(Warp& warp, unsigned barrier);
    void threads_left();
    void check_whole_warp(const Warp& warp, const Split& come) const;
    uint32_t lanes_that_stay(const Warp& warp) const;
    std::string block_name() const;  // "(1,0,0)"
    [[noreturn]] void report_deadlock() const;
    [[noreturn]] void report_end(Budget::Verdict verdict) const;
    std::string whereabouts() const;

    const Kernel& kernel_;
    Launch launch_;
    Options options_;
    Budget& budget_;
    bool switches_ = false;  // warps can tell in which order they run
    BlockContext context_;
    struct Free {
        void operator()(std::byte* p) const;
    };
    std::unique_ptr<std::byte[], Free> registers_, local_;
    size_t register_bytes_ = 0, local_bytes_ = 0;  // of all warps
    std::vector<Warp> warps_;
    uint32_t runnable_ = 0;  // warps that can run, a bit each
    uint32_t last_ = 0;      // warp of the last turn
    std::array<Barrier, barriers_per_block> barriers_;
    uint64_t random_state_ = 0;
    uint64_t unaccounted_ = 0;
    uint32_t epoch_ = 0;
    Turn turn_;
    Executed executed_;
    bool finished_ = false;
    Observer* observer_ = nullptr;
    uint32_t wanted_ = 0;  // Instruction::Event that the observer is told of
    Statistics statistics_;
};

// A block between two steps. For the runner that it came from, at any block.
struct BlockRunner::Snapshot {
    std::vector<std::byte> registers, local, shared;
    std::vector<Warp> warps;
    std::array<Barrier, barriers_per_block> barriers;
    Turn turn;
    uint32_t runnable = 0, last = 0, epoch = 0, live_threads = 0;
    uint64_t clock = 0, random_state = 0, unaccounted = 0, budget = 0;
    bool finished = false;
    PrintLog::Mark printed;
    Statistics statistics;
};

}  // namespace warpscope::emulator
