#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "experiments/copies/trial.h"
#include "gl/pixel_buffer.h"

namespace warpscope::ui {

/// An experiment that is or was on show, the device that it has for itself, and its pixels.
struct Scene {
    using Clock = std::chrono::steady_clock;

    const experiments::Entry* entry = nullptr;
    experiments::Running running;                 ///< empty where another owns the experiment
    experiments::Experiment* shown = nullptr;     ///< that one, or the other's
    std::unique_ptr<gl::PixelBuffer> own_pixels;  ///< of its newest picture
    const gl::PixelBuffer* pixels = nullptr;      ///< those or another's; null: it has none
    compute::Sources before;  ///< of the kernels that ran before those that run now
    bool failed = false;      ///< its kernels have failed, and others are on their way
    std::optional<experiments::Snapshot> last;  ///< where it stood not long ago
    std::uint64_t last_changes = 0;             ///< of the stage, at that time
    Clock::time_point next_snapshot{};

    experiments::Experiment& experiment() const { return *shown; }
    compute::Device& device() const { return shown->device(); }
    bool own() const { return running.experiment != nullptr; }
    /// Of the edited kernels that its device runs.
    compute::Sources sources() const;
    /// Of those texts the ones that the experiment takes kernels from.
    compute::Sources used(const compute::Sources& edited) const;

    /// Draws the experiment's current frame for such a view. On a throw the pixels are the last
    /// good ones.
    void render(experiments::Size view);
    /// Takes the place of device, experiment and pixels, once the other one has drawn a frame; on a
    /// throw nothing has changed.
    void exchange(experiments::Running other, experiments::Size view);
};

/// Every parameter, or those that differ from their defaults.
std::vector<experiments::Assignment> values(const experiments::Experiment& experiment, bool all);

}  // namespace warpscope::ui
