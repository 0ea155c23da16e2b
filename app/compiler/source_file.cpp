#include "compiler/source_file.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "compiler/nvrtc.h"
#include "files/regular_file.h"

namespace warpscope::compiler {
namespace {

std::string with_newlines(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (!bytes.substr(i).starts_with("\r\n")) text += bytes[i];
    return text;
}

}  // namespace

std::string read_source_file(const std::filesystem::path& file) {
    const std::string bytes = files::RegularFile(file).read(largest_source + 1);
    if (bytes.size() > largest_source)
        throw std::runtime_error(
            fmt::format("it is larger than {} KiB, the largest kernel source that is compiled",
                        largest_source >> 10));
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    const bool marked = bytes.starts_with(byte_order_mark);
    return with_newlines(std::string_view(bytes).substr(marked ? byte_order_mark.size() : 0));
}

}  // namespace warpscope::compiler
