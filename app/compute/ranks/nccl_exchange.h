#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "compute/cuda/primary_context.h"
#include "compute/ranks/host_exchange.h"
#include "compute/ranks/nccl.h"

namespace warpscope::compute {

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
