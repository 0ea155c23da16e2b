// The functions of cuda_device.h in a build without the CUDA Toolkit: there is no GPU.
#include "compute/cuda/cuda_device.h"

namespace warpscope::compute {

const CudaSurvey& survey_cuda() {
    static const CudaSurvey survey{
        0, "this build has no CUDA (install the CUDA Toolkit >= 12.8 and build again)"};
    return survey;
}

std::unique_ptr<Device> make_cuda_device(int, std::string) {
    throw DeviceError(survey_cuda().reason);
}

void pin_host_memory(void*, std::size_t) noexcept {}

}  // namespace warpscope::compute
