#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

namespace warpscope::compute {

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
