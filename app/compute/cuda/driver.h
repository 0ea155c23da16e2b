#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace warpscope::compute {

// Declarations of cuda.h and cudaGL.h, which belong to the CUDA Toolkit and not to the driver, as
// far as they are used here. Source: CUDA Driver API.
using CudaStatus = int;             // CUresult
using CudaDeviceNumber = int;       // CUdevice
using CudaAddress = std::uint64_t;  // CUdeviceptr
using CudaContext = struct CudaContextHandle*;
using CudaModule = struct CudaModuleHandle*;
using CudaFunction = struct CudaFunctionHandle*;
using CudaStream = struct CudaStreamHandle*;
using CudaEvent = struct CudaEventHandle*;
using CudaResource = struct CudaResourceHandle*;  // CUgraphicsResource

/// CUlaunchConfig.
struct CudaLaunch {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    CudaStream stream;
    const struct CudaLaunchAttribute* attributes;
    unsigned count;  ///< of the attributes
};
/// CUlaunchAttribute.
struct CudaLaunchAttribute {
    static constexpr int cooperative = 2, cluster_dimension = 4;
    int id;
    int padding;
    unsigned value[16];
};

/// The functions of libcuda.so.1, the library of NVIDIA's driver. The names with _v2 are those of
/// current headers; every driver from branch 450 (CUDA 11.0) on has all of them.
struct CudaDriver {
    CudaStatus (*init)(unsigned flags);
    CudaStatus (*version)(int* thousandfold);  ///< 12080 for CUDA 12.8
    CudaStatus (*error_name)(CudaStatus status, const char** name);
    CudaStatus (*error_string)(CudaStatus status, const char** text);

    CudaStatus (*device_count)(int* count);
    CudaStatus (*device_get)(CudaDeviceNumber* device, int ordinal);
    CudaStatus (*device_name)(char* name, int length, CudaDeviceNumber device);
    CudaStatus (*device_attribute)(int* value, int attribute, CudaDeviceNumber device);
    CudaStatus (*device_memory)(std::size_t* bytes, CudaDeviceNumber device);
    CudaStatus (*device_bus_id)(char* text, int length, CudaDeviceNumber device);

    CudaStatus (*primary_context_retain)(CudaContext* context, CudaDeviceNumber device);
    CudaStatus (*context_set)(CudaContext context);

    CudaStatus (*stream_create)(CudaStream* stream, unsigned flags);
    CudaStatus (*stream_destroy)(CudaStream stream);
    CudaStatus (*stream_synchronize)(CudaStream stream);
    CudaStatus (*event_create)(CudaEvent* event, unsigned flags);
    CudaStatus (*event_destroy)(CudaEvent event);
    CudaStatus (*event_record)(CudaEvent event, CudaStream stream);
    CudaStatus (*event_query)(CudaEvent event);
    CudaStatus (*event_elapsed)(float* milliseconds, CudaEvent start, CudaEvent stop);

    CudaStatus (*memory_allocate)(CudaAddress* address, std::size_t bytes);
    CudaStatus (*memory_free)(CudaAddress address);
    CudaStatus (*memory_info)(std::size_t* free, std::size_t* total);
    CudaStatus (*memory_register)(void* host, std::size_t bytes, unsigned flags);
    CudaStatus (*copy_to_device)(CudaAddress to, const void* from, std::size_t bytes,
                                 CudaStream stream);
    CudaStatus (*copy_to_host)(void* to, CudaAddress from, std::size_t bytes, CudaStream stream);
    CudaStatus (*copy_on_device)(CudaAddress to, CudaAddress from, std::size_t bytes,
                                 CudaStream stream);
    CudaStatus (*memory_set)(CudaAddress to, unsigned char value, std::size_t bytes,
                             CudaStream stream);

    CudaStatus (*module_load)(CudaModule* module, const void* image, unsigned options,
                              int* option_names, void** option_values);
    CudaStatus (*module_unload)(CudaModule module);
    CudaStatus (*module_function)(CudaFunction* function, CudaModule module, const char* name);
    CudaStatus (*module_variable)(CudaAddress* address, std::size_t* bytes, CudaModule module,
                                  const char* name);
    CudaStatus (*function_attribute)(int* value, int attribute, CudaFunction function);
    CudaStatus (*function_set_attribute)(CudaFunction function, int attribute, int value);
    CudaStatus (*launch)(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, CudaStream stream, void** arguments, void** extra);
    CudaStatus (*launch_cooperative)(CudaFunction function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, CudaStream stream,
                                     void** arguments);

    /// Null in drivers before CUDA 11.8, which have no clusters.
    CudaStatus (*launch_with)(const CudaLaunch* launch, CudaFunction function, void** arguments,
                              void** extra);

    CudaStatus (*resource_register_buffer)(CudaResource* resource, unsigned gl_buffer,
                                           unsigned flags);
    CudaStatus (*resource_unregister)(CudaResource resource);
    CudaStatus (*resources_map)(unsigned count, CudaResource* resources, CudaStream stream);
    CudaStatus (*resources_unmap)(unsigned count, CudaResource* resources, CudaStream stream);
    CudaStatus (*resource_address)(CudaAddress* address, std::size_t* bytes, CudaResource resource);
};

/// Values of CUresult.
struct CudaStatuses {
    static constexpr CudaStatus success = 0, out_of_memory = 2, no_device = 100,
                                invalid_image = 200, no_binary_for_gpu = 209,
                                unsupported_ptx_version = 222, not_ready = 600;
};

/// Values of CUdevice_attribute and CUfunction_attribute.
struct CudaAttributes {
    static constexpr int block_threads = 1, multiprocessors = 16, cache_bytes = 38,
                         capability_major = 75, capability_minor = 76, shared_bytes_optin = 97;
    static constexpr int function_static_shared = 1, function_registers = 4,
                         function_dynamic_shared = 8;
};

/// Loads the library and finds its functions. Null if the library, or one of the functions, is not
/// there.
std::unique_ptr<CudaDriver> load_cuda_driver(const char* library);

/// The driver's words for an error.
std::string_view error_words(const CudaDriver& driver, CudaStatus status);

/// The driver of this machine, loaded once and never unloaded. Null if none is installed.
const CudaDriver* cuda_driver();

}  // namespace warpscope::compute
