#pragma once

#include <string>
#include <string_view>

#include "compute/ceilings.h"
#include "compute/device/kernel_timings.h"

namespace warpscope::compute {

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
