#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "compute/device/device.h"

namespace warpscope::compute {

/// Errors after which every call of the process fails (driver_types.h: "the process must be
/// terminated and relaunched"), or that the GPU itself does not recover from.
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
        case 226:  // cudaErrorContained, which older toolkits don't name
        case 721:  // cudaErrorTensorMemoryLeak
            return true;
        default:
            return false;
    }
}

/// For work: a failed call becomes a DeviceError that says what was tried, CUDA's words and where;
/// a DeviceLost where no call can succeed any more.
inline void cuda_check(cudaError_t status, std::string_view what,
                       std::string_view file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();  // else the next launch would report this error as its own
    const auto words =
        fmt::format("{}: {} ({}, {}:{})", what, cudaGetErrorString(status),
                    cudaGetErrorName(status), file.substr(file.rfind('/') + 1), line);
    if (cuda_is_lost(status)) throw DeviceLost(words);
    throw DeviceError(words);
}

/// For destructors: nothing to be done about a failure but to forget it.
inline void cuda_ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace warpscope::compute
