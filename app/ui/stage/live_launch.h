#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "experiments/replicas/specimen.h"

namespace warpscope::ui {

/// A copy of a launch, or the error that prevented it.
struct LaunchCopy {
    std::unique_ptr<experiments::Specimen> specimen;
    std::string error;
    std::uint64_t frame = 0;       ///< of the launch
    std::uint64_t live_frame = 0;  ///< of the experiment when the copy was made
};

/// Copies the launch of an experiment. Throws nothing.
inline LaunchCopy copy_launch(const experiments::Entry& entry, experiments::Experiment& live,
                              const compute::RunSettings& run) {
    const std::uint64_t frame = live.frame();
    try {
        return {std::make_unique<experiments::Specimen>(entry, live, run), {}, frame, frame};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), frame, frame};
    }
}
/// Copies a launch that a check has run, while the experiment stands before `live_frame`.
inline LaunchCopy copy_launch(const experiments::LaunchState& checked, std::uint64_t live_frame) {
    const std::uint64_t frame = checked.snapshot.frame;
    try {
        return {std::make_unique<experiments::Specimen>(checked), {}, frame, live_frame};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), frame, live_frame};
    }
}

/// The launch of an experiment that goes on meanwhile: everything that a copy depends on, and the
/// way to one.
struct LiveLaunch {
    experiments::SharedEntry entry;
    std::vector<std::string> parameters;  ///< ParameterSet::of_launch()
    compute::RunSettings settings;
    compute::KernelEdits edits;
    std::uint64_t generation = 0;  ///< another number: another experiment
    std::uint64_t frame = 0;
    bool settled = true;         ///< no command is on its way that could change the above
    bool on_this_thread = true;  ///< copies are there at once, and long work may hold this thread
    /// Copies the launch with these settings as soon as no frame is being computed.
    std::function<std::future<LaunchCopy>(const compute::RunSettings&)> copy;
    /// Copies a launch that a check has run, as soon as no frame is being computed.
    std::function<std::future<LaunchCopy>(std::shared_ptr<const experiments::LaunchState>)>
        copy_checked;
    /// Returns what a copy is made from, for work on another thread, as soon as no frame is being
    /// computed.
    std::function<std::future<std::shared_ptr<const experiments::LaunchState>>()> state;
};

}  // namespace warpscope::ui
