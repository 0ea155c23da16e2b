#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpscope::compute {

// What the app and its helper processes say to each other, over a stream socket: frames of
// {u32 bytes that follow, u32 word, what goes with the word}, numbers as this machine has them.
// Every request is answered by one frame, in order; a `hello` comes just before the first answer.
// Nothing that arrives is believed: see WireReader.

/// What a helper is asked for.
enum class HelperRequest : std::uint32_t {
    compiler,     ///< -> text: the version
    compile,      ///< text file, text source, u8 fast -> text ptx, diagnostics
    open,         ///< text wish -> DeviceInfo
    close,        ///< the device goes, and all that it holds
    settings,     ///< u8 math, u8 schedule, u64 seed, u8 barriers
    edits,        ///< u32 count, then of each text file, u8 math, text ptx
    load,         ///< text file, text name, u8 edited -> u32 kernel
    load_ptx,     ///< text ptx, text name -> u32 kernel
    check,        ///< u32 kernel, u32 count, then u32 bytes of each argument
    allocate,     ///< u64 bytes -> u64 address
    release,      ///< u64 address
    upload,       ///< u64 address, u64 bytes, which stand in the shared memory
    download,     ///< u64 address, u64 bytes -> these, in the shared memory
    fill,         ///< u64 address, u8 value, u64 bytes
    begin_frame,  ///< u64 frame
    launch,       ///< u32 kernel, grid, block, u32 shared bytes, text packed arguments
                  ///< -> once it has ended: f32 milliseconds, u32 static and dynamic shared bytes
    synchronize,
};

/// How it is answered; all but `done` with the words of the error.
enum class HelperAnswer : std::uint32_t {
    hello,  ///< u32 protocol_version
    done,
    device_error,
    out_of_memory,
    device_lost,
    compile_error,  ///< and the diagnostics
    no_compiler,
    failed,  ///< what no DeviceError says
};

inline constexpr std::uint32_t protocol_version = 1;
/// Of the memory that both see, for uploads and downloads.
inline constexpr std::size_t transfer_bytes = std::size_t(16) << 20;
/// Of a frame: a text of a kernel file is at most 1 MiB, its PTX somewhat more.
inline constexpr std::uint32_t frame_limit = std::uint32_t(256) << 20;

/// A frame that is not what the protocol says.
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
    /// With its length; valid until the next call. Throws WireError beyond frame_limit.
    std::string_view frame();

  private:
    std::string bytes_;
};

/// Takes a frame apart; every call throws WireError where it holds less than is asked for.
class WireReader {
  public:
    /// `frame`: what follows the length.
    explicit WireReader(std::string frame);

    std::uint32_t word() const { return word_; }
    template <WireNumber T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof(T)), sizeof(T));
        return value;
    }
    /// One of the `count` values of an enum that counts from 0.
    template <class Enum>
    Enum one_of(std::uint8_t count) {
        const auto value = get<std::uint8_t>();
        if (value >= count) throw WireError("a value that its type doesn't have");
        return Enum(value);
    }
    std::string_view text();
    /// Throws where something is left.
    void end() const;

  private:
    const char* take(std::size_t bytes);

    std::string frame_;
    std::size_t at_ = 0;
    std::uint32_t word_ = 0;
};

/// How long the other side is waited for.
struct Patience {
    std::chrono::milliseconds time{0};  ///< 0: without end
    std::stop_token stop{};
};

enum class HelperEnd { timed_out, stopped, closed };

/// The other side can't be heard any more.
struct WireClosed : WireError {
    explicit WireClosed(HelperEnd end) : WireError("the socket was given up"), how(end) {}
    HelperEnd how;
};

/// Writes a whole frame, reads a whole one: WireClosed where that doesn't happen, WireError for a
/// length that no frame has. The socket may be blocking or not.
void send_frame(int fd, WireWriter& frame, const Patience& patience = {});
WireReader receive_frame(int fd, const Patience& patience = {});
/// Whether something can be read, or the other end is closed.
bool frame_waits(int fd);

}  // namespace warpscope::compute
