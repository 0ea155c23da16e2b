#include "experiments/framework/emulator_like.h"

#include <utility>

#include "compute/helper/helpers.h"

namespace warpscope::experiments {

std::unique_ptr<compute::EmulatedDevice> emulator_like(const compute::Device& device,
                                                       std::string reason,
                                                       std::size_t memory_bytes) {
    const bool edited = !device.edits().empty();
    return compute::make_emulated_device(
        {std::move(reason), memory_bytes, device.settings(), device.edits(),
         edited ? compute::usual_limits() : compute::LaunchLimits{}});
}

}  // namespace warpscope::experiments
