#include "ui/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpscope::ui {

using experiments::Assignment;
using experiments::Entry;
using experiments::Experiment;
using experiments::Size;

namespace {

std::vector<Assignment> values(const Experiment& experiment, bool all) {
    std::vector<Assignment> list;
    for (const experiments::Parameter* p : experiment.parameters().all())
        if (all || p->text() != p->default_text()) list.push_back({p->id(), p->text()});
    return list;
}

}  // namespace

Stage::Stage(const Start& start) : wish_(start.device_wish), remembered_(start.remembered) {
    read_only_ = start.sandbox ? start.sandbox->no_compiler() : "No compiler was asked for.";
    const Entry& entry = experiments::find_experiment(start.experiment);
    own_device_ = compute::pick_device(start.device_wish);
    own_device_->set(start.run);
    auto made = make(entry, *own_device_);
    made->set(start.assignments);
    if (!start.assignments.empty()) made->reset();
    show(entry, std::move(made));
}

Stage::Stage(Experiment& experiment, const Entry& entry, const gl::PixelBuffer* pixels)
    : experiment_(&experiment), entry_(&entry), pixels_(pixels), paused_(true) {
    wish_ = device().info().kind == compute::DeviceKind::emulator
                ? "emulator"
                : fmt::format("cuda:{}", device().info().ordinal);
    picture_stale_ = false;
    read_report();
}

template <class Change>
bool Stage::attempt(const std::string& consequence, Change&& change) {
    try {
        std::forward<Change>(change)();
        return true;
    } catch (const std::exception& error) {
        std::string words = error.what();
        if (!consequence.empty()) words += (words.ends_with('.') ? " " : ". ") + consequence;
        say(std::move(words), Tone::error);
        return false;
    }
}

std::unique_ptr<Experiment> Stage::make(const Entry& entry, compute::Device& device) {
    auto made = entry.make(device);
    const auto found = remembered_.find(entry.id);
    if (found == remembered_.end() || found->second.empty()) return made;
    try {
        made->set(found->second);
    } catch (const std::exception&) {
        // One that has become illegal must not take the others with it.
        for (const Assignment& one : found->second)
            attempt("It keeps its default.", [&] { made->set({&one, 1}); });
    }
    made->reset();
    return made;
}

void Stage::show(const Entry& entry, std::unique_ptr<Experiment> made) {
    experiment_ = made.get();
    entry_ = &entry;
    made_[entry.id] = std::move(made);
    comparison_.reset();
    report_.clear();
    changed();
}

void Stage::changed() {
    tree_failed_ = false;
    picture_stale_ = true;
    report_stale_ = true;
    next_report_ = {};
}

void Stage::remember_all() {
    for (const auto& [id, experiment] : made_) remembered_[id] = values(*experiment, false);
}

ParameterTexts Stage::parameter_texts() const {
    ParameterTexts all = remembered_;
    for (const auto& [id, experiment] : made_) all[id] = values(*experiment, false);
    std::erase_if(all, [](const auto& item) { return item.second.empty(); });
    return all;
}

void Stage::select(const Entry& entry) {
    if (&entry == entry_ || !own_device_) return;
    attempt(fmt::format("Staying with {}.", entry_->title), [&] {
        auto found = made_.find(entry.id);
        auto made = found == made_.end() ? make(entry, *own_device_) : std::move(found->second);
        own_device_->timings().clear();
        show(entry, std::move(made));
        message_ = {};
    });
}

void Stage::set_device(const std::string& wish) {
    if (!own_device_) return;
    attempt(fmt::format("Staying on {}.", device().info().name), [&] {
        auto fresh = compute::pick_device(wish);
        fresh->set(own_device_->settings());
        auto made = entry_->make(*fresh);
        made->set(values(*experiment_, true));
        made->reset();
        remember_all();
        own_pixels_.reset();
        pixels_ = nullptr;
        made_.clear();
        own_device_ = std::move(fresh);
        wish_ = wish;
        show(*entry_, std::move(made));
        say(device().info().reason);
    });
}

void Stage::set_run(const compute::RunSettings& run) {
    if (!own_device_) return;
    const compute::RunSettings old = own_device_->settings();
    const bool done = attempt("Math, schedule and seed stay as they were.", [&] {
        own_device_->set(run);
        if (run.math == old.math) return experiment_->reset();
        auto made = entry_->make(*own_device_);
        made->set(values(*experiment_, true));
        made->reset();
        remember_all();
        own_device_->timings().clear();
        made_.clear();
        show(*entry_, std::move(made));
    });
    if (!done) own_device_->set(old);
    changed();
}

bool Stage::assign(std::span<const Assignment> assignments) {
    const bool done = attempt("", [&] { experiment_->set(assignments); });
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
    if (attempt("", [&] { experiment_->reset(); })) message_ = {};
    changed();
}

void Stage::compare() {
    attempt("", [&] {
        comparison_ = experiment_->compare();
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
    if (!tree_failed_) tree_failed_ = !attempt("", [&] { tree = experiment_->tree(); });
    return tree;
}

bool Stage::drag(double dx, double dy) {
    bool used = false;
    attempt("", [&] { used = experiment_->drag(dx, dy); });
    if (used) picture_stale_ = true;
    return used;
}

bool Stage::scroll(double notches) {
    bool used = false;
    attempt("", [&] { used = experiment_->scroll(notches); });
    if (used) picture_stale_ = true;
    return used;
}

bool Stage::point(const experiments::Pointer& pointer) {
    bool used = false;
    attempt("", [&] { used = experiment_->point(pointer); });
    if (used) picture_stale_ = true;
    return used;
}

void Stage::say(std::string text, Tone tone) {
    message_ = {std::move(text), tone, Clock::now()};
}

void Stage::advance(Size view) {
    if (!paused_ || std::exchange(step_wanted_, false)) {
        if (!attempt("Paused.", [&] { experiment_->step(); })) paused_ = true;
        picture_stale_ = true;
        report_stale_ = true;
    }
    if (picture_stale_ || view != view_) render(view);
    if (report_stale_ && (paused_ || Clock::now() >= next_report_)) read_report();
}

void Stage::render(Size view) {
    view_ = view;
    picture_stale_ = false;
    ++picture_version_;
    const bool done = attempt("The picture is the last good one.", [&] {
        const Size size = experiment_->picture_size(view);
        if (size.width <= 0 || size.height <= 0) {
            own_pixels_.reset();
            pixels_ = nullptr;
            return;
        }
        const bool fits = own_pixels_ && own_pixels_->width() == size.width &&
                          own_pixels_->height() == size.height;
        auto fresh =
            fits ? nullptr : std::make_unique<gl::PixelBuffer>(device(), size.width, size.height);
        gl::PixelBuffer& target = fits ? *own_pixels_ : *fresh;
        target.write([&](std::uint64_t address) { experiment_->render_into({{address}, size}); });
        if (fresh) own_pixels_ = std::move(fresh);
        pixels_ = own_pixels_.get();
    });
    if (!done) paused_ = true;
}

void Stage::read_report() {
    report_stale_ = false;
    const auto start = Clock::now();
    attempt("", [&] { report_ = experiment_->report(); });
    // A report that is dear to make (a double-precision reference) must not take the frames' time.
    const auto took = Clock::now() - start;
    next_report_ =
        start + took + std::max<Clock::duration>(std::chrono::milliseconds(150), 9 * took);
}

}  // namespace warpscope::ui
