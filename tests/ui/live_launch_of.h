#pragma once

#include "ui/stage/live_experiment.h"

namespace warpscope::ui {

/// The launch of an experiment of this thread; its copies are there at once.
inline LiveLaunch live_launch_of(const experiments::Entry& entry, experiments::Experiment& live,
                                 std::uint64_t generation = 1) {
    return {experiments::unowned(entry),
            live.parameters().of_launch(),
            live.device().settings(),
            live.device().edits(),
            generation,
            live.frame(),
            true,
            true,
            [&entry, &live](const compute::RunSettings& run) {
                std::promise<LaunchCopy> copy;
                copy.set_value(copy_launch(entry, live, run));
                return copy.get_future();
            },
            [&live](const std::shared_ptr<const experiments::LaunchState>& checked) {
                std::promise<LaunchCopy> copy;
                copy.set_value(copy_launch(*checked, live.frame()));
                return copy.get_future();
            },
            [&entry, &live] {
                std::promise<std::shared_ptr<const experiments::LaunchState>> state;
                state.set_value(std::make_shared<const experiments::LaunchState>(
                    entry, live, live.device().settings()));
                return state.get_future();
            }};
}

}  // namespace warpscope::ui
