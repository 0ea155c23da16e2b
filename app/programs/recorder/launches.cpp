// The functions of the driver that the recorder stands in front of. Source: CUDA Driver API,
// "Module Management", "Library Management", "Execution Control", "Driver Entry Point Access".
#include <string>

#include "programs/recorder/recorder.h"

using namespace warpscope::programs;

namespace {

struct LaunchConfiguration {  // CUlaunchConfig
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    Handle stream;
    const void* attributes;
    unsigned count;
};

/// Tells the recorder of what the driver has made of data.
template <class Load>
Status load(Handle* made, const void* data, bool is_library, Load load) {
    const Status status = load();
    if (status == Status::success) recorder().on_load(*made, data, is_library);
    return status;
}
template <class Get>
Status alias(Handle* made, Handle from, Get get) {
    const Status status = get();
    if (status == Status::success) recorder().on_alias(*made, from);
    return status;
}
template <class Get>
Status get_function(Handle* made, Handle module, const char* name, Get get) {
    const Status status = get();
    if (status == Status::success) recorder().on_function(*made, module, name);
    return status;
}

/// The name of the symbol that a program gets for a function, with its version.
std::string symbol_of(const std::string& function, int version, unsigned long long flags) {
    constexpr unsigned long long per_thread = 2;
    if (function == "cuGetProcAddress")
        return version >= 12000 ? "cuGetProcAddress_v2" : "cuGetProcAddress";
    if (function == "cuGraphInstantiate" && version >= 12000) return "cuGraphInstantiateWithFlags";
    if (function == "cuGraphExecKernelNodeSetParams" && version >= 12000) return function + "_v2";
    if (function == "cuGraphExecUpdate" && version >= 12000) return function + "_v2";
    const bool has_twin = function.starts_with("cuLaunch") || function == "cuGraphLaunch" ||
                          function == "cuGraphInstantiateWithParams";
    return has_twin && flags & per_thread ? function + "_ptsz" : function;
}

}  // namespace

WARPSCOPE_RECORDED(cuModuleLoadData, Handle* module, const void* data) {
    WARPSCOPE_FIND_REAL(cuModuleLoadData);
    return load(module, data, false, [&] { return real_cuModuleLoadData(module, data); });
}
WARPSCOPE_RECORDED(cuModuleLoadDataEx, Handle* module, const void* data, unsigned count,
                   int* options, void** values) {
    WARPSCOPE_FIND_REAL(cuModuleLoadDataEx);
    return load(module, data, false,
                [&] { return real_cuModuleLoadDataEx(module, data, count, options, values); });
}
WARPSCOPE_RECORDED(cuModuleLoadFatBinary, Handle* module, const void* data) {
    WARPSCOPE_FIND_REAL(cuModuleLoadFatBinary);
    return load(module, data, false, [&] { return real_cuModuleLoadFatBinary(module, data); });
}
WARPSCOPE_RECORDED(cuLibraryLoadData, Handle* library, const void* data, int* options,
                   void** values, unsigned count, int* library_options, void** library_values,
                   unsigned library_count) {
    WARPSCOPE_FIND_REAL(cuLibraryLoadData);
    return load(library, data, true, [&] {
        return real_cuLibraryLoadData(library, data, options, values, count, library_options,
                                      library_values, library_count);
    });
}
WARPSCOPE_RECORDED(cuLibraryGetModule, Handle* module, Handle library) {
    WARPSCOPE_FIND_REAL(cuLibraryGetModule);
    return alias(module, library, [&] { return real_cuLibraryGetModule(module, library); });
}
WARPSCOPE_RECORDED(cuKernelGetFunction, Handle* function, Handle kernel) {
    WARPSCOPE_FIND_REAL(cuKernelGetFunction);
    return alias(function, kernel, [&] { return real_cuKernelGetFunction(function, kernel); });
}
WARPSCOPE_RECORDED(cuModuleGetFunction, Handle* function, Handle module, const char* name) {
    WARPSCOPE_FIND_REAL(cuModuleGetFunction);
    return get_function(function, module, name,
                        [&] { return real_cuModuleGetFunction(function, module, name); });
}
WARPSCOPE_RECORDED(cuLibraryGetKernel, Handle* kernel, Handle library, const char* name) {
    WARPSCOPE_FIND_REAL(cuLibraryGetKernel);
    return get_function(kernel, library, name,
                        [&] { return real_cuLibraryGetKernel(kernel, library, name); });
}

// Each launch has a twin for the default stream of a thread.
#define WARPSCOPE_LAUNCH(symbol)                                                                   \
    WARPSCOPE_RECORDED(symbol, Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       Handle stream, void** arguments, void** extra) {                            \
        WARPSCOPE_FIND_REAL(symbol);                                                               \
        return recorder().run(                                                                     \
            function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,     \
            arguments, extra, [&] {                                                                \
                return real_##symbol(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,  \
                                     shared, stream, arguments, extra);                            \
            });                                                                                    \
    }
#define WARPSCOPE_LAUNCH_EX(symbol)                                                               \
    WARPSCOPE_RECORDED(symbol, const LaunchConfiguration* c, Handle function, void** arguments,   \
                       void** extra) {                                                            \
        WARPSCOPE_FIND_REAL(symbol);                                                              \
        return recorder().run(                                                                    \
            function,                                                                             \
            {{c->grid_x, c->grid_y, c->grid_z}, {c->block_x, c->block_y, c->block_z}, c->shared}, \
            c->stream, arguments, extra,                                                          \
            [&] { return real_##symbol(c, function, arguments, extra); });                        \
    }
#define WARPSCOPE_COOPERATIVE_LAUNCH(symbol)                                                       \
    WARPSCOPE_RECORDED(symbol, Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       Handle stream, void** arguments) {                                          \
        WARPSCOPE_FIND_REAL(symbol);                                                               \
        return recorder().run(                                                                     \
            function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true},       \
            stream, arguments, nullptr, [&] {                                                      \
                return real_##symbol(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,  \
                                     shared, stream, arguments);                                   \
            });                                                                                    \
    }
WARPSCOPE_LAUNCH(cuLaunchKernel)
WARPSCOPE_LAUNCH(cuLaunchKernel_ptsz)
WARPSCOPE_LAUNCH_EX(cuLaunchKernelEx)
WARPSCOPE_LAUNCH_EX(cuLaunchKernelEx_ptsz)
WARPSCOPE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel)
WARPSCOPE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel_ptsz)

WARPSCOPE_RECORDED(cuGetProcAddress_v2, const char* name, void** function, int version,
                   unsigned long long flags, int* result) {
    WARPSCOPE_FIND_REAL(cuGetProcAddress_v2);
    const Status status = real_cuGetProcAddress_v2(name, function, version, flags, result);
    if (status == Status::success && *function)
        *function = recorded(symbol_of(name, version, flags).c_str(), *function);
    return status;
}
WARPSCOPE_RECORDED(cuGetProcAddress, const char* name, void** function, int version,
                   unsigned long long flags) {
    WARPSCOPE_FIND_REAL(cuGetProcAddress);
    const Status status = real_cuGetProcAddress(name, function, version, flags);
    if (status == Status::success && *function)
        *function = recorded(symbol_of(name, version, flags).c_str(), *function);
    return status;
}
