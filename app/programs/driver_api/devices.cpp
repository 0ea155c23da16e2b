// Source: CUDA Driver API, "Initialization", "Version Management", "Device Management", "Primary
// Context Management", "Context Management", "Error Handling".
// Source: CUDA Driver API, "Driver Entry Point Access".
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "programs/driver_api/driver.h"
#include "programs/gpu/device_attributes.h"

namespace warpscope::programs {

/// CUcontext. All contexts of a program share the one device and its memory.
struct Context {
    unsigned flags = 0;
    int device = 0;
};

}  // namespace warpscope::programs

using namespace warpscope::programs;

namespace {

struct Uuid {  // CUuuid
    char bytes[16];
};

Context primary;
unsigned primary_uses = 0;
thread_local std::vector<Context*> contexts;  // the last one is current

Status create_context(Context** context, unsigned flags, int device) {
    return driver_call("cuCtxCreate", [&](Gpu&) {
        demand_device(device);
        contexts.push_back(*context = new Context{flags, device});
    });
}

Status success_with(auto* to, auto value) {
    if (to) *to = value;
    return Status::success;
}

}  // namespace

void warpscope::programs::use_primary_context() {
    if (contexts.empty()) contexts.push_back(&primary);
}

WARPSCOPE_DRIVER(cuInit, cuInit, unsigned) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuDriverGetVersion, cuDriverGetVersion, int* version) {
    return success_with(version, cuda_version);
}
WARPSCOPE_DRIVER(cuGetErrorString, cuGetErrorString, Status status, const char** text) {
    *text = text_of(status);
    return *text ? Status::success : Status::invalid_value;
}
WARPSCOPE_DRIVER(cuGetErrorName, cuGetErrorName, Status status, const char** name) {
    *name = driver_name_of(status);
    return *name ? Status::success : Status::invalid_value;
}

WARPSCOPE_DRIVER(cuDeviceGetCount, cuDeviceGetCount, int* count) {
    return driver_call(__func__, [&](Gpu& gpu) { *count = gpu.settings().gpus; });
}
WARPSCOPE_DRIVER(cuDeviceGet, cuDeviceGet, int* device, int ordinal) {
    return driver_call(__func__, [&](Gpu&) {
        demand_device(ordinal);
        *device = ordinal;
    });
}
WARPSCOPE_DRIVER(cuDeviceGetName, cuDeviceGetName, char* name, int bytes, int) {
    std::snprintf(name, std::size_t(bytes), "%s", device_name);
    return Status::success;
}
WARPSCOPE_DRIVER(cuDeviceGetUuid, cuDeviceGetUuid_v2, Uuid* id, int) {
    std::memcpy(id->bytes, "warpscope-emul-0", sizeof id->bytes);
    return Status::success;
}
WARPSCOPE_DRIVER(cuDeviceTotalMem, cuDeviceTotalMem_v2, std::size_t* bytes, int) {
    return success_with(bytes, DeviceMemory::total_bytes);
}
WARPSCOPE_DRIVER(cuDeviceGetAttribute, cuDeviceGetAttribute, int* value, int attribute, int) {
    return success_with(value, device_attribute(attribute));
}
WARPSCOPE_DRIVER(cuDeviceComputeCapability, cuDeviceComputeCapability, int* major, int* minor,
                 int) {
    *minor = compute_capability() % 10;
    return success_with(major, compute_capability() / 10);
}
WARPSCOPE_DRIVER(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, char* text, int bytes, int) {
    std::snprintf(text, std::size_t(bytes), "0000:00:00.0");
    return Status::success;
}

WARPSCOPE_DRIVER(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, Context** context, int) {
    ++primary_uses;
    return success_with(context, &primary);
}
WARPSCOPE_DRIVER(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, int) {
    if (primary_uses) --primary_uses;
    return Status::success;
}
WARPSCOPE_DRIVER(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, int) {
    return driver_call(__func__, [](Gpu& gpu) { gpu.reset(); });
}
WARPSCOPE_DRIVER(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, int, unsigned* flags,
                 int* active) {
    *flags = primary.flags;
    return success_with(active, int(primary_uses > 0));
}
WARPSCOPE_DRIVER(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, int, unsigned flags) {
    primary.flags = flags;
    return Status::success;
}
WARPSCOPE_DRIVER(cuCtxGetCurrent, cuCtxGetCurrent, Context** context) {
    return success_with(context, contexts.empty() ? nullptr : contexts.back());
}
WARPSCOPE_DRIVER(cuStreamGetCtx, cuStreamGetCtx, StreamHandle stream, Context** context) {
    return driver_call(__func__, [&](Gpu&) {
        (void)stream_of(stream);
        *context = contexts.empty() ? &primary : contexts.back();
    });
}
WARPSCOPE_DRIVER(cuCtxSetCurrent, cuCtxSetCurrent, Context* context) {
    if (!contexts.empty()) contexts.pop_back();
    if (context) contexts.push_back(context);
    return Status::success;
}
WARPSCOPE_DRIVER(cuCtxPushCurrent, cuCtxPushCurrent_v2, Context* context) {
    contexts.push_back(context);
    return Status::success;
}
WARPSCOPE_DRIVER(cuCtxPopCurrent, cuCtxPopCurrent_v2, Context** context) {
    if (contexts.empty()) return Status::invalid_context;
    if (context) *context = contexts.back();
    contexts.pop_back();
    return Status::success;
}
// The parameters of cuCtxCreate_v4 come before the flags; programs of older headers call _v2.
WARPSCOPE_DRIVER(cuCtxCreate, cuCtxCreate_v4, Context** context, void*, unsigned flags,
                 int device) {
    return create_context(context, flags, device);
}
WARPSCOPE_DRIVER(cuCtxCreate_v2, cuCtxCreate_v2, Context** context, unsigned flags, int device) {
    return create_context(context, flags, device);
}
WARPSCOPE_DRIVER(cuCtxDestroy, cuCtxDestroy_v2, Context* context) {
    std::erase(contexts, context);
    if (context != &primary) delete context;
    return Status::success;
}
WARPSCOPE_DRIVER(cuCtxDetach, cuCtxDetach, Context* context) {
    return cuCtxDestroy_v2(context);
}
WARPSCOPE_DRIVER(cuCtxGetDevice, cuCtxGetDevice, int* device) {
    *device = contexts.empty() ? 0 : contexts.back()->device;
    return contexts.empty() ? Status::invalid_context : Status::success;
}
WARPSCOPE_DRIVER(cuCtxGetFlags, cuCtxGetFlags, unsigned* flags) {
    return success_with(flags, contexts.empty() ? 0 : contexts.back()->flags);
}
WARPSCOPE_DRIVER(cuCtxGetApiVersion, cuCtxGetApiVersion, Context*, unsigned* version) {
    return success_with(version, 3020);
}
WARPSCOPE_DRIVER(cuCtxSynchronize, cuCtxSynchronize) {
    return driver_call(__func__, [](Gpu& gpu) { gpu.synchronize(); });
}
WARPSCOPE_DRIVER(cuCtxSetCacheConfig, cuCtxSetCacheConfig, int) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuCtxGetCacheConfig, cuCtxGetCacheConfig, int* config) {
    return success_with(config, 0);
}
WARPSCOPE_DRIVER(cuCtxGetLimit, cuCtxGetLimit, std::size_t* value, int limit) {
    return driver_call(__func__, [&](Gpu& gpu) { *value = gpu.limit(limit); });
}
WARPSCOPE_DRIVER(cuCtxSetLimit, cuCtxSetLimit, int limit, std::size_t value) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.set_limit(limit, value); });
}
WARPSCOPE_DRIVER(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, int* least,
                 int* greatest) {
    success_with(least, 0);
    return success_with(greatest, -5);
}
WARPSCOPE_DRIVER(cuProfilerStart, cuProfilerStart) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuProfilerStop, cuProfilerStop) {
    return Status::success;
}

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

namespace {

/// Says once of each library that its calls of CUDA fail; `code` is in it. NVRTC asks the driver
/// for a cache only, and does without one.
void say_what_cannot_be_replaced(Gpu& gpu, const void* code) {
    static auto* const said = new std::set<std::string>;
    Dl_info info{};
    if (!dladdr(code, &info) || !info.dli_fname || std::strstr(info.dli_fname, "/libnvrtc.") ||
        !said->insert(info.dli_fname).second)
        return;
    gpu.say_error(fmt::format(
        "{} is stripped, so the CUDA runtime in it cannot be replaced: what the program does by "
        "this library fails",
        info.dli_fname));
}

}  // namespace
}  // namespace warpscope::programs

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
// NVIDIA's runtime asks for them where it could not be replaced: in a library that is stripped.
WARPSCOPE_DRIVER(cuGetExportTable, cuGetExportTable, const void** table, const void*) {
    *table = nullptr;
    const void* const caller = __builtin_return_address(0);
    driver_call(__func__, [&](Gpu& gpu) { say_what_cannot_be_replaced(gpu, caller); });
    return Status::not_found;
}
