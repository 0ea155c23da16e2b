#include "jobs/headless/frame_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace warpscope::jobs {
namespace {

/// Waits for the device after some frames. A stop request can't end what a GPU has queued, so
/// without these waits it could take long. Short frames are still queued together.
class Pace {
  public:
    void queued_frame(compute::Device& device) {
        if (++queued_ < together_) return;
        device.synchronize();
        const auto now = Clock::now();
        const auto took = now - std::exchange(last_, now);
        if (took < std::chrono::milliseconds(10)) together_ = std::min(2 * together_, 64U);
        if (took > std::chrono::milliseconds(40)) together_ = std::max(together_ / 2, 1U);
        queued_ = 0;
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point last_ = Clock::now();
    unsigned queued_ = 0, together_ = 1;
};

}  // namespace

StoppableRun::StoppableRun(compute::Device& device, Stops stops)
    : device_(device), stops_(std::move(stops)) {
    stop_at(stops_.work);
}

bool StoppableRun::once(const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const compute::Cancelled&) {
        stopped_ = true;
        stop_at(stops_.results);
        return false;
    }
}

void StoppableRun::stop_at(const std::stop_token& stop) {
    compute::LaunchLimits limits = device_.launch_limits();
    limits.stop = stop;
    device_.set_launch_limits(limits);
}

void compute_frames(experiments::Experiment& experiment, std::uint64_t frames,
                    const StoppableRun& run, ProgressLine& line,
                    const std::function<void()>& render) {
    if (run.stopped() && experiment.frame() == 0)
        throw compute::Cancelled("the run was stopped before its first frame");
    if (run.stopped() || frames == 0) return render();
    Pace pace;
    while (experiment.frame() < frames) {
        experiment.device().check_stop("the run");
        experiment.step();
        render();
        pace.queued_frame(experiment.device());
        line.frames_done(experiment.frame());
    }
}

}  // namespace warpscope::jobs
