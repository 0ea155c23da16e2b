#pragma once

#include "programs/driver_api/driver.h"
#include "programs/runtime_api/runtime.h"

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
