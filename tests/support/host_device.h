#pragma once

#include <cstdlib>
#include <cstring>

#include "compute/device/device.h"

namespace warpscope::tests {

/// A device whose memory is host memory and that runs no kernels. Tests derive devices from it.
class HostDevice : public compute::Device {
  public:
    std::uint64_t allocate(std::size_t bytes) override {
        return reinterpret_cast<std::uint64_t>(std::malloc(bytes));
    }
    void release(std::uint64_t address) noexcept override {
        std::free(reinterpret_cast<void*>(address));
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        std::memset(reinterpret_cast<void*>(to), value, bytes);
    }
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    }
    void synchronize() override {}
    std::uint64_t attach(void* host, std::size_t) override {
        return reinterpret_cast<std::uint64_t>(host);
    }
    void detach(std::uint64_t) noexcept override {}

  protected:
    const compute::LoadedKernel& load(std::string_view, std::string_view,
                                      const compute::KernelEdit*) override {
        throw compute::DeviceError("no kernels here");
    }
    const compute::LoadedKernel& load_ptx(std::string_view, std::string_view) override {
        throw compute::DeviceError("no kernels here");
    }
    compute::DeviceVariable find_variable(std::string_view, const std::string&,
                                          const compute::KernelEdit*) override {
        throw compute::DeviceError("no variables here");
    }
    void launch_packed(const compute::LoadedKernel&, const compute::LaunchShape&,
                       const compute::Work&, std::span<void* const>) override {}
};

}  // namespace warpscope::tests
