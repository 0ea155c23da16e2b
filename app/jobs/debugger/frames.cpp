#include "jobs/debugger/frames.h"

#include <fmt/format.h>

#include <charconv>

#include "files/text.h"

namespace warpscope::jobs {
namespace {

constexpr std::string_view end_of_header = "\r\n\r\n";

std::size_t length_in(std::string_view header) {
    constexpr std::string_view field = "Content-Length:";
    for (std::size_t at = 0; at < header.size();) {
        const std::size_t end = std::min(header.find("\r\n", at), header.size());
        const std::string_view line = header.substr(at, end - at);
        at = end + 2;
        // A page in a browser can send the headers of HTTP to a port, too.
        if (!line.starts_with(field) && !line.starts_with("Content-Type:"))
            throw FrameError("a header has a line that the protocol does not have");
        if (!line.starts_with(field)) continue;
        const std::string_view number = files::trimmed(line.substr(field.size()));
        std::size_t length = 0;
        const char* const last = number.data() + number.size();
        const auto [rest, error] = std::from_chars(number.data(), last, length);
        if (error != std::errc() || rest != last || length > FrameReader::most_bytes)
            throw FrameError(fmt::format("Content-Length: '{}' is no length of up to {} bytes",
                                         number, FrameReader::most_bytes));
        return length;
    }
    throw FrameError("a header has no Content-Length");
}

}  // namespace

std::optional<std::string> FrameReader::next() {
    const std::size_t header = bytes_.find(end_of_header);
    if (header == std::string::npos) {
        if (bytes_.size() > most_header) throw FrameError("a header does not end");
        return {};
    }
    const std::size_t length = length_in(std::string_view(bytes_).substr(0, header));
    const std::size_t begin = header + end_of_header.size();
    if (bytes_.size() - begin < length) return {};
    std::string message = bytes_.substr(begin, length);
    bytes_.erase(0, begin + length);
    return message;
}

std::string framed(const std::string& message) {
    return fmt::format("Content-Length: {}{}{}", message.size(), end_of_header, message);
}

}  // namespace warpscope::jobs
