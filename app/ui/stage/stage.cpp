#include "ui/stage/stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compute/device/enum_words.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/launch/open_launch.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

bool joins(const Change& change, const Change& last) {
    const auto equal = [](const auto& a, const auto& b) { return a.id == b.id; };
    return change.run_after == change.run_before && last.run_after == last.run_before &&
           std::equal(change.after.begin(), change.after.end(), last.after.begin(),
                      last.after.end(), equal);
}

/// What a change would make of the parameters and the run settings: "Size: 256 → 512" for one
/// parameter, "3 parameters" for several; empty: nothing. Throws ParameterError for a parameter
/// that is not there.
std::string words_of(const experiments::ParameterSet& now,
                     const std::vector<experiments::Assignment>& wanted,
                     const compute::RunSettings& run_now, const compute::RunSettings& run_wanted) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& label, std::string_view old, std::string_view fresh) {
        const auto shown = [](std::string_view text) { return text.empty() ? tr("empty") : text; };
        if (old != fresh)
            words.push_back(fmt::format("{}: {} → {}", label, shown(old), shown(fresh)));
    };
    for (const experiments::Assignment& one : wanted) {
        const experiments::Parameter& parameter = now.find(one.id);
        add(tr(parameter.label()), parameter.text(), one.text);
    }
    if (words.size() > 1) words = {tr("{} parameters", words.size())};
    const auto add_word = [&](const char* label, auto member) {
        add(label, compute::name(run_now.*member), compute::name(run_wanted.*member));
    };
    using compute::RunSettings;
    add_word(tr("Math"), &RunSettings::math);
    add_word(tr("Schedule"), &RunSettings::schedule);
    add_word(tr("Barriers"), &RunSettings::barriers);
    add_word(tr("Copies land"), &RunSettings::landing);
    add(tr("Schedule seed"), std::to_string(run_now.seed), std::to_string(run_wanted.seed));
    return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void ChangeHistory::add(Change change) {
    const bool continues = std::exchange(dragging_, true) && done_ > 0;
    changes_.resize(done_);
    if (continues && joins(change, changes_.back())) {
        changes_.back().after = std::move(change.after);
        return;
    }
    changes_.push_back(std::move(change));
    if (changes_.size() > most) changes_.pop_front();
    done_ = changes_.size();
}

std::vector<const Change*> ChangeHistory::ahead(bool forward) const {
    std::vector<const Change*> all;
    if (forward)
        for (std::size_t at = done_; at < changes_.size(); ++at) all.push_back(&changes_[at]);
    else
        for (std::size_t at = done_; at > 0; --at) all.push_back(&changes_[at - 1]);
    return all;
}

using experiments::Assignment;
using experiments::NewValue;
using experiments::SharedEntry;

Stage::Stage(const Start& start) : engine_(std::make_unique<Engine>(start)) {
    follow_engine();
}

Stage::Stage(std::unique_ptr<LiveExperiment> live)
    : engine_(std::make_unique<Engine>(std::move(live))) {
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
        // A file begins as it was shipped, in the engine and here: that is no news.
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
    for (std::size_t i = 0; i < shown_->parameters.size(); ++i)
        parameters_->all()[i]->take(shown_->parameters[i]);
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
            shown_->readings.report};
}

experiments::Assignments Stage::changed_parameters() const {
    experiments::Assignments all = shown_->changed_parameters;
    all[entry().id] = parameters_->assignments(false);
    if (all[entry().id].empty()) all.erase(entry().id);
    return all;
}

void Stage::select(SharedEntry entry) {
    send([entry = std::move(entry)](Engine& engine) { engine.select(entry); });
}

void Stage::open_launch(const launches::LaunchFile& file, std::string_view source,
                        std::vector<Assignment> values) {
    if (!file.built_in)
        documents_.open(experiments::source_key(file), source,
                        file.in_folder(file.source).string());
    send_texts();
    send([entry = experiments::launch_entry(file), values = std::move(values)](Engine& engine) {
        engine.open_launch(entry, values);
    });
}

void Stage::change_launch(const launches::LaunchFile& file) {
    send_texts();
    send([entry = experiments::launch_entry(file)](Engine& engine) { engine.open_launch(entry); });
}

void Stage::set_device(const std::string& wish) {
    send([wish](Engine& engine) { engine.set_device(wish); });
}

void Stage::set_run(const compute::RunSettings& run) {
    set({}, run);
}

bool Stage::assign(const experiments::Parameter& parameter, std::string_view text) {
    const auto& all = parameters_->all();
    if (parameter.place() >= all.size() || all[parameter.place()] != &parameter) return false;
    return legal([&] { return set({{parameter.place(), parameter.read(text)}}, run_); });
}

bool Stage::assign(std::span<const Assignment> assignments) {
    return legal([&] { return set(parameters_->read(assignments), run_); });
}

/// False where reading a value throws ParameterError, which becomes the message.
bool Stage::legal(const std::function<bool()>& take) {
    try {
        return take();
    } catch (const experiments::ParameterError& error) {
        say(error.what(), Tone::error);
        return false;
    }
}

bool Stage::set(std::vector<NewValue> values, const compute::RunSettings& run, bool asks) {
    const bool guarded = asks && thread_ && !paused_;
    const double seconds_before = guarded ? expected_seconds() : 0;
    const double inputs_before = parameters_->seconds_of_inputs();
    const std::vector<NewValue> before = parameters_->replace(values);
    costly_.reset();
    const double inputs = parameters_->seconds_of_inputs();
    const double seconds =
        guarded ? expected_seconds() + (inputs == inputs_before ? 0 : inputs) : 0;
    if (seconds > costly_seconds && seconds > 2 * seconds_before) {
        costly_ = {std::move(values), run, seconds};
        parameters_->replace(before);
        return true;
    }
    if (message_.tone == Tone::error) message_ = {};
    histories_[entry().id].add(
        {parameters_->assignments(values), parameters_->assignments(before), run, run_});
    return carry_out(std::move(values), run);
}

double Stage::expected_seconds() const {
    return shown_->costs.seconds(entry().id, device(), parameters_->work());
}

void Stage::answer(Answer answer) {
    const auto change = std::exchange(costly_, std::nullopt);
    if (!change || answer == Answer::go_back) return;
    if (answer == Answer::apply_paused) pause(true);
    set(change->values, change->run, false);
}

bool Stage::carry_out(std::vector<NewValue> values, const compute::RunSettings& run) {
    if (run != run_) {
        run_ = run;
        send([run](Engine& engine) { engine.set_run(run); });
    }
    if (values.empty()) return true;
    const auto done = std::make_shared<bool>(true);
    send([done, entry = parameters_of_, wish = std::move(values)](Engine& engine) {
        *done = engine.assign(*entry, wish);
    });
    return thread_ || *done;
}

bool Stage::open(const SharedEntry& entry, std::span<const Assignment> values,
                 const compute::RunSettings& run) {
    const auto show = [&] {
        if (entry->id == parameters_of_->id) return set(parameters_->read(values), run);
        const auto chosen = entry->make_parameters();
        const auto changed = shown_->changed_parameters.find(entry->id);
        if (changed != shown_->changed_parameters.end()) chosen->parse(changed->second);
        std::vector<NewValue> wish = chosen->read(values);
        histories_[entry->id].add(
            {chosen->assignments(wish), chosen->assignments(chosen->replace(wish)), run, run_});
        run_ = run;
        send([entry, run, wish = std::move(wish)](Engine& engine) {
            engine.open(entry, wish, run);
        });
        return true;
    };
    return legal(show);
}

std::string Stage::words_of_change(const Change& change, bool forward) const {
    try {
        return words_of(*parameters_, forward ? change.after : change.before, run_,
                        forward ? change.run_after : change.run_before);
    } catch (const experiments::ParameterError&) {
        return {};  // of another launch file
    }
}

std::string Stage::change_ahead(bool forward) const {
    const auto history = histories_.find(entry().id);
    if (history == histories_.end()) return {};
    for (const Change* change : history->second.ahead(forward))
        if (auto words = words_of_change(*change, forward); !words.empty()) return words;
    return {};
}

void Stage::go(bool forward) {
    ChangeHistory& history = histories_[entry().id];
    while (const Change* change = forward ? history.redo() : history.undo()) {
        // A change that failed, or that was cancelled, has left nothing to take back.
        const std::string news = words_of_change(*change, forward);
        if (news.empty()) continue;
        std::vector<NewValue> values;
        try {
            values = parameters_->read(forward ? change->after : change->before);
        } catch (const experiments::ParameterError&) {
            continue;  // no value of this launch file
        }
        parameters_->replace(values);
        carry_out(std::move(values), forward ? change->run_after : change->run_before);
        return say(forward ? tr("Redone: {}.", news) : tr("Undone: {}.", news));
    }
    say(forward ? tr("There is no change to redo.") : tr("There is no change to undo."));
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
    send(&Engine::step_once);
}

void Stage::compare() {
    comparing_ = sent_ + 1;
    send(&Engine::compare);
}

bool Stage::mouse(bool used, std::function<void(experiments::Experiment&)> move) {
    if (used) send([move = std::move(move)](Engine& engine) { engine.mouse(move); });
    return used;
}

bool Stage::drag(double dx, double dy) {
    return mouse(shown_->mouse.drag, [dx, dy](auto& experiment) { experiment.drag(dx, dy); });
}

bool Stage::scroll(double notches) {
    return mouse(shown_->mouse.scroll, [notches](auto& experiment) { experiment.scroll(notches); });
}

bool Stage::point(const experiments::Pointer& pointer) {
    return mouse(shown_->mouse.point, [pointer](auto& experiment) { experiment.point(pointer); });
}

void Stage::say(std::string text, Tone tone) {
    message_ = {std::move(text), tone, std::chrono::steady_clock::now()};
}

bool Stage::shows_results_of_settings() const {
    return shown_->readings.report_parameters == parameters_->of_launch();
}

/// Whether a text on screen has failed, and the checks look at kernels of the one before it.
bool Stage::checks_older_source() const {
    const auto& edits = shown_->inspected.edits;
    return std::ranges::any_of(documents_.files(EditState::failed), [&](const std::string& file) {
        const KernelDocument& document = *documents_.find(file);
        const auto edit = edits.find(file);
        if (edit == edits.end())
            return file == parameters_->kernel_file() && document.text() != document.shipped();
        return edit->second->source != document.text();
    });
}

RaceSummary Stage::race_summary() const {
    RaceSummary summary = summarize(checks(), shows_results_of_settings(), report());
    if (summary.checking || !checks_older_source()) return summary;
    for (std::string* words : {&summary.chip, &summary.brief})
        *words = tr("Last good source: {}", *words);
    summary.sentence.insert(
        0,
        std::string(tr("The source has errors. This is about the last one that compiled.")) + " ");
    if (summary.state == RaceSummary::State::clean) summary.state = RaceSummary::State::unknown;
    return summary;
}

void Stage::check_automatically(bool on) {
    if (std::exchange(checks_automatically_, on) == on) return;
    send([on](Engine& engine) { engine.check_automatically(on); });
}

void Stage::measure_barriers() {
    if (shown_->commands < measuring_ || shown_->readings.barriers.state == checks().state) return;
    measuring_ = sent_ + 1;
    send(&Engine::measure_barriers);
}

void Stage::measure_ceilings() {
    if (shown_->commands < measuring_ || !shown_->ceilings_error.empty()) return;
    measuring_ = sent_ + 1;
    send(&Engine::measure_ceilings);
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
            shown_->generation,
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
            },
            [this] {
                using State = std::shared_ptr<const experiments::LaunchState>;
                auto promise = std::make_shared<std::promise<State>>();
                auto future = promise->get_future();
                send([promise](Engine& engine) {
                    try {
                        promise->set_value(engine.launch_state());
                    } catch (const std::exception&) {
                        promise->set_value(nullptr);  // the device was lost
                    }
                });
                return future;
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
