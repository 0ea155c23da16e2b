#pragma once

#include <filesystem>

// A capture as one file to send: docs/capture.md has its format.
namespace warpscope::launches {

inline constexpr const char* archive_extension = ".wslaunch";

/// Writes the files of the capture in `folder` into one file, whole or not at all. Throws
/// LaunchError.
void write_archive(const std::filesystem::path& folder, const std::filesystem::path& archive);

/// Unpacks an archive into a folder of the user's cache, unless it is there, and returns that.
/// Throws LaunchError for a file that is no capture, is damaged, or is too large.
std::filesystem::path unpacked(const std::filesystem::path& archive);

}  // namespace warpscope::launches
