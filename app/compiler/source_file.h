#pragma once

#include <filesystem>
#include <string>

namespace warpscope::compiler {

/// Reads a kernel source that a person keeps in a file. Lines end with "\n" in the result whether
/// they end with "\n" or "\r\n" in the file, and a byte order mark at the beginning is left out.
///
/// Throws std::runtime_error with the reason alone, such as "it is a folder", where the file cannot
/// be opened, is not a regular file or is larger than `largest_source`. The caller names the file.
std::string read_source_file(const std::filesystem::path& file);

}  // namespace warpscope::compiler
