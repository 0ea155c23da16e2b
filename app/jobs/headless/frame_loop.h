#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compute/helper/termination_signal.h"
#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "gl/recording.h"

namespace warpscope::jobs {

/// One line on a terminal that is rewritten: how far a run is and how long it will still take. It
/// shows nothing for a run that ends soon.
class ProgressLine {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Clock = std::function<Time()>;
    using Write = std::function<void(const std::string&)>;

    /// `expected_s` is the estimated time of a frame; 0: not known. `columns` is the width of the
    /// terminal.
    ProgressLine(std::uint64_t frames, double expected_s, int columns, Write write, Clock clock);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// Clears the line.
    ~ProgressLine();

    /// Reports that `done` frames are computed.
    void frames_done(std::uint64_t done);
    /// Reports that work begins which follows the frames: "computing the results".
    void say(std::string_view what);

  private:
    void show(const std::string& text);

    std::uint64_t frames_;
    std::size_t columns_;
    Write write_;
    Clock clock_;
    Time began_, next_;
    std::size_t shown_columns_ = 0;
};

/// Returns a line on standard error if that is a terminal, otherwise a line that is never shown.
ProgressLine terminal_line(std::uint64_t frames, double expected_s);

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

/// While it exists, SIGINT and SIGTERM do not end the process but stop its work, so that it can
/// write what it has. A second signal ends the process at once.
class Interruption {
  public:
    /// `for_results`: how long results may be computed after the signal.
    explicit Interruption(std::chrono::milliseconds for_results);

    /// Requested by the first signal.
    std::stop_token work() const { return work_.get_token(); }
    /// Requested when the time for results is over.
    std::stop_token results() const { return results_.get_token(); }
    /// The first signal; 0: none came so far.
    int signal() const { return signal_.number(); }

  private:
    void follow(const std::stop_token& closing, std::chrono::milliseconds for_results);

    std::stop_source work_, results_;
    compute::TerminationSignal signal_;
    std::jthread thread_;  ///< destroyed first
};

/// Thrown when everything that could be written is written: the process is to end by this signal.
struct Interrupted {
    int signal;
};

/// Receives the picture of an experiment's frames where OpenGL is not used.
class PlainTarget {
  public:
    PlainTarget(compute::Device& device, experiments::Size size)
        : pixels_(device, std::size_t(size.width) * size.height), size_(size) {}

    void draw(experiments::Experiment& experiment) {
        experiment.render_into({pixels_.pointer(), size_});
    }
    /// Throws gl::Error.
    void save(const std::filesystem::path& file, const experiments::Metadata& metadata) const;
    /// Throws gl::Error.
    std::vector<std::uint8_t> png(const experiments::Metadata& metadata) const;
    /// Throws gl::Error.
    void add_to(gl::Recording& recording) const;

  private:
    compute::Buffer<experiments::Rgba> pixels_;
    experiments::Size size_;
};

/// The picture of the current frame as a PNG with its settings; empty: the experiment has a tree
/// and no picture. Throws gl::Error.
std::vector<std::uint8_t> png_of(experiments::Experiment& experiment,
                                 const experiments::Entry& entry, experiments::Size view);

/// Records the picture of every frame of an experiment, with the settings of the first one.
class FrameRecorder {
  public:
    /// `view`: the size of the window or view that the picture is for. Throws UsageError where the
    /// experiment has a tree and no picture.
    FrameRecorder(experiments::Experiment& experiment, const experiments::Entry& entry,
                  experiments::Size view, std::filesystem::path file);

    /// Adds the current frame. Throws gl::Error.
    void add();
    /// Completes the file. Throws gl::Error.
    void finish();

  private:
    experiments::Experiment& experiment_;
    const experiments::Entry& entry_;
    const experiments::Size view_;
    const std::filesystem::path file_;
    std::optional<PlainTarget> target_;
    std::optional<gl::Recording> recording_;  ///< made with the first frame
};

}  // namespace warpscope::jobs
