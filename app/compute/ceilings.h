#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compute/device/device.h"
#include "compute/libraries/nvml.h"

namespace warpscope::compute {

/// What a device does at most, as kernels/ceilings.cu measures it.
struct Ceilings {
    double bytes_per_second = 0;       ///< of memory, copied: read and written
    double read_bytes_per_second = 0;  ///< of memory, only read: somewhat more
    double flops_per_second = 0;       ///< FP32; a fused multiply-add counts two
    /// What the clock around a launch shows for an empty kernel: launched on an idle device (with
    /// the time that the launch itself takes), and in a queue behind others.
    float lone_launch_ms = 0;
    float queued_launch_ms = 0;
    float resolution_ms = 0;      ///< of that clock
    std::size_t cache_bytes = 0;  ///< the L2's; 0 where that isn't known
    /// While the flops were measured.
    std::optional<GpuState> gpu{};
};

/// Measured once a process for every GPU and for the emulator, in about 0.1 s; then at hand. Waits
/// for the device; its timings and its seeds stay as they are. Throws DeviceError. One thread.
const Ceilings& measure_ceilings(Device& device);

/// Null as long as nobody has measured them.
const Ceilings* known_ceilings(const DeviceInfo& device);

/// Parts of the ceilings that a kernel reaches at its median time; 0 where its work doesn't say.
struct Shares {
    double of_bandwidth = 0;  ///< of copying; above 1 for reads alone, and out of a cache
    double of_fp32 = 0;
    double larger() const { return of_bandwidth >= of_fp32 ? of_bandwidth : of_fp32; }
    /// "copy bandwidth", "FP32 rate"; empty where neither is known.
    std::string_view larger_name() const;
};
Shares shares_of(const KernelTiming& kernel, const Ceilings& ceilings);

/// Why the kernel's time or rate is to be read with care, in sentences; empty where it isn't.
std::string timing_note(const KernelTiming& kernel, const Ceilings* ceilings);

}  // namespace warpscope::compute
