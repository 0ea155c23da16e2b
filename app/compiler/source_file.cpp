#include "compiler/source_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw std::runtime_error(reason);
}

[[noreturn]] void refuse_errno() {
    refuse(std::generic_category().message(errno));
}

/// Does not wait for a writer where the file is a pipe, and gives it back for the caller to refuse.
int open_to_read(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) refuse_errno();
    return descriptor;
}

void check_regular(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) refuse_errno();
    if (S_ISDIR(status.st_mode)) refuse("it is a folder");
    if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
}

/// At most one byte more than may be compiled.
std::string read_bytes(int descriptor) {
    std::string bytes(largest_source + 1, '\0');
    std::size_t count = 0;
    while (count < bytes.size()) {
        const ssize_t read = ::read(descriptor, bytes.data() + count, bytes.size() - count);
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) refuse_errno();
        if (read == 0) break;
        count += std::size_t(read);
    }
    bytes.resize(count);
    return bytes;
}

std::string with_newlines(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (!bytes.substr(i).starts_with("\r\n")) text += bytes[i];
    return text;
}

}  // namespace

std::string read_source_file(const std::filesystem::path& file) {
    const int descriptor = open_to_read(file);
    const auto close = [](const int* d) { ::close(*d); };
    const std::unique_ptr<const int, decltype(close)> owner(&descriptor, close);
    check_regular(descriptor);
    const std::string bytes = read_bytes(descriptor);
    if (bytes.size() > largest_source)
        refuse(fmt::format("it is larger than {} KiB, the largest kernel source that is compiled",
                           largest_source >> 10));
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    const bool marked = bytes.starts_with(byte_order_mark);
    return with_newlines(std::string_view(bytes).substr(marked ? byte_order_mark.size() : 0));
}

}  // namespace warpscope::compiler
