#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpscope::jobs {

/// What a client sends is no message of the protocol.
struct FrameError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Cuts a stream of bytes into messages: a header with "Content-Length: N", an empty line, and N
/// bytes. Source: Debug Adapter Protocol, "Base Protocol".
class FrameReader {
  public:
    static constexpr std::size_t most_bytes = 16 << 20, most_header = 4096;

    void add(std::string_view bytes) { bytes_ += bytes; }
    /// The next whole message; nullopt: more bytes are needed. Throws FrameError for a header
    /// without a length, with lines of another protocol, or too long. Nothing can be read after
    /// that.
    std::optional<std::string> next();

  private:
    std::string bytes_;
};

/// The message with its header.
std::string framed(const std::string& message);

}  // namespace warpscope::jobs
