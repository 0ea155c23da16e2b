#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Runs body(0) … body(count - 1), each on its own thread if the machine has so many.
void run_parallel(unsigned count, const std::function<void(unsigned)>& body);
/// The processors that this thread may use, at least 1.
unsigned hardware_threads();

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
    std::span<Observer* const> all() const { return all_; }
    /// Joins pairs of forks, so that the host threads share the work.
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

}  // namespace warpscope::emulator
