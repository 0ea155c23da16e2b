#pragma once

#include <cstddef>
#include <optional>

#include "compute/device/device.h"
#include "compute/libraries/nvml.h"

namespace warpscope::compute {

/// The highest rates of a device, measured with kernels/ceilings.cu.
struct Ceilings {
    double bytes_per_second = 0;       ///< global memory, copying: bytes read plus bytes written
    double read_bytes_per_second = 0;  ///< global memory, reading: somewhat higher
    double flops_per_second = 0;       ///< FP32; a fused multiply-add counts as two
    float lone_launch_ms = 0;          ///< time of an empty kernel on an idle device
    float queued_launch_ms = 0;        ///< time of an empty kernel behind other launches
    float resolution_ms = 0;           ///< resolution of the clock that times launches
    std::size_t cache_bytes = 0;       ///< L2 cache; 0 if unknown
    std::optional<GpuState> gpu{};     ///< the GPU's state while flops_per_second was measured
};

/// Measures a device in about 0.1 s, once in a process; later calls return the first result. Waits
/// for the device, but does not change its timings or seeds. Throws DeviceError. Two
/// threads must not measure devices with one ordinal at a time.
const Ceilings& measure_ceilings(Device& device);

/// The result of measure_ceilings(); null if it was not called for this device.
const Ceilings* known_ceilings(const DeviceInfo& device);

}  // namespace warpscope::compute
