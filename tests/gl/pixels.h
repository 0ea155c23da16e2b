#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::gl {

/// width*height opaque RGBA pixels, all different (up to 4096x4096).
inline std::vector<std::uint8_t> numbered_pixels(int width, int height) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            pixels.push_back(std::uint8_t(x));
            pixels.push_back(std::uint8_t(y));
            pixels.push_back(std::uint8_t((x >> 8) | (y >> 8) << 4));
            pixels.push_back(255);
        }
    }
    return pixels;
}

}  // namespace warpscope::gl
