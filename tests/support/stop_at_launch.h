#pragma once

#include <cstdint>
#include <stop_token>

#include "compute/emulated/emulated_device.h"

namespace warpscope::tests {

/// Requests a stop when launch number `at` of the emulator begins, counted from 0.
class StopAtLaunch : public emulator::Observer {
  public:
    static constexpr std::uint64_t never = ~std::uint64_t(0);

    explicit StopAtLaunch(compute::EmulatedDevice& device, std::uint64_t at = never)
        : device_(device), at_(at) {
        device.observe(this);
    }
    ~StopAtLaunch() override { device_.observe(nullptr); }
    StopAtLaunch(const StopAtLaunch&) = delete;
    StopAtLaunch& operator=(const StopAtLaunch&) = delete;

    /// Counts from 0 again, with a request that has not come yet.
    void arm(std::uint64_t at) {
        source_ = {};
        launches_ = 0;
        at_ = at;
    }
    std::stop_token token() const { return source_.get_token(); }
    bool requested() const { return source_.stop_requested(); }

    void on_launch(const emulator::Kernel&, const emulator::LaunchShape&) override {
        if (launches_++ == at_) source_.request_stop();
    }
    bool wants(std::uint32_t) override { return false; }

  private:
    compute::EmulatedDevice& device_;
    std::stop_source source_;
    std::uint64_t launches_ = 0, at_;
};

}  // namespace warpscope::tests
