#pragma once

#include "programs/api/api.h"

namespace warpscope::programs {

/// Does a call of the driver API: the runtime's own statuses become invalid_value.
template <class Work>
Status driver_call(const char* function, Work work) {
    const Status status = call(function, work);
    return driver_name_of(status) ? status : Status::invalid_value;
}

/// Finds a function of the driver API by its name: cuGetProcAddress(). `result` may be null.
Status find_entry_point(const char* name, void** function, unsigned long long flags, int* result);

/// Makes the primary context current in this thread unless one is.
void use_primary_context();

}  // namespace warpscope::programs

/// Defines a function of the driver API. cuda.h renames some of them when it is included:
/// cuMemAlloc to cuMemAlloc_v2, which is then the `symbol`.
#define WARPSCOPE_DRIVER(name, symbol, ...) \
    WARPSCOPE_API(warpscope::programs::Status, name, symbol, __VA_ARGS__)
