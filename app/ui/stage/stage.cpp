#include "ui/stage/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/pick_device.h"

namespace warpscope::ui {

using experiments::Assignment;
using experiments::Entry;
using experiments::Experiment;
using experiments::Size;

namespace {

EditedKernels::Clock clock_of(const Stage::Start& start) {
    if (start.clock) return start.clock;
    return [] { return std::chrono::steady_clock::now(); };
}

EditThread::Try try_of(const Stage::Start& start) {
    if (start.try_edits || !start.helpers) return start.try_edits;
    return [helpers = start.helpers](const auto& request, const auto& stop) {
        return experiments::try_edits(*helpers, request, stop);
    };
}

}  // namespace

Stage::Stage(const Start& start) : Stage(start, experiments::find_experiment(start.experiment)) {}

Stage::Stage(const Start& start, const Entry& entry)
    : helpers_(start.helpers),
      clock_(clock_of(start)),
      edits_(try_of(start), clock_),
      run_(start.run),
      wish_(start.device_wish),
      remembered_(start.remembered) {
    auto scene = make(entry, make_device(wish_));
    scene->experiment().set(start.assignments);
    if (!start.assignments.empty()) scene->experiment().reset();
    show(std::move(scene));
}

Stage::Stage(std::unique_ptr<Scene> scene)
    : clock_(clock_of({})), edits_({}, clock_), run_(scene->device().settings()), paused_(true) {
    show(std::move(scene));
    edits_.show(*scene_);
    picture_stale_ = scene_->pixels() == nullptr;
    read_report();
}

std::unique_ptr<compute::Device> Stage::make_device(const std::string& wish) const {
    auto device = compute::pick_device(wish);
    device->set(run_);
    return device;
}

std::unique_ptr<Scene> Stage::make(const Entry& entry, std::unique_ptr<compute::Device> device) {
    experiments::Running running{std::move(device), nullptr};
    running.experiment = entry.make(*running.device);
    const auto found = remembered_.find(entry.id);
    if (found != remembered_.end() && !found->second.empty()) {
        set_all(*running.experiment, found->second);
        running.experiment->reset();
    }
    return std::make_unique<Scene>(entry, std::move(running));
}

/// Sets each value that is legal, where not all are.
void Stage::set_all(Experiment& made, std::span<const Assignment> values) {
    try {
        made.set(values);
    } catch (const std::exception&) {
        for (const Assignment& one : values)
            attempt("It keeps its default.", [&] { made.set({&one, 1}); });
    }
}

void Stage::show(std::unique_ptr<Scene> scene) {
    scene_ = scene.get();
    std::swap(scenes_[scene->entry().id], scene);
    results_.report.clear();
    failure_.clear();
    results_.comparison.reset();
    changed();
    edits_.change_scene();
}

/// Shows a scene with another device or other kernels than all scenes before, which go.
void Stage::show_alone(std::unique_ptr<Scene> scene) {
    remembered_ = parameter_texts();
    scenes_.clear();
    edits_.start_anew();
    show(std::move(scene));
}

/// The experiment's state has changed.
void Stage::changed() {
    scene_->count_change();
    picture_stale_ = true;
    report_stale_ = true;
    next_report_ = {};
    tree_failed_ = false;
    edits_.look_again();
}

ParameterTexts Stage::parameter_texts() const {
    ParameterTexts all = remembered_;
    for (const auto& [id, scene] : scenes_) all[id] = values(scene->experiment(), false);
    std::erase_if(all, [](const auto& item) { return item.second.empty(); });
    return all;
}

void Stage::select(const Entry& chosen) {
    if (&chosen == &entry()) return;
    const auto change = [&] {
        auto found = scenes_.find(chosen.id);
        auto scene = found == scenes_.end() ? make(chosen, make_device(wish_))
                                            : std::exchange(found->second, nullptr);
        scene->device().timings().clear();
        show(std::move(scene));
        results_.message = {};
    };
    attempt(fmt::format("Staying with {}.", entry().title), change, From::new_device);
}

void Stage::set_device(const std::string& wish) {
    const auto change = [&] {
        auto fresh = make(entry(), make_device(wish));
        fresh->experiment().set(values(experiment(), true));
        fresh->experiment().reset();
        show_alone(std::move(fresh));
        wish_ = wish;
        say(device().info().reason);
    };
    attempt(fmt::format("Staying on {}.", device().info().name), change, From::new_device);
}

void Stage::set_run(const compute::RunSettings& run) {
    const compute::RunSettings old = std::exchange(run_, run);
    const bool same_kernels = run.math == old.math;
    const auto change = [&] {
        if (same_kernels) {
            for (const auto& [id, scene] : scenes_) scene->device().set(run);
            edits_.forget_failures();
            return experiment().reset();
        }
        auto fresh = make(entry(), make_device(wish_));
        fresh->experiment().set(values(experiment(), true));
        fresh->experiment().reset();
        show_alone(std::move(fresh));
    };
    if (!attempt("Math, schedule, seed and barrier policy are unchanged.", change,
                 same_kernels ? From::shown_device : From::new_device)) {
        run_ = old;
        for (const auto& [id, scene] : scenes_) scene->device().set(old);
    }
    changed();
}

bool Stage::assign(std::span<const Assignment> assignments) {
    const bool done = attempt("", [&] { experiment().set(assignments); });
    if (done && results_.message.tone == Tone::error) results_.message = {};
    if (done) results_.comparison.reset();
    changed();
    return done;
}

void Stage::step_once() {
    paused_ = true;
    step_wanted_ = true;
}

void Stage::reset() {
    if (attempt("", [&] { experiment().reset(); })) results_.message = {};
    edits_.forget_failures();
    changed();
}

void Stage::compare() {
    attempt("", [&] {
        results_.comparison = experiment().compare();
        if (!results_.comparison) say("This experiment has no variants to compare.");
    });
    changed();
}

int Stage::tile_side() const {
    for (const compute::KernelTiming& kernel : device().timings().kernels())
        if (kernel.block.y > 1 && kernel.block.x == kernel.block.y) return int(kernel.block.x);
    return 0;
}

const experiments::Tree* Stage::tree() {
    const experiments::Tree* tree = nullptr;
    // A tree that failed is not tried again at every frame.
    if (!tree_failed_) tree_failed_ = !attempt("", [&] { tree = experiment().tree(); });
    return tree;
}

bool Stage::mouse(const std::function<bool()>& move) {
    bool used = false;
    attempt("", [&] { used = move(); });
    if (!used) return false;
    scene_->count_change();
    return picture_stale_ = true;
}

bool Stage::drag(double dx, double dy) {
    return mouse([&] { return experiment().drag(dx, dy); });
}

bool Stage::scroll(double notches) {
    return mouse([&] { return experiment().scroll(notches); });
}

bool Stage::point(const experiments::Pointer& pointer) {
    return mouse([&] { return experiment().point(pointer); });
}

void Stage::say(std::string text, Tone tone) {
    results_.message = {std::move(text), tone, clock_()};
}

const std::string& Stage::read_only() const {
    static const std::string none,
        finished = "This run has ended, so its kernels cannot be edited.";
    if (helpers_) return helpers_->no_compiler();
    return edits_.can_try() ? none : finished;
}

void Stage::warm() {
    warm_ = true;
    if (helpers_) helpers_->warm(device().info());
}

}  // namespace warpscope::ui
