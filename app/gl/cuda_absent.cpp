#include "compute/device/device.h"
#include "gl/cuda_interop.h"

namespace warpscope::gl {

std::unique_ptr<CudaBuffer> share_with_cuda(unsigned, int) {
    throw compute::DeviceError("this build has no CUDA");
}

}  // namespace warpscope::gl
