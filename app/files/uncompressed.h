#pragma once

#include <string_view>

namespace warpscope::files {

/// Returns the text of a file that compressed_files() of cmake/Embed.cmake has built in, which
/// stays valid; other bytes as they are. Any thread may call it.
std::string_view uncompressed(std::string_view built_in);

}  // namespace warpscope::files
