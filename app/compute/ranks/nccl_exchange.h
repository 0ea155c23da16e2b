#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "compute/cuda/driver.h"
#include "compute/ranks/host_exchange.h"

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

/// An exchange between GPUs, of this process and of others, by NCCL. A thread watches it: after an
/// error of NCCL, or if an exchange hangs, it ends all exchanges, and later calls throw DeviceLost.
class NcclExchange : public HostExchange {
  public:
    /// An exchange that runs longer than this has hung: the GPUs begin it at about the same time.
    static constexpr std::chrono::seconds longest{5};

    /// Throws Refused before it connects the GPUs.
    static std::shared_ptr<NcclExchange> make(Device& device, Company company,
                                              std::shared_ptr<const Nccl> nccl);
    ~NcclExchange() override;

    void all_gather(std::span<const std::uint64_t> arrays,
                    std::span<const std::size_t> bounds) override;
    void sum(std::span<const std::uint64_t> arrays, std::size_t count) override;
    std::string words() const override;

  private:
    /// A GPU of this process.
    struct Member {
        Device* device;
        PrimaryContext context;
        NcclComm comm = nullptr;
        CudaStream stream() const { return static_cast<CudaStream>(device->native_stream()); }
    };
    /// An exchange on the stream of the first GPU.
    struct Watched {
        CudaEvent begin = nullptr, end = nullptr;
        /// When the thread first saw it; 0: not yet.
        std::chrono::steady_clock::time_point begun{};
    };

    NcclExchange(Device& device, Company company, Roll roll, std::shared_ptr<const Nccl> nccl);
    void connect();
    bool drain();
    template <class Call>
    void group(const char* what, const Call& call);
    void queue(const std::function<void()>& exchange);
    void record(CudaEvent event) const;
    Watched unused();
    void retire();
    void check() const;
    void watch(const std::stop_token& stop);
    std::string fault();

    std::shared_ptr<const Nccl> nccl_;
    std::vector<Member> members_;
    mutable std::mutex mutex_;
    std::deque<Watched> watched_;  ///< the exchanges that have not ended, the oldest first
    std::vector<Watched> ended_;   ///< the events of exchanges that have ended, to be used again
    std::string failure_;          ///< why the exchanges have failed; empty: they have not
    std::jthread watch_;
};

}  // namespace warpscope::compute
