#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "compute/cuda/driver.h"

namespace warpscope::compute {

// Declarations of nccl.h, as far as they are used here. Source: NCCL User Guide, "NCCL API".
using NcclStatus = int;  // ncclResult_t
using NcclComm = struct NcclCommHandle*;
struct NcclId {  // ncclUniqueId
    std::array<char, 128> bytes;
};

/// Functions of libnccl.so.2, NVIDIA's library for exchanges between GPUs.
struct Nccl {
    static constexpr NcclStatus success = 0, in_progress = 7;
    static constexpr int uint64 = 5, float32 = 7;  // ncclDataType_t
    static constexpr int sum = 0;                  // ncclRedOp_t

    NcclStatus (*version)(int* number);  ///< 22707 for 2.27.7
    NcclStatus (*unique_id)(NcclId* id);
    NcclStatus (*init_rank)(NcclComm* comm, int ranks, NcclId id, int rank);
    NcclStatus (*abort)(NcclComm comm);
    NcclStatus (*destroy)(NcclComm comm);
    NcclStatus (*async_error)(NcclComm comm, NcclStatus* status);
    const char* (*error_string)(NcclStatus status);
    NcclStatus (*group_start)();
    NcclStatus (*group_end)();
    NcclStatus (*all_gather)(const void* from, void* to, std::size_t count, int type, NcclComm comm,
                             CudaStream stream);
    NcclStatus (*broadcast)(const void* from, void* to, std::size_t count, int type, int root,
                            NcclComm comm, CudaStream stream);
    NcclStatus (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation,
                             NcclComm comm, CudaStream stream);
};

/// Loads the library and finds its functions; never unloads it. Throws DeviceError that says what
/// to install.
std::shared_ptr<const Nccl> load_nccl(const char* library = "libnccl.so.2");

/// Returns the version in words: "NCCL 2.27.7".
std::string nccl_version(const Nccl& nccl);

/// Throws DeviceError if a call has failed; DeviceLost if NCCL can't be used any more.
void nccl_check(const Nccl& nccl, NcclStatus status, const char* what);

}  // namespace warpscope::compute
