#include "ui/stage/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/launch/launch.h"
#include "experiments/measure/user_paths.h"
#include "ui/language/language.h"

namespace warpscope::ui {

using experiments::Assignment;
using experiments::Experiment;
using experiments::SharedEntry;
using experiments::Size;

namespace {

EditThread::Try try_of(const Engine::Start& start) {
    if (start.try_edits || !start.helpers) return start.try_edits;
    return [helpers = start.helpers](const auto& request, const auto& stop) {
        return experiments::try_edits(*helpers, request, stop);
    };
}

std::function<std::string()> no_compiler_of(const Engine::Start& start) {
    if (start.no_compiler || !start.helpers) return start.no_compiler;
    return [helpers = start.helpers] { return helpers->no_compiler(); };
}

SharedEntry entry_of(const Engine::Start& start) {
    if (start.entry) return start.entry;
    return experiments::unowned(experiments::find_experiment(start.experiment));
}

/// The side of the square thread blocks that the first two-dimensional kernel runs with; 0: none.
int tile_side(const compute::KernelTimings& timings) {
    for (const compute::KernelTiming& kernel : timings.kernels())
        if (kernel.block.y > 1 && kernel.block.x == kernel.block.y) return int(kernel.block.x);
    return 0;
}

}  // namespace

Engine::Engine(const Start& start)
    : helpers_(start.helpers),
      pick_(start.pick),
      wishes_after_loss_(start.wishes_after_loss),
      clock_(start.clock),
      no_compiler_(no_compiler_of(start)),
      edits_(try_of(start), clock_),
      reader_(clock_),
      run_(start.run),
      remembered_(start.remembered),
      launch_(experiments::unowned(experiments::launch_experiment())),
      progress_(start.progress) {
    shown_.device_wish = start.device_wish;
    const SharedEntry entry = entry_of(start);
    auto live = make(entry, make_device(shown_.device_wish, *entry));
    live->experiment().set(start.assignments);
    if (!start.assignments.empty()) live->experiment().reset();
    put_on_show(std::move(live));
    follow_compiler();
}

Engine::Engine(std::unique_ptr<LiveExperiment> live)
    : pick_(Start().pick),
      wishes_after_loss_(Start().wishes_after_loss),
      clock_(Start().clock),
      edits_({}, clock_),
      reader_(clock_),
      run_(live->device().settings()),
      launch_(experiments::unowned(experiments::launch_experiment())) {
    shown_.paused = true;
    put_on_show(std::move(live));
    edits_.show(*live_);
    follow_compiler();
    picture_stale_ = live_->pixels() == nullptr;
    read_report();
    read_tree();
    reader_.read_timeline(experiment(), inspector_.state(), shown_.picture.version);
}

std::unique_ptr<LiveExperiment> Engine::make(const SharedEntry& entry,
                                             std::unique_ptr<compute::Device> device) {
    experiments::Running running{std::move(device), nullptr};
    running.experiment = entry->make(*running.device);
    const auto found = remembered_.find(entry->id);
    if (found != remembered_.end() && !found->second.empty()) {
        set_all(*running.experiment, found->second);
        running.experiment->reset();
    }
    return std::make_unique<LiveExperiment>(entry, std::move(running));
}

/// Sets each value that is legal, where not all are.
void Engine::set_all(Experiment& made, std::span<const Assignment> values) {
    try {
        made.set(values);
    } catch (const std::exception&) {
        for (const Assignment& one : values)
            attempt(tr("It keeps its default."), [&] { made.set({&one, 1}); });
    }
}

void Engine::put_on_show(std::unique_ptr<LiveExperiment> live) {
    live_ = live.get();
    remember_launch();
    std::swap(made_[live->entry()->id], live);
    ++shown_.generation;
    shown_.comparison.reset();
    reader_.forget();
    failure_.clear();
    before_change_.reset();
    changed();
    edits_.change_experiment();
}

/// The launch file as it was changed last, for when its experiment is gone.
void Engine::remember_launch() {
    if (live_ && live_->entry()->compile) launch_ = live_->entry();
}

/// Shows an experiment with another device or other kernels than all before, which go.
void Engine::put_on_show_alone(std::unique_ptr<LiveExperiment> live) {
    remember_launch();
    remembered_ = changed_parameters();
    made_.clear();
    edits_.start_anew();
    put_on_show(std::move(live));
}

/// The experiment's state has changed.
void Engine::changed() {
    live_->count_change();
    picture_stale_ = true;
    reader_.outdate();
    follow_parameters();
    ++version_;
    edits_.look_again();
}

/// Derives what depends only on the parameters. The work of a file of bodies is read from the file.
void Engine::follow_parameters() {
    shown_.changed_parameters = changed_parameters();
    work_ = experiment().parameters().work();
}

experiments::Assignments Engine::changed_parameters() const {
    experiments::Assignments all = remembered_;
    for (const auto& [id, live] : made_)
        all[id] = live->experiment().parameters().assignments(false);
    std::erase_if(all, [](const auto& item) { return item.second.empty(); });
    return all;
}

void Engine::select(const SharedEntry& chosen) {
    if (chosen->id == live_->entry()->id) return;
    const auto change = [&] {
        remember_launch();
        auto found = made_.find(chosen->id);
        auto live = found == made_.end() ? make(chosen, make_device(shown_.device_wish, *chosen))
                                         : std::exchange(found->second, nullptr);
        live->device().timings().clear();
        put_on_show(std::move(live));
        clear_message();
    };
    attempt(tr("Staying with {}.", live_->entry()->title), change, From::new_device);
}

void Engine::open_launch(const SharedEntry& entry, std::vector<Assignment> values) {
    const bool on_show = live_->entry()->id == entry->id &&
                         experiment().kernel_file() == entry->make_parameters()->kernel_file();
    edits_.forget_failures();
    if (on_show && edits_.can_try()) {
        live_->open(entry, std::move(values));
        return edits_.look_again();
    }
    const auto change = [&] {
        remembered_.erase(entry->id);
        auto live = make(entry, make_device(shown_.device_wish, *entry));
        live->open(entry, std::move(values));
        put_on_show(std::move(live));
        clear_message();
    };
    attempt(tr("Staying with {}.", live_->entry()->title), change, From::new_device);
}

std::unique_ptr<compute::Device> Engine::make_device(const std::string& wish,
                                                     const experiments::Entry& entry) const {
    auto device = pick_(wish, entry);
    device->set(run_);
    limit(*device);
    return device;
}

void Engine::move_to(const std::string& wish) {
    auto fresh = make(live_->entry(), make_device(wish, *live_->entry()));
    fresh->experiment().set(experiment().parameters().assignments(true));
    fresh->experiment().reset();
    put_on_show_alone(std::move(fresh));
}

void Engine::set_device(const std::string& wish) {
    const auto change = [&] {
        move_to(wish);
        shown_.device_wish = wish;
        say(device().info().reason);
    };
    attempt(tr("Staying on {}.", device().info().name), change, From::new_device);
}

void Engine::set_run(const compute::RunSettings& run) {
    const compute::RunSettings old = std::exchange(run_, run);
    const bool same_kernels = run.math == old.math;
    const auto change = [&] {
        if (same_kernels) {
            for (const auto& [id, live] : made_) live->device().set(run);
            edits_.forget_failures();
            return experiment().reset();
        }
        move_to(shown_.device_wish);
    };
    if (!attempt(tr("Math, schedule, seed and barrier policy are unchanged."), change,
                 same_kernels ? From::shown_device : From::new_device)) {
        run_ = old;
        for (const auto& [id, live] : made_) live->device().set(old);
    }
    changed();
}

void Engine::open(const SharedEntry& entry, std::span<const experiments::NewValue> values,
                  const compute::RunSettings& run) {
    select(entry);
    if (entry->id != live_->entry()->id) return;
    if (run != run_) set_run(run);
    assign(*entry, values);
}

bool Engine::assign(const experiments::Entry& of, std::span<const experiments::NewValue> values) {
    remember_before_change();
    const std::vector<std::string> before = experiment().parameters().of_launch();
    const bool done = attempt("", [&] {
        if (&of == live_->entry().get()) return experiment().change(values);
        // A launch file has been compiled since, and may have other parameters.
        experiment().set(of.make_parameters()->assignments(values));
    });
    // Kernels that failed may run with other values.
    if (live_->failed_run() && experiment().parameters().of_launch() != before)
        edits_.forget_failures();
    if (done && shown_.message.tone == Tone::error) clear_message();
    if (done) shown_.comparison.reset();
    changed();
    return done;
}

void Engine::step_once() {
    shown_.paused = true;
    step_wanted_ = true;
}

void Engine::reset() {
    remember_before_change();
    if (attempt("", [&] { experiment().reset(); })) clear_message();
    edits_.forget_failures();
    changed();
}

void Engine::compare() {
    activity_ = Activity::comparison;
    attempt("", [&] {
        shown_.comparison = experiment().compare();
        if (!shown_.comparison) say(tr("This experiment has no variants to compare."));
    });
    changed();
}

void Engine::mouse(const std::function<void(Experiment&)>& move) {
    attempt("", [&] { move(experiment()); });
    live_->count_change();
    picture_stale_ = true;
    ++version_;
}

void Engine::wait_for_checks() {
    inspector_.wait(*live_->inspected_entry(), live_->inspected(), automatic_checks_);
}

void Engine::clear_message() {
    if (shown_.message.text.empty()) return;
    shown_.message = {};
    ++shown_.messages;
    ++version_;
}

void Engine::say(std::string text, Tone tone) {
    shown_.message = {std::move(text), tone, clock_()};
    ++shown_.messages;
    ++version_;
}

std::string Engine::read_only() const {
    if (no_compiler_) return no_compiler_();
    return edits_.can_try() ? "" : tr("This run has ended, so its kernels cannot be edited.");
}

void Engine::search_compiler() {
    if (helpers_) helpers_->search_compiler();
    edits_.forget_failures();
    edits_.look_again();
}

void Engine::follow_texts(const std::map<std::string, SharedText>& texts) {
    for (const auto& [file, text] : texts) edits_.documents()[file].follow(text);
}

void Engine::warm() {
    warm_ = true;
    if (helpers_) helpers_->warm(device().info());
}

Shown Engine::shown() {
    Shown shown = shown_;
    shown.readings = reader_.readings();
    const experiments::Experiment& running = experiment();
    shown.entry = live_->entry();
    shown.launch = live_->entry()->compile ? live_->entry() : launch_;
    shown.plan = running.plan();
    shown.launch_error = live_->opening().error;
    shown.parameters = running.parameters().values();
    shown.launch_parameters = running.parameters().of_launch();
    const experiments::Experiment& inspected = live_->inspected();
    shown.inspected = {live_->inspected_entry(),
                       inspected.parameters().of_launch(),
                       inspected.device().edits(),
                       inspected.frame(),
                       {}};
    if (live_->failed_run()) shown.inspected.failed_block = live_->failed_run()->block;
    shown.mouse = running.mouse_use();
    shown.device = device().info();
    shown.run = device().settings();
    shown.edits = device().edits();
    shown.timings = device().timings();
    shown.timings.rename(
        [&](std::string name) { return experiments::as_shown(std::move(name), shown.edits); });
    shown.frame = running.frame();
    shown.report_due = report_due();
    shown.changed_since_reset = running.changed_since_reset();
    if (const gl::PixelBuffer* pixels = live_->pixels()) {
        shown.picture.texture = pixels->texture();
        shown.picture.path = pixels->path();
        shown.picture.reason = pixels->reason();
    }
    shown.picture.tile_side = tile_side(shown.timings);
    shown.checks = inspector_.checks();
    shown.outcomes = edits_.documents().outcomes();
    shown.compiler_missing = no_compiler_ && !shown.read_only.empty();
    shown.trying = edits_.state() != EditedKernels::State::idle;
    return shown;
}

}  // namespace warpscope::ui
