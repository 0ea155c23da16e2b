#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

// This is the only file that includes mpi.h. It becomes a library of its own, which the app loads
// when mpirun has started it, so that the app needs no MPI.
namespace warpscope::compute {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int arrival_tag = 1, fault_tag = 2;

/// What the processes know of each other.
struct Known {
    std::array<char, 64> host{};
    std::int64_t pid = 0;
};

class MpiProcesses : public Processes {
  public:
    explicit MpiProcesses(const FaultHandler& on_fault);
    ~MpiProcesses() override;

    int index() const override { return index_; }
    int count() const override { return count_; }
    int index_on_host() const override { return index_on_host_; }
    int count_on_host() const override { return count_on_host_; }
    std::string version() const override;
    std::string name(int index) const override;

    void broadcast(std::span<std::byte> bytes) override;
    void meet() override;
    void all_gather(std::byte* all, std::span<const std::size_t> bounds) override;
    void sum(std::span<std::uint64_t> values) override;

    void fail(const std::string& why) noexcept override;
    void end_all(int code) noexcept override;

  private:
    Known known() const;
    void learn_names();
    void watch(const std::stop_token& stop, const FaultHandler& on_fault);
    std::string heard_fault();
    void finish(MPI_Request request, bool idle = false);
    std::string stopped_rank() const;
    bool is_over(Clock::duration waited, Clock::duration limit) const;
    Clock::duration patience() const;
    /// `which`: the process that has not answered; "": not known.
    [[noreturn]] void give_up(const std::string& which, Clock::duration waited);
    void check_complete() const;

    int index_ = 0, count_ = 1, index_on_host_ = 0, count_on_host_ = 1;
    MPI_Comm faults_ = MPI_COMM_NULL;  ///< carries the messages of fail()
    std::vector<Known> names_;
    Clock::time_point computing_since_ = Clock::now();
    std::string lost_;  ///< why the last collective was given up; empty: it was not
    std::jthread watch_;
};

MpiProcesses::MpiProcesses(const FaultHandler& on_fault) {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        throw DeviceError("this MPI can't be used by several threads (MPI_THREAD_MULTIPLE)");
    MPI_Comm_rank(MPI_COMM_WORLD, &index_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, index_, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &index_on_host_);
    MPI_Comm_size(host, &count_on_host_);
    MPI_Comm_free(&host);
    MPI_Comm_dup(MPI_COMM_WORLD, &faults_);
    learn_names();
    if (index_ == 0) {
        watch_ =
            std::jthread([this, on_fault](const std::stop_token& stop) { watch(stop, on_fault); });
    } else {
        // Process 0 decides when a run ends: it may want to write results first.
        std::signal(SIGINT, SIG_IGN);
        std::signal(SIGTERM, SIG_IGN);
    }
}

MpiProcesses::~MpiProcesses() {
    if (watch_.joinable()) {
        watch_.request_stop();
        watch_.join();
    }
    MPI_Comm_free(&faults_);
    MPI_Finalize();
}

std::string MpiProcesses::version() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data());
    // "Open MPI v4.1.4, package: …"
    std::string first = all.substr(0, all.find_first_of(",\n"));
    if (const std::size_t v = first.find(" v"); v != std::string::npos) first.erase(v + 1, 1);
    return first;
}

std::string MpiProcesses::name(int index) const {
    const Known& process = names_[std::size_t(index)];
    return fmt::format("rank {} (process {} on {})", index, process.pid, process.host.data());
}

Known MpiProcesses::known() const {
    Known own;
    ::gethostname(own.host.data(), own.host.size() - 1);
    own.pid = ::getpid();
    return own;
}

void MpiProcesses::learn_names() {
    const Known own = known();
    names_.resize(std::size_t(count_));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, names_.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
}

/// Waits for the end of a process of this host, or for a message of fail(). Then tells `on_fault`
/// and ends all processes.
void MpiProcesses::watch(const std::stop_token& stop, const FaultHandler& on_fault) {
    std::vector<pollfd> watched;
    std::vector<int> ranks;
    for (int rank = 1; rank < count_; ++rank) {
        const Known& process = names_[std::size_t(rank)];
        if (process.host != names_[0].host) continue;
        const auto fd = int(::syscall(SYS_pidfd_open, pid_t(process.pid), 0));
        if (fd < 0) continue;  // an old kernel: mpirun itself will see the end of a process
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        watched.push_back({fd, POLLIN, 0});
        ranks.push_back(rank);
    }
    std::string fault;
    while (fault.empty() && !stop.stop_requested()) {
        const int ended = ::poll(watched.data(), nfds_t(watched.size()), 20);
        if (stop.stop_requested()) break;
        fault = heard_fault();
        for (std::size_t i = 0; ended > 0 && fault.empty() && i < watched.size(); ++i)
            if (watched[i].revents) fault = name(ranks[i]) + " was killed or has crashed";
    }
    for (const pollfd& process : watched) ::close(process.fd);
    if (fault.empty()) return;
    on_fault(fault);
    std::this_thread::sleep_for(200ms);  // mpirun prints that line before its own
    end_all(1);
}

std::string MpiProcesses::heard_fault() {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, fault_tag, faults_, &there, &status);
    if (!there) return {};
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    std::string why(std::size_t(bytes), ' ');
    MPI_Recv(why.data(), bytes, MPI_CHAR, status.MPI_SOURCE, fault_tag, faults_, MPI_STATUS_IGNORE);
    return name(status.MPI_SOURCE) + ": " + why;
}

/// How long the others may compute: shares are about equal, machines and loads may differ.
Clock::duration MpiProcesses::patience() const {
    const auto limit = 10s + 10 * (Clock::now() - computing_since_);
    // Process 0 is first to say which process it waits for.
    return index_ == 0 ? limit : 2 * limit;
}

/// Names the process of this host that a signal has stopped; "": there is none.
std::string MpiProcesses::stopped_rank() const {
    for (int rank = 0; rank < count_; ++rank) {
        const Known& process = names_[std::size_t(rank)];
        if (process.host != names_[std::size_t(index_)].host) continue;
        std::ifstream file(fmt::format("/proc/{}/stat", process.pid));
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        if (const std::size_t at = text.rfind(") "); at != text.npos && text[at + 2] == 'T')
            return name(rank);
    }
    return "";
}

/// A wait for other processes is over: after the limit, and much later where all are on this host
/// and none is stopped. They compute then, beside other programs.
bool MpiProcesses::is_over(Clock::duration waited, Clock::duration limit) const {
    if (waited <= limit) return false;
    const bool all_here = std::ranges::all_of(names_, [&](const Known& process) {
        return process.host == names_[std::size_t(index_)].host;
    });
    return !all_here || waited > 10 * limit || !stopped_rank().empty();
}

void MpiProcesses::give_up(const std::string& which, Clock::duration waited) {
    lost_ = fmt::format("{} has not answered for {} s", which.empty() ? "another rank" : which,
                        std::chrono::round<std::chrono::seconds>(waited).count());
    throw DeviceLost(lost_);
}

// The others still wait for the collective that was given up: another one would mix with it.
void MpiProcesses::check_complete() const {
    if (!lost_.empty()) throw DeviceLost(lost_);
}

/// Waits without keeping a core busy; with `idle`, perhaps for hours and ever more rarely.
void MpiProcesses::finish(MPI_Request request, bool idle) {
    const Clock::time_point begin = Clock::now();
    const Clock::duration limit = patience(), longest = idle ? 10ms : 50us;
    for (;;) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) break;
        const auto waited = Clock::now() - begin;
        if (!idle && is_over(waited, limit)) give_up(stopped_rank(), waited);
        if (waited < 200us)
            std::this_thread::yield();
        else if (waited < limit)
            std::this_thread::sleep_for(std::clamp<Clock::duration>(waited / 100, 50us, longest));
        else
            std::this_thread::sleep_for(10ms);
    }
    computing_since_ = Clock::now();
}

void MpiProcesses::broadcast(std::span<std::byte> bytes) {
    check_complete();
    MPI_Request request;
    MPI_Ibcast(bytes.data(), int(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(request, index_ != 0);
}

void MpiProcesses::meet() {
    check_complete();
    MPI_Request request;
    if (index_ == 0) {
        std::vector<MPI_Request> arrivals(std::size_t(count_) - 1);
        std::vector<char> bytes(arrivals.size());
        for (int rank = 1; rank < count_; ++rank)
            MPI_Irecv(&bytes[std::size_t(rank) - 1], 1, MPI_CHAR, rank, arrival_tag, MPI_COMM_WORLD,
                      &arrivals[std::size_t(rank) - 1]);
        const Clock::duration limit = patience();
        const Clock::time_point begin = Clock::now();
        for (std::size_t i = 0; i < arrivals.size(); ++i)
            for (int done = 0; !done;) {
                MPI_Test(&arrivals[i], &done, MPI_STATUS_IGNORE);
                const auto waited = Clock::now() - begin;
                if (!done && is_over(waited, limit)) give_up(name(int(i) + 1), waited);
                if (!done) std::this_thread::sleep_for(waited < limit ? 20us : 10000us);
            }
    } else {
        const char here = 1;
        MPI_Send(&here, 1, MPI_CHAR, 0, arrival_tag, MPI_COMM_WORLD);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(request);
}

void MpiProcesses::all_gather(std::byte* all, std::span<const std::size_t> bounds) {
    check_complete();
    std::vector<int> counts, begins;
    for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
        begins.push_back(int(bounds[p]));
        counts.push_back(int(bounds[p + 1] - bounds[p]));
    }
    MPI_Request request;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), begins.data(), MPI_BYTE,
                    MPI_COMM_WORLD, &request);
    finish(request);
}

void MpiProcesses::sum(std::span<std::uint64_t> values) {
    check_complete();
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_UINT64_T, MPI_SUM,
                   MPI_COMM_WORLD, &request);
    finish(request);
}

void MpiProcesses::fail(const std::string& why) noexcept {
    MPI_Request request;
    MPI_Isend(why.data(), int(why.size()), MPI_CHAR, 0, fault_tag, faults_, &request);
    // Process 0 ends this process; if it can't, this process ends all.
    for (const auto end = Clock::now() + 5s; Clock::now() < end;) {
        int done = 0;
        if (request != MPI_REQUEST_NULL) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(10ms);
    }
    end_all(1);
}

void MpiProcesses::end_all(int code) noexcept {
    MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace
}  // namespace warpscope::compute

extern "C" warpscope::compute::Processes* warpscope_join_mpi(
    const warpscope::compute::FaultHandler& on_fault) {
    return new warpscope::compute::MpiProcesses(on_fault);
}
