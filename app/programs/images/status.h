#pragma once

#include <stdexcept>
#include <string>

namespace warpscope::programs {

/// CUresult. cudaError_t has the same numbers, except for those that begin with `runtime_`, which
/// only cudaError_t has. Source: CUDA Driver API and CUDA Runtime API, "Data types".
enum class Status : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    runtime_invalid_configuration = 9,
    runtime_invalid_pitch = 12,
    runtime_invalid_symbol = 13,
    runtime_invalid_direction = 21,
    runtime_missing_configuration = 52,
    runtime_invalid_function = 98,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    already_mapped = 208,
    no_binary_for_gpu = 209,
    not_mapped = 211,
    not_mapped_as_array = 212,
    not_mapped_as_pointer = 213,
    invalid_ptx = 218,
    invalid_graphics_context = 219,
    file_not_found = 301,
    invalid_handle = 400,
    illegal_state = 401,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    assert_failed = 710,
    memory_already_registered = 712,
    memory_not_registered = 713,
    misaligned_address = 716,
    launch_failed = 719,
    cooperative_launch_too_large = 720,
    not_permitted = 800,
    not_supported = 801,
    stream_capture_unsupported = 900,
    stream_capture_invalidated = 901,
    graph_update_failed = 910,
    unknown = 999,
};

/// The name that the driver API has for a status: "CUDA_ERROR_INVALID_VALUE"; null for a number
/// that it does not have.
const char* driver_name_of(Status status);
/// The name that the runtime API has for a status: "cudaErrorInvalidValue"; null for a number that
/// it does not have.
const char* runtime_name_of(Status status);
/// One line about the status, for people: "invalid argument"; null for an unknown number.
const char* text_of(Status status);

/// A call of the program fails. The text is one line for people.
class CallError : public std::runtime_error {
  public:
    CallError(Status status, const std::string& what) : std::runtime_error(what), status(status) {}
    Status status;
};

inline void demand(bool holds, Status status, const char* problem) {
    if (!holds) throw CallError(status, problem);
}

}  // namespace warpscope::programs
