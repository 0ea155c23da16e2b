// Source: CUDA Driver API, "Driver Entry Point Access".
#include "programs/driver_api/driver.h"

namespace warpscope::programs {

Status find_entry_point(const char* name, void** function, unsigned long long flags, int* result) {
    constexpr unsigned long long per_thread_flag = 2;  // …_PER_THREAD_DEFAULT_STREAM
    enum Found { found = 0, not_found = 1 };           // CUdriverProcAddressQueryResult
    const void* const known = find_api_function(name);
    const void* const target = !known                    ? missing_function(name)
                               : flags & per_thread_flag ? with_per_thread_stream(known)
                                                         : known;
    *function = *name ? const_cast<void*>(target) : nullptr;
    if (result) *result = *function ? found : not_found;
    return *function ? Status::success : Status::not_found;
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

WARPSCOPE_DRIVER(cuGetProcAddress, cuGetProcAddress_v2, const char* name, void** function, int,
                 unsigned long long flags, int* result) {
    return find_entry_point(name, function, flags, result);
}
// Programs of CUDA 11 ask for this one, which has no result.
extern "C" __attribute__((visibility("default"))) Status cuGetProcAddress(
    const char* name, void** function, int, unsigned long long flags) {
    return find_entry_point(name, function, flags, nullptr);
}
// The driver's tables for NVIDIA's own libraries are not documented, and programs do not need them.
WARPSCOPE_DRIVER(cuGetExportTable, cuGetExportTable, const void** table, const void*) {
    *table = nullptr;
    return Status::not_found;
}
