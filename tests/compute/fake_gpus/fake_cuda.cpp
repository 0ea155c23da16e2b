// A driver with the functions that an exchange of NCCL calls. Its streams reach what is queued at
// once, up to a point that a test sets.
#include <cstdlib>
#include <limits>
#include <mutex>

namespace {

struct Event {
    long at = 0;  ///< its place among all recorded events
};

std::mutex mutex;
long recorded = 0, last_reached = std::numeric_limits<long>::max();
constexpr int success = 0, not_ready = 600, not_supported = 801;

}  // namespace

extern "C" {

/// The streams stop after this many further events; negative: they go on.
void fake_cuda_stop_after(int events) {
    const std::lock_guard lock(mutex);
    last_reached = events < 0 ? std::numeric_limits<long>::max() : recorded + events;
}

int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = nullptr;
    return success;
}
int cuCtxSetCurrent(void*) {
    return success;
}
int cuGetErrorString(int, const char** text) {
    *text = "an error of the fake driver";
    return success;
}
int cuEventCreate(Event** event, unsigned) {
    *event = new Event;
    return success;
}
int cuEventDestroy_v2(Event* event) {
    delete event;
    return success;
}
int cuEventRecord(Event* event, void*) {
    const std::lock_guard lock(mutex);
    event->at = ++recorded;
    return success;
}
int cuEventQuery(Event* event) {
    const std::lock_guard lock(mutex);
    return event->at <= last_reached ? success : not_ready;
}

#define NOT_SUPPORTED(name)   \
    int name() {              \
        return not_supported; \
    }
NOT_SUPPORTED(cuInit)
NOT_SUPPORTED(cuDriverGetVersion)
NOT_SUPPORTED(cuGetErrorName)
NOT_SUPPORTED(cuDeviceGetCount)
NOT_SUPPORTED(cuDeviceGetName)
NOT_SUPPORTED(cuDeviceGetAttribute)
NOT_SUPPORTED(cuDeviceTotalMem_v2)
NOT_SUPPORTED(cuDeviceGetPCIBusId)
NOT_SUPPORTED(cuStreamCreate)
NOT_SUPPORTED(cuStreamDestroy_v2)
NOT_SUPPORTED(cuStreamSynchronize)
NOT_SUPPORTED(cuEventElapsedTime)
NOT_SUPPORTED(cuMemAlloc_v2)
NOT_SUPPORTED(cuMemFree_v2)
NOT_SUPPORTED(cuMemGetInfo_v2)
NOT_SUPPORTED(cuMemHostRegister_v2)
NOT_SUPPORTED(cuMemcpyHtoDAsync_v2)
NOT_SUPPORTED(cuMemcpyDtoHAsync_v2)
NOT_SUPPORTED(cuMemcpyDtoDAsync_v2)
NOT_SUPPORTED(cuMemsetD8Async)
NOT_SUPPORTED(cuArray3DCreate_v2)
NOT_SUPPORTED(cuArrayDestroy)
NOT_SUPPORTED(cuMemcpy3DAsync_v2)
NOT_SUPPORTED(cuTexObjectCreate)
NOT_SUPPORTED(cuTexObjectDestroy)
NOT_SUPPORTED(cuSurfObjectCreate)
NOT_SUPPORTED(cuSurfObjectDestroy)
NOT_SUPPORTED(cuModuleLoadDataEx)
NOT_SUPPORTED(cuModuleUnload)
NOT_SUPPORTED(cuModuleGetFunction)
NOT_SUPPORTED(cuModuleGetGlobal_v2)
NOT_SUPPORTED(cuFuncGetAttribute)
NOT_SUPPORTED(cuFuncSetAttribute)
NOT_SUPPORTED(cuLaunchKernel)
NOT_SUPPORTED(cuLaunchCooperativeKernel)
NOT_SUPPORTED(cuGraphicsGLRegisterBuffer)
NOT_SUPPORTED(cuGraphicsUnregisterResource)
NOT_SUPPORTED(cuGraphicsMapResources)
NOT_SUPPORTED(cuGraphicsUnmapResources)
NOT_SUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
}
