#include "ui/stage/live_launch.h"

#include <exception>

namespace warpscope::ui {

LaunchCopy copy_launch(const experiments::Entry& entry, experiments::Experiment& live,
                       const compute::RunSettings& run) {
    try {
        return {std::make_unique<experiments::Specimen>(entry, live, run), {}, live.frame()};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), live.frame()};
    }
}

}  // namespace warpscope::ui
