#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "experiments/framework/experiment.h"
#include "jobs/headless/progress_line.h"

namespace warpscope::jobs {

/// When a run is to end before its last frame.
struct Stops {
    std::stop_token work{};     ///< ends the frames: the results so far are then those of the run
    std::stop_token results{};  ///< ends the computing of these results, too
};

/// The work of a run that may be stopped.
class StoppableRun {
  public:
    StoppableRun(compute::Device& device, Stops stops);

    /// False if the work was stopped. Work that follows may then take the time for results.
    bool once(const std::function<void()>& work);
    /// Does the work. If it was stopped, does it again in the time for results. Returns false if
    /// that time is too short.
    bool finish(const std::function<void()>& work) { return once(work) || once(work); }
    bool stopped() const { return stopped_; }

  private:
    void stop_at(const std::stop_token& stop);

    compute::Device& device_;
    Stops stops_;
    bool stopped_ = false;
};

/// Computes the frames up to number `frames`, calls `render` after each, and reports each to
/// `line`. If the run was stopped before, or there are no frames, it only renders the current one.
/// Throws Cancelled when it is stopped; then no frame is half done. Throws Cancelled, too, if there
/// is no frame yet.
void compute_frames(experiments::Experiment& experiment, std::uint64_t frames,
                    const StoppableRun& run, ProgressLine& line,
                    const std::function<void()>& render);

}  // namespace warpscope::jobs
