#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "compute/device.h"

namespace warpscope::compute {

/// For work: a failed call becomes a DeviceError that says what was tried, CUDA's words and where.
inline void cuda_check(cudaError_t status, std::string_view what,
                       std::string_view file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    throw DeviceError(fmt::format("{}: {} ({}, {}:{})", what, cudaGetErrorString(status),
                                  cudaGetErrorName(status), file.substr(file.rfind('/') + 1),
                                  line));
}

/// For destructors: nothing to be done about a failure but to forget it.
inline void cuda_ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace warpscope::compute
