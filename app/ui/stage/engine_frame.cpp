#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/log.h"
#include "compute/device/sentences.h"
#include "ui/stage/engine.h"

namespace warpscope::ui {

using experiments::Size;
using experiments::Snapshot;

bool Engine::advance(Size view) {
    const std::uint64_t before = version_, checks_before = inspector_.version();
    const EditedKernels::State edits_before = edits_.state();
    compute_frame(view);
    if (!scene_->failed())
        inspector_.follow(*scene_->inspected_entry(), scene_->inspected(), automatic_checks_);
    if (failure_.empty()) read_timeline();
    if (shown_.devices.empty()) list_devices();
    follow_compiler();
    return version_ != before || inspector_.version() != checks_before ||
           edits_.state() != edits_before;
}

/// Another process looks for the compiler, and answers when it has looked.
void Engine::follow_compiler() {
    std::string words = read_only();
    if (words == shown_.read_only) return;
    shown_.read_only = std::move(words);
    ++version_;
}

bool Engine::report_due() const {
    if (!failure_.empty() || scene_->failed() || !report_stale_) return false;
    return shown_.paused || clock_() >= next_report_;
}

void Engine::compute_frame(Size view) {
    activity_ = Activity::frame;
    const Size before = std::exchange(view_, view);
    if (!failure_.empty()) handle_failure();
    if (!warm_ && documents().version() != 0) warm();
    take(edits_.advance(*scene_, view));
    if (scene_->wants_ranks()) use_ranks();
    // Kernels that have failed stand still until others take their place.
    if (scene_->failed()) return;
    next_frame_ = experiment().frame() + 1;
    const Time start = clock_();
    const bool rests = edits_.in_background() && start < rests_until_;
    const bool steps =
        !rests && !scene_->stands_still() && (!shown_.paused || std::exchange(step_wanted_, false));
    cancelled_ = false;
    if (steps) step();
    if (cancelled_) return;
    if (failure_.empty() && (picture_stale_ || view != before)) render(view);
    if (cancelled_) return;
    if (!picture_stale_) before_change_.reset();
    if (steps) measure_cost(start);
    if (steps) rests_until_ = start + (1 + experiments::rest_while_trying) * (clock_() - start);
    if (failure_.empty() && tree_stale_) read_tree();
    if (scene_->runs_edits()) read_printed();
    if (failure_.empty())
        keep_snapshot();
    else
        handle_failure();
}

/// A GPU computes on after its frame was queued, so the time here says nothing about it.
void Engine::measure_cost(Time start) {
    if (device().info().kind != compute::DeviceKind::emulator || !failure_.empty()) return;
    const double seconds = std::chrono::duration<double>(clock_() - start).count();
    shown_.costs.measured(scene_->entry()->id, device().info(), work_, seconds);
}

void Engine::take(const EditedKernels::News& news) {
    if (!news.outdated.empty() && shown_.message.text == news.outdated) clear_message();
    if (!news.error.empty()) say(news.error, Tone::error);
    if (news.failure) attempt("", [&] { std::rethrow_exception(news.failure); });
    if (news.replaced) {
        scene_->count_change();
        ++shown_.scene;
        ++version_;
        shown_.comparison.reset();
        tree_stale_ = true;
        picture_stale_ = false;
        ++shown_.picture.version;
        report_stale_ = true;
        next_report_ = {};
    }
    if (news.began_anew) changed();
    if (news.other_inspected) {
        ++shown_.scene;
        ++version_;
    }
    if (!news.nothing_runs) return;
    if (device().info().kind == compute::DeviceKind::cuda)
        replace_lost_device(news.error);
    else
        shown_.paused = true;
}

void Engine::step() {
    const bool done = attempt("Paused.", [&] { experiment().step(); });
    if (cancelled_) return;
    if (!done && failure_.empty()) shown_.paused = true;
    scene_->count_change();
    picture_stale_ = true;
    report_stale_ = true;
    ++version_;
}

void Engine::render(Size view) {
    picture_stale_ = false;
    ++shown_.picture.version;
    ++version_;
    const bool done = attempt("The picture is the last good one.", [&] { scene_->render(view); });
    if (!done && failure_.empty()) shown_.paused = true;
}

void Engine::read_report() {
    report_stale_ = report_cancelled_ = false;
    ++version_;
    activity_ = Activity::report;
    const Time start = clock_();
    attempt("", [&] {
        shown_.report = experiment().report();
        shown_.report_parameters = experiment().parameters().of_launch();
        read_buffer();
    });
    // A report that takes long to make (a double-precision reference) must not slow the frames.
    const auto took = clock_() - start;
    next_report_ =
        start + took + std::max<Time::duration>(std::chrono::milliseconds(150), 9 * took);
}

void Engine::read_buffer() {
    constexpr std::size_t most_bytes = std::size_t(64) << 20;
    shown_.buffer.reset();
    auto* launch = dynamic_cast<experiments::Launch*>(&experiment());
    if (auto contents = launch ? launch->contents(most_bytes) : std::nullopt)
        shown_.buffer = std::make_shared<const experiments::BufferContents>(std::move(*contents));
}

/// A tree that can't be made is not tried again at every frame.
void Engine::read_tree() {
    tree_stale_ = false;
    ++version_;
    attempt("", [&] {
        const experiments::Tree* tree = experiment().tree();
        shown_.tree = tree ? std::make_shared<const experiments::Tree>(*tree) : nullptr;
    });
}

/// Reads the timeline that the kernel has measured, now and then and after a change of the launch.
void Engine::read_timeline() {
    const std::uint64_t state = inspector_.state();
    const bool changed = timeline_state_ != state;
    const bool rendered = timeline_picture_ != shown_.picture.version;
    if (!changed && !(rendered && clock_() >= next_timeline_)) return;
    timeline_state_ = state;
    timeline_picture_ = shown_.picture.version;
    next_timeline_ = clock_() + std::chrono::milliseconds(150);
    try {
        shown_.timeline = experiment().timeline();
    } catch (const std::exception&) {
        // The next frame fails with this error as well, and then it is reported.
        shown_.timeline.reset();
    }
    ++version_;
}

/// Shows the newest line that kernels have printed, unless an error is on show.
void Engine::read_printed() {
    std::string fresh;
    attempt("", [&] { fresh = device().take_output(); });
    if (fresh.empty()) return;
    if (shown_.message.tone == Tone::error && !shown_.message.text.empty()) return;
    const std::string_view printed = fresh;
    const std::string_view lines = printed.substr(0, printed.rfind('\n'));
    const std::size_t last = lines.rfind('\n');
    say("printf: " + compiler::clean(lines.substr(last == std::string_view::npos ? 0 : last + 1)));
}

/// A GPU may be lost, and an edit may fail at any frame.
void Engine::keep_snapshot() {
    const compute::Exchange* const exchange = device().exchange();
    if (exchange && exchange->has_other_processes()) return;  // all end together
    const bool may_fail = device().info().kind == compute::DeviceKind::cuda || scene_->runs_edits();
    if (may_fail) attempt("", [&] { scene_->keep_snapshot(); });
}

/// Runs `change`. Where it throws, returns false, and the error followed by its consequence is the
/// message.
bool Engine::attempt(const std::string& consequence, const std::function<void()>& change,
                     From from) {
    try {
        change();
        return true;
    } catch (const compute::Cancelled&) {
        if (activity_ == Activity::report)
            leave_report();
        else
            go_back();
        return false;
    } catch (const std::exception& error) {
        record_failure(error, from);
        std::string words = error.what();
        if (!consequence.empty()) words = compute::sentence(words) + " " + consequence;
        say(std::move(words), Tone::error);
        return false;
    }
}

void Engine::begin_work(std::stop_token stop, std::shared_ptr<compute::LaunchProgress> progress) {
    stop_ = std::move(stop);
    progress_ = std::move(progress);
    activity_ = Activity::other;
    next_frame_ = experiment().frame() + 1;
    for (const auto& [id, scene] : scenes_) limit(scene->device());
}

void Engine::limit(compute::Device& device) const {
    device.set_launch_limits({device.launch_limits().time, stop_});
    device.set_progress(progress_);
}

/// Work that is cancelled before the next frame is ready goes back to this state.
void Engine::remember_before_change() {
    if (before_change_ || !progress_) return;  // without progress nobody can cancel
    attempt("", [&] { before_change_ = experiment().snapshot(); });
}

/// The report before stays on show, and the frames go on.
void Engine::leave_report() {
    report_cancelled_ = true;
    begin_work({}, progress_);
}

void Engine::retry_report() {
    report_stale_ |= std::exchange(report_cancelled_, false);
}

/// After cancelled work: the last good state and its picture, paused.
void Engine::go_back() {
    cancelled_ = true;
    shown_.paused = true;
    picture_stale_ = report_stale_ = false;
    begin_work({}, progress_);
    const auto before = std::exchange(before_change_, std::nullopt);
    if (before) {
        attempt("", [&] { experiment().resume(*before); });
        follow_parameters();
        edits_.look_again();
    }
    say(before ? "Cancelled: the settings before are back. Paused." : "Cancelled. Paused.");
}

/// Records an error that calls for other kernels or another device. It is handled between frames,
/// since the panels hold references to what is replaced.
void Engine::record_failure(const std::exception& error, From from) {
    if (!scene_ || !failure_.empty() || dynamic_cast<const compute::OutOfMemory*>(&error)) return;
    // A GPU that this process uses fails for all of its devices. Edits run in a process apart.
    const bool concerns_scene = from == From::shown_device || !scene_->runs_edits();
    const bool edit_failed =
        scene_->runs_edits() && dynamic_cast<const compute::DeviceError*>(&error);
    const bool device_lost = dynamic_cast<const compute::DeviceLost*>(&error) != nullptr;
    if (!concerns_scene || (!edit_failed && !device_lost)) return;
    failure_ = error.what();
    if (const auto* in_block = dynamic_cast<const compute::BlockError*>(&error))
        scene_->fail_in(in_block->block);
}

void Engine::handle_failure() {
    const std::string error = std::exchange(failure_, {});
    if (scene_->failed()) return;
    if (scene_->runs_edits())
        take(edits_.replace_failed(*scene_, error, view_));
    else
        replace_lost_device(error);
}

void Engine::measure_barriers() {
    const std::uint64_t state = inspector_.state();
    if (shown_.barriers.state == state) return;
    shown_.barriers = {};
    shown_.barriers.state = state;
    try {
        shown_.barriers.report = experiment().measure_barriers();
    } catch (const std::exception& error) {
        shown_.barriers.error = error.what();
    }
    ++version_;
}

void Engine::measure_ceilings() {
    shown_.ceilings_error.clear();
    try {
        compute::measure_ceilings(device());
    } catch (const std::exception& error) {
        shown_.ceilings_error = error.what();
    }
    ++version_;
}

}  // namespace warpscope::ui
