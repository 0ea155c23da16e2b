#pragma once

#include <set>

#include "support/host_device.h"

namespace warpscope::gl {

/// Records the calls of a PixelBuffer. The test chooses the kind of the device.
class HostDevice final : public tests::HostDevice {
  public:
    explicit HostDevice(compute::DeviceKind kind, bool in_helper = false) {
        info_.kind = kind;
        info_.in_helper = in_helper;
        info_.ordinal = kind == compute::DeviceKind::cuda ? 1000 : -1;  // no machine has it
    }

    std::uint64_t allocate(std::size_t bytes) override {
        const std::uint64_t address = tests::HostDevice::allocate(bytes);
        allocated.insert(address);
        return address;
    }
    void release(std::uint64_t address) noexcept override {
        allocated.erase(address);
        tests::HostDevice::release(address);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        if (fails) throw compute::DeviceError("the device failed");
        tests::HostDevice::download(to, from, bytes);
    }
    void synchronize() override {
        if (fails) throw compute::DeviceError("the device failed");
    }
    std::uint64_t attach(void* host, std::size_t bytes) override {
        if (fails) throw compute::DeviceError("the device failed");
        const std::uint64_t address = tests::HostDevice::attach(host, bytes);
        attached.insert(address);
        return address;
    }
    void detach(std::uint64_t address) noexcept override { attached.erase(address); }

    std::set<std::uint64_t> allocated;
    std::set<std::uint64_t> attached;
    bool fails = false;
};

}  // namespace warpscope::gl
