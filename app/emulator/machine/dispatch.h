#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <numeric>
#include <vector>

#include "emulator/machine/aligned_bytes.h"
#include "emulator/machine/block_runner.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/program/error.h"
#include "emulator/program/launch_progress.h"
#include "emulator/warp/print.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {

/// Reports the blocks that one host thread has run. Small blocks are reported several at a time, so
/// that the threads rarely meet at the counter.
class EndedBlocks {
  public:
    EndedBlocks(LaunchProgress* progress, const Statistics& statistics)
        : progress_(progress), statistics_(statistics) {}
    EndedBlocks(const EndedBlocks&) = delete;
    EndedBlocks& operator=(const EndedBlocks&) = delete;
    ~EndedBlocks() { report(); }

    void add_one() {
        constexpr std::uint64_t instructions_together = 1 << 15;
        ++blocks_;
        if (statistics_.warp_instructions - reported_at_ >= instructions_together) report();
    }

  private:
    void report() {
        if (progress_) progress_->add(blocks_);
        blocks_ = 0;
        reported_at_ = statistics_.warp_instructions;
    }

    LaunchProgress* progress_;
    const Statistics& statistics_;  ///< of the thread's blocks so far
    std::uint64_t blocks_ = 0, reported_at_ = 0;
};

/// The indices from `begin` on, without `end`.
struct IndexRange {
    std::uint64_t begin = 0, end = 0;
};

/// Divides the blocks of a launch into parts, which host threads take in their order. In each
/// round, each virtual SM runs one block. A part is some rounds, a row, of some neighbouring SMs, a
/// column: neighbouring blocks often use neighbouring memory.
struct Parts {
    Parts(std::uint64_t blocks, unsigned all_sms, unsigned threads)
        : sms(std::min<std::uint64_t>(all_sms, blocks)), rounds((blocks + all_sms - 1) / all_sms) {
        // With fewer parts for each thread, the others would wait long for the last one.
        constexpr std::uint64_t parts_of_thread = 32;
        const std::uint64_t together =
            std::max<std::uint64_t>(1, blocks / (parts_of_thread * threads));
        // With wider columns, threads would wait for the rows above theirs.
        const std::uint64_t widest = std::max<std::uint64_t>(1, sms / (2 * threads));
        const std::uint64_t width = std::min(together, widest);
        columns = (sms + width - 1) / width;
        rows = std::max<std::uint64_t>(1, rounds * width / together);
    }
    std::uint64_t count() const { return columns * rows; }
    std::uint64_t column(std::uint64_t part) const { return part % columns; }
    std::uint64_t row(std::uint64_t part) const { return part / columns; }
    IndexRange sms_of(std::uint64_t part) const {
        return {sms * column(part) / columns, sms * (column(part) + 1) / columns};
    }
    IndexRange rounds_of(std::uint64_t part) const {
        return {rounds * row(part) / rows, rounds * (row(part) + 1) / rows};
    }

    std::uint64_t sms, rounds, columns = 0, rows = 0;
};

/// Deals the blocks of one launch to host threads. When a block fails, the blocks below it still
/// run, so that the launch ends with the error of the lowest failing block on any number of
/// threads.
class Dispatch {
  public:
    Dispatch(std::uint64_t first, std::uint64_t end, const LaunchSettings& settings, unsigned sms,
             unsigned threads)
        : first_(first),
          end_(end),
          runs_(settings.runs),
          sms_(sms),
          threads_(threads),
          parts_(end - first, sms, threads),
          ended_rows_(parts_.columns),
          progress_(settings.progress.get()) {
        if (progress_) progress_->begin(end - first);
    }

    /// Takes parts until none is left. A virtual SM runs its blocks in order, on any threads: a
    /// part waits for the row above it in its column, which has been taken earlier.
    void run_sms(BlockRunner& runner, std::vector<AlignedBytes>& shared, Observer* observer) {
        EndedBlocks ended(progress_, runner.statistics());
        for (std::uint64_t part = next_++; part < parts_.count(); part = next_++) {
            std::atomic<std::uint32_t>& ended_rows = ended_rows_[parts_.column(part)];
            for (std::uint32_t now = ended_rows; now < parts_.row(part); now = ended_rows)
                ended_rows.wait(now);
            const EndedRow ends_here{ended_rows};
            const IndexRange sms = parts_.sms_of(part), rounds = parts_.rounds_of(part);
            for (std::uint64_t round = rounds.begin; round < rounds.end; ++round) {
                const std::uint64_t begin = first_ + round * sms_;
                for (std::uint64_t b = begin + sms.begin;
                     b < std::min({end_, begin + sms.end, failed_.load()}); ++b)
                    run_block(runner, ended, std::uint32_t(b), unsigned(b % sms_),
                              shared[b % sms_].data(), observer);
            }
        }
    }
    /// Takes some blocks at a time until none is left (BlockDealing::as_they_come). The last block
    /// of each virtual SM runs in its shared memory, the others in memory of this thread.
    void run_blocks(BlockRunner& runner, std::vector<AlignedBytes>& shared,
                    std::size_t shared_bytes, Observer* observer) {
        EndedBlocks ended(progress_, runner.statistics());
        const AlignedBytes own(shared_bytes);
        const std::uint64_t last_round = end_ - std::min<std::uint64_t>(sms_, end_ - first_);
        for (IndexRange some = take(); some.begin < some.end; some = take())
            for (std::uint64_t b = first_ + some.begin;
                 b < std::min(first_ + some.end, failed_.load()); ++b)
                run_block(runner, ended, std::uint32_t(b), unsigned(b % sms_),
                          b < last_round ? own.data() : shared[b % sms_].data(), observer);
    }
    void run_in_order(BlockRunner& runner, std::vector<AlignedBytes>& shared, Observer* observer) {
        EndedBlocks ended(progress_, runner.statistics());
        for (std::uint64_t b = first_; b < end_ && b < failed_.load(); ++b)
            run_block(runner, ended, std::uint32_t(b), unsigned(b % sms_), shared[b % sms_].data(),
                      observer);
    }
    /// A block that fails ends the launch: blocks below it may wait for it.
    void run_in(GridOrder order, std::uint64_t seed, BlockRunner& runner,
                std::vector<AlignedBytes>& shared, Observer* observer) {
        EndedBlocks ended(progress_, runner.statistics());
        // Steps that have no divisor in common with the number of blocks come to each of them.
        const std::uint64_t blocks = end_ - first_;
        if (blocks == 0) return;
        std::uint64_t step = blocks - 1, at = blocks - 1;
        if (order == GridOrder::by_seed) {
            at = splitmix64(seed) % blocks;
            for (step = splitmix64(seed + 1) % blocks; std::gcd(step, blocks) != 1;) ++step;
        }
        for (std::uint64_t k = 0; k < blocks && failed_.load() == ~0ull; ++k) {
            const std::uint64_t b = first_ + at;
            run_block(runner, ended, std::uint32_t(b), unsigned(b % sms_), shared[b % sms_].data(),
                      observer);
            at = (at + step) % blocks;
        }
    }
    void move_prints_into(PrintLog& log) {
        if (error_) prints_.forget_after(std::uint32_t(failed_.load()));
        prints_.move_into(log);
    }
    void rethrow(Observer* observer) const {
        if (!error_) return;
        if (observer) observer->on_failure(std::uint32_t(failed_.load()));
        std::rethrow_exception(error_);
    }

  private:
    /// Lets the next row begin, after an exception as well.
    struct EndedRow {
        std::atomic<std::uint32_t>& ended_rows;
        ~EndedRow() {
            ++ended_rows;
            ended_rows.notify_all();
        }
    };

    /// Blocks, counted from the first one. Some at a time: neighbouring blocks access neighbouring
    /// memory. Fewer towards the end, so that all threads end together.
    IndexRange take() {
        const std::uint64_t all = end_ - first_;
        std::uint64_t begin = next_, count = 0;
        do {
            if (begin >= all) return {all, all};
            count = std::max<std::uint64_t>(1, (all - begin) / (2 * threads_));
        } while (!next_.compare_exchange_weak(begin, begin + count));
        return {begin, begin + count};
    }

    void run_block(BlockRunner& runner, EndedBlocks& ended, std::uint32_t block, unsigned sm,
                   std::byte* shared, Observer* observer) {
        if (runs_ && !runs_(block)) return;
        try {
            runner.run(block, sm, sms_, shared, observer);
            ended.add_one();
            keep_prints(block, runner);
        } catch (Error& error) {
            error.block = block;
            fail(block, runner);
        } catch (...) {
            fail(block, runner);
        }
    }

    /// Keeps the exception that is being handled, where it is that of the lowest block so far.
    void fail(std::uint32_t block, const BlockRunner& runner) {
        keep_prints(block, runner);
        const std::lock_guard lock(mutex_);
        if (block >= failed_.load()) return;
        failed_ = block;
        error_ = std::current_exception();
    }

    void keep_prints(std::uint32_t block, const BlockRunner& runner) {
        if (runner.printed().text().empty()) return;
        const std::lock_guard lock(mutex_);
        prints_.add(block, runner.printed());
    }

    std::uint64_t first_, end_;  // blocks
    const std::function<bool(std::uint32_t)>& runs_;
    unsigned sms_, threads_;
    Parts parts_;
    std::atomic<std::uint64_t> next_ = 0;  ///< block of run_blocks(), part of run_sms()
    std::vector<std::atomic<std::uint32_t>> ended_rows_;  ///< of run_sms(), by column
    LaunchProgress* progress_;
    std::atomic<std::uint64_t> failed_ = ~0ull;
    std::mutex mutex_;
    std::exception_ptr error_;
    LaunchPrints prints_;
};

}  // namespace warpscope::emulator
