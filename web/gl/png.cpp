// In place of app/gl/png.cpp, which needs libpng.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include "gl/png.h"

#include <stb/stb_image.h>

#include "gl/error.h"

namespace warpscope::gl {

void write_png(const std::filesystem::path&, int, int, std::span<const std::uint8_t>,
               const Metadata&) {
    throw Error("a page writes no PNG files");
}

std::vector<std::uint8_t> encode_png(int, int, std::span<const std::uint8_t>, const Metadata&) {
    throw Error("a page writes no PNG files");
}

Image decode_png(std::span<const std::uint8_t> bytes) {
    Image image;
    int channels = 0;
    stbi_uc* const pixels = stbi_load_from_memory(bytes.data(), int(bytes.size()), &image.width,
                                                  &image.height, &channels, 4);
    if (!pixels) throw Error("the PNG can't be read");
    image.rgba.assign(pixels, pixels + std::size_t(image.width) * std::size_t(image.height) * 4);
    stbi_image_free(pixels);
    return image;
}

Metadata read_png_metadata(std::span<const std::uint8_t>) {
    return {};
}

}  // namespace warpscope::gl
