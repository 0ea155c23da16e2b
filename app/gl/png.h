#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::gl {

/// Pairs of a keyword (1 to 79 ASCII characters) and a text (UTF-8), in order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;  ///< r, g, b, a, top row first
    Metadata metadata;
};

/// Writes a temporary file beside `path` and renames it, so that `path` is always a complete file.
/// ASCII texts become tEXt chunks, other texts iTXt chunks (PNG specification, 11.3.4). Throws
/// Error.
void write_png(const std::filesystem::path& path, int width, int height,
               std::span<const std::uint8_t> rgba, const Metadata& metadata = {});

/// The bytes of a PNG file. Throws Error.
std::vector<std::uint8_t> encode_png(int width, int height, std::span<const std::uint8_t> rgba,
                                     const Metadata& metadata = {});

/// Decodes any PNG to RGBA8. Throws Error.
Image decode_png(std::span<const std::uint8_t> bytes);

/// The texts of a PNG that stand before its pixels, where write_png puts them. It needs no memory
/// for pixels, which a small file may announce by gigabytes. Throws Error.
Metadata read_png_metadata(std::span<const std::uint8_t> bytes);

}  // namespace warpscope::gl
