#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/kernel_timings.h"

namespace warpscope::ui {

/// Knows which kernels still run. A kernel no longer runs when others have been launched in several
/// rounds without it, or since the settings of the launch changed.
class RecentKernels {
  public:
    /// Once a frame. `settings`: ParameterSet::of_launch().
    void follow(const std::vector<compute::KernelTiming>& kernels,
                const std::vector<std::string>& settings);
    bool still_runs(std::string_view kernel) const;
    /// Those that still run. The ones that began to run last, such as the variant that was just
    /// chosen, come first; the others have the given order.
    std::vector<const compute::KernelTiming*> running(
        const std::vector<compute::KernelTiming>& kernels) const;

  private:
    /// Calls of follow() with launches. Some kernels are not launched in each frame, and a GPU's
    /// times arrive late.
    static constexpr std::uint64_t patience = 30;

    struct Seen {
        std::uint64_t launches = 0;
        std::uint64_t round = 0;  ///< in which it was last launched
        std::uint64_t began = 0;  ///< the first round since it did not run
    };
    std::map<std::string, Seen, std::less<>> seen_;
    std::vector<std::string> settings_;
    std::uint64_t round_ = 0;    ///< the newest one
    std::uint64_t changed_ = 0;  ///< the round after which the settings changed
};

}  // namespace warpscope::ui
