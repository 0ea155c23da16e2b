#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <source_location>

#include "compute/device.h"

namespace warpscope::compute {

/// For work: a failed call becomes a DeviceError that says what was tried, CUDA's words and where.
inline void cuda_check(cudaError_t status, std::string_view what,
                       std::source_location where = std::source_location::current()) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    const std::string_view path = where.file_name();
    throw DeviceError(fmt::format("{}: {} ({}, {}:{})", what, cudaGetErrorString(status),
                                  cudaGetErrorName(status), path.substr(path.rfind('/') + 1),
                                  where.line()));
}

/// For destructors: nothing to be done about a failure but to forget it.
inline void cuda_ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace warpscope::compute
