#include "compute/cuda/cuda_library.h"

#include <fmt/format.h>

#include <array>
#include <tuple>

#include "compute/cuda/cuda_check.h"
#include "compute/device/ptx_version.h"

namespace warpscope::compute {
namespace {

void check_loaded(CudaStatus status, std::string_view what, const std::string& log) {
    cuda_check(status, log.empty() ? fmt::format("loading {}", what)
                                   : fmt::format("loading {}: {}", what, log));
}

}  // namespace

CudaLibrary::~CudaLibrary() {
    if (handle_) cuda().module_unload(handle_);
}

bool CudaLibrary::load_binary(std::string_view what, const char* fatbin) {
    const auto [status, log] = try_to_load(fatbin);
    if (status == CudaStatuses::no_binary_for_gpu || status == CudaStatuses::invalid_image ||
        status == CudaStatuses::unsupported_ptx_version)
        return false;
    check_loaded(status, what, log);
    return true;
}

void CudaLibrary::load_text(std::string_view what, int driver_version) {
    auto [status, log] = try_to_load(ptx_.c_str());
    if (status == CudaStatuses::unsupported_ptx_version)
        std::tie(status, log) = try_to_load(ptx_for_driver(ptx_, driver_version).c_str());
    check_loaded(status, what, log);
}

/// Loads an image. Returns the driver's status and its compiler's messages.
std::pair<CudaStatus, std::string> CudaLibrary::try_to_load(const char* image) {
    std::array<char, 4096> log{};
    int options[]{5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size in bytes
    void* values[]{log.data(), reinterpret_cast<void*>(log.size())};
    const CudaStatus status = cuda().module_load(&handle_, image, 2, options, values);
    return {status, log.data()};
}

}  // namespace warpscope::compute
