#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "compute/device/device.h"

namespace warpscope::compute {

// The protocol between the app and its helper processes, over a stream socket. A frame is
// {u32 number of bytes that follow, u32 word, byte strings, each after its u32 length}, in this
// machine's byte order. A byte string is a text, or an array of values in CBOR (helper_codec.h).
// The app sends requests; the helper process answers each with one frame, in order, and sends
// `hello` before its first answer. Both sides check what they read: see WireReader.

/// The word of a request. Each comment shows what follows in the request -> in its answer. Values
/// between semicolons are one array.
enum class HelperRequest : std::uint32_t {
    compiler,         ///< nothing -> text version
    compile,          ///< Request; seconds of CPU time -> Compiled
    open,             ///< text wish, a name as pick_device takes it -> DeviceInfo
    settings,         ///< RunSettings
    edits,            ///< KernelEdits
    load,             ///< file, name, is edited -> number of the kernel
    load_ptx,         ///< text ptx; text name -> number of the kernel
    check,            ///< kernel, bytes of each argument
    allocate,         ///< bytes -> address
    release,          ///< address
    upload,           ///< address, bytes; the data is in the transfer memory
    download,         ///< address, bytes -> the data in the transfer memory
    fill,             ///< address, value, bytes
    copy,             ///< address to, address from, bytes
    begin_frame,      ///< frame
    launch,           ///< kernel, LaunchShape; text packed arguments
                      ///< -> when it has ended: milliseconds, bytes of shared memory, registers
    variable,         ///< file, name, is edited -> address, bytes
    make_texture,     ///< Texture, is surface -> number
    release_texture,  ///< number, is surface
    load_texture,     ///< number, is surface
    store_surface,    ///< number, is surface
};

/// The word of an answer. Every error is followed by its text.
enum class HelperAnswer : std::uint32_t {
    hello,  ///< u32 protocol_version, in every version of the protocol
    done,
    device_error,
    out_of_memory,
    device_lost,
    compile_error,  ///< the text is followed by the diagnostics
    no_compiler,
    failed,  ///< any other exception
};

inline constexpr std::uint32_t protocol_version = 10;
/// Size of the transfer memory, which both processes map, for uploads and downloads.
inline constexpr std::size_t transfer_bytes = std::size_t(16) << 20;
/// The largest frame. A kernel source has at most 1 MiB, its headers 4 MiB, its PTX somewhat more.
inline constexpr std::uint32_t frame_limit = std::uint32_t(256) << 20;

/// A frame that breaks the protocol.
struct WireError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class WireWriter {
  public:
    template <class Word>
    requires std::is_enum_v<Word>
    explicit WireWriter(Word word) { number(0).number(std::uint32_t(word)); }
    WireWriter& number(std::uint32_t number);
    WireWriter& text(std::string_view text);
    /// The frame with its length; valid until the next call. Throws WireError beyond frame_limit.
    std::string_view frame();

  private:
    std::string bytes_;
};

/// Reads a frame. Every call throws WireError if the frame ends too early.
class WireReader {
  public:
    /// `frame`: the bytes that follow the length.
    explicit WireReader(std::string frame);

    std::uint32_t word() const { return word_; }
    std::uint32_t number();
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
