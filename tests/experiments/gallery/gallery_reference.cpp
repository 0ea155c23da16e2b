#include "experiments/gallery/gallery_reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace warpscope::tests {
namespace {

using experiments::Rgba;
using experiments::Size;
using Picture = std::vector<Rgba>;

Rgba rgb(int r, int g, int b) {
    return {std::uint8_t(r), std::uint8_t(g), std::uint8_t(b), 255};
}

/// pixel(x, y) of every pixel.
template <class Pixel>
Picture draw(Size size, Pixel pixel) {
    Picture picture;
    picture.reserve(std::size_t(size.width) * std::size_t(size.height));
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) picture.push_back(pixel(x, y));
    return picture;
}

/// 3 t^2 - 2 t^3 from 0 to 255 and back over 256 angles.
int wave(int angle) {
    const int at = ((angle % 256) + 256) % 256;
    const int t = at < 128 ? at : 255 - at;
    return t * t * (384 - 2 * t) / 8192;
}

std::uint32_t hash(std::uint32_t v) {
    v = (v ^ (v >> 16)) * 0x7feb352d;
    v = (v ^ (v >> 15)) * 0x846ca68b;
    return v ^ (v >> 16);
}

/// The frame number that a kernel computes from its time. After 19 hours a float cannot hold it.
int tick_of(const GalleryFrame& frame) {
    return int(std::nearbyint(60.0f * float(double(frame.frame) / 60.0)));
}

// Mirrored at the diagonal: above the diagonal, rows become columns.
Picture transpose(const GalleryFrame& frame) {
    return draw(frame.size, [&](int x, int y) {
        const int along = std::min(x, y), row = std::max(x, y);
        const int track = row / 16, across = row % 16;
        const int head = tick_of(frame) * (2 + (track * 5) % 4);
        const int tail = (((along - head + track * 89) % 256) + 256) % 256;
        const int light = (48 + tail * tail / 256) * (across * (15 - across) + 8) / 64;
        const auto shade = [&](int angle) {
            return std::min(255, wave(track * 11 + angle) * light / 256);
        };
        return rgb(shade(0), shade(85), shade(170));
    });
}

Rgba disc(int x, int y, int tick) {
    const int column = x >= 0 ? x / 32 : -1, row = y >= 0 ? y / 32 : -1;
    const int dx = 2 * (x - 32 * column) - 31, dy = 2 * (y - 32 * row) - 31;
    const int reach = 64 + 3 * wave(2 * tick + 16 * column + 24 * row);
    const int angle = 9 * column + 13 * row;
    if (dx * dx + dy * dy <= reach) return rgb(wave(angle), wave(angle + 85), wave(angle + 170));
    return (column + row) % 2 != 0 ? rgb(16, 32, 48) : rgb(12, 20, 32);
}

Picture blur(const GalleryFrame& frame) {
    constexpr int radius = 4, count = 81;
    const int width = frame.size.width, height = frame.size.height;
    const int wide = width + 2 * radius, high = height + 2 * radius;
    const Picture sharp = draw(
        {wide, high}, [&](int x, int y) { return disc(x - radius, y - radius, tick_of(frame)); });
    // Sums of columns of 9, then of 9 of those.
    std::vector<std::array<int, 3>> columns(std::size_t(wide) * std::size_t(height));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < wide; ++x)
            for (int k = 0; k <= 2 * radius; ++k) {
                const Rgba& p = sharp[std::size_t((y + k) * wide + x)];
                auto& sum = columns[std::size_t(y * wide + x)];
                sum[0] += p.r, sum[1] += p.g, sum[2] += p.b;
            }
    const int edge = int(std::floor(frame.mouse.x));
    return draw(frame.size, [&](int x, int y) {
        if (x == edge) return rgb(255, 255, 255);
        if (x < edge) return sharp[std::size_t((y + radius) * wide + x + radius)];
        std::array<int, 3> sum{};
        for (int k = 0; k <= 2 * radius; ++k)
            for (std::size_t c = 0; c < 3; ++c) sum[c] += columns[std::size_t(y * wide + x + k)][c];
        return rgb(sum[0] / count, sum[1] / count, sum[2] / count);
    });
}

/// The first `count` steps of the bitonic network.
std::array<int, 32> sorted(std::array<int, 32> numbers, int count) {
    for (int run = 2; run <= 32; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            if (count-- <= 0) return numbers;
            for (int low = 0; low < 32; ++low) {
                const int high = low + distance;
                if (low / distance % 2 != 0) continue;
                const bool rising = low / run % 2 == 0;
                auto &a = numbers[std::size_t(low)], &b = numbers[std::size_t(high)];
                if ((a > b) == rising) std::swap(a, b);
            }
        }
    return numbers;
}

Picture shuffle(const GalleryFrame& frame) {
    constexpr int bar = 8, group_width = 32 * bar;
    const int strips = (frame.size.height + 15) / 16;
    const int groups = (frame.size.width + group_width - 1) / group_width;
    std::vector<std::array<int, 32>> rows;  // by block row and group
    for (int strip = 0; strip < strips; ++strip)
        for (int group = 0; group < groups; ++group) {
            std::array<int, 32> numbers{};
            for (int i = 0; i < 32; ++i)
                numbers[std::size_t(i)] =
                    int(hash(std::uint32_t(tick_of(frame) / 120 * 4096 + group * 32 + i)) % 256);
            rows.push_back(sorted(numbers, strip * 16 / strips));
        }
    return draw(frame.size, [&](int x, int y) {
        if (x % bar == bar - 1) return rgb(8, 8, 16);
        const int v =
            rows[std::size_t(y / 16 * groups + x / group_width)][std::size_t(x / bar % 32)];
        return rgb(v, v * v / 256, 70 + v * (255 - v) / 128 - v / 8);
    });
}

/// The picture of double_buffer and single_buffer. Every pixel returns to its place.
Picture terraces(const GalleryFrame& frame) {
    const int tick = tick_of(frame);
    return draw(frame.size, [&](int x, int y) {
        const int ground = wave(x + tick) + wave(2 * y - tick) + wave((x + y) / 2 + 2 * tick);
        const int terrace = ground / 48, light = 160 + 2 * (ground % 48);
        const int red = wave(9 * terrace + 20), green = wave(7 * terrace + 230);
        return rgb(red * light / 256, green * light / 256, (red / 2 + 60) * light / 256);
    });
}

/// Each pixel is the mean of 9x9 pixels of this picture, whose edge pixels go on beyond the edge.
Picture blurred_rings(const GalleryFrame& frame) {
    const auto at = [&](int x, int y) {
        x = std::clamp(x, 0, frame.size.width - 1), y = std::clamp(y, 0, frame.size.height - 1);
        const int dx = x % 128 - 64, dy = y % 128 - 64;
        const int ring = (dx * dx + dy * dy) / 512 - tick_of(frame) / 8;
        const int angle = 64 * (((ring % 8) + 8) % 8) + x / 128 * 24 + y / 128 * 40;
        if (ring % 2 != 0) return rgb(16, 32, 48);
        return rgb(wave(angle), wave(angle + 85), wave(angle + 170));
    };
    return draw(frame.size, [&](int x, int y) {
        double r = 0, g = 0, b = 0;
        for (int dy = -4; dy <= 4; ++dy)
            for (int dx = -4; dx <= 4; ++dx) {
                const Rgba p = at(x + dx, y + dy);
                r += p.r, g += p.g, b += p.b;
            }
        return rgb(int(r / 81), int(g / 81), int(b / 81));
    });
}

Picture ribbons(const GalleryFrame& frame) {
    const int tick = tick_of(frame);
    return draw(frame.size, [&](int x, int y) {
        const int mirrored = x / 32 * 32 + 31 - x % 32;
        const int bend = wave(y + tick) + wave(2 * y - 3 * tick) / 2;
        const int light = wave(3 * mirrored + bend), shade = wave(mirrored + 2 * y + tick);
        return rgb(light, light * shade / 256, (light + shade) / 2);
    });
}

/// Row y of one matrix times row x of the other one, in double precision.
Picture product(const GalleryFrame& frame) {
    constexpr int depth = 64;
    const auto number = [&](int i, int k, int tick) {
        const int moved = k / 4 % 2 != 0 ? tick : 0;
        return double(wave(i * (k % 4 + 1) / 2 + 19 * k + moved) / 16 - 8);
    };
    const auto rows = [&](int count, int tick) {
        std::vector<std::array<double, depth>> all;
        for (int i = 0; i < count; ++i) {
            auto& row = all.emplace_back();
            for (int k = 0; k < depth; ++k) row[std::size_t(k)] = number(i, k, tick);
        }
        return all;
    };
    const auto a = rows(frame.size.height, tick_of(frame));
    const auto b = rows(frame.size.width, -tick_of(frame));
    return draw(frame.size, [&](int x, int y) {
        double sum = 0;
        for (std::size_t k = 0; k < depth; ++k) sum += a[std::size_t(y)][k] * b[std::size_t(x)][k];
        const int light = std::min(int(std::abs(sum)) / 6, 255), dim = light * light / 256;
        return rgb(sum < 0 ? dim : light, light * light / 512, sum < 0 ? light : dim);
    });
}

Picture histogram(const GalleryFrame& frame) {
    constexpr int bins = 64, columns = 32, rows = 32;
    const int width = frame.size.width, height = frame.size.height, tick = tick_of(frame);
    const auto within = [](float at, int size) {
        return int(std::clamp(std::floor(double(at)), -1.0 * size, 2.0 * size));
    };
    const int light_x = within(frame.mouse.x, width), light_y = within(frame.mouse.y, height);
    const auto brightness = [&](int x, int y) {
        const int dx = x - light_x, dy = y - light_y;
        const int light = std::max(0, 255 - (dx * dx + dy * dy) / 256);
        return (5 * light + 3 * (wave(x / 2 + tick) + wave(y - x / 4 - tick)) / 2) / 8;
    };
    std::array<int, bins> counts{};
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            ++counts[std::size_t(brightness(column * width / columns, row * height / rows) / 4)];
    return draw(frame.size, [&](int x, int y) {
        const int bin = x * bins / width;
        const int bar = counts[std::size_t(bin)] * height / (columns * rows / 8);
        if (y >= height - bar && (x + 1) * bins / width == bin) return rgb(255, 96 + 2 * bin, bin);
        const int light = brightness(x, y);
        return rgb(light * 3 / 4, light * light / 256, light);
    });
}

Picture life(const GalleryFrame& frame) {
    const int width = frame.size.width, height = frame.size.height;
    const auto sown = [&](int x, int y) {
        const int dx = std::abs(2 * x + 1 - width) / 2, dy = std::abs(2 * y + 1 - height) / 2;
        return dx * dx + dy * dy < height * height / 6 &&
               hash(std::uint32_t(dy * 4096 + dx)) % 3 == 0;
    };
    const Picture old = draw(frame.size, [&](int x, int y) {
        const Rgba p = frame.before[std::size_t(y * width + x)];
        if (std::bit_cast<std::uint32_t>(p) != 0) return p;
        return sown(x, y) ? rgb(255, 255, 255) : rgb(0, 0, 0);
    });
    const auto at = [&](int x, int y) {
        return old[std::size_t((y + height) % height * width + (x + width) % width)];
    };
    const int mouse_x = int(std::floor(frame.mouse.x)), mouse_y = int(std::floor(frame.mouse.y));
    return draw(frame.size, [&](int x, int y) {
        const Rgba cell = at(x, y);
        const bool alive = cell.g == 255;
        int neighbours = -int(alive);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) neighbours += at(x + dx, y + dy).g == 255;
        const int dx = x - mouse_x, dy = y - mouse_y;
        const bool sow = frame.mouse.z > 0 && dx * dx + dy * dy < 100 &&
                         hash(std::uint32_t(y * 4096 + x + tick_of(frame))) % 3 == 0;
        if (!sow && neighbours != 3 && !(neighbours == 2 && alive))
            return rgb(cell.r - (cell.r + 1) / 2, cell.g - (cell.g + 7) / 8, cell.b - cell.b / 16);
        if (!alive) return rgb(255, 255, 255);
        return rgb(cell.r - cell.r / 8, 255, cell.b - cell.b / 8);
    });
}

}  // namespace

Picture gallery_reference(std::string_view name, const GalleryFrame& frame) {
    if (name == "transpose" || name == "transpose_padded") return transpose(frame);
    if (name == "blur") return blur(frame);
    if (name == "shuffle") return shuffle(frame);
    if (name == "double_buffer" || name == "single_buffer") return terraces(frame);
    if (name == "pipeline_blur") return blurred_rings(frame);
    if (name == "hand_over") return ribbons(frame);
    if (name == "matrix_product") return product(frame);
    if (name == "histogram") return histogram(frame);
    if (name == "life") return life(frame);
    return {};
}

}  // namespace warpscope::tests
