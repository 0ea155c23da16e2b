#include "programs/images/status.h"

namespace warpscope::programs {

namespace {

struct Row {
    Status status;
    const char* driver;  ///< null: only the runtime has this status
    const char* runtime;
    const char* text;
};

constexpr Row rows[] = {
    {Status::success, "CUDA_SUCCESS", "cudaSuccess", "no error"},
    {Status::invalid_value, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue",
     "invalid argument"},
    {Status::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
     "out of memory"},
    {Status::not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError",
     "initialization error"},
    {Status::runtime_invalid_configuration, nullptr, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {Status::runtime_invalid_pitch, nullptr, "cudaErrorInvalidPitchValue",
     "invalid pitch argument"},
    {Status::runtime_invalid_symbol, nullptr, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {Status::runtime_invalid_direction, nullptr, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {Status::runtime_missing_configuration, nullptr, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {Status::runtime_invalid_function, nullptr, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {Status::no_device, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice",
     "no CUDA-capable device is detected"},
    {Status::invalid_device, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice",
     "invalid device ordinal"},
    {Status::invalid_image, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage",
     "device kernel image is invalid"},
    {Status::invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
     "invalid device context"},
    {Status::already_mapped, "CUDA_ERROR_ALREADY_MAPPED", "cudaErrorAlreadyMapped",
     "resource already mapped"},
    {Status::no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {Status::not_mapped, "CUDA_ERROR_NOT_MAPPED", "cudaErrorNotMapped", "resource not mapped"},
    {Status::not_mapped_as_array, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "cudaErrorNotMappedAsArray",
     "resource not mapped as array"},
    {Status::not_mapped_as_pointer, "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
     "cudaErrorNotMappedAsPointer", "resource not mapped as pointer"},
    {Status::invalid_ptx, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx",
     "a PTX JIT compilation failed"},
    {Status::invalid_graphics_context, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
     "cudaErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
    {Status::file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound",
     "file not found"},
    {Status::invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {Status::illegal_state, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {Status::not_found, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound",
     "named symbol not found"},
    {Status::not_ready, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
    {Status::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {Status::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {Status::launch_timeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout",
     "the launch timed out and was terminated"},
    {Status::assert_failed, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered"},
    {Status::memory_already_registered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {Status::memory_not_registered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {Status::misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress",
     "misaligned address"},
    {Status::launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure",
     "unspecified launch failure"},
    {Status::cooperative_launch_too_large, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {Status::not_permitted, "CUDA_ERROR_NOT_PERMITTED", "cudaErrorNotPermitted",
     "operation not permitted"},
    {Status::not_supported, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported",
     "operation not supported"},
    {Status::stream_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {Status::stream_capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {Status::graph_update_failed, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {Status::unknown, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error"},
};

const Row* find(Status status) {
    for (const Row& row : rows)
        if (row.status == status) return &row;
    return nullptr;
}

}  // namespace

const char* driver_name_of(Status status) {
    const Row* row = find(status);
    return row ? row->driver : nullptr;
}

const char* runtime_name_of(Status status) {
    const Row* row = find(status);
    return row ? row->runtime : nullptr;
}

const char* text_of(Status status) {
    const Row* row = find(status);
    return row ? row->text : nullptr;
}

}  // namespace warpscope::programs
