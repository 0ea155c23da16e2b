#include "compute/cuda/cuda_check.h"

#include <fmt/format.h>

namespace warpscope::compute {

const CudaDriver& cuda() {
    const CudaDriver* const driver = cuda_driver();
    if (!driver) throw DeviceError("no NVIDIA driver is installed");
    return *driver;
}

bool cuda_is_lost(CudaStatus status) {
    switch (status) {
        case 46:   // CUDA_ERROR_DEVICE_UNAVAILABLE
        case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
        case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
        case 226:  // CUDA_ERROR_CONTAINED
        case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
        case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
        case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
        case 710:  // CUDA_ERROR_ASSERT
        case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
        case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
        case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
        case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
        case 718:  // CUDA_ERROR_INVALID_PC
        case 719:  // CUDA_ERROR_LAUNCH_FAILED
        case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
        case 806:  // CUDA_ERROR_MPS_RPC_FAILURE
        case 810:  // CUDA_ERROR_MPS_CLIENT_TERMINATED
        case 911:  // CUDA_ERROR_EXTERNAL_DEVICE
            return true;
        default:
            return false;
    }
}

void cuda_check(CudaStatus status, std::string_view what, std::string_view file, int line) {
    if (status == CudaStatuses::success) return;
    const char* name = nullptr;
    cuda().error_name(status, &name);
    const auto message =
        fmt::format("{}: {} ({}, {}:{})", what, error_words(cuda(), status),
                    name ? name : "unknown", file.substr(file.rfind('/') + 1), line);
    if (cuda_is_lost(status)) throw DeviceLost(message);
    throw DeviceError(message);
}

}  // namespace warpscope::compute
