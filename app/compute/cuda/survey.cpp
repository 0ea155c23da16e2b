#include "compute/cuda/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace warpscope::compute {
namespace {

constexpr int oldest_cuda = 11000;     // CUDA 11.0, which the driver's branch 450 brought
constexpr int oldest_capability = 75;  // Turing: the target of the kernels' PTX

int capability_of(const CudaDriver& driver, int ordinal) {
    CudaDeviceNumber device = 0;
    int major = 0, minor = 0;
    driver.device_get(&device, ordinal);
    driver.device_attribute(&major, CudaAttributes::capability_major, device);
    driver.device_attribute(&minor, CudaAttributes::capability_minor, device);
    return 10 * major + minor;
}

}  // namespace

CudaSurvey survey_driver(const CudaDriver* driver) {
    if (!driver) return {0, files::sentence("no NVIDIA driver is installed")};
    int version = 0, devices = 0;
    driver->version(&version);
    if (version < oldest_cuda)
        return {0, fmt::format("the NVIDIA driver supports CUDA {}.{}, and Warpscope needs CUDA "
                               "11.0: install a driver of branch 450 or newer",
                               version / 1000, version % 1000 / 10)};
    CudaStatus status = driver->init(0);
    if (status == CudaStatuses::success) status = driver->device_count(&devices);
    if (status == CudaStatuses::no_device || (status == CudaStatuses::success && devices == 0))
        return {0, "the NVIDIA driver shows no GPU"};
    if (status != CudaStatuses::success)
        return {0, fmt::format("the NVIDIA driver reports: {}", error_words(*driver, status))};
    int newest = 0;
    for (int i = 0; i < devices; ++i) newest = std::max(newest, capability_of(*driver, i));
    if (newest < oldest_capability)
        return {0, fmt::format("the GPU has compute capability {}.{}, and the kernels need 7.5 "
                               "(Turing) or newer",
                               newest / 10, newest % 10)};
    return {devices, {}};
}

const CudaSurvey& survey_cuda() {
    static const CudaSurvey result = survey_driver(cuda_driver());
    return result;
}

namespace {

int attribute(CudaDeviceNumber device, int which) {
    int value = 0;
    cuda_check(cuda().device_attribute(&value, which, device), "asking for the GPU's properties");
    return value;
}

}  // namespace

DeviceInfo cuda_info(CudaDeviceNumber device, int ordinal, std::string reason) {
    using Attribute = CudaAttributes;
    const char* const action = "asking for the GPU's properties";
    std::array<char, 256> name{};
    std::array<char, 32> bus_id{};
    std::size_t memory = 0;
    cuda_check(cuda().device_name(name.data(), int(name.size()), device), action);
    cuda_check(cuda().device_bus_id(bus_id.data(), int(bus_id.size()), device), action);
    cuda_check(cuda().device_memory(&memory, device), action);
    return {.kind = DeviceKind::cuda,
            .name = name.data(),
            .reason = std::move(reason),
            .ordinal = ordinal,
            .pci_bus_id = bus_id.data(),
            .compute_capability = 10 * attribute(device, Attribute::capability_major) +
                                  attribute(device, Attribute::capability_minor),
            .multiprocessors = attribute(device, Attribute::multiprocessors),
            .cache_bytes = std::size_t(attribute(device, Attribute::cache_bytes)),
            .memory_bytes = memory,
            .max_block_threads = unsigned(attribute(device, Attribute::block_threads)),
            .max_shared_bytes = std::size_t(attribute(device, Attribute::shared_bytes_optin))};
}

}  // namespace warpscope::compute
