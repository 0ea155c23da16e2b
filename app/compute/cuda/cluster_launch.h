#pragma once

#include "compute/cuda/driver.h"
#include "compute/device/device.h"

namespace warpscope::compute {

/// Launches a kernel whose blocks form clusters. Throws DeviceError where the driver has none.
CudaStatus launch_clusters(CudaFunction function, const LaunchShape& shape, CudaStream stream,
                           void** arguments);

}  // namespace warpscope::compute
