#include "experiments/specimen.h"

#include "compute/emulated_device.h"

namespace warpscope::experiments {

Specimen::Specimen(const Entry& entry, Experiment& live)
    : device_(compute::make_emulated_device("for the microscope")) {
    device_->set(live.device().settings());
    experiment_ = entry.make(*device_);
    experiment_->follow(live);
    launch_ = device_->freeze_last([&] { experiment_->launch_kernel(); });
}

}  // namespace warpscope::experiments
