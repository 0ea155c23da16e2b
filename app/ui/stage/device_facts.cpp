#include "ui/stage/device_facts.h"

namespace warpscope::ui {

using std::chrono::steady_clock;

const std::optional<compute::GpuState>& DeviceFacts::gpu(const compute::DeviceInfo& device) {
    if (device.pci_bus_id != asked_) {
        asked_ = device.pci_bus_id;
        gpu_.reset();
        answer_ = {};
        ask_at_ = {};
    }
    if (answer_.valid() && answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        gpu_ = answer_.get();
    if (!asked_.empty() && !answer_.valid() && steady_clock::now() >= ask_at_) {
        ask_at_ = steady_clock::now() + std::chrono::seconds(1);
        answer_ =
            std::async(std::launch::async, [bus = asked_] { return compute::gpu_state(bus); });
    }
    return gpu_;
}

}  // namespace warpscope::ui
