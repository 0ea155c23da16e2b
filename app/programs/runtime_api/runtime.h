#pragma once

#include "programs/driver_api/driver.h"

namespace warpscope::programs {

/// Does a call of the runtime API: as call(), and remembers the status for cudaGetLastError().
template <class Work>
Status runtime_call(const char* function, Work work);
void remember(Status status);

/// The version of the runtime that the program was built with: 12000, 13000.
int runtime_version();
void set_runtime_version(int version);

/// The function or variable of the program that nvcc's host code has registered for a host address;
/// a handle of cudaGetFuncBySymbol() or __cudaGetKernel() stands for itself. Throws CallError.
Function& function_of(const void* host);
const emulator::Module::GlobalVariable& variable_of(const void* host);

void launch(Gpu& gpu, const void* host, Dim grid, Dim block, void** arguments, std::size_t shared,
            Stream& stream, const LaunchForm& form = {});

template <class Work>
Status runtime_call(const char* function, Work work) {
    use_primary_context();
    const Status status = call(function, work);
    remember(status);
    return status;
}

}  // namespace warpscope::programs

/// Defines a function of the runtime API whose body is `work`, a lambda's body that uses `gpu`.
#define WARPSCOPE_RUNTIME(name, ...) \
    WARPSCOPE_API(warpscope::programs::Status, name, name, __VA_ARGS__)

#define WARPSCOPE_UNPACKED(...) __VA_ARGS__

/// Defines a function of the runtime API and one of the driver API that do the same: `parameters`
/// in parentheses, then the body of both, which uses `gpu`. `version` is what follows the driver's
/// name in the symbol that cuda.h chooses; it may be empty.
#define WARPSCOPE_BOTH(runtime_name, driver_name, version, parameters, ...)              \
    WARPSCOPE_RUNTIME(runtime_name, WARPSCOPE_UNPACKED parameters) {                     \
        return runtime_call(__func__, [&]([[maybe_unused]] Gpu& gpu) { __VA_ARGS__; });  \
    }                                                                                    \
    WARPSCOPE_DRIVER(driver_name, driver_name##version, WARPSCOPE_UNPACKED parameters) { \
        return driver_call(__func__, [&]([[maybe_unused]] Gpu& gpu) { __VA_ARGS__; });   \
    }
