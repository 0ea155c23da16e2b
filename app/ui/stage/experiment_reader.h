#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::ui {

/// The behaviour of the barriers of the device in use, as measured on it.
struct DeviceBarriers {
    std::optional<experiments::Report> report;
    std::string error;
    std::uint64_t state = 0;  ///< Checks::state that the report belongs to
};

/// The newest report and figures of the shown experiment. They may be older than the frame.
struct Readings {
    experiments::Report report;
    std::vector<std::string> report_parameters{};  ///< ParameterSet::of_launch() of the report
    /// The buffer of a launch file that is shown; null: there is none, or it is very large.
    std::shared_ptr<const experiments::BufferContents> buffer;
    std::shared_ptr<const experiments::Tree> tree;  ///< null: there is none, or it can't be made
    std::optional<experiments::Timeline> timeline;  ///< as the kernel measured it
    DeviceBarriers barriers;
};

/// Reads the experiment on show after it has changed, and so seldom that frames are not slowed
/// down. Its functions throw what the experiment throws, and then do not read again by themselves.
class ExperimentReader {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit ExperimentReader(std::function<Time()> clock) : clock_(std::move(clock)) {}

    const Readings& readings() const { return readings_; }
    /// Another experiment is on show.
    void forget();
    /// The experiment has changed otherwise than by a frame.
    void outdate();
    void outdate_report() { report_stale_ = true; }
    /// The experiment is back where it was when the report was read.
    void keep_report() { report_stale_ = false; }
    /// A newer report is due, or would be if it did not have to wait.
    bool wants_report(bool waits) const {
        return report_stale_ && !(waits && clock_() < next_report_);
    }
    void read_report(experiments::Experiment& experiment);
    /// Reads a report that was cancelled again when that is due.
    void retry_report() { report_stale_ |= std::exchange(report_cancelled_, false); }
    bool wants_tree() const { return tree_stale_; }
    void read_tree(experiments::Experiment& experiment);
    /// `state` counts the changes of the launch, and `picture` the pictures. False: it is not time
    /// for a newer timeline.
    bool read_timeline(experiments::Experiment& experiment, std::uint64_t state,
                       std::uint64_t picture);
    /// False: they are known for this state of the launch.
    bool measure_barriers(experiments::Experiment& experiment, std::uint64_t state);

  private:
    std::function<Time()> clock_;
    Readings readings_;
    bool report_stale_ = true, report_cancelled_ = false, tree_stale_ = true;
    Time next_report_{}, next_timeline_{};
    std::uint64_t timeline_state_ = 0, timeline_picture_ = 0;  ///< that the timeline belongs to
};

}  // namespace warpscope::ui
