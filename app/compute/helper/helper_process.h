#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "compute/confinement/descriptor.h"
#include "compute/helper/helper_wire.h"

namespace warpscope::compute {

/// Memory that the app and a helper process both map, for uploads and downloads. Zero at first.
class TransferMemory {
  public:
    /// Maps a file. Throws std::system_error.
    TransferMemory(const Descriptor& file, std::size_t bytes);
    TransferMemory(const TransferMemory&) = delete;
    TransferMemory& operator=(const TransferMemory&) = delete;
    ~TransferMemory();
    std::span<std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// A helper process, `warpscope --helper`. It shares only a socket and the transfer memory with
/// this process, and its output does not reach the terminal. It ends when this process ends, even
/// during a launch. Used by one thread at a time.
class HelperProcess {
  public:
    /// Which variables of this process's environment the helper process gets.
    enum class Environment { whole, of_the_compiler };

    /// Starts the program and returns before it is ready for requests. Throws DeviceError if it
    /// can't be started.
    explicit HelperProcess(const std::filesystem::path& program,
                           Environment environment = Environment::whole);
    /// Kills the process. Does not wait for its end.
    ~HelperProcess();
    HelperProcess(const HelperProcess&) = delete;
    HelperProcess& operator=(const HelperProcess&) = delete;

    /// After each send() the answer must be received before the next send(). Both kill the process
    /// and throw HelperLost if it has ended, if it sends an invalid frame, or if patience ends. The
    /// message says why: "it was killed by signal 11 (Segmentation fault)".
    void send(WireWriter& request, const Patience& patience);
    WireReader receive(const Patience& patience);
    /// Whether receive() would return without waiting.
    bool has_answered() const { return frame_waits(socket_.get()); }

    /// The transfer memory, transfer_bytes bytes that the helper process maps too.
    std::span<std::byte> transfer_memory() const { return transfer_memory_->bytes(); }
    /// Returns and clears its standard output, at most the last 64 KiB.
    std::string take_output();
    /// The first line of its standard error; empty if there is none.
    std::string complaint() const;
    pid_t id() const { return id_; }

  private:
    [[noreturn]] void give_up(const HelperLost& lost);
    void expect_hello(const Patience& patience);
    HelperLost how_it_ended();
    void kill() noexcept;

    Descriptor socket_, output_, errors_;
    std::optional<TransferMemory> transfer_memory_;
    pid_t id_ = -1;  ///< -1: it has ended, and waitpid() was called
    bool said_hello_ = false;
};

}  // namespace warpscope::compute
