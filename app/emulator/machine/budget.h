#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "emulator/machine/launch_settings.h"

namespace warpscope::emulator {

/// What a launch may still use, over all host threads: instructions, time, and no stop request.
class Budget {
  public:
    enum class Verdict : std::uint8_t { within, spent, timed_out, stopped };

    explicit Budget(const LaunchSettings& settings)
        : left_(settings.instruction_budget),
          time_(settings.time_limit),
          is_of_block_(settings.limits_time_of_block),
          stop_(settings.stop) {
        restart_time();
    }
    /// Takes warp instructions off what this host thread has paid for, `prepaid`, and off the
    /// budget.
    Verdict spend(std::uint64_t instructions, std::uint64_t& prepaid) {
        if (instructions > prepaid && !pay(instructions - prepaid, prepaid)) return Verdict::spent;
        prepaid -= instructions;
        return counts_instructions_only_ ? Verdict::within : check_time();
    }
    /// The time limit and the stop request.
    Verdict check_time() const {
        if (stop_.stop_requested()) return Verdict::stopped;
        const bool is_over = time_.count() > 0 && Clock::now() > end_.load();
        return is_over ? Verdict::timed_out : Verdict::within;
    }
    void restart_time() { end_ = Clock::now() + time_; }
    void end_block() {
        if (is_of_block_) restart_time();
    }
    void set_stop(std::stop_token stop) { stop_ = std::move(stop); }
    /// From now on spend() ignores time and stop request: for a block that a person steps.
    void count_instructions_only() { counts_instructions_only_ = true; }

    std::uint64_t left() const { return left_.load(std::memory_order_relaxed); }
    void set_left(std::uint64_t instructions) {
        left_.store(instructions, std::memory_order_relaxed);
    }

  private:
    using Clock = std::chrono::steady_clock;

    /// Takes at least `missing` instructions off the budget. While much is left, takes more:
    /// threads that all write to one counter after each block would wait for each other.
    bool pay(std::uint64_t missing, std::uint64_t& prepaid) {
        constexpr std::uint64_t much = 1ull << 32, in_advance = 1 << 18;
        std::uint64_t left = left_.load(std::memory_order_relaxed), taken = 0;
        do {
            if (left < missing) return false;
            taken = left >= much && !counts_instructions_only_ ? missing + in_advance : missing;
        } while (!left_.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
        prepaid += taken;
        return true;
    }

    std::atomic<std::uint64_t> left_;
    std::chrono::milliseconds time_;
    bool is_of_block_;
    std::stop_token stop_;
    std::atomic<Clock::time_point> end_;
    bool counts_instructions_only_ = false;
};

}  // namespace warpscope::emulator
