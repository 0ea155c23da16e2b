// Source: CUDA Runtime API, "Device Management", "Error Handling", "Version Management".
// Source: CUDA Runtime API, "Driver Entry Point Access".
#include "programs/driver_api/driver.h"
#include "programs/gpu/device_attributes.h"
#include "programs/runtime_api/runtime.h"

namespace warpscope::programs {

namespace {

thread_local Status last = Status::success;
int program_runtime = 13000;

}  // namespace

void remember(Status status) {
    if (status != Status::success) last = status;
}

int runtime_version() {
    return program_runtime;
}
void set_runtime_version(int version) {
    program_runtime = version;
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

namespace {

void demand_peer(int peer) {
    demand(can_access(current_device, peer), Status::invalid_device, "a GPU is no peer of itself");
}

Status write_properties(const char* function, void* to, int device, int version) {
    return runtime_call(function, [&](Gpu&) {
        demand_device(device);
        write_device_properties(to, version);
    });
}

}  // namespace

WARPSCOPE_RUNTIME(cudaGetLastError) {
    const Call held;
    gpu().on_error_read();
    const Status status = last;
    last = gpu().sticky();
    return status != Status::success ? status : last;
}
WARPSCOPE_RUNTIME(cudaPeekAtLastError) {
    const Call held;
    gpu().on_error_read();
    return last != Status::success ? last : gpu().sticky();
}
WARPSCOPE_API(const char*, cudaGetErrorString, cudaGetErrorString, Status status) {
    const char* const text = text_of(status);
    return text ? text : "unrecognized error code";
}
WARPSCOPE_API(const char*, cudaGetErrorName, cudaGetErrorName, Status status) {
    const char* const name = runtime_name_of(status);
    return name ? name : "unrecognized error code";
}

WARPSCOPE_RUNTIME(cudaDeviceSynchronize) {
    return runtime_call(__func__, [](Gpu& gpu) { gpu.synchronize(); });
}
WARPSCOPE_RUNTIME(cudaThreadSynchronize) {
    return cudaDeviceSynchronize();
}
WARPSCOPE_RUNTIME(cudaDeviceReset) {
    last = Status::success;
    return runtime_call(__func__, [](Gpu& gpu) { gpu.reset(); });
}
WARPSCOPE_RUNTIME(cudaThreadExit) {
    return cudaDeviceReset();
}
WARPSCOPE_RUNTIME(cudaGetDeviceCount, int* count) {
    return runtime_call(__func__, [&](Gpu& gpu) { *count = gpu.settings().gpus; });
}
WARPSCOPE_RUNTIME(cudaGetDevice, int* device) {
    *device = current_device;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaSetDevice, int device) {
    return runtime_call(__func__, [&](Gpu&) {
        demand_device(device);
        current_device = device;
    });
}
WARPSCOPE_RUNTIME(cudaInitDevice, int device, unsigned, unsigned) {
    return runtime_call(__func__, [&](Gpu&) { demand_device(device); });
}
WARPSCOPE_RUNTIME(cudaSetValidDevices, int*, int) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaSetDeviceFlags, unsigned) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaGetDeviceFlags, unsigned* flags) {
    *flags = 0;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaChooseDevice, int* device, const void*) {
    *device = 0;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceSetCacheConfig, int) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceGetCacheConfig, int* config) {
    *config = 0;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceSetSharedMemConfig, int) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceGetLimit, std::size_t* value, int limit) {
    return runtime_call(__func__, [&](Gpu& gpu) { *value = gpu.limit(limit); });
}
WARPSCOPE_RUNTIME(cudaDeviceSetLimit, int limit, std::size_t value) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.set_limit(limit, value); });
}
WARPSCOPE_BOTH(cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer, , (int* can, int device, int peer),
               *can = can_access(device, peer))
// All GPUs of a program have one memory.
WARPSCOPE_RUNTIME(cudaDeviceEnablePeerAccess, int peer, unsigned) {
    return runtime_call(__func__, [&](Gpu&) { demand_peer(peer); });
}
WARPSCOPE_RUNTIME(cudaDeviceDisablePeerAccess, int peer) {
    return runtime_call(__func__, [&](Gpu&) { demand_peer(peer); });
}
WARPSCOPE_RUNTIME(cudaDeviceGetStreamPriorityRange, int* least, int* greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceGetPCIBusId, char* text, int bytes, int) {
    return runtime_call(__func__, [&](Gpu&) {
        demand(bytes >= 13, Status::invalid_value, "the text has no room for 13 characters");
        std::strcpy(text, "0000:00:00.0");
    });
}
WARPSCOPE_RUNTIME(cudaDeviceGetByPCIBusId, int* device, const char*) {
    *device = 0;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaDeviceGetAttribute, int* value, int attribute, int device) {
    return runtime_call(__func__, [&](Gpu&) {
        demand_device(device);
        *value = device_attribute(attribute);
    });
}
// Programs of CUDA 12 call cudaGetDeviceProperties_v2. The name without a version has the layout of
// CUDA 11 there, and that of CUDA 13 from there on.
WARPSCOPE_RUNTIME(cudaGetDeviceProperties_v2, void* to, int device) {
    return write_properties(__func__, to, device, 12000);
}
WARPSCOPE_RUNTIME(cudaGetDeviceProperties, void* to, int device) {
    return write_properties(__func__, to, device, runtime_version() >= 13000 ? 13000 : 11000);
}
WARPSCOPE_RUNTIME(cudaDriverGetVersion, int* version) {
    *version = cuda_version;
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaRuntimeGetVersion, int* version) {
    *version = runtime_version();
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaProfilerStart) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaProfilerStop) {
    return Status::success;
}

WARPSCOPE_RUNTIME(cudaGetDriverEntryPoint, const char* name, void** function,
                  unsigned long long flags, int* result) {
    return runtime_call(__func__, [&](Gpu&) { find_entry_point(name, function, flags, result); });
}
WARPSCOPE_RUNTIME(cudaGetDriverEntryPointByVersion, const char* name, void** function,
                  unsigned /*version*/, unsigned long long flags, int* result) {
    return runtime_call(__func__, [&](Gpu&) { find_entry_point(name, function, flags, result); });
}
