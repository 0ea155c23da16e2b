#pragma once

#include <cstdlib>
#include <cstring>
#include <set>

#include "compute/device.h"

namespace warpscope::gl {

/// A device whose memory is the process's own and that runs no kernels: what a PixelBuffer asks of
/// a device, counted. Its kind is for the test to choose.
class HostDevice final : public compute::Device {
  public:
    explicit HostDevice(compute::DeviceKind kind) {
        info_.kind = kind;
        info_.ordinal = kind == compute::DeviceKind::cuda ? 1000 : -1;  // no machine has it
    }

    std::uint64_t allocate(std::size_t bytes) override {
        const auto address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
        allocated.insert(address);
        return address;
    }
    void release(std::uint64_t address) noexcept override {
        allocated.erase(address);
        std::free(reinterpret_cast<void*>(address));
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        if (fails) throw compute::DeviceError("the device failed");
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        std::memset(reinterpret_cast<void*>(to), value, bytes);
    }
    void synchronize() override {
        if (fails) throw compute::DeviceError("the device failed");
    }
    std::uint64_t attach(void* host, std::size_t) override {
        if (fails) throw compute::DeviceError("the device failed");
        const auto address = reinterpret_cast<std::uint64_t>(host);
        attached.insert(address);
        return address;
    }
    void detach(std::uint64_t address) noexcept override { attached.erase(address); }

    std::set<std::uint64_t> allocated;
    std::set<std::uint64_t> attached;
    bool fails = false;

  protected:
    const compute::LoadedKernel& load(std::string_view, std::string_view) override {
        throw compute::DeviceError("no kernels here");
    }
    const compute::LoadedKernel& load_ptx(std::string_view, std::string_view) override {
        throw compute::DeviceError("no kernels here");
    }
    void launch_packed(const compute::LoadedKernel&, const compute::Shape&, const compute::Work&,
                       std::span<void* const>) override {}
};

}  // namespace warpscope::gl
