#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/helper/helper_wire.h"

namespace warpscope::compute {

/// A file descriptor, closed with the object.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    int get() const { return fd_; }

  private:
    int fd_ = -1;
};

/// Memory that this process and another one see, zero at first.
class SharedMemory {
  public:
    /// Maps the memory of a file. Throws std::system_error.
    SharedMemory(const Descriptor& file, std::size_t bytes);
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();
    std::span<std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// A helper process was given up, and why: "it was killed by signal 11 (Segmentation fault)".
struct HelperLost : std::runtime_error {
    HelperLost(HelperEnd end, const std::string& what) : std::runtime_error(what), how(end) {}
    HelperEnd how;
};

/// A helper process, `warpscope --helper`, from start to end: it has nothing of this process but a
/// socket and some shared memory, and what it prints is kept from the terminal. It goes with this
/// process, whatever it is doing. Used by one thread at a time.
class HelperProcess {
  public:
    /// Returns once the program runs; it gets ready meanwhile. Throws DeviceError where it can't be
    /// started.
    explicit HelperProcess(const std::filesystem::path& program);
    /// Kills it, and doesn't wait for that.
    ~HelperProcess();
    HelperProcess(const HelperProcess&) = delete;
    HelperProcess& operator=(const HelperProcess&) = delete;

    /// One request at a time: each answer is to be received before the next is sent. Both throw
    /// HelperLost where the process ended, answers nonsense, or patience does; it is killed then.
    void send(WireWriter& request, const Patience& patience);
    WireReader receive(const Patience& patience);
    /// receive() need not wait.
    bool has_answered() const { return frame_waits(socket_.get()); }

    /// Memory of transfer_bytes that the process sees too.
    std::span<std::byte> shared() const { return shared_->bytes(); }
    /// What it has written to its standard output since the last call: the last 64 KiB of it.
    std::string take_output();
    /// The first line that it has written to its standard error; empty: none.
    std::string complaint() const;
    pid_t id() const { return id_; }

  private:
    [[noreturn]] void give_up(HelperEnd how, const std::string& why);
    std::string how_it_ended();
    void kill() noexcept;

    Descriptor socket_, output_, errors_;
    std::optional<SharedMemory> shared_;
    pid_t id_ = -1;  ///< -1: ended, and waited for
    bool greeted_ = false;
};

}  // namespace warpscope::compute
