#include "compute/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace warpscope::compute {

std::unique_ptr<CudaDriver> load_cuda_driver(const char* library) {
    // The library is never unloaded, because the driver has threads.
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    auto driver = std::make_unique<CudaDriver>();
    CudaDriver& d = *driver;
    bool complete = true;
    const auto find = [&]<class Function>(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        complete = complete && function;
    };
    find(d.init, "cuInit");
    find(d.version, "cuDriverGetVersion");
    find(d.error_name, "cuGetErrorName");
    find(d.error_string, "cuGetErrorString");
    find(d.device_count, "cuDeviceGetCount");
    find(d.device_get, "cuDeviceGet");
    find(d.device_name, "cuDeviceGetName");
    find(d.device_attribute, "cuDeviceGetAttribute");
    find(d.device_memory, "cuDeviceTotalMem_v2");
    find(d.device_bus_id, "cuDeviceGetPCIBusId");
    find(d.primary_context_retain, "cuDevicePrimaryCtxRetain");
    find(d.context_set, "cuCtxSetCurrent");
    find(d.stream_create, "cuStreamCreate");
    find(d.stream_destroy, "cuStreamDestroy_v2");
    find(d.stream_synchronize, "cuStreamSynchronize");
    find(d.event_create, "cuEventCreate");
    find(d.event_destroy, "cuEventDestroy_v2");
    find(d.event_record, "cuEventRecord");
    find(d.event_query, "cuEventQuery");
    find(d.event_elapsed, "cuEventElapsedTime");
    find(d.memory_allocate, "cuMemAlloc_v2");
    find(d.memory_free, "cuMemFree_v2");
    find(d.memory_info, "cuMemGetInfo_v2");
    find(d.memory_register, "cuMemHostRegister_v2");
    find(d.copy_to_device, "cuMemcpyHtoDAsync_v2");
    find(d.copy_to_host, "cuMemcpyDtoHAsync_v2");
    find(d.copy_on_device, "cuMemcpyDtoDAsync_v2");
    find(d.memory_set, "cuMemsetD8Async");
    find(d.array_create, "cuArray3DCreate_v2");
    find(d.array_destroy, "cuArrayDestroy");
    find(d.copy_array, "cuMemcpy3DAsync_v2");
    find(d.texture_create, "cuTexObjectCreate");
    find(d.texture_destroy, "cuTexObjectDestroy");
    find(d.surface_create, "cuSurfObjectCreate");
    find(d.surface_destroy, "cuSurfObjectDestroy");
    find(d.module_load, "cuModuleLoadDataEx");
    find(d.module_unload, "cuModuleUnload");
    find(d.module_function, "cuModuleGetFunction");
    find(d.module_variable, "cuModuleGetGlobal_v2");
    find(d.function_attribute, "cuFuncGetAttribute");
    find(d.function_set_attribute, "cuFuncSetAttribute");
    find(d.launch, "cuLaunchKernel");
    find(d.launch_cooperative, "cuLaunchCooperativeKernel");
    d.launch_with = reinterpret_cast<decltype(d.launch_with)>(dlsym(handle, "cuLaunchKernelEx"));
    find(d.resource_register_buffer, "cuGraphicsGLRegisterBuffer");
    find(d.resource_unregister, "cuGraphicsUnregisterResource");
    find(d.resources_map, "cuGraphicsMapResources");
    find(d.resources_unmap, "cuGraphicsUnmapResources");
    find(d.resource_address, "cuGraphicsResourceGetMappedPointer_v2");
    return complete ? std::move(driver) : nullptr;
}

std::string_view error_words(const CudaDriver& driver, CudaStatus status) {
    const char* text = nullptr;
    driver.error_string(status, &text);
    return text ? text : "an unknown error";
}

const CudaDriver* cuda_driver() {
    static const std::unique_ptr<CudaDriver> driver = load_cuda_driver("libcuda.so.1");
    return driver.get();
}

const CudaDriver& cuda() {
    const CudaDriver* const driver = cuda_driver();
    if (!driver) throw DeviceError("no NVIDIA driver is installed");
    return *driver;
}

bool cuda_is_lost(CudaStatus status) {
    switch (status) {
        case 46:   // CUDA_ERROR_DEVICE_UNAVAILABLE
        case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
        case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
        case 226:  // CUDA_ERROR_CONTAINED
        case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
        case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
        case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
        case 710:  // CUDA_ERROR_ASSERT
        case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
        case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
        case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
        case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
        case 718:  // CUDA_ERROR_INVALID_PC
        case 719:  // CUDA_ERROR_LAUNCH_FAILED
        case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
        case 806:  // CUDA_ERROR_MPS_RPC_FAILURE
        case 810:  // CUDA_ERROR_MPS_CLIENT_TERMINATED
        case 911:  // CUDA_ERROR_EXTERNAL_DEVICE
            return true;
        default:
            return false;
    }
}

void cuda_check(CudaStatus status, std::string_view what, std::string_view file, int line) {
    if (status == CudaStatuses::success) return;
    const char* name = nullptr;
    cuda().error_name(status, &name);
    const auto message =
        fmt::format("{}: {} ({}, {}:{})", what, error_words(cuda(), status),
                    name ? name : "unknown", file.substr(file.rfind('/') + 1), line);
    if (cuda_is_lost(status)) throw DeviceLost(message);
    throw DeviceError(message);
}

PrimaryContext::PrimaryContext(int ordinal) {
    cuda_check(cuda().device_get(&device_, ordinal), fmt::format("using GPU {}", ordinal));
    cuda_check(cuda().primary_context_retain(&context_, device_),
               fmt::format("using GPU {}", ordinal));
    make_current();
}

}  // namespace warpscope::compute
