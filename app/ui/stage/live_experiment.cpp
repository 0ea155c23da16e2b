#include "ui/stage/live_experiment.h"

#include <algorithm>
#include <utility>

#include "experiments/replicas/try_edits.h"

namespace warpscope::ui {

using experiments::Experiment;
using experiments::Size;
using experiments::Snapshot;

namespace {

/// The least time between two snapshots.
constexpr std::chrono::milliseconds snapshot_interval{1000};
/// The time between two snapshots is at least this many times the time that one takes.
constexpr int snapshot_share = 100;

void draw(Experiment& experiment, gl::PixelBuffer& target, Size size) {
    target.write([&](std::uint64_t address) { experiment.render_into({{address}, size}); });
}

/// New pixels with the current frame; null where the experiment draws none.
std::unique_ptr<gl::PixelBuffer> fresh_pixels(Experiment& experiment, Size size) {
    if (size.width <= 0 || size.height <= 0) return nullptr;
    auto fresh = std::make_unique<gl::PixelBuffer>(experiment.device(), size.width, size.height);
    draw(experiment, *fresh, size);
    return fresh;
}

}  // namespace

LiveExperiment::LiveExperiment(experiments::SharedEntry entry, experiments::Running running)
    : entry_(std::move(entry)), running_(std::move(running)) {
    if (!entry_->built_in) opening_.state = LaunchOpening::State::compiling;
}

void LiveExperiment::open(experiments::SharedEntry entry,
                          std::vector<experiments::Assignment> values) {
    opening_ = {LaunchOpening::State::compiling, std::move(entry), std::move(values), {}};
    if (opening_.entry != entry_) return;
    opening_.entry.reset();
    if (!entry_->built_in) return;
    // The kernels of the new entry run already.
    opening_.state = LaunchOpening::State::shown;
    experiment().resume(experiments::fitted({opening_.values, 0, false, {}}, *entry_));
}

void LiveExperiment::fail_opening(std::string error, bool may_follow) {
    opening_.error = std::move(error);
    if (may_follow || opening_.state == LaunchOpening::State::shown) return;
    opening_.state = LaunchOpening::State::failed;
    opening_.entry.reset();
}

void LiveExperiment::render(Size view) {
    const Size size = experiment().picture_size(view);
    if (pixels_ && pixels_->width() == size.width && pixels_->height() == size.height)
        draw(experiment(), *pixels_, size);
    else
        pixels_ = fresh_pixels(experiment(), size);
}

compute::Sources LiveExperiment::sources() const {
    compute::Sources sources;
    for (const auto& [file, edit] : device().edits()) sources[file] = edit->source;
    return sources;
}

compute::Sources LiveExperiment::used(const compute::Sources& edited) const {
    compute::Sources used;
    const std::string own = experiment().kernel_file();
    for (const auto& [file, text] : edited)
        if (file == own || device().files().contains(file)) used[file] = text;
    return used;
}

void LiveExperiment::keep_snapshot() {
    const auto start = Clock::now();
    if (start < next_snapshot_ || (kept_ && kept_changes_ == changes_)) return;
    next_snapshot_ = start + snapshot_interval;  // also where this one fails
    kept_ = experiment().snapshot();
    kept_changes_ = changes_;
    const auto took = Clock::now() - start;
    next_snapshot_ = start + std::max<Clock::duration>(snapshot_interval, snapshot_share * took);
}

Snapshot LiveExperiment::snapshot() const {
    if (!failed_) return experiment().snapshot();
    Snapshot snapshot;
    if (kept_ && kept_->frame <= experiment().frame()) snapshot = *kept_;
    snapshot.parameters = experiment().parameters().assignments(true);
    return snapshot;
}

void LiveExperiment::begin_as(experiments::SharedEntry entry) {
    auto fresh = entry->make(device());
    fresh->resume(experiments::fitted(inspected().snapshot(), *entry));
    running_.experiment = std::move(fresh);
    entry_ = std::move(entry);
    count_change();
}

void LiveExperiment::replace(experiments::Running other, experiments::SharedEntry entry,
                             Snapshot from, Size view) {
    auto fresh = fresh_pixels(*other.experiment, other.experiment->picture_size(view));
    previous_ = failed_ ? compute::Sources{} : sources();
    std::swap(pixels_, fresh);
    fresh.reset();
    std::swap(running_, other);
    if (other.device->exchange()) left_ranks_ = true;
    const experiments::SharedEntry before = std::exchange(entry_, std::move(entry));
    failed_run_.reset();
    if (const auto block = std::exchange(failed_block_, std::nullopt)) {
        other.device->set_launch_limits({});
        failed_run_ = {before, std::move(other), *block};
    }
    if (!std::exchange(failed_, false) || !kept_) {
        kept_ = std::move(from);
        kept_changes_ = changes_;
    }
}

}  // namespace warpscope::ui
