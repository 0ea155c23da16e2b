#include "ui/stage/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpscope::ui {

using experiments::Assignment;
using experiments::Entry;
using experiments::Experiment;
using experiments::Size;

Stage::Stage(const Start& start) : Stage(start, experiments::find_experiment(start.experiment)) {}

Stage::Stage(const Start& start, const Entry& entry)
    : helpers_(start.helpers),
      try_kernels_(start.try_kernels),
      run_(start.run),
      wish_(start.device_wish),
      remembered_(start.remembered) {
    if (helpers_ && !try_kernels_)
        try_kernels_ = [this](const auto& request, const auto& stop) {
            return experiments::try_kernels(*helpers_, request, stop);
        };
    auto scene = make(entry, make_device(wish_));
    scene->experiment().set(start.assignments);
    if (!start.assignments.empty()) scene->experiment().reset();
    show(std::move(scene));
}

Stage::Stage(Experiment& experiment, const Entry& entry, const gl::PixelBuffer* pixels)
    : run_(experiment.device().settings()), paused_(true) {
    auto scene = std::make_unique<Scene>();
    scene->entry = &entry;
    scene->shown = &experiment;
    scene->pixels = pixels;
    show(std::move(scene));
    wish_ = device().info().kind == compute::DeviceKind::emulator
                ? "emulator"
                : fmt::format("cuda:{}", device().info().ordinal);
    for (const auto& [file, edit] : device().edits()) texts_.set(file, edit->source);
    settle();
    seen_texts_ = texts_.version();
    picture_stale_ = false;
    read_report();
}

bool Stage::attempt(const std::string& consequence, const std::function<void()>& change,
                    Blame blame) {
    try {
        change();
        return true;
    } catch (const std::exception& error) {
        note(error, blame);
        std::string words = error.what();
        if (!consequence.empty()) words += (words.ends_with('.') ? " " : ". ") + consequence;
        say(std::move(words), Tone::error);
        return false;
    }
}

/// A failure that calls for another kernel or device. It is faced between frames, as the panels
/// hold what it would replace.
void Stage::note(const std::exception& error, Blame blame) {
    if (!scene_ || !scene_->own() || dynamic_cast<const compute::OutOfMemory*>(&error)) return;
    // A device of this process takes them all along; an edited kernel's has a process of its own.
    const bool mine = blame == Blame::kernels || !runs_edits();
    const bool lost = mine && dynamic_cast<const compute::DeviceLost*>(&error);
    const bool kernel = mine && runs_edits() && dynamic_cast<const compute::DeviceError*>(&error);
    if ((lost || kernel) && failure_.empty()) failure_ = error.what();
}

std::unique_ptr<compute::Device> Stage::make_device(const std::string& wish) const {
    auto device = compute::pick_device(wish);
    device->set(run_);
    return device;
}

std::unique_ptr<Scene> Stage::make(const Entry& entry, std::unique_ptr<compute::Device> device) {
    auto scene = std::make_unique<Scene>();
    scene->entry = &entry;
    scene->running.device = std::move(device);
    scene->running.experiment = entry.make(*scene->running.device);
    scene->shown = scene->running.experiment.get();
    const auto found = remembered_.find(entry.id);
    if (found == remembered_.end() || found->second.empty()) return scene;
    set_all(scene->experiment(), found->second);
    scene->experiment().reset();
    return scene;
}

/// Those that it can take: one that has become illegal must not take the others with it.
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
    std::swap(scenes_[scene->entry->id], scene);
    comparison_.reset();
    report_.clear();
    changed();
}

void Stage::changed() {
    ++changes_;
    tree_failed_ = false;
    picture_stale_ = true;
    report_stale_ = true;
    next_report_ = {};
    // Another kernel file may be in use now.
    if (try_kernels_ && seen_texts_ != 0 && !due_) due_ = Clock::now();
}

void Stage::remember_all() {
    for (const auto& [id, scene] : scenes_) remembered_[id] = values(scene->experiment(), false);
}

ParameterTexts Stage::parameter_texts() const {
    ParameterTexts all = remembered_;
    for (const auto& [id, scene] : scenes_)
        if (scene->own()) all[id] = values(scene->experiment(), false);
    std::erase_if(all, [](const auto& item) { return item.second.empty(); });
    return all;
}

void Stage::select(const Entry& chosen) {
    if (&chosen == &entry() || !scene_->own()) return;
    const auto change = [&] {
        auto found = scenes_.find(chosen.id);
        auto scene = found == scenes_.end() ? make(chosen, make_device(wish_))
                                            : std::exchange(found->second, nullptr);
        scene->device().timings().clear();
        if (trials_) trials_->stop();
        // They are of the one that leaves, and it will fail again.
        search_.reset();
        failure_.clear();
        show(std::move(scene));
        settle();
        message_ = {};
    };
    attempt(fmt::format("Staying with {}.", entry().title), change, Blame::other_device);
}

void Stage::set_device(const std::string& wish) {
    if (!scene_->own()) return;
    const auto change = [&] {
        auto fresh = make(entry(), make_device(wish));
        fresh->experiment().set(values(experiment(), true));
        fresh->experiment().reset();
        begin_anew(std::move(fresh));
        wish_ = wish;
        say(device().info().reason);
    };
    attempt(fmt::format("Staying on {}.", device().info().name), change, Blame::other_device);
}

void Stage::set_run(const compute::RunSettings& run) {
    if (!scene_->own()) return;
    const compute::RunSettings old = std::exchange(run_, run);
    const bool same_kernels = run.math == old.math;
    const auto change = [&] {
        if (same_kernels) {
            for (const auto& [id, scene] : scenes_) scene->device().set(run);
            broken_.clear();
            return experiment().reset();
        }
        auto fresh = make(entry(), make_device(wish_));
        fresh->experiment().set(values(experiment(), true));
        fresh->experiment().reset();
        begin_anew(std::move(fresh));
    };
    if (!attempt("Math, schedule and seed stay as they were.", change,
                 same_kernels ? Blame::kernels : Blame::other_device)) {
        run_ = old;
        for (const auto& [id, scene] : scenes_) scene->device().set(old);
    }
    changed();
}

/// Other kernels or another device for all: what failed before may work now.
void Stage::begin_anew(std::unique_ptr<Scene> scene) {
    remember_all();
    if (trials_) trials_->stop();
    for (const auto& [id, old] : scenes_)
        for (const auto& [file, text] : old->sources())
            if (texts_.text(file) == text)
                texts_.outcome(file, text, KernelTexts::State::waiting, {}, "");
    broken_.clear();
    search_.reset();
    failure_.clear();
    scenes_.clear();
    show(std::move(scene));
}

bool Stage::assign(std::span<const Assignment> assignments) {
    const bool done = attempt("", [&] { experiment().set(assignments); });
    if (done && message_.tone == Tone::error) message_ = {};
    if (done) comparison_.reset();
    changed();
    return done;
}

void Stage::step_once() {
    paused_ = true;
    step_wanted_ = true;
}

void Stage::reset() {
    if (attempt("", [&] { experiment().reset(); })) message_ = {};
    broken_.clear();  // kernels that failed get another chance
    changed();
}

void Stage::compare() {
    attempt("", [&] {
        comparison_ = experiment().compare();
        if (!comparison_) say("This experiment has no variants to compare.");
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
    // A failed one isn't tried again at every frame.
    if (!tree_failed_) tree_failed_ = !attempt("", [&] { tree = experiment().tree(); });
    return tree;
}

bool Stage::mouse(const std::function<bool()>& move) {
    bool used = false;
    attempt("", [&] { used = move(); });
    if (!used) return false;
    ++changes_;
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
    message_ = {std::move(text), tone, Clock::now()};
}

void Stage::advance(Size view) {
    const Size before = std::exchange(view_, view);
    if (!failure_.empty()) face_failure();
    follow_texts();
    take_trial();
    // What failed stands still until other kernels take its place.
    if (scene_->failed) return;
    const auto start = Clock::now();
    const bool rests = trials_ && trials_->busy() && start < rests_until_;
    const bool steps = !rests && (!paused_ || std::exchange(step_wanted_, false));
    if (steps) {
        if (!attempt("Paused.", [&] { experiment().step(); }) && failure_.empty()) paused_ = true;
        ++changes_;
        picture_stale_ = true;
        report_stale_ = true;
    }
    if (failure_.empty() && (picture_stale_ || view != before)) render(view);
    if (steps) rests_until_ = start + (1 + experiments::trial_rest) * (Clock::now() - start);
    if (failure_.empty() && report_stale_ && (paused_ || Clock::now() >= next_report_))
        read_report();
    if (runs_edits()) read_prints();
    failure_.empty() ? keep_standing() : face_failure();
}

void Stage::render(Size view) {
    picture_stale_ = false;
    ++picture_version_;
    const bool done = attempt("The picture is the last good one.", [&] { scene_->render(view); });
    if (!done && failure_.empty()) paused_ = true;
}

void Stage::read_report() {
    report_stale_ = false;
    const auto start = Clock::now();
    attempt("", [&] { report_ = experiment().report(); });
    // A report that is dear to make (a double-precision reference) must not take the frames' time.
    const auto took = Clock::now() - start;
    next_report_ =
        start + took + std::max<Clock::duration>(std::chrono::milliseconds(150), 9 * took);
}

}  // namespace warpscope::ui
