#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "compute/device/device.h"

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
using CudaArray = struct CudaArrayHandle*;

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

/// CUDA_ARRAY3D_DESCRIPTOR.
struct CudaArrayShape {
    static constexpr unsigned layered = 1, surface = 2, cube = 4;
    std::size_t width, height, depth;  ///< elements; 0: the array has no such dimension
    int format;                        ///< CUarray_format
    unsigned channels;
    unsigned flags = 0;
};
/// One half of CUDA_MEMCPY3D: where a copy reads or writes.
struct CudaCopyEnd {
    static constexpr int device = 2, in_array = 3;
    std::size_t x, y, z, level;
    int kind;
    void* host;
    CudaAddress device_address;
    CudaArray array;
    void* reserved;
    std::size_t pitch, height;
};
/// CUDA_MEMCPY3D.
struct CudaCopy {
    CudaCopyEnd from, to;
    std::size_t row_bytes, height, depth;
};
/// CUDA_RESOURCE_DESC.
struct CudaResourceShape {
    static constexpr int of_array = 0, of_memory = 2;
    int kind;
    union {
        CudaArray array;
        struct {
            CudaAddress address;
            int format;
            unsigned channels;
            std::size_t bytes;
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
};
/// CUDA_TEXTURE_DESC.
struct CudaSampling {
    static constexpr unsigned reads_integers = 1, normalized_coordinates = 2;
    int address[3];  ///< CUaddress_mode
    int filter;      ///< 0: the nearest element, 1: linear
    unsigned flags;
    unsigned anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
    float border[4];
    int reserved[12];
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

    CudaStatus (*array_create)(CudaArray* array, const CudaArrayShape* shape);
    CudaStatus (*array_destroy)(CudaArray array);
    CudaStatus (*copy_array)(const CudaCopy* copy, CudaStream stream);
    CudaStatus (*texture_create)(std::uint64_t* handle, const CudaResourceShape* resource,
                                 const CudaSampling* sampling, const void* view);
    CudaStatus (*texture_destroy)(std::uint64_t handle);
    CudaStatus (*surface_create)(std::uint64_t* handle, const CudaResourceShape* resource);
    CudaStatus (*surface_destroy)(std::uint64_t handle);

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

/// The driver of this machine. Throws DeviceError if none is installed.
const CudaDriver& cuda();

/// True for errors after which every call of this process fails (cuda.h: "the process must be
/// terminated and relaunched") and for faults of the GPU itself.
bool cuda_is_lost(CudaStatus status);

/// Throws DeviceError if a call has failed; DeviceLost if no later call can succeed. The message
/// names the action `what`, the driver's reason and the line of the call.
void cuda_check(CudaStatus status, std::string_view what, std::string_view file = __builtin_FILE(),
                int line = __builtin_LINE());

/// The context that CUDA's libraries and OpenGL interop use too (CUDA Driver API, "Primary Context
/// Management"). It lives until the process ends, because these libraries keep handles in it.
class PrimaryContext {
  public:
    /// Throws DeviceError.
    explicit PrimaryContext(int ordinal);

    CudaDeviceNumber device() const { return device_; }
    /// Makes it the context of this thread's calls.
    void make_current() const noexcept { cuda().context_set(context_); }

  private:
    CudaDeviceNumber device_ = 0;
    CudaContext context_ = nullptr;
};

}  // namespace warpscope::compute
