#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::gl {

/// Keyword (1 to 79 ASCII characters) and text (UTF-8), in order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;  ///< r, g, b, a, top row first
    Metadata metadata;
};

/// Writes a file beside `path` and renames it: at any time `path` is the old file or the new one.
/// ASCII texts become tEXt chunks, others iTXt (PNG specification, 11.3.4). Throws Error.
void write_png(const std::filesystem::path& path, int width, int height,
               std::span<const std::uint8_t> rgba, const Metadata& metadata = {});

/// Any PNG, as RGBA8. Throws Error that names the file.
Image read_png(const std::filesystem::path& path);
/// The same from memory.
Image decode_png(std::span<const std::uint8_t> bytes);

}  // namespace warpscope::gl
