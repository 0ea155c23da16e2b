#pragma once

#include <filesystem>
#include <string_view>

namespace warpscope::files {

/// Writes a new file and renames it, so that `file` always holds all of its old bytes or all of its
/// new ones. A symbolic link stays, and the file that it names is replaced. Permissions of a
/// replaced file stay. Throws std::system_error that names the file; then there is no new
/// one.
void write_whole_file(const std::filesystem::path& file, std::string_view bytes);

/// Throws std::system_error where write_whole_file() could not make its new file. Changes nothing.
void check_whole_file(const std::filesystem::path& file);

}  // namespace warpscope::files
