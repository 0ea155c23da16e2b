#include "ui/stage/stage.h"

#include <utility>

#include "experiments/framework/barrier_lines.h"
#include "experiments/launch/open_launch.h"

namespace warpscope::ui {

using experiments::Assignment;
using experiments::SharedEntry;

Stage::Stage(const Start& start) : engine_(std::make_unique<Engine>(start)) {
    follow_engine();
}

Stage::Stage(std::unique_ptr<Scene> scene) : engine_(std::make_unique<Engine>(std::move(scene))) {
    for (const auto& [file, text] : engine_->documents().texts()) documents_[file].follow(text);
    sent_version_ = documents_.version();
    follow_engine();
}

Stage::Stage(const Start& start, EngineThread::Hooks hooks)
    : thread_(std::make_unique<EngineThread>(start, std::move(hooks))) {
    take(thread_->take());
}

void Stage::send(EngineThread::Command command) {
    ++sent_;
    if (thread_) return thread_->send(std::move(command));
    command(*engine_);
    follow_engine();
}

/// Takes the state of an engine on this thread.
void Stage::follow_engine() {
    auto now = std::make_shared<Shown>(engine_->shown());
    now->commands = sent_;
    take(std::move(now));
}

void Stage::take(std::shared_ptr<const Shown> shown) {
    if (shown_) retired_.push_back(std::move(shown_));
    shown_ = std::move(shown);
    if (shown_->messages != messages_) {
        messages_ = shown_->messages;
        message_ = shown_->message;
    }
    for (const auto& [file, outcome] : shown_->outcomes) {
        const auto before = std::exchange(taken_outcomes_[file], outcome);
        // Every file begins as shipped, here as there.
        const bool news = before ? before != outcome : outcome->state != EditState::shipped;
        if (news) documents_[file].set_outcome(outcome);
    }
    // Commands that are on their way will change the engine's values.
    if (settled() || shown_->entry != parameters_of_) adopt_values();
}

void Stage::adopt_values() {
    if (shown_->entry != parameters_of_) {
        parameters_ = shown_->entry->make_parameters();
        costly_.reset();
    }
    parameters_of_ = shown_->entry;
    for (const Assignment& one : shown_->parameters) parameters_->find(one.id).parse(one.text);
    run_ = shown_->run;
    paused_ = shown_->paused;
}

void Stage::advance(experiments::Size view) {
    send_texts();
    if (thread_) {
        if (auto newest = thread_->take()) take(std::move(newest));
        thread_->ask_for_frame(view);
    } else {
        const bool changed = engine_->advance(view), due = engine_->report_due();
        if (due) engine_->read_report();
        if (changed || due) follow_engine();
    }
    retired_.clear();
}

void Stage::send_texts() {
    if (documents_.version() == sent_version_) return;
    sent_version_ = documents_.version();
    std::map<std::string, SharedText> fresh;
    for (auto& [file, text] : documents_.texts())
        if (SharedText& sent = sent_texts_[file]; sent != text) fresh[file] = sent = text;
    send([fresh = std::move(fresh)](Engine& engine) { engine.follow_texts(fresh); });
}

experiments::Described Stage::described() const {
    return {entry(),
            *parameters_,
            shown_->device,
            shown_->run,
            shown_->edits,
            shown_->frame,
            shown_->changed_since_reset,
            shown_->report};
}

experiments::Assignments Stage::changed_parameters() const {
    experiments::Assignments all = shown_->changed_parameters;
    std::vector<Assignment>& own = all[entry().id];
    own.clear();
    for (const experiments::Parameter* p : parameters_->all())
        if (p->text() != p->default_text()) own.push_back({p->id(), p->text()});
    if (own.empty()) all.erase(entry().id);
    return all;
}

void Stage::select(SharedEntry entry) {
    send([entry = std::move(entry)](Engine& engine) { engine.select(entry); });
}

void Stage::open_launch(const experiments::LaunchFile& file, std::string_view source) {
    if (!file.built_in)
        documents_.open(experiments::source_key(file), source,
                        file.in_folder(file.source).string());
    change_launch(file);
}

void Stage::change_launch(const experiments::LaunchFile& file) {
    send_texts();
    send([entry = experiments::launch_entry(file)](Engine& engine) { engine.open_launch(entry); });
}

void Stage::set_device(const std::string& wish) {
    send([wish](Engine& engine) { engine.set_device(wish); });
}

void Stage::set_run(const compute::RunSettings& run) {
    set({}, run);
}

bool Stage::assign(std::span<const Assignment> assignments) {
    return set(assignments, run_);
}

/// Takes over values that are all legal, and returns those that they replace. Throws
/// ParameterError, and changes nothing, where one is not.
std::vector<Assignment> Stage::parse(std::span<const Assignment> values) {
    std::vector<Assignment> before;
    try {
        for (const Assignment& one : values) {
            experiments::Parameter& parameter = parameters_->find(one.id);
            before.push_back({one.id, parameter.text()});
            parameter.parse(one.text);
        }
    } catch (const experiments::ParameterError&) {
        for (const Assignment& one : before) parameters_->find(one.id).parse(one.text);
        throw;
    }
    return before;
}

bool Stage::set(std::span<const Assignment> values, const compute::RunSettings& run, bool asks) {
    Change change{{values.begin(), values.end()}, {}, run, run_};
    const bool guarded = asks && thread_ && !paused_;
    const double seconds_before = guarded ? expected_seconds() : 0;
    try {
        change.before = parse(values);
    } catch (const experiments::ParameterError& error) {
        say(error.what(), Tone::error);
        return false;
    }
    costly_.reset();
    const double seconds = guarded ? expected_seconds() : 0;
    if (seconds > costly_seconds && seconds > 2 * seconds_before) {
        costly_ = {{values.begin(), values.end()}, run, seconds};
        parse(change.before);
        return true;
    }
    for (Assignment& one : change.after) one.text = parameters_->find(one.id).text();
    if (message_.tone == Tone::error) message_ = {};
    histories_[entry().id].add(std::move(change));
    return carry_out(values, run);
}

/// Of a frame with the values that a person has chosen.
double Stage::expected_seconds() const {
    return shown_->costs.seconds(entry().id, device(), parameters_->work());
}

void Stage::answer(Answer answer) {
    const auto change = std::exchange(costly_, std::nullopt);
    if (!change || answer == Answer::go_back) return;
    if (answer == Answer::apply_paused) pause(true);
    set(change->values, change->run, false);
}

bool Stage::carry_out(std::span<const Assignment> values, const compute::RunSettings& run) {
    if (run != run_) {
        run_ = run;
        send([run](Engine& engine) { engine.set_run(run); });
    }
    if (values.empty()) return true;
    const auto done = std::make_shared<bool>(true);
    send([done, wish = std::vector<Assignment>(values.begin(), values.end())](Engine& engine) {
        *done = engine.assign(wish);
    });
    return thread_ || *done;
}

bool Stage::open(const SharedEntry& entry, std::span<const Assignment> values,
                 const compute::RunSettings& run) {
    if (entry->id == parameters_of_->id) return set(values, run);
    const auto chosen = entry->make_parameters();
    try {
        const auto changed = shown_->changed_parameters.find(entry->id);
        if (changed != shown_->changed_parameters.end()) chosen->parse(changed->second);
        Change change{{values.begin(), values.end()}, {}, run, run_};
        for (const Assignment& one : values)
            change.before.push_back({one.id, chosen->find(one.id).text()});
        chosen->parse(values);
        histories_[entry->id].add(std::move(change));
    } catch (const experiments::ParameterError& error) {
        say(error.what(), Tone::error);
        return false;
    }
    run_ = run;
    send([entry, run, wish = std::vector<Assignment>(values.begin(), values.end())](
             Engine& engine) { engine.open(entry, wish, run); });
    return true;
}

void Stage::go(bool forward) {
    ChangeHistory& history = histories_[entry().id];
    while (const Change* change = forward ? history.redo() : history.undo()) {
        const auto& values = forward ? change->after : change->before;
        const compute::RunSettings run = forward ? change->run_after : change->run_before;
        const compute::RunSettings run_before = run_;
        const std::vector<Assignment> before = parse(values);
        const std::string news = words_of(*parameters_, before, run_before, run);
        // A change that failed, or that was cancelled, has left nothing to take back.
        if (news.empty()) continue;
        carry_out(values, run);
        return say((forward ? "Redone: " : "Undone: ") + news);
    }
    say(forward ? "There is no change to redo." : "There is no change to undo.");
}

bool Stage::barrier_taken_out() const {
    const auto edit = shown_->edits.find(parameters_->kernel_file());
    if (!parameters_->barrier_switch() || edit == shown_->edits.end()) return false;
    if (std::exchange(searched_, edit->second) != edit->second)
        without_barrier_ = experiments::barrier_lines(edit->second->source).empty();
    return without_barrier_;
}

void Stage::pause(bool paused) {
    paused_ = paused;
    send([paused](Engine& engine) { engine.pause(paused); });
}

void Stage::step_once() {
    paused_ = true;
    send([](Engine& engine) { engine.step_once(); });
}

void Stage::reset() {
    send([](Engine& engine) { engine.reset(); });
}

void Stage::compare() {
    comparing_ = sent_ + 1;
    send([](Engine& engine) { engine.compare(); });
}

bool Stage::drag(double dx, double dy) {
    if (!shown_->mouse.drag) return false;
    send([dx, dy](Engine& engine) { engine.drag(dx, dy); });
    return true;
}

bool Stage::scroll(double notches) {
    if (!shown_->mouse.scroll) return false;
    send([notches](Engine& engine) { engine.scroll(notches); });
    return true;
}

bool Stage::point(const experiments::Pointer& pointer) {
    if (!shown_->mouse.point) return false;
    send([pointer](Engine& engine) { engine.point(pointer); });
    return true;
}

void Stage::say(std::string text, Tone tone) {
    message_ = {std::move(text), tone, std::chrono::steady_clock::now()};
}

void Stage::search_compiler() {
    send([](Engine& engine) { engine.search_compiler(); });
}

void Stage::check_automatically(bool on) {
    if (std::exchange(checks_automatically_, on) == on) return;
    send([on](Engine& engine) { engine.check_automatically(on); });
}

void Stage::check_now() {
    send([](Engine& engine) { engine.check_now(); });
}

void Stage::try_policies() {
    send([](Engine& engine) { engine.try_policies(); });
}

void Stage::measure_barriers() {
    if (shown_->commands < measuring_ || shown_->barriers.state == checks().state) return;
    measuring_ = sent_ + 1;
    send([](Engine& engine) { engine.measure_barriers(); });
}

void Stage::measure_ceilings() {
    if (shown_->commands < measuring_ || !shown_->ceilings_error.empty()) return;
    measuring_ = sent_ + 1;
    send([](Engine& engine) { engine.measure_ceilings(); });
}

std::future<LaunchCopy> Stage::copy_launch(std::function<LaunchCopy(Engine&)> copy) {
    auto promise = std::make_shared<std::promise<LaunchCopy>>();
    std::future<LaunchCopy> future = promise->get_future();
    send([promise, copy = std::move(copy)](Engine& engine) { promise->set_value(copy(engine)); });
    return future;
}

LiveLaunch Stage::launch() {
    const Inspected& inspected = shown_->inspected;
    return {inspected.entry,
            inspected.parameters,
            shown_->run,
            inspected.edits,
            shown_->scene,
            inspected.frame,
            settled(),
            thread_ == nullptr,
            [this](const compute::RunSettings& run) {
                return copy_launch([run](Engine& engine) { return engine.copy_launch(run); });
            },
            [this](std::shared_ptr<const experiments::LaunchState> checked) {
                return copy_launch([checked = std::move(checked)](Engine& engine) {
                    return engine.copy_checked_launch(*checked);
                });
            }};
}

void Stage::cancel() {
    if (thread_) thread_->cancel();
}

void Stage::wait_for_checks() {
    engine_->wait_for_checks();
    follow_engine();
}

}  // namespace warpscope::ui
