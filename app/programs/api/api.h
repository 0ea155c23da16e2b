#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>

#include "programs/gpu/gpu.h"

namespace warpscope::programs {

// Types of cuda.h and cuda_runtime_api.h, which belong to the CUDA Toolkit, as far as the functions
// of this library take them. Handles are pointers to our own objects.
using Address = std::uint64_t;         // CUdeviceptr
using StreamHandle = Stream*;          // CUstream; also the numbers below
using HostFunction = void (*)(void*);  // CUhostFn
struct Dim {                           // dim3
    unsigned x, y, z;
};

struct LaunchAttribute {  // CUlaunchAttribute, cudaLaunchAttribute
    int id, padding;
    char value[64];
};
/// What the attributes of a launch ask for.
struct LaunchForm {
    bool cooperative = false;
    Dim cluster{1, 1, 1};  ///< blocks
};
LaunchForm form_of(const LaunchAttribute* attributes, unsigned count);

/// Throws CallError unless the program has a GPU with this number.
void demand_device(int device);
/// Whether the one of two GPUs may use the memory of the other: all do.
bool can_access(int device, int peer);

/// A function that programs may call.
struct ApiFunction {
    ApiFunction(const char* name, const void* function);
};
/// Returns the function for a name without its version ("cuMemAlloc"); null if the library lacks
/// it.
const void* find_api_function(std::string_view name);

/// The stream of a handle: null and 1 are the legacy default stream, 2 is that of the thread; null
/// too, in a call of a program that nvcc has compiled with --default-stream per-thread.
Stream& stream_of(StreamHandle handle);
/// The next call of this thread takes null for the thread's default stream.
extern "C" void warpscope_per_thread_stream();

/// A function with code that calls warpscope_per_thread_stream() and then goes to `function`.
const void* with_per_thread_stream(const void* function);
/// A function that says that the library lacks `name`, and returns Status::not_supported.
const void* missing_function(std::string_view name);

/// Does a call of the program: returns the status of the CallError that `work` throws.
template <class Work>
Status call(const char* function, Work work);
/// Ends a call, with what a CallError says.
Status end_call(const char* function, Status status, const char* problem);

template <class Work>
Status call(const char* function, Work work) {
    const Call held;
    try {
        gpu().use();
        work(gpu());
        return end_call(function, Status::success, nullptr);
    } catch (const CallError& error) {
        return end_call(function, error.status, error.what());
    } catch (const std::bad_alloc&) {
        return end_call(function, Status::out_of_memory, "the host has no memory left");
    } catch (const std::exception& error) {  // such as of a library that can start no thread
        return end_call(function, Status::unknown, error.what());
    }
}

}  // namespace warpscope::programs

/// Defines and exports a function, and registers it before the constructors of this library that
/// use them. It returns `type`. `name` is what programs ask for; `symbol` is the exported name,
/// with the version that current headers choose.
#define WARPSCOPE_API(type, name, symbol, ...)                                                 \
    extern "C" __attribute__((visibility("default"))) type symbol(__VA_ARGS__);                \
    __attribute__((                                                                            \
        init_priority(1000))) static const warpscope::programs::ApiFunction entry_of_##symbol{ \
        #name, reinterpret_cast<const void*>(symbol)};                                         \
    extern "C" type symbol(__VA_ARGS__)
