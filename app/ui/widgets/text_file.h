#pragma once

#include <filesystem>
#include <string_view>

namespace warpscope::ui {

/// Puts `text` into `file`, making its folders; readers see the old or the new text, never a part.
/// Throws std::runtime_error that names the file and the reason.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace warpscope::ui
