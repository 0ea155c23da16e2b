// NVIDIA's compilers, as programs load them.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

// NVRTC gives programs machine code. With line information, it holds the PTX that it was made of.
extern "C" __attribute__((visibility("default"))) int nvrtcCompileProgram(
    void* program, int count, const char* const* options) {
    using Compile = int(void*, int, const char* const*);
    constexpr int internal_error = 11;  // NVRTC_ERROR_INTERNAL_ERROR
    auto* const compile = reinterpret_cast<Compile*>(dlsym(RTLD_NEXT, "nvrtcCompileProgram"));
    if (!compile) return internal_error;
    std::vector<const char*> all(options, options + count);
    const auto asks_for_lines = [](std::string_view option) {
        return option == "-lineinfo" || option == "--generate-line-info";
    };
    if (std::ranges::none_of(all, asks_for_lines)) all.push_back("-lineinfo");
    return compile(program, int(all.size()), all.data());
}

// nvJitLink makes machine code, which the emulator cannot run. Where it lacks a function, Numba
// links PTX by the functions of the driver. So dlopen() gives this library, which has none of its
// functions.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
    using Open = void*(const char*, int);
    static auto* const open = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "dlopen"));
    if (file && std::strstr(file, "libnvJitLink.so")) file = "libcuda.so.1";
    // dlopen() searches the folders of its caller, so the compiler must make a jump of this call.
    return open(file, mode);
}
