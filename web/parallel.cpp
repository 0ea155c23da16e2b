// In place of app/emulator/machine/parallel.cpp: the threads are kept, because in a browser a new
// one has to wait for the thread that draws.
#include "emulator/machine/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace warpscope::emulator {
namespace {

/// A call of run_parallel(). It is on the stack of its caller, who waits until it is over.
struct Call {
    const std::function<void(unsigned)>& body;
    unsigned count;
    unsigned next = 0, ended = 0;
};

class Pool {
  public:
    explicit Pool(unsigned threads) {
        for (unsigned k = 0; k < threads; ++k) std::thread([this] { work(); }).detach();
    }

    void run(unsigned count, const std::function<void(unsigned)>& body) {
        Call call{body, count};
        std::unique_lock lock(mutex_);
        calls_.push_back(&call);
        changed_.notify_all();
        while (call.next < count) take(call, lock);
        changed_.wait(lock, [&] { return call.ended == count; });
    }

  private:
    void take(Call& call, std::unique_lock<std::mutex>& lock) {
        const unsigned k = call.next++;
        if (call.next == call.count) std::erase(calls_, &call);
        lock.unlock();
        call.body(k);
        lock.lock();
        if (++call.ended == call.count) changed_.notify_all();
    }
    void work() {
        for (std::unique_lock lock(mutex_);;) {
            changed_.wait(lock, [&] { return !calls_.empty(); });
            take(*calls_.front(), lock);
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Call*> calls_;  ///< with parts that nobody has begun
};

}  // namespace

unsigned hardware_threads() {
    return std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
}

void run_parallel(unsigned count, const std::function<void(unsigned)>& body) {
    if (count == 1) return body(0);
    static Pool& pool = *new Pool(hardware_threads() - 1);  // for as long as the page
    pool.run(count, body);
}

}  // namespace warpscope::emulator
