#include "emulator/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "emulator/machine/block_runner.h"
#include "emulator/machine/cooperative_launch.h"
#include "emulator/machine/parallel.h"
#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

void check_shape(const Kernel& kernel, const LaunchShape& launch) {
    const auto fail = [&](const std::string& what) {
        throw Error(fmt::format("kernel {}: {}", kernel.name, what));
    };
    const Dim3 &g = launch.grid, &b = launch.block;
    if (g.count() == 0 || b.count() == 0) fail("the launch has no threads");
    if (b.count() > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64)
        fail(
            fmt::format("a block of {}x{}x{} threads is too large: the limits are 1024x1024x64 and "
                        "1024 threads",
                        b.x, b.y, b.z));
    if (g.count() > 0xFFFFFFFFull || g.x > 0x7FFFFFFF || g.y > 65535 || g.z > 65535)
        fail(
            fmt::format("a grid of {}x{}x{} blocks is too large: the limits are "
                        "2147483647x65535x65535 and 4294967295 blocks",
                        g.x, g.y, g.z));
    const std::uint64_t shared = std::uint64_t(kernel.shared_bytes) + launch.dynamic_shared_bytes;
    if (shared > Machine::max_shared_bytes)
        fail(
            fmt::format("{} bytes of shared memory are more than the limit of {} bytes for a block",
                        shared, Machine::max_shared_bytes));
}

std::vector<std::byte> pack(const Kernel& kernel, std::span<const void* const> arguments) {
    if (arguments.size() != kernel.parameters.size())
        throw Error(fmt::format("kernel {} takes {} arguments, not {}", kernel.name,
                                kernel.parameters.size(), arguments.size()));
    std::vector<std::byte> packed(kernel.parameter_bytes);
    for (std::size_t k = 0; k < arguments.size(); ++k)
        std::copy_n(static_cast<const std::byte*>(arguments[k]), kernel.parameters[k].size,
                    packed.begin() + kernel.parameters[k].offset);
    return packed;
}

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

/// From `begin` to `end`, without it.
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
    Dispatch(std::uint64_t first, std::uint64_t end, unsigned sms, unsigned threads,
             LaunchProgress* progress)
        : first_(first),
          end_(end),
          sms_(sms),
          threads_(threads),
          parts_(end - first, sms, threads),
          ended_rows_(parts_.columns),
          progress_(progress) {
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
    void run_in_reverse(BlockRunner& runner, std::vector<AlignedBytes>& shared,
                        Observer* observer) {
        EndedBlocks ended(progress_, runner.statistics());
        for (std::uint64_t b = end_; b-- > first_ && failed_.load() == ~0ull;)
            run_block(runner, ended, std::uint32_t(b), unsigned(b % sms_), shared[b % sms_].data(),
                      observer);
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

/// One observer for each host thread: `observer` itself and its forks. Only one thread if the
/// observer cannot fork.
class Observers {
  public:
    Observers(Observer* observer, unsigned threads) : all_{observer} {
        while (observer && all_.size() < threads) {
            forks_.push_back(observer->fork());
            if (!forks_.back()) {
                forks_.clear();
                all_.resize(1);
                return;
            }
            all_.push_back(forks_.back().get());
        }
        all_.resize(threads);
    }
    unsigned threads() const { return unsigned(all_.size()); }
    Observer* of(unsigned thread) const { return all_[thread]; }
    /// In pairs: the host threads share the work.
    void join() const {
        for (unsigned step = 1; step <= forks_.size(); step *= 2)
            run_parallel((threads() - step + 2 * step - 1) / (2 * step), [&](unsigned pair) {
                const unsigned first = pair * 2 * step;
                all_[first]->join(*all_[first + step]);
            });
    }

  private:
    std::vector<Observer*> all_;
    std::vector<std::unique_ptr<Observer>> forks_;
};

}  // namespace

Machine::Machine(unsigned virtual_sms) : shared_(std::max(1u, virtual_sms)) {}

std::span<std::byte> Machine::shared_memory(unsigned sm, std::size_t bytes) {
    AlignedBytes& memory = shared_[sm];
    if (memory.size() < bytes) {
        const AlignedBytes larger(bytes);
        std::fill_n(larger.data(), bytes, std::byte(0));
        std::copy_n(memory.data(), memory.size(), larger.data());
        memory = larger;
    }
    return {memory.data(), memory.size()};
}

std::string Machine::take_output() {
    std::string text = output_.text();
    if (output_.is_cut())
        text += fmt::format("{}(the output is cut after {} lines)\n",
                            text.ends_with('\n') ? "" : "\n", output_.lines());
    output_ = {};
    return text;
}

FrozenLaunch Machine::freeze(const Kernel& kernel, const LaunchShape& launch,
                             std::span<const void* const> arguments,
                             const LaunchSettings& settings) {
    check_shape(kernel, launch);
    FrozenLaunch frozen{&kernel, launch, pack(kernel, arguments), settings};
    frozen.launch.cooperative |= kernel.synchronises_grid();
    return frozen;
}

Statistics Machine::run(const Kernel& kernel, const LaunchShape& launch,
                        std::span<const void* const> arguments, const LaunchSettings& settings,
                        Observer* observer) {
    return run(freeze(kernel, launch, arguments, settings), observer);
}

Statistics Machine::run(const FrozenLaunch& frozen, Observer* observer,
                        const LaunchMethod& method) {
    const LaunchShape& launch = frozen.launch;
    LaunchSettings settings = frozen.settings;
    if (method.schedule) settings.schedule = *method.schedule;
    const Kernel& kernel = method.code ? *method.code : *frozen.kernel;
    const std::size_t shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    for (unsigned sm = 0; sm < virtual_sms(); ++sm) shared_memory(sm, shared_bytes);
    const std::uint64_t first = std::min(settings.first_block, launch.grid.count());
    const std::uint64_t blocks =
        launch.cooperative ? 0 : std::min(settings.blocks, launch.grid.count() - first);
    if (observer) observer->on_launch(kernel, launch);
    if (observer) observer->on_arguments(frozen.arguments);
    if (launch.cooperative && first == 0)
        return run_cooperative(kernel, {&kernel, launch, frozen.arguments, settings}, memory_,
                               virtual_sms(), observer, output_);
    Budget budget(settings);
    unsigned threads = settings.threads ? settings.threads : hardware_threads();
    const bool in_any_order = method.dealing == BlockDealing::as_they_come;
    threads = unsigned(std::clamp<std::uint64_t>(
        in_any_order ? blocks : std::min<std::uint64_t>(virtual_sms(), blocks), 1, threads));
    if (kernel.order_dependent) threads = 1;
    const Observers observers(observer, threads);
    threads = observers.threads();
    // An observer that cannot fork may look at shared memory.
    const bool takes_blocks = in_any_order && !(observer && threads == 1);
    const bool reverse = observer && settings.reverse_blocks && kernel.order_dependent;
    Dispatch dispatch(first, first + blocks, virtual_sms(), threads, settings.progress.get());
    std::vector<Statistics> parts(threads);
    run_parallel(threads, [&](unsigned k) {
        const FloatMode mode(kernel.flush_subnormals);
        BlockRunner runner(kernel, launch, memory_, frozen.arguments, settings, budget,
                           method.make_events);
        if (takes_blocks)
            dispatch.run_blocks(runner, shared_, shared_bytes, observers.of(k));
        else if (threads == 1)
            reverse ? dispatch.run_in_reverse(runner, shared_, observers.of(0))
                    : dispatch.run_in_order(runner, shared_, observers.of(0));
        else
            dispatch.run_sms(runner, shared_, observers.of(k));
        parts[k] = runner.statistics();
        if (observer) observers.of(k)->on_executions(runner.executions());
    });
    observers.join();
    dispatch.move_prints_into(output_);
    dispatch.rethrow(observer);
    if (observer) observer->on_launch_end();
    Statistics total;
    for (const Statistics& s : parts) total += s;
    return total;
}

}  // namespace warpscope::emulator
