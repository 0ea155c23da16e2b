#include "compute/ranks/nccl_exchange.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "compute/device/device.h"
#include "compute/libraries/nvml.h"

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

namespace {

/// Returns the version in words: "NCCL 2.27.7".
std::string nccl_version(const Nccl& nccl) {
    int number = 0;
    nccl.version(&number);
    return fmt::format("NCCL {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

/// Throws DeviceError if a call has failed; DeviceLost if NCCL can't be used any more.
void nccl_check(const Nccl& nccl, NcclStatus status, const char* what) {
    if (status == Nccl::success || status == Nccl::in_progress) return;
    const auto message = fmt::format("{}: NCCL: {}", what, nccl.error_string(status));
    constexpr NcclStatus invalid_argument = 4, invalid_usage = 5;
    if (status == invalid_argument || status == invalid_usage) throw DeviceError(message);
    throw DeviceLost(message);
}

using Clock = std::chrono::steady_clock;

constexpr unsigned no_timing = 2;  // CU_EVENT_DISABLE_TIMING

/// Whether all shares have one size: then a single collective gathers them.
bool are_equal(std::span<const std::size_t> bounds) {
    for (std::size_t r = 0; r + 1 < bounds.size(); ++r)
        if (bounds[r + 1] - bounds[r] != bounds[1] - bounds[0]) return false;
    return true;
}

/// Calls queue() while the times of all devices run.
void time_all(std::span<Device* const> devices, const char* name, const Work& work,
              const std::function<void()>& queue) {
    if (devices.empty()) return queue();
    devices.front()->time_as(name, work, [&] { time_all(devices.subspan(1), name, work, queue); });
}

}  // namespace

std::shared_ptr<NcclExchange> NcclExchange::make(Device& device, Company company,
                                                 std::shared_ptr<const Nccl> nccl) {
    Roll roll = call_roll(company.processes.get(), {all_devices(device, company), {}});
    return std::shared_ptr<NcclExchange>(
        new NcclExchange(device, std::move(company), std::move(roll), std::move(nccl)));
}

NcclExchange::NcclExchange(Device& device, Company company, Roll roll,
                           std::shared_ptr<const Nccl> nccl)
    : HostExchange(device, std::move(company), std::move(roll)), nccl_(std::move(nccl)) {
    for (Device* own : devices()) members_.push_back({own, PrimaryContext(own->info().ordinal)});
    connect();
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

NcclExchange::~NcclExchange() {
    close();
    watch_.request_stop();
    watch_.join();
    const bool aborted = !failure_.empty(), drained = !aborted && drain();
    for (const Member& member : members_) {
        member.context.make_current();
        if (drained)
            nccl_->destroy(member.comm);
        else if (!aborted)
            nccl_->abort(member.comm);
    }
    members_.front().context.make_current();
    ended_.insert(ended_.end(), watched_.begin(), watched_.end());
    for (const auto& [begin, end, begun] : ended_)
        for (const CudaEvent event : {begin, end}) cuda().event_destroy(event);
}

/// Waits for all that is queued, but not longer than an exchange may take: if a GPU was lost, the
/// others wait for it. Returns false if it has not ended.
bool NcclExchange::drain() {
    const Clock::time_point end = Clock::now() + longest;
    for (const Member& member : members_) {
        member.context.make_current();
        CudaEvent last = nullptr;
        if (cuda().event_create(&last, no_timing) != CudaStatuses::success) return false;
        CudaStatus status = cuda().event_record(last, member.stream());
        if (status == CudaStatuses::success) status = CudaStatuses::not_ready;
        while (status == CudaStatuses::not_ready && Clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            status = cuda().event_query(last);
        }
        cuda().event_destroy(last);
        if (status != CudaStatuses::success) return false;
    }
    return true;
}

void NcclExchange::connect() {
    NcclId id{};
    if (first() == 0) nccl_check(*nccl_, nccl_->unique_id(&id), "connecting the GPUs");
    if (processes()) processes()->broadcast(std::as_writable_bytes(std::span(&id, 1)));
    nccl_check(*nccl_, nccl_->group_start(), "connecting the GPUs");
    for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].context.make_current();
        nccl_check(*nccl_, nccl_->init_rank(&members_[i].comm, int(ranks()), id, int(first() + i)),
                   "connecting the GPUs");
    }
    nccl_check(*nccl_, nccl_->group_end(), "connecting the GPUs");
}

template <class Call>
void NcclExchange::group(const char* what, const Call& call) {
    check();
    nccl_check(*nccl_, nccl_->group_start(), what);
    for (std::size_t i = 0; i < members_.size(); ++i) call(members_[i], i);
    const NcclStatus status = nccl_->group_end();
    check();
    nccl_check(*nccl_, status, what);
}

void NcclExchange::record(CudaEvent event) const {
    const Member& first = members_.front();
    first.context.make_current();
    cuda_check(cuda().event_record(event, first.stream()), "queueing an exchange");
}

NcclExchange::Watched NcclExchange::unused() {
    Watched unused;
    if (ended_.empty()) {
        for (CudaEvent* event : {&unused.begin, &unused.end})
            cuda_check(cuda().event_create(event, no_timing), "creating an event");
        return unused;
    }
    std::swap(unused, ended_.back());
    ended_.pop_back();
    return unused;
}

/// Stops watching the exchanges that have ended.
void NcclExchange::retire() {
    members_.front().context.make_current();
    while (!watched_.empty() && cuda().event_query(watched_.front().end) == CudaStatuses::success) {
        ended_.push_back({watched_.front().begin, watched_.front().end});
        watched_.pop_front();
    }
}

/// Queues an exchange and has it watched.
void NcclExchange::queue(const std::function<void()>& exchange) {
    const std::unique_lock lock(mutex_);
    retire();
    watched_.push_back(unused());
    record(watched_.back().begin);
    exchange();
    record(watched_.back().end);
}

void NcclExchange::all_gather(std::span<const std::uint64_t> arrays,
                              std::span<const std::size_t> bounds) {
    constexpr std::size_t word = sizeof(float);
    const auto at = [&](std::size_t i, std::size_t rank) {
        return reinterpret_cast<void*>(arrays[i] + bounds[rank]);
    };
    const auto words_of = [&](std::size_t rank) {
        return (bounds[rank + 1] - bounds[rank]) / word;
    };
    const auto gather_equal = [&](const Member& member, std::size_t i) {
        nccl_check(*nccl_,
                   nccl_->all_gather(at(i, first() + i), at(i, 0), words_of(0), Nccl::float32,
                                     member.comm, member.stream()),
                   "gathering the bodies");
    };
    const auto send_each = [&](const Member& member, std::size_t i) {
        for (std::size_t rank = 0; rank < ranks(); ++rank)
            nccl_check(*nccl_,
                       nccl_->broadcast(at(i, rank), at(i, rank), words_of(rank), Nccl::float32,
                                        int(rank), member.comm, member.stream()),
                       "gathering the bodies");
    };
    const Uninterrupted uninterrupted(*devices().front());
    time_all(devices(), all_gather_timing, {double(bounds.back())}, [&] {
        queue([&] {
            if (are_equal(bounds))
                group("gathering the bodies", gather_equal);
            else
                group("gathering the bodies", send_each);
        });
    });
}

void NcclExchange::sum(std::span<const std::uint64_t> arrays, std::size_t count) {
    queue([&] {
        group("adding the light of all ranks", [&](const Member& member, std::size_t i) {
            auto* const array = reinterpret_cast<void*>(arrays[i]);
            nccl_check(*nccl_,
                       nccl_->all_reduce(array, array, count, Nccl::uint64, Nccl::sum, member.comm,
                                         member.stream()),
                       "adding the light of all ranks");
        });
    });
}

std::string NcclExchange::words() const {
    bool nvlink = true;
    for (std::size_t i = 1; i < members_.size(); ++i)
        nvlink = nvlink && linked_by_nvlink(members_[0].device->info().pci_bus_id,
                                            members_[i].device->info().pci_bus_id);
    std::string text = nccl_version(*nccl_);
    if (members_.size() > 1) text += nvlink ? " over NVLink" : " over PCIe";
    return processes() ? text + ", " + HostExchange::words() : text;
}

void NcclExchange::check() const {
    if (!failure_.empty()) throw DeviceLost(failure_);
}

/// Returns the fault of NCCL; empty while there is none.
std::string NcclExchange::fault() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        NcclStatus status = Nccl::success;
        nccl_->async_error(members_[i].comm, &status);
        if (status != Nccl::success && status != Nccl::in_progress)
            return fmt::format("rank {} ({}): NCCL: {}", first() + i,
                               members_[i].device->info().pci_bus_id, nccl_->error_string(status));
    }
    retire();
    if (watched_.empty()) return {};
    Watched& oldest = watched_.front();
    if (cuda().event_query(oldest.begin) != CudaStatuses::success) return {};
    const Clock::time_point now = Clock::now();
    if (oldest.begun == Clock::time_point()) oldest.begun = now;
    if (now - oldest.begun < longest) return {};
    return fmt::format("an exchange between the GPUs has not ended within {} s: one of them hangs",
                       longest.count());
}

void NcclExchange::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) continue;  // an exchange is being queued
        failure_ = fault();
        if (failure_.empty()) continue;
        for (const Member& member : members_) nccl_->abort(member.comm);
        return;
    }
}

}  // namespace warpscope::compute
