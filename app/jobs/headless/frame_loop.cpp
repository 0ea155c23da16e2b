#include "jobs/headless/frame_loop.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <span>
#include <utility>

#include "experiments/framework/frame_cost.h"
#include "gl/png.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

using experiments::duration_words;

/// A run that ends sooner shows no line.
constexpr std::chrono::milliseconds least_time{300};
constexpr std::chrono::milliseconds between_lines{100};

}  // namespace

ProgressLine::ProgressLine(std::uint64_t frames, double expected_s, int columns, Write write,
                           Clock clock)
    : frames_(frames),
      columns_(std::size_t(std::max(columns, 2) - 1)),
      write_(std::move(write)),
      clock_(std::move(clock)) {
    if (!write_) return;
    began_ = clock_();
    next_ = began_ + least_time;
    if (expected_s * 1000 > double(least_time.count()))
        show(fmt::format("frame 0/{} · about {} a frame · about {} in all", frames_,
                         duration_words(expected_s), duration_words(expected_s * double(frames_))));
}

ProgressLine::~ProgressLine() {
    if (shown_columns_) show("");
}

void ProgressLine::frames_done(std::uint64_t done) {
    if (!write_ || done == 0) return;
    const Time now = clock_();
    if (now < next_) return;
    next_ = now + between_lines;
    const double each = std::chrono::duration<double>(now - began_).count() / double(done);
    std::string text = fmt::format("frame {}/{} · {} a frame", done, frames_, duration_words(each));
    if (done < frames_)
        text += fmt::format(" · about {} left", duration_words(each * double(frames_ - done)));
    show(text);
}

void ProgressLine::say(std::string_view what) {
    if (write_ && (shown_columns_ || clock_() >= next_)) show(std::string(what));
}

/// Overwrites what is left of the previous line with spaces, which every terminal can do.
void ProgressLine::show(const std::string& text) {
    const std::string cut = first_columns(text, columns_);
    const std::size_t wide = columns(cut);
    std::string line = "\r" + cut;
    if (wide < shown_columns_) line.append(shown_columns_ - wide, ' ');
    if (wide < shown_columns_ && text.empty()) line += '\r';
    shown_columns_ = wide;
    write_(line);
}

ProgressLine terminal_line(std::uint64_t frames, double expected_s) {
    winsize size{};
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    if (terminal) ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    ProgressLine::Write write;
    if (terminal)
        write = [](const std::string& line) {
            std::fputs(line.c_str(), stderr);
            std::fflush(stderr);
        };
    return {frames, expected_s, size.ws_col ? size.ws_col : 80, std::move(write),
            [] { return std::chrono::steady_clock::now(); }};
}

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

Interruption::Interruption(std::chrono::milliseconds for_results)
    : thread_(
          [this, for_results](const std::stop_token& closing) { follow(closing, for_results); }) {}

void Interruption::follow(const std::stop_token& closing, std::chrono::milliseconds for_results) {
    signal_.wait(closing);
    if (signal_.number() == 0) return;
    work_.request_stop();
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, closing, for_results, [] { return false; });
    if (!closing.stop_requested()) results_.request_stop();
}

namespace {

using experiments::Rgba;
using experiments::Size;

std::span<const std::uint8_t> bytes_of(const std::vector<Rgba>& pixels) {
    return {reinterpret_cast<const std::uint8_t*>(pixels.data()), pixels.size() * sizeof(Rgba)};
}

}  // namespace

void PlainTarget::save(const std::filesystem::path& file,
                       const experiments::Metadata& metadata) const {
    gl::write_png(file, size_.width, size_.height, bytes_of(pixels_.download()), metadata);
}

std::vector<std::uint8_t> PlainTarget::png(const experiments::Metadata& metadata) const {
    return gl::encode_png(size_.width, size_.height, bytes_of(pixels_.download()), metadata);
}

std::vector<std::uint8_t> png_of(experiments::Experiment& experiment,
                                 const experiments::Entry& entry, Size view) {
    const Size size = experiment.picture_size(view);
    if (size.width <= 0 || size.height <= 0) return {};
    PlainTarget target(experiment.device(), size);
    target.draw(experiment);
    return target.png(experiments::describe(experiment, entry, view, true));
}

void PlainTarget::add_to(gl::Recording& recording) const {
    constexpr std::chrono::milliseconds shown(33);
    const auto pixels = pixels_.download();
    const auto bytes = bytes_of(pixels);
    recording.add(size_.width, size_.height, {bytes.begin(), bytes.end()}, gl::Rows::top_first,
                  shown);
}

FrameRecorder::FrameRecorder(experiments::Experiment& experiment, const experiments::Entry& entry,
                             Size view, std::filesystem::path file)
    : experiment_(experiment), entry_(entry), view_(view), file_(std::move(file)) {
    const Size size = experiment.picture_size(view);
    if (size.width <= 0 || size.height <= 0)
        throw UsageError(
            fmt::format("--record: {} draws a tree and no picture; record it in the window, with "
                        "Ctrl+F12",
                        entry.id));
    target_.emplace(experiment.device(), size);
}

void FrameRecorder::add() {
    if (!recording_)
        recording_.emplace(file_, experiments::describe(experiment_, entry_, view_, true));
    target_->draw(experiment_);
    target_->add_to(*recording_);
}

void FrameRecorder::finish() {
    if (recording_) recording_->finish();
}

}  // namespace warpscope::jobs
