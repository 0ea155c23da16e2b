// What app/launches uses of libpng, by stb_image, which gl/png.cpp has.
#pragma once
#include <stb/stb_image.h>

#include <cstring>

constexpr int PNG_IMAGE_VERSION = 1, PNG_FORMAT_RGBA = 3;
struct png_image {
    int version, format;
    unsigned width, height;
    const char* message;
    stbi_uc* pixels;
};

inline int png_image_begin_read_from_memory(png_image* image, const void* bytes, std::size_t size) {
    int* const sides = reinterpret_cast<int*>(&image->width);
    image->message = "the PNG can't be read";
    image->pixels = stbi_load_from_memory(static_cast<const stbi_uc*>(bytes), int(size), sides,
                                          sides + 1, nullptr, 4);
    return image->pixels != nullptr;
}
inline int png_image_finish_read(png_image* image, const void*, void* to, int, void*) {
    std::memcpy(to, image->pixels, std::size_t(image->width) * image->height * 4);
    return 1;
}
inline void png_image_free(png_image* image) {
    stbi_image_free(image->pixels);
}
