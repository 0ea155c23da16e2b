#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "compute/device/device.h"

namespace warpscope::compute {

/// True for errors after which every call of this process fails (driver_types.h: "the process must
/// be terminated and relaunched") and for faults of the GPU itself.
inline bool cuda_is_lost(cudaError_t status) {
    switch (int(status)) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorContextIsDestroyed:
        case cudaErrorDevicesUnavailable:
        case cudaErrorExternalDevice:
        case cudaErrorMpsRpcFailure:
        case cudaErrorMpsClientTerminated:
        case 226:  // cudaErrorContained; older toolkits have no name for it
        case 721:  // cudaErrorTensorMemoryLeak
            return true;
        default:
            return false;
    }
}

/// Throws DeviceError if a call has failed; DeviceLost if no later call can succeed. The message
/// names the action `what`, CUDA's reason and the line of the call.
inline void cuda_check(cudaError_t status, std::string_view what,
                       std::string_view file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();  // clears it, so that the next launch does not report it
    const auto words =
        fmt::format("{}: {} ({}, {}:{})", what, cudaGetErrorString(status),
                    cudaGetErrorName(status), file.substr(file.rfind('/') + 1), line);
    if (cuda_is_lost(status)) throw DeviceLost(words);
    throw DeviceError(words);
}

/// Ignores a failure: for destructors, which can't report it.
inline void cuda_ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace warpscope::compute
