#include "compute/cuda/cuda_info.h"

#include <array>
#include <utility>

#include "compute/cuda/cuda_check.h"

namespace warpscope::compute {

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
