#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/ceilings.h"
#include "compute/device/kernel_timings.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Knows which kernels still run. A kernel no longer runs when others have been launched in several
/// rounds without it, or since the settings of the launch changed.
class RecentKernels {
  public:
    /// Called once a frame. `settings`: ParameterSet::of_launch().
    void follow(const std::vector<compute::KernelTiming>& kernels,
                const std::vector<std::string>& settings);
    bool still_runs(std::string_view kernel) const;
    /// Returns the kernels that still run. Those that began to run last, such as the variant that
    /// was just chosen, come first; the others have the given order.
    std::vector<const compute::KernelTiming*> running(
        const std::vector<compute::KernelTiming>& kernels) const;

  private:
    /// The rounds without a launch after which a kernel no longer runs. A round is a call of
    /// follow() with launches. Some kernels are not launched in each frame, and a GPU's times
    /// arrive late.
    static constexpr std::uint64_t patience = 30;

    struct Seen {
        std::uint64_t launches = 0;
        std::uint64_t round = 0;  ///< the round in which it was last launched
        std::uint64_t began = 0;  ///< the round in which it began to run
    };
    std::map<std::string, Seen, std::less<>> seen_;
    std::vector<std::string> settings_;
    std::uint64_t round_ = 0;    ///< the newest round
    std::uint64_t changed_ = 0;  ///< the round after which the settings changed
};

inline void RecentKernels::follow(const std::vector<compute::KernelTiming>& kernels,
                                  const std::vector<std::string>& settings) {
    if (settings != settings_) changed_ = round_;
    settings_ = settings;
    // The timings are those of another device, or of another experiment on it.
    const bool others = std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) {
        const auto known = seen_.find(kernel.name);
        return known != seen_.end() && kernel.launches < known->second.launches;
    });
    if (others) seen_.clear();
    bool launched = false;
    for (const compute::KernelTiming& kernel : kernels) {
        Seen& seen = seen_[kernel.name];
        if (seen.launches == kernel.launches) continue;
        launched = true;
        const bool ran = seen.round > 0 && round_ + 1 < seen.round + patience;
        seen = {kernel.launches, round_ + 1, ran ? seen.began : round_ + 1};
    }
    if (launched) ++round_;
}

inline std::vector<const compute::KernelTiming*> RecentKernels::running(
    const std::vector<compute::KernelTiming>& kernels) const {
    std::vector<const compute::KernelTiming*> all;
    for (const compute::KernelTiming& kernel : kernels)
        if (still_runs(kernel.name)) all.push_back(&kernel);
    const auto began = [&](const compute::KernelTiming* kernel) {
        const auto known = seen_.find(kernel->name);
        return known == seen_.end() ? 0 : known->second.began;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto* a, const auto* b) { return began(a) > began(b); });
    return all;
}

inline bool RecentKernels::still_runs(std::string_view kernel) const {
    const auto known = seen_.find(kernel);
    if (known == seen_.end()) return true;
    const bool since_change = known->second.round > changed_ || round_ == changed_;
    return since_change && round_ < known->second.round + patience;
}

/// The state of the GPU in use: its clocks and what throttles them.
class DeviceFacts {
  public:
    /// The GPU's state of at most a second ago; nullopt where it is not known. Never waits: another
    /// thread asks the driver.
    const std::optional<compute::GpuState>& gpu(const compute::DeviceInfo& device);

  private:
    std::string asked_;  ///< the bus id that `gpu_` is of
    std::optional<compute::GpuState> gpu_;
    std::future<std::optional<compute::GpuState>> answer_;
    std::chrono::steady_clock::time_point ask_at_{};
};

/// How long a frame of the window takes, smoothed over several frames; 0: unknown.
struct FrameTimes {
    float frame_ms = 0;
    float display_ms = 0;  ///< the part spent on drawing and on waiting for the monitor
};

/// A table of the kernels with their times, and the time of a frame.
class TimingsPanel {
  public:
    TimingsPanel(Stage& stage, DeviceFacts& facts) : stage_(stage), facts_(facts) {}

    void draw(Ui& ui);
    /// Draws the kernels that run on one line, as many as have room.
    void draw_line(Ui& ui);
    void set_frame_times(const FrameTimes& times) { times_ = times; }

  private:
    void engine_line(Ui& ui) const;

    Stage& stage_;
    DeviceFacts& facts_;
    FrameTimes times_;
    RecentKernels recent_;
};

}  // namespace warpscope::ui
