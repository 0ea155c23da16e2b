#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/device/device.h"
#include "compute/pick_device.h"
#include "experiments/framework/experiment.h"
#include "experiments/framework/frame_cost.h"
#include "experiments/launch/launch.h"
#include "gl/pixel_buffer.h"
#include "ui/documents/kernel_documents.h"
#include "ui/stage/inspector.h"

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

enum class Tone { info, finding, error };

/// The line at the foot of the window.
struct Message {
    std::string text;
    Tone tone = Tone::info;
    std::chrono::steady_clock::time_point at;
};

/// What an engine is busy with.
enum class Activity { start, frame, report, comparison, other };

/// The picture of a frame. `texture` is null where the experiment draws no pixels (it has a tree),
/// or none could be drawn.
struct ShownPicture {
    std::shared_ptr<const gl::Texture> texture;
    gl::PixelBuffer::Path path = gl::PixelBuffer::Path::mapped;
    std::string reason;         ///< for this path, as a sentence
    int tile_side = 0;          ///< of the square thread blocks that drew it; 0: not square
    std::uint64_t version = 1;  ///< counts the pictures
};

/// What the checks and the microscope look at: the experiment on show, or, in its place, kernels
/// that failed.
struct Inspected {
    experiments::SharedEntry entry;
    std::vector<std::string> parameters;  ///< ParameterSet::of_launch()
    compute::KernelEdits edits;
    std::uint64_t frame = 0;
    std::optional<emulator::Dim3> failed_block;  ///< of kernels that failed
};

/// What an Engine has computed so far: a value that never changes, which the panels draw.
struct Shown {
    experiments::SharedEntry entry;
    experiments::SharedEntry launch;  ///< of the newest launch file; at first one of the gallery
    std::shared_ptr<const experiments::LaunchPlan> plan;  ///< of the launch file on show; or null
    std::string launch_error;  ///< why it does not run; empty: it does, or will be tried
    /// Counts the experiments that were made: another number means another experiment.
    std::uint64_t generation = 0;
    std::vector<experiments::Value> parameters;  ///< ParameterSet::values()
    std::vector<std::string> launch_parameters;  ///< ParameterSet::of_launch()
    Inspected inspected;
    experiments::Assignments changed_parameters;  ///< of every experiment, without defaults
    experiments::MouseUse mouse;
    compute::DeviceInfo device;
    compute::RunSettings run;
    compute::KernelEdits edits;
    compute::KernelTimings timings;
    std::string device_wish = "auto";
    /// That a person can choose; empty: not known yet.
    std::vector<compute::DeviceChoice> devices;
    /// The wish for the device that was lost (a sticky CUDA error) and that the emulator stands in
    /// for, until the app starts again; nullopt: none was lost.
    std::optional<std::string> lost_wish;

    std::uint64_t frame = 0;
    bool changed_since_reset = false;
    bool paused = false;
    ShownPicture picture;
    Readings readings;
    bool report_due = false;  ///< a newer report is computed now
    std::optional<experiments::Comparison> comparison;
    Checks checks;
    experiments::FrameCosts costs;  ///< of the emulator's frames
    std::string ceilings_error;     ///< why the ceilings could not be measured; empty: no error

    Message message;
    std::uint64_t messages = 0;  ///< counts the messages
    /// The outcomes of the edited kernel files.
    std::map<std::string, std::shared_ptr<const EditOutcome>> outcomes;
    bool compiler_missing = false;  ///< that is why `read_only` is not empty
    std::string read_only;          ///< why no kernel can be edited, as a sentence; empty: all can
    bool trying = false;            ///< edits are being tried or soon will be
    std::uint64_t commands = 0;     ///< carried out so far
};

}  // namespace warpscope::ui
