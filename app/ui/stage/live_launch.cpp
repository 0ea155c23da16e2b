#include "ui/stage/live_launch.h"

#include <exception>

namespace warpscope::ui {

LaunchCopy copy_launch(const experiments::Entry& entry, experiments::Experiment& live,
                       const compute::RunSettings& run) {
    try {
        return {std::make_unique<experiments::Specimen>(entry, live, run),
                {},
                live.frame(),
                live.frame()};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), live.frame(), live.frame()};
    }
}

LaunchCopy copy_launch(const experiments::LaunchState& checked, std::uint64_t live_frame) {
    const std::uint64_t frame = checked.snapshot.frame;
    try {
        return {std::make_unique<experiments::Specimen>(checked), {}, frame, live_frame};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), frame, live_frame};
    }
}

}  // namespace warpscope::ui
