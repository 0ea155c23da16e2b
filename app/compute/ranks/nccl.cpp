#include "compute/ranks/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "compute/device/device.h"

namespace warpscope::compute {

std::shared_ptr<const Nccl> load_nccl(const char* library) {
    constexpr const char* advice =
        "install NCCL (libnccl2 of NVIDIA's CUDA repository), or use one GPU: --device cuda:0";
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        throw DeviceError(fmt::format("several GPUs need NCCL, and {} can't be loaded ({}): {}",
                                      library, ::dlerror(), advice));
    auto nccl = std::make_shared<Nccl>();
    const auto find = [&]<class Function>(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(handle, name));
        if (!function) throw DeviceError(fmt::format("{} has no {}(): {}", library, name, advice));
    };
    find(nccl->version, "ncclGetVersion");
    find(nccl->unique_id, "ncclGetUniqueId");
    find(nccl->init_rank, "ncclCommInitRank");
    find(nccl->abort, "ncclCommAbort");
    find(nccl->destroy, "ncclCommDestroy");
    find(nccl->async_error, "ncclCommGetAsyncError");
    find(nccl->error_string, "ncclGetErrorString");
    find(nccl->group_start, "ncclGroupStart");
    find(nccl->group_end, "ncclGroupEnd");
    find(nccl->all_gather, "ncclAllGather");
    find(nccl->broadcast, "ncclBroadcast");
    find(nccl->all_reduce, "ncclAllReduce");
    return nccl;
}

std::string nccl_version(const Nccl& nccl) {
    int number = 0;
    nccl.version(&number);
    return fmt::format("NCCL {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

void nccl_check(const Nccl& nccl, NcclStatus status, const char* what) {
    if (status == Nccl::success || status == Nccl::in_progress) return;
    const auto message = fmt::format("{}: NCCL: {}", what, nccl.error_string(status));
    constexpr NcclStatus invalid_argument = 4, invalid_usage = 5;
    if (status == invalid_argument || status == invalid_usage) throw DeviceError(message);
    throw DeviceLost(message);
}

}  // namespace warpscope::compute
