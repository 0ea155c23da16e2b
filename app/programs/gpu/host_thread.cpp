#include "programs/gpu/host_thread.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iterator>
#include <new>
#include <set>
#include <system_error>
#include <thread>

#include "programs/gpu/gpu.h"

namespace warpscope::programs {

namespace {

thread_local bool is_in_host_function = false;
thread_local bool is_host_thread = false;

/// What the thread has to do.
class Tasks {
  public:
    void ring() {
        {
            const std::scoped_lock lock(mutex_);
            is_rung_ = true;
        }
        changed_.notify_all();
    }
    void add(WorkId id, GraphStep call) {
        {
            const std::scoped_lock lock(mutex_);
            calls_.push_back({id, std::move(call)});
            is_rung_ = true;
        }
        changed_.notify_all();
    }
    /// Calls the functions, and waits until there is more to do. Returns false after the time.
    bool wait(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        const bool was_rung = changed_.wait_for(lock, time, [&] { return is_rung_; });
        is_rung_ = false;
        while (!calls_.empty()) {
            const auto [id, call] = std::move(calls_.front());
            calls_.pop_front();
            lock.unlock();
            call();
            lock.lock();
            returned_.insert(id);
            changed_.notify_all();
        }
        return was_rung;
    }
    bool has_returned(WorkId id) {
        const std::scoped_lock lock(mutex_);
        return returned_.contains(id);
    }
    void wait_for_return(WorkId id) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return returned_.contains(id); });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::pair<WorkId, GraphStep>> calls_;
    std::set<WorkId> returned_;
    bool is_rung_ = false;
};

Tasks& tasks() {
    static auto* const one = new Tasks;
    return *one;
}

}  // namespace

void start_host_call(WorkId id, GraphStep call) {
    tasks().add(id, std::move(call));
}

bool has_returned(WorkId id) {
    return tasks().has_returned(id);
}

void Gpu::wait_for_return(WorkId id) {
    const int depth = Held::depth();
    for (int i = 0; i < depth; ++i) mutex.unlock();
    tasks().wait_for_return(id);
    for (int i = 0; i < depth; ++i) mutex.lock();
    memory_.begin_work();
}

void Gpu::use() {
    is_used_ = true;
    demand(!is_forked_, Status::not_initialized,
           "fork() has made this process of one that had used CUDA");
    demand(!is_in_host_function, Status::not_permitted,
           "a function that CUDA calls must not call CUDA");
}

void Gpu::call_program(const std::function<void()>& call) {
    if (!is_host_thread) memory_.end_work();  // of the body of a node of a graph
    is_in_host_function = true;
    call();
    is_in_host_function = false;
    if (!is_host_thread) memory_.begin_work();
}

void Gpu::run_rest() {
    report_.has_ended = true;
    if (streams_.is_idle() || is_in_host_function || !report_.stopped.empty()) return;
    if (!has_faulted_)
        note("the program ended before work on the GPU did: call cudaDeviceSynchronize() first");
    prints_ = false;  // nor does a GPU show what such a kernel prints
    streams_.run_until_idle();
}

bool Gpu::has_host_memory() const {
    return memory_.has_host_memory() ||
           std::ranges::any_of(modules_, [](const auto& module) { return module->has_managed(); });
}

std::vector<PolledMemory::Pages> Gpu::pages_of(Reach reach) {
    if (!has_host_memory()) return {};
    // Enough for tables of pointers and for objects that point to each other.
    std::size_t bytes_to_look_at = std::size_t(64) << 10;
    constexpr std::uint64_t page = PolledMemory::page_bytes;
    std::vector<PolledMemory::Pages> pages;
    std::set<std::uint64_t> known;
    while (!reach.empty()) {
        const Reached at = reach.back();
        reach.pop_back();
        const auto block = find(at.address);
        if (!block || (!at.bytes && !known.insert(block->begin).second)) continue;
        const std::uint64_t begin = at.bytes ? at.address : block->begin,
                            end = at.bytes ? at.address + at.bytes : block->end();
        if (block->registered)  // what surrounds it is not CUDA's
            pages.push_back({(begin + page - 1) / page * page, end / page * page, at.only_reads});
        else if (block->kind != MemoryKind::device)
            pages.push_back({begin / page * page, (end + page - 1) / page * page, at.only_reads});
        if (at.bytes || block->registered) continue;
        const auto* const content = reinterpret_cast<const char*>(block->begin);
        const std::size_t looked_at = std::min(block->bytes, bytes_to_look_at);
        bytes_to_look_at -= looked_at;
        for (std::size_t i = 0; i + 8 <= looked_at; i += 8) {
            std::uint64_t word;
            std::memcpy(&word, content + i, sizeof word);
            if (memory_.find(word)) reach.push_back({word});
        }
    }
    std::erase_if(pages, [](const auto& p) { return p.begin >= p.end; });
    return pages;
}

void Gpu::run_beside_host(bool ticks) {
    const Held held(*this);
    if (finished_ || is_forked_) return;
    while (streams_.run_one_for_host_call()) {
    }
    const bool has_called = calls != calls_seen_;
    const bool polls = polled_.take_poll() && !has_called;
    if (polls) {
        streams_.run_one();
        // The host sees the end of what it polls for.
        stream_races_.on_seen([this](WorkId id) { return streams_.is_done(id); });
    }
    if (ticks) calls_seen_ = calls;
    if (has_called) polled_.restart();
    auto pages = stream_races_.pages_in_use();
    const bool watches_polls = !has_called && !streams_.is_idle() && (ticks || polls);
    if (watches_polls) {
        const auto reached = pages_of(streams_.reach());
        std::ranges::copy_if(reached, std::back_inserter(pages),
                             [](const auto& p) { return !p.shows_reads; });
    }
    if (pages.empty()) return;
    watch_host_accesses();
    polled_.watch(std::move(pages),
                  watches_polls ? [] { tasks().ring(); } : std::function<void()>());
}

void Gpu::watch_work() {
    auto pages = stream_races_.pages_in_use();
    if (pages.empty() || Held::depth() > 1) return;
    watch_host_accesses();
    polled_.restart();
    polled_.watch(std::move(pages));
}

void Gpu::on_host_access(std::uint64_t address, const void* instruction, bool writes) {
    if (!host_ || is_in_host_function) return;
    const std::scoped_lock lock(mutex);
    stream_races_.on_host_access(address, 1, writes, host_->sites().of_signal(instruction));
}

void Gpu::on_host_call(std::uint64_t address, std::size_t bytes, bool writes) {
    const std::scoped_lock lock(mutex);
    if (!host_) return;
    if (!is_in_host_function) stream_races_.on_host_access(address, bytes, writes, here());
    watch_work();
}

void Gpu::end_call() {
    tell();
    if (host_) watch_work();
    if (streams_.is_idle()) return;
    try {
        std::call_once(thread_, [this] {
            // They are made before the thread runs: a fork() while it makes them would leave them
            // half made to the child, which waits for that for ever.
            tasks();
            std::thread([this] {
                is_host_thread = true;
                // The time decides only when to look.
                constexpr std::chrono::milliseconds between_looks(100);
                while (true) {
                    run_beside_host(!tasks().wait(between_looks));
                    end_if_over();
                }
            }).detach();
        });
    } catch (const std::system_error&) {
        // The system has no thread left: the next call tries it again.
    }
    if (streams_.has_host_calls()) tasks().ring();
}

void Gpu::forget_threads() {
    polled_.unwatch();
    new (&thread_) std::once_flag;
    new (&tasks()) Tasks;
}

}  // namespace warpscope::programs
