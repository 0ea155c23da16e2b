#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace warpscope::compute {

/// The processes that mpirun has started together with this one. All of them call the functions in
/// the same order; those that wait for others throw DeviceLost if one of them does not answer.
class Processes {
  public:
    Processes() = default;
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    virtual ~Processes() = default;

    virtual int index() const = 0;
    virtual int count() const = 0;
    /// The position of this process among the processes of its host.
    virtual int index_on_host() const = 0;
    virtual int count_on_host() const = 0;
    virtual std::string version() const = 0;        ///< "Open MPI 4.1.4"
    virtual std::string name(int index) const = 0;  ///< "rank 2 (process 4711 on node7)"

    /// Sends from process 0 to all others, which may wait for it without a limit of time.
    virtual void broadcast(std::span<std::byte> bytes) = 0;
    /// Waits until every process is here.
    virtual void meet() = 0;
    /// Process p contributes the bytes bounds[p] to bounds[p + 1] - 1 of `all`.
    virtual void all_gather(std::byte* all, std::span<const std::size_t> bounds) = 0;
    virtual void sum(std::span<std::uint64_t> values) = 0;

    /// Tells process 0 that this process can't go on. Process 0 then ends all of them.
    virtual void fail(const std::string& why) noexcept = 0;
    /// Ends all processes.
    virtual void end_all(int code) noexcept = 0;
};

/// Called in process 0, by a thread of its own, before a failed process ends all of them: "rank 2
/// (process 4711 on node7) was killed or has crashed".
using FaultHandler = std::function<void(const std::string& fault)>;

/// Position of this process among those that mpirun has started together; {0, 1} without mpirun.
struct ProcessPlace {
    int index = 0, count = 1;
};
ProcessPlace place_of_process();

/// Joins the processes that mpirun has started. Null if there are no others. Throws DeviceError
/// that says what to install.
std::shared_ptr<Processes> join_processes(const FaultHandler& on_fault);

}  // namespace warpscope::compute
