#include "experiments/framework/emulator_like.h"

#include <utility>

#include "compute/helper/helpers.h"

namespace warpscope::experiments {

std::unique_ptr<compute::EmulatedDevice> emulator_like(const compute::Device& device,
                                                       std::string reason,
                                                       std::size_t memory_bytes) {
    compute::LaunchLimits limits;
    if (!device.edits().empty()) limits = compute::usual_limits();
    limits.stop = device.launch_limits().stop;
    return compute::make_emulated_device({std::move(reason), memory_bytes, device.settings(),
                                          device.edits(), limits, device.progress()});
}

}  // namespace warpscope::experiments
