#include "compute/libraries/cub.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace warpscope::compute {
namespace {

std::string beside_program() {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return (program.parent_path() / "libwarpscope_cub.so").string();
}

}  // namespace

std::unique_ptr<Cub> Cub::load(Device& device, const std::string& library) {
    if (device.info().kind != DeviceKind::cuda || device.info().in_helper) return nullptr;
    const std::string path = library.empty() ? beside_program() : library;
    // The library is never unloaded.
    void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened) return nullptr;
    const auto sum = reinterpret_cast<Sum>(dlsym(opened, "warpscope_cub_sum"));
    return sum ? std::unique_ptr<Cub>(new Cub(device, sum)) : nullptr;
}

void Cub::sum(DevicePointer<float> x, std::size_t n, DevicePointer<float> result) {
    const auto call = [&](void* scratch, std::size_t bytes) {
        const int status =
            sum_(scratch, &bytes, reinterpret_cast<const float*>(x.address),
                 reinterpret_cast<float*>(result.address), int(n), device_.native_stream());
        if (status != 0)
            throw DeviceError(fmt::format("CUB's sum of {} floats: CUDA error {}", n, status));
        return bytes;
    };
    const std::size_t bytes = call(nullptr, 0);
    if (bytes > scratch_.size()) scratch_ = Buffer<std::byte>(device_, bytes);
    device_.time_as(sum_name, {.bytes = 4.0 * double(n), .flops = double(n)}, [&] {
        call(reinterpret_cast<void*>(scratch_.pointer().address), scratch_.size());
    });
}

}  // namespace warpscope::compute
