#pragma once

#include <cstddef>
#include <cstdint>

#include "programs/images/status.h"

// The CUDA driver behind the recorder: functions that it calls itself, and those that it stands in
// front of.
namespace warpscope::programs {

using Handle = void*;  // CUmodule, CUlibrary, CUfunction, CUkernel, CUstream

/// Functions of the driver, found once. Those of newer drivers may be null.
struct Driver {
    Status (*synchronize)() = nullptr;  // cuCtxSynchronize
    Status (*address_range)(std::uint64_t* base, std::size_t* bytes, std::uint64_t) = nullptr;
    Status (*copy_to_host)(void* to, std::uint64_t from, std::size_t bytes) = nullptr;
    Status (*module_variable)(std::uint64_t*, std::size_t*, Handle, const char* name) = nullptr;
    Status (*library_variable)(std::uint64_t*, std::size_t*, Handle, const char* name) = nullptr;
    Status (*is_capturing)(Handle stream, int* answer) = nullptr;  // cuStreamIsCapturing
};
const Driver& driver();

/// A function of the driver in whose place programs get one of ours.
struct Recorded {
    /// `real` becomes the driver's function when a program asks for it.
    Recorded(const char* symbol, void* ours, void** real);
};
/// Returns the driver's function with this name.
void* driver_function(const char* symbol);
/// Returns our function in place of the driver's: `found` itself if there is none.
void* recorded(const char* symbol, void* found);

}  // namespace warpscope::programs

/// Defines a function that programs get in place of the driver's, which real_NAME is.
#define WARPSCOPE_RECORDED(symbol, ...)                                                      \
    static warpscope::programs::Status (*real_##symbol)(__VA_ARGS__);                        \
    extern "C" __attribute__((visibility("default")))                                        \
    warpscope::programs::Status symbol(__VA_ARGS__);                                         \
    static const warpscope::programs::Recorded recorded_##symbol{                            \
        #symbol, reinterpret_cast<void*>(symbol), reinterpret_cast<void**>(&real_##symbol)}; \
    extern "C" warpscope::programs::Status symbol(__VA_ARGS__)

/// Finds the driver's function for a program that was linked with the driver, and so did not ask.
#define WARPSCOPE_FIND_REAL(symbol) \
    if (!real_##symbol)             \
    real_##symbol =                 \
        reinterpret_cast<decltype(real_##symbol)>(warpscope::programs::driver_function(#symbol))
