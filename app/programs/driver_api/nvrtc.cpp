// NVRTC gives programs machine code. With line information, it holds the PTX that it was made of.
#include <dlfcn.h>

#include <algorithm>
#include <string_view>
#include <vector>

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
