#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "compute/device/device.h"

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

/// What process 0 tells the other processes to do. They do it in the same order.
struct Call {
    enum class Task : std::uint32_t {
        open,       ///< open the devices of a wish, for a new exchange
        close,      ///< close an exchange and its devices
        carry_out,  ///< carry out what Exchange::tell() was given
        end         ///< end the work
    };
    Task task = Task::end;
    std::uint32_t exchange = 0;  ///< the number of the exchange
};

/// Process 0 calls this. `content` is the wish of `open`, or what `carry_out` is about.
void tell(Processes& processes, const Call& call, std::span<const std::byte> content = {});

/// Carries out what an experiment of process 0 tells through the exchange of a device.
class CallReceiver {
  public:
    CallReceiver() = default;
    CallReceiver(const CallReceiver&) = delete;
    CallReceiver& operator=(const CallReceiver&) = delete;
    virtual ~CallReceiver() = default;
    virtual void carry_out(std::span<const std::byte> content) = 0;
};

/// The other processes call this: it does what process 0 tells until process 0 ends it. `open`
/// makes the device of a wish, with its exchange of this number; what it throws ends the work,
/// except Refused.
void receive_calls(
    Processes& processes,
    const std::function<std::unique_ptr<Device>(const std::string& wish, std::uint32_t)>& open,
    const std::function<std::unique_ptr<CallReceiver>(Device&)>& make_receiver);

/// A process has no device for a wish. No process has made an exchange then.
struct Refused : DeviceError {
    using DeviceError::DeviceError;
};

/// What each process has for a new exchange.
struct Roll {
    /// The first rank of each process, followed by the number of ranks.
    std::vector<std::size_t> first_ranks;
    std::size_t memory_bytes = 0;  ///< the memory of the device that has the least
};

/// What this process has: its devices, or why there are none.
struct Present {
    std::span<Device* const> devices;
    std::string why_none;
};

/// Tells all processes what each has, and throws Refused in all of them if one has no device, only
/// some have GPUs, or two use the same GPU.
Roll call_roll(Processes* processes, const Present& own);

}  // namespace warpscope::compute
