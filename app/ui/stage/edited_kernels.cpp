#include "ui/stage/edited_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "compute/device/number_text.h"
#include "compute/emulated/emulated_device.h"
#include "ui/language/language.h"

namespace warpscope::ui {

EditThread::EditThread(Try try_edits)
    : try_(std::move(try_edits)),
      thread_([this](const std::stop_token& closing) { work(closing); }) {}

EditThread::~EditThread() {
    stop();
}

void EditThread::start(experiments::EditRequest request) {
    stop();
    current_ = std::make_shared<Job>();
    current_->request = std::move(request);
    const std::lock_guard lock(mutex_);
    next_ = current_;
    changed_.notify_all();
}

void EditThread::stop() {
    // The job's result may hold a device that takes a while to destroy, so that happens without the
    // lock.
    const std::shared_ptr<Job> unwanted = std::exchange(current_, nullptr);
    if (!unwanted) return;
    unwanted->stop.request_stop();
    const std::lock_guard lock(mutex_);
    next_.reset();
}

std::optional<EditThread::Ended> EditThread::take() {
    const std::lock_guard lock(mutex_);
    if (!current_ || !current_->ended) return {};
    const std::shared_ptr<Job> job = std::exchange(current_, nullptr);
    return Ended{std::move(job->request), std::move(job->result)};
}

void EditThread::wait() {
    std::unique_lock lock(mutex_);
    if (current_) changed_.wait(lock, [&] { return current_->ended; });
}

void EditThread::work(const std::stop_token& closing) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, closing, [&] { return next_ != nullptr; })) {
        std::shared_ptr<Job> job = std::exchange(next_, nullptr);
        lock.unlock();
        experiments::EditResult result;
        try {
            result = try_(job->request, job->stop.get_token());
        } catch (const std::exception& error) {
            result.error = error.what();
        }
        lock.lock();
        job->result = std::move(result);
        job->ended = true;
        changed_.notify_all();
        lock.unlock();
        // This is the last owner of a request that was given up: its device is destroyed here,
        // where nobody waits.
        job.reset();
        lock.lock();
    }
}

using experiments::Size;
using experiments::Snapshot;

namespace {

/// Frames that the emulator draws to find where an edit failed on a GPU.
constexpr int search_frames = 150;

bool has_error(const std::vector<compiler::Diagnostic>& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& diagnostic) {
        return diagnostic.severity == compiler::Severity::error;
    });
}

bool differs(const compute::Sources& from, const std::string& file, const std::string& text) {
    const auto found = from.find(file);
    return found == from.end() || found->second != text;
}

void set_state(KernelDocument& document, EditState state,
               std::vector<compiler::Diagnostic> warnings = {}) {
    document.set_outcome({state, document.shared_text(), std::move(warnings), {}});
}

experiments::SharedEntry entry_to_try(const LiveExperiment& live) {
    return live.opening().entry ? live.opening().entry : live.entry();
}

/// The edits that are known to work: those that run, or ran before the ones that have failed.
compute::Sources working_sources(const LiveExperiment& live) {
    return live.failed() ? live.previous_sources() : live.sources();
}

}  // namespace

EditedKernels::EditedKernels(EditThread::Try try_edits, Clock clock)
    : try_edits_(std::move(try_edits)), clock_(std::move(clock)) {}

EditedKernels::News EditedKernels::advance(LiveExperiment& live, Size view) {
    News news;
    follow_documents();
    take_result(live, view, news);
    const bool may_look = state_ == State::waiting || state_ == State::trying;
    if (may_look && look_at_ && clock_() >= *look_at_) look(live, view, news);
    return news;
}

void EditedKernels::follow_documents() {
    if (documents_.version() == seen_version_) return;
    seen_version_ = documents_.version();
    for (const std::string& file : documents_.files(EditState::waiting)) failed_.erase(file);
    search_.reset();
    // The replacement of failed kernels goes on: the picture waits for it.
    if (try_edits_ && state_ != State::replacing) wait_until(clock_() + experiments::edit_pause);
}

void EditedKernels::wait_until(Time time) {
    if (thread_) thread_->stop();
    look_at_ = time;
    state_ = State::waiting;
}

void EditedKernels::look_again() {
    if (!try_edits_ || look_at_) return;
    look_at_ = clock_();
    if (state_ == State::idle) state_ = State::waiting;
}

void EditedKernels::change_experiment() {
    search_.reset();
    if (try_edits_ && seen_version_ != 0) wait_until(clock_());
}

void EditedKernels::start_anew() {
    for (const std::string& file : documents_.files(EditState::running))
        set_state(documents_[file], EditState::waiting);
    forget_failures();
    change_experiment();
}

void EditedKernels::show(LiveExperiment& live) {
    News nothing_to_tell;
    for (const auto& [file, edit] : live.device().edits()) documents_[file].replace(edit->source);
    seen_version_ = documents_.version();
    settle(live, nothing_to_tell);
}

/// For every edit of a file that the experiment uses: the text on screen, or the one that works
/// where the text on screen has failed.
compute::Sources EditedKernels::wanted_sources(const LiveExperiment& live) const {
    const compute::Sources working = working_sources(live);
    compute::Sources wanted;
    for (const auto& [file, text] : live.used(documents_.edited_sources())) {
        const auto found = working.find(file);
        if (!has_failed(file, text))
            wanted[file] = text;
        else if (found != working.end() && !has_failed(file, found->second))
            wanted[file] = found->second;
    }
    return wanted;
}

/// Compares the texts with the kernels that run, and tries the texts that are wanted instead.
void EditedKernels::look(LiveExperiment& live, Size view, News& news) {
    look_at_.reset();
    compute::Sources wanted = wanted_sources(live);
    // The launch of another source, while the text on screen is the built-in one.
    const bool stands = live.entry()->unedited && live.used(documents_.edited_sources()).empty();
    const bool runs =
        !live.failed() && !stands && !live.opening().entry && wanted == live.sources();
    if (!runs && in_background() && thread_->request()->sources == wanted &&
        thread_->request()->entry == entry_to_try(live))
        return;
    if (thread_) thread_->stop();
    if (!runs) return start(live, std::move(wanted), view, news);
    settle(live, news);
    state_ = State::idle;
    if (search_) search();
}

void EditedKernels::start(LiveExperiment& live, compute::Sources sources, Size view, News& news) {
    try {
        experiments::EditRequest request{.entry = entry_to_try(live),
                                         .like = live.device().info(),
                                         .settings = live.device().settings(),
                                         .sources = std::move(sources),
                                         .snapshot = live.snapshot(),
                                         .values = live.opening().values,
                                         .view = view};
        request.like.in_helper = false;
        if (live.device().exchange()) request.like.reason = tr("edited kernels run on one device");
        tried_changes_ = live.changes();
        if (!thread_) thread_.emplace(try_edits_);
        thread_->start(std::move(request));
        state_ = live.failed() ? State::replacing : State::trying;
    } catch (...) {
        news.failure = std::current_exception();
        state_ = State::idle;
    }
}

/// A GPU does not say where a kernel failed. The emulator may, while the picture goes on.
void EditedKernels::search() {
    thread_->start(*std::exchange(search_, std::nullopt));
    state_ = State::searching;
}

void EditedKernels::take_result(LiveExperiment& live, Size view, News& news) {
    auto ended = thread_ ? thread_->take() : std::nullopt;
    if (!ended) return;
    const std::string error = ended->result.error;
    const State before = std::exchange(state_, look_at_ ? State::waiting : State::idle);
    if (before == State::searching) {
        if (!error.empty())
            refuse(live, *ended, experiments::with_emulator_error(shown_error_, error), news);
        return;
    }
    // Another source that compiled and then failed stands still, with its form.
    const bool stands = ended->result.begins_anew && ended->result.running.experiment;
    const bool replaced = (error.empty() || stands) && replace(live, *ended, view, news);
    if (!error.empty()) refuse(live, *ended, error, news);
    // Nothing else is left to try after the kernels that are built in.
    const bool stuck = !replaced && ended->request.sources.empty();
    if (!stuck) look(live, view, news);
}

/// Lets kernels that have drawn a frame take over, from where the experiment stands by now.
bool EditedKernels::replace(LiveExperiment& live, EditThread::Ended& ended, Size view, News& news) {
    experiments::Running fresh = std::move(ended.result.running);
    Snapshot from = std::move(ended.request.snapshot);
    const bool moved_on = live.changes() != tried_changes_;
    try {
        if (moved_on) from = live.snapshot();
        from.parameters.insert(from.parameters.end(), ended.request.values.begin(),
                               ended.request.values.end());
    } catch (...) {
        news.failure = std::current_exception();
        return false;
    }
    try {
        fresh.device->set(live.device().settings());
        const experiments::SharedEntry entry =
            ended.result.entry ? ended.result.entry : ended.request.entry;
        if (moved_on && !ended.result.begins_anew)
            fresh.experiment->resume(experiments::fitted(from, *entry));
        const experiments::SharedEntry entry_tried = entry_to_try(live);
        live.replace(std::move(fresh), entry, std::move(from), view);
        news.outdated = live.opening().error;
        // Not where the form was changed again meanwhile.
        if (ended.request.entry == entry_tried) live.opened();
    } catch (const std::exception& error) {
        refuse(live, ended, error.what(), news);
        return false;
    }
    return news.replaced = true;
}

/// Marks the texts that are at fault, so that they are not tried again, and shows the error.
void EditedKernels::refuse(LiveExperiment& live, EditThread::Ended& ended, const std::string& error,
                           News& news) {
    const compute::Sources& tried = ended.request.sources;
    const auto& diagnostics = ended.result.diagnostics;
    const bool compiles =
        std::ranges::none_of(diagnostics, [](const auto& said) { return has_error(said.second); });
    const bool for_another = live.opening().entry && ended.request.entry == live.opening().entry;
    if (ended.request.entry->compile) live.fail_opening(error, for_another && !compiles);
    if (ended.result.failed) {
        live.keep_failed(std::move(ended.result.failed));
        news.other_inspected = true;
    }
    // What compiled and then failed says which launches, arguments and parameters there are.
    const bool stands =
        live.sources().empty() && (!live.entry()->built_in || live.entry()->unedited);
    const bool compiled = ended.result.entry && ended.result.entry != ended.request.entry;
    if (stands && compiled && ended.result.entry != live.entry()) {
        live.begin_as(ended.result.entry);
        news.began_anew = true;
    }
    if (for_another && compiles) {
        news.error = error;
        return;
    }
    const compute::Sources working = working_sources(live);
    compute::Sources at_fault;
    for (const auto& [file, said] : diagnostics)
        if (has_error(said)) at_fault[file] = tried.at(file);
    if (at_fault.empty())
        for (const auto& [file, text] : tried)
            if (differs(working, file, text)) at_fault[file] = text;
    if (at_fault.empty()) at_fault = tried;
    for (const auto& [file, text] : at_fault) {
        const auto said = diagnostics.find(file);
        fail_text(file, text,
                  said == diagnostics.end() ? std::vector<compiler::Diagnostic>{} : said->second,
                  error);
    }
    show_error(error, news);
    news.nothing_runs = tried.empty() && live.failed();
}

void EditedKernels::fail_text(const std::string& file, const std::string& text,
                              std::vector<compiler::Diagnostic> diagnostics,
                              const std::string& error) {
    failed_[file].insert(text);
    KernelDocument& document = documents_[file];
    if (document.text() == text)
        document.set_outcome(
            {EditState::failed, document.shared_text(), std::move(diagnostics), error});
}

bool EditedKernels::has_failed(const std::string& file, const std::string& text) const {
    const auto found = failed_.find(file);
    return found != failed_.end() && found->second.contains(text);
}

void EditedKernels::show_error(std::string error, News& news) {
    shown_error_ = std::move(error);
    news.error = shown_error_;
}

/// All that can run does: gives each text the state that it now has.
void EditedKernels::settle(LiveExperiment& live, News& news) {
    if (live.used(documents_.edited_sources()) == live.sources()) {
        news.outdated = shown_error_;
        // A launch that failed stays to be looked at while the one before it goes on.
        if (live.opening().state == LaunchOpening::State::shown) {
            live.opened();
            news.other_inspected |= live.failed_run() != nullptr;
            live.keep_failed(std::nullopt);
        }
    }
    for (const auto& [file, edit] : live.device().edits()) {
        KernelDocument& document = documents_[file];
        if (document.text() == edit->source)
            set_state(document, EditState::running, edit->warnings);
    }
    for (const std::string& file : documents_.files(EditState::waiting))
        if (!documents_[file].edited()) set_state(documents_[file], EditState::shipped);
}

EditedKernels::News EditedKernels::replace_failed(LiveExperiment& live, const std::string& error,
                                                  Size view) {
    News news;
    const compute::Sources ran = live.sources();
    const compute::Sources& previous = live.previous_sources();
    for (const auto& [file, text] : ran)
        if (differs(previous, file, text))
            fail_text(file, text, live.device().edits().at(file)->warnings, error);
    live.fail();
    const bool nothing_built_in = previous.empty() && !live.entry()->built_in;
    show_error(nothing_built_in
                   ? error
                   : tr("{} Back to the {}.", compute::sentence(error),
                        previous.empty() ? tr("built-in kernel") : tr("last good kernel")),
               news);
    look_at_.reset();
    start(live, wanted_sources(live), view, news);
    if (live.device().info().kind == compute::DeviceKind::cuda && !news.failure) {
        search_ = {.entry = live.entry(),
                   .like = {},
                   .settings = live.device().settings(),
                   .sources = ran,
                   .snapshot = live.snapshot(),
                   .view = view,
                   .frames = search_frames};
        search_->like.memory_bytes = compute::usual_emulator_memory();
    }
    return news;
}

}  // namespace warpscope::ui
