#include "compute/libraries/compared_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace warpscope::compute {
namespace {

// Declarations of cublas_v2.h, which may not be installed, as far as they are used here. Source:
// cuBLAS Library documentation, "cuBLAS Helper Function Reference" and "cublas<t>dot()".
constexpr int cublas_success = 0;
constexpr int pointer_mode_device = 1;  // cublasPointerMode_t: results stay on the device

void check(int status, std::string_view call) {
    if (status != cublas_success)
        throw DeviceError(fmt::format("cuBLAS: {} failed with status {}", call, status));
}

template <class Function>
bool find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

struct Cublas::Functions {
    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*set_stream)(void*, void*) = nullptr;
    int (*set_pointer_mode)(void*, int) = nullptr;
    int (*sdot)(void*, int, const float*, int, const float*, int, float*) = nullptr;

    /// The library is never unloaded.
    bool load(const std::string& path) {
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return library && find(library, create, "cublasCreate_v2") &&
               find(library, destroy, "cublasDestroy_v2") &&
               find(library, set_stream, "cublasSetStream_v2") &&
               find(library, set_pointer_mode, "cublasSetPointerMode_v2") &&
               find(library, sdot, "cublasSdot_v2");
    }
};

std::unique_ptr<Cublas> Cublas::load(Device& device, const std::string& library) {
    if (device.info().kind != DeviceKind::cuda || device.info().in_helper) return nullptr;
    std::vector<std::string> candidates{library};
    if (library.empty())
        candidates = {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"};
    auto functions = std::make_unique<Functions>();
    for (const std::string& path : candidates)
        if (functions->load(path))
            return std::unique_ptr<Cublas>(new Cublas(device, std::move(functions)));
    return nullptr;
}

Cublas::Cublas(Device& device, std::unique_ptr<Functions> functions)
    : device_(device), functions_(std::move(functions)) {
    check(functions_->create(&handle_), "cublasCreate");
    try {
        check(functions_->set_stream(handle_, device.native_stream()), "cublasSetStream");
        check(functions_->set_pointer_mode(handle_, pointer_mode_device), "cublasSetPointerMode");
    } catch (...) {
        functions_->destroy(handle_);
        throw;
    }
}

Cublas::~Cublas() {
    functions_->destroy(handle_);
}

void Cublas::dot(DevicePointer<float> x, DevicePointer<float> y, std::size_t n,
                 DevicePointer<float> result) {
    const auto pointer = [](DevicePointer<float> p) { return reinterpret_cast<float*>(p.address); };
    const Work work{.bytes = 8.0 * double(n), .flops = 2.0 * double(n)};
    device_.time_as(dot_name, work, [&] {
        check(functions_->sdot(handle_, int(n), pointer(x), 1, pointer(y), 1, pointer(result)),
              "cublasSdot");
    });
}

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
