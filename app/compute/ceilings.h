#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compute/device/device.h"
#include "compute/device/kernel_timings.h"
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

/// The parts of the ceilings that a kernel reaches at its median time; 0 if its work does not say.
struct CeilingShares {
    double of_bandwidth = 0;  ///< share of the copy bandwidth; reads alone or a cache may exceed 1
    double of_fp32 = 0;
    double larger() const { return of_bandwidth >= of_fp32 ? of_bandwidth : of_fp32; }
    /// "copy bandwidth" or "FP32 rate"; empty if neither is known.
    std::string_view larger_name() const;
};
CeilingShares shares_of(const KernelTiming& kernel, const Ceilings& ceilings);

/// Sentences that say why the kernel's time or rate may mislead; empty if there is no reason.
std::string timing_note(const KernelTiming& kernel, const Ceilings* ceilings);

}  // namespace warpscope::compute
