#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace warpscope::tests {

/// Holds threads until a test opens it.
class Gate {
  public:
    explicit Gate(bool open) : open_(open) {}
    void set_open(bool open) {
        {
            const std::scoped_lock lock(mutex_);
            open_ = open;
        }
        changed_.notify_all();
    }
    /// Waits until the gate is open or a stop is requested. Returns whether it is open.
    bool pass(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        return changed_.wait(lock, stop, [this] { return open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool open_;
};

}  // namespace warpscope::tests
