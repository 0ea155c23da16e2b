#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/nvrtc_output.h"
#include "compute/ceilings.h"
#include "compute/device/number_text.h"
#include "compute/pick_device.h"
#include "ui/language/language.h"
#include "ui/stage/engine.h"

namespace warpscope::ui {

using experiments::Size;
using experiments::Snapshot;

bool Engine::advance(Size view) {
    const std::uint64_t before = version_, checks_before = inspector_.version();
    const EditedKernels::State edits_before = edits_.state();
    compute_frame(view);
    if (!live_->failed())
        inspector_.follow(*live_->inspected_entry(), live_->inspected(), automatic_checks_);
    if (failure_.empty() &&
        reader_.read_timeline(experiment(), inspector_.state(), shown_.picture.version))
        ++version_;
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
    return failure_.empty() && !live_->failed() && reader_.wants_report(!shown_.paused);
}

void Engine::compute_frame(Size view) {
    activity_ = Activity::frame;
    const Size before = std::exchange(view_, view);
    if (!failure_.empty()) handle_failure();
    if (!warm_ && documents().version() != 0) warm();
    take(edits_.advance(*live_, view));
    if (live_->wants_ranks()) use_ranks();
    // Kernels that have failed stand still until others take their place.
    if (live_->failed()) return;
    next_frame_ = experiment().frame() + 1;
    const Time start = clock_();
    const bool rests = edits_.in_background() && start < rests_until_;
    const bool steps =
        !rests && !live_->stands_still() && (!shown_.paused || std::exchange(step_wanted_, false));
    cancelled_ = false;
    if (steps) step();
    if (cancelled_) return;
    if (failure_.empty() && (picture_stale_ || view != before)) render(view);
    if (cancelled_) return;
    if (!picture_stale_) before_change_.reset();
    if (steps) measure_cost(start);
    if (steps) rests_until_ = start + (1 + experiments::rest_while_trying) * (clock_() - start);
    if (failure_.empty() && reader_.wants_tree()) read_tree();
    if (live_->runs_edits()) read_printed();
    if (failure_.empty())
        keep_snapshot();
    else
        handle_failure();
}

/// The built-in kernels are back after edits, which run on one device. All ranks go on from there.
void Engine::use_ranks() {
    const auto change = [&] {
        const experiments::SharedEntry entry = live_->entry();
        experiments::Running running{make_device(shown_.device_wish, *entry), nullptr};
        running.experiment = entry->make(*running.device);
        running.experiment->resume(live_->snapshot());
        put_on_show(std::make_unique<LiveExperiment>(entry, std::move(running)));
    };
    if (!attempt(tr("It computes on one device."), change, From::new_device))
        live_->stay_without_ranks();
}

/// A GPU computes on after its frame was queued, so the time here says nothing about it.
void Engine::measure_cost(Time start) {
    if (device().info().kind != compute::DeviceKind::emulator || !failure_.empty()) return;
    const double seconds = std::chrono::duration<double>(clock_() - start).count();
    shown_.costs.measured(live_->entry()->id, device().info(), work_, seconds);
}

void Engine::take(const EditedKernels::News& news) {
    if (!news.outdated.empty() && shown_.message.text == news.outdated) clear_message();
    if (!news.error.empty()) say(news.error, Tone::error);
    if (news.failure) attempt("", [&] { std::rethrow_exception(news.failure); });
    if (news.replaced) {
        live_->count_change();
        ++shown_.generation;
        ++version_;
        shown_.comparison.reset();
        reader_.outdate();
        picture_stale_ = false;
        ++shown_.picture.version;
    }
    if (news.began_anew) changed();
    if (news.other_inspected) {
        ++shown_.generation;
        ++version_;
    }
    if (!news.nothing_runs) return;
    if (device().info().kind == compute::DeviceKind::cuda)
        replace_lost_device(news.error);
    else
        shown_.paused = true;
}

void Engine::step() {
    const bool done = attempt(tr("Paused."), [&] { experiment().step(); });
    if (cancelled_) return;
    if (!done && failure_.empty()) shown_.paused = true;
    live_->count_change();
    picture_stale_ = true;
    reader_.outdate_report();
    ++version_;
}

void Engine::render(Size view) {
    picture_stale_ = false;
    ++shown_.picture.version;
    ++version_;
    const bool done =
        attempt(tr("The picture is the last good one."), [&] { live_->render(view); });
    if (!done && failure_.empty()) shown_.paused = true;
}

void Engine::read_report() {
    activity_ = Activity::report;
    attempt("", [&] { reader_.read_report(experiment()); });
    ++version_;
}

void Engine::read_tree() {
    attempt("", [&] { reader_.read_tree(experiment()); });
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
    const bool may_fail = device().info().kind == compute::DeviceKind::cuda || live_->runs_edits();
    if (may_fail) attempt("", [&] { live_->keep_snapshot(); });
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
            begin_work({}, progress_);  // the report before stays on show, and the frames go on
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
    for (const auto& [id, live] : made_) limit(live->device());
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

/// After cancelled work: the last good state and its picture, paused.
void Engine::go_back() {
    cancelled_ = true;
    shown_.paused = true;
    picture_stale_ = false;
    reader_.keep_report();
    begin_work({}, progress_);
    const auto before = std::exchange(before_change_, std::nullopt);
    if (before) {
        attempt("", [&] { experiment().resume(*before); });
        follow_parameters();
        edits_.look_again();
    }
    say(before ? tr("Cancelled: the settings before are back. Paused.") : tr("Cancelled. Paused."));
}

/// Records an error that calls for other kernels or another device. It is handled between frames,
/// since the panels hold references to what is replaced.
void Engine::record_failure(const std::exception& error, From from) {
    if (!live_ || !failure_.empty() || dynamic_cast<const compute::OutOfMemory*>(&error)) return;
    // A GPU that this process uses fails for all of its devices. Edits run in a process apart.
    const bool concerns_shown = from == From::shown_device || !live_->runs_edits();
    const bool edit_failed =
        live_->runs_edits() && dynamic_cast<const compute::DeviceError*>(&error);
    const bool device_lost = dynamic_cast<const compute::DeviceLost*>(&error) != nullptr;
    if (!concerns_shown || (!edit_failed && !device_lost)) return;
    failure_ = error.what();
    if (const auto* in_block = dynamic_cast<const compute::BlockError*>(&error))
        live_->fail_in(in_block->block);
}

void Engine::handle_failure() {
    const std::string error = std::exchange(failure_, {});
    if (live_->failed()) return;
    if (live_->runs_edits())
        take(edits_.replace_failed(*live_, error, view_));
    else
        replace_lost_device(error);
}

/// A lost device ends every experiment on it. What is left of several GPUs, or the emulator,
/// continues the one on show from its last snapshot.
void Engine::replace_lost_device(const std::string& error) {
    const compute::Exchange* const exchange = device().exchange();
    // The other processes wait for this one, and end with it.
    if (exchange && exchange->has_other_processes()) throw compute::DeviceLost(error);
    live_->fail();
    const Snapshot last = live_->snapshot();
    for (const std::string& wish : wishes_after_loss_(shown_.device_wish))
        if (continue_on(wish, last, error)) return;
    shown_.paused = true;
}

/// False: it failed too, and the message says why.
bool Engine::continue_on(const std::string& wish, const Snapshot& last, const std::string& error) {
    return attempt(tr("Restart Warpscope."), [&] {
        const experiments::SharedEntry entry = live_->entry();
        experiments::Running running{make_device(wish, *entry), nullptr};
        running.experiment = entry->make(*running.device);
        try {
            running.experiment->resume(last);
        } catch (const compute::DeviceLost&) {
            throw;
        } catch (const std::exception&) {
            set_all(*running.experiment, last.parameters);
            running.experiment->reset();
        }
        running.device->synchronize();
        shown_.lost_wish = shown_.lost_wish.value_or(shown_.device_wish);
        shown_.device_wish = wish;
        put_on_show_alone(std::make_unique<LiveExperiment>(entry, std::move(running)));
        const compute::DeviceInfo& info = device().info();
        say(tr("{} {} continues. To use {} again, restart Warpscope.", compute::sentence(error),
               info.kind == compute::DeviceKind::emulator ? tr("The emulator") : info.name,
               info.kind == compute::DeviceKind::emulator ? tr("the GPU") : tr("all GPUs")),
            Tone::error);
    });
}

/// Asking the driver takes time, so the first picture does not wait for it.
void Engine::list_devices() {
    shown_.devices = compute::rank_choices();
    ++version_;
}

void Engine::measure_barriers() {
    if (reader_.measure_barriers(experiment(), inspector_.state())) ++version_;
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
