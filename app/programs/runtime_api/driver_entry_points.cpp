// Source: CUDA Runtime API, "Driver Entry Point Access".
#include "programs/driver_api/driver.h"
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

WARPSCOPE_RUNTIME(cudaGetDriverEntryPoint, const char* name, void** function,
                  unsigned long long flags, int* result) {
    return runtime_call(__func__, [&](Gpu&) { find_entry_point(name, function, flags, result); });
}
WARPSCOPE_RUNTIME(cudaGetDriverEntryPointByVersion, const char* name, void** function,
                  unsigned /*version*/, unsigned long long flags, int* result) {
    return runtime_call(__func__, [&](Gpu&) { find_entry_point(name, function, flags, result); });
}
