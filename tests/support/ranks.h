#pragma once

#include <memory>

#include "compute/emulated/emulated_device.h"
#include "compute/ranks/host_exchange.h"

namespace warpscope::tests {

/// An emulator with ranks in this process: each is an emulator of its own.
inline std::unique_ptr<compute::Device> emulators(std::size_t ranks) {
    std::unique_ptr<compute::Device> device = compute::make_emulated_device("rank 0");
    compute::Company company;
    for (std::size_t rank = 1; rank < ranks; ++rank)
        company.devices.push_back(compute::make_emulated_device("another rank"));
    device->set_exchange(compute::HostExchange::make(*device, std::move(company)));
    return device;
}

}  // namespace warpscope::tests
