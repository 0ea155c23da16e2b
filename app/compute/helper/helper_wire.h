#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "compute/device/device.h"

namespace warpscope::compute {

// The protocol between the app and its helper processes, over a stream socket. A frame is
// {u32 number of bytes that follow, u32 word, values}, in this machine's byte order. The app sends
// requests; the helper process answers each with one frame, in order, and sends `hello` before its
// first answer. Both sides check every value that they read: see WireReader.

/// The word of a request. Each comment shows the request's values -> the values of its answer.
enum class HelperRequest : std::uint32_t {
    compiler,     ///< no values -> text version
    compile,      ///< Request, u32 seconds of CPU time -> Compiled
    open,         ///< text wish, a name as pick_device takes it -> DeviceInfo
    settings,     ///< u8 math, u8 schedule, u64 seed, u8 barriers
    edits,        ///< u32 count, then for each: text file, u8 math, text ptx
    load,         ///< text file, text name, u8 edited -> u32 kernel
    load_ptx,     ///< text ptx, text name -> u32 kernel
    check,        ///< u32 kernel, u32 count, then for each argument: u32 bytes
    allocate,     ///< u64 bytes -> u64 address
    release,      ///< u64 address
    upload,       ///< u64 address, u64 bytes; the data is in the transfer memory
    download,     ///< u64 address, u64 bytes -> the data in the transfer memory
    fill,         ///< u64 address, u8 value, u64 bytes
    copy,         ///< u64 address to, u64 address from, u64 bytes
    begin_frame,  ///< u64 frame
    launch,    ///< u32 kernel, grid, block, cluster, u32 shared bytes, u8 cooperative, text packed
               ///< arguments
               ///< -> when it has ended: f32 milliseconds, u32 static and dynamic shared bytes,
               ///< u32 registers of a thread
    variable,  ///< text file, text name, u8 edited -> u64 address, u64 bytes
    make_texture,     ///< Texture, u8 is surface -> u64 number
    release_texture,  ///< u64 number, u8 is surface
    load_texture,     ///< u64 number, u8 is surface
    store_surface,    ///< u64 number, u8 is surface
};

/// The word of an answer. Every error is followed by its text.
enum class HelperAnswer : std::uint32_t {
    hello,  ///< u32 protocol_version
    done,
    device_error,
    out_of_memory,
    device_lost,
    compile_error,  ///< the text is followed by the diagnostics
    no_compiler,
    failed,  ///< any other exception
};

inline constexpr std::uint32_t protocol_version = 9;
/// Size of the transfer memory, which both processes map, for uploads and downloads.
inline constexpr std::size_t transfer_bytes = std::size_t(16) << 20;
/// The largest frame. A kernel source has at most 1 MiB, its headers 4 MiB, its PTX somewhat more.
inline constexpr std::uint32_t frame_limit = std::uint32_t(256) << 20;

/// A frame that breaks the protocol.
struct WireError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T>
concept WireNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

class WireWriter {
  public:
    template <class Word>
    requires std::is_enum_v<Word>
    explicit WireWriter(Word word) {
        put(std::uint32_t(0));
        put(std::uint32_t(word));
    }
    template <WireNumber T>
    WireWriter& put(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        return *this;
    }
    WireWriter& text(std::string_view text);
    /// The frame with its length; valid until the next call. Throws WireError beyond frame_limit.
    std::string_view frame();

  private:
    std::string bytes_;
};

/// Reads the values of a frame. Every call throws WireError if the frame ends before the value.
class WireReader {
  public:
    /// `frame`: the bytes that follow the length.
    explicit WireReader(std::string frame);

    std::uint32_t word() const { return word_; }
    template <WireNumber T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof(T)), sizeof(T));
        return value;
    }
    std::string_view text();
    /// Throws WireError if some bytes have not been read.
    void end() const;

  private:
    const char* take(std::size_t bytes);

    std::string frame_;
    std::size_t at_ = 0;
    std::uint32_t word_ = 0;
};

/// How long to wait for the other process.
struct Patience {
    std::chrono::milliseconds time{0};  ///< 0: no limit
    std::stop_token stop{};
    std::chrono::milliseconds grace{0};  ///< after a stop request
};

enum class HelperEnd { timed_out, used_up_cpu_time, stopped, closed };

/// The connection between the app and a helper process has ended.
struct HelperLost : DeviceLost {
    HelperLost(HelperEnd end, const std::string& why) : DeviceLost(why), how(end) {}
    HelperEnd how;
};

/// Write or read one whole frame. Throw HelperLost if the connection ends first, WireError if a
/// frame announces an invalid length. The socket may be blocking or not.
void send_frame(int fd, WireWriter& frame, const Patience& patience = {});
WireReader receive_frame(int fd, const Patience& patience = {});
/// Whether bytes can be read from the socket, or its other end is closed.
bool frame_waits(int fd);

}  // namespace warpscope::compute
