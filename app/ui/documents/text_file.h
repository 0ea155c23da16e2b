#pragma once

#include <filesystem>
#include <string_view>

namespace warpscope::ui {

/// Writes `text` to `file` and makes the folders that it needs. Readers see either the old or the
/// whole new text. Throws std::runtime_error with the file and the reason.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace warpscope::ui
