#include "emulator/warp/textures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

using Texel = Texture::Texel;

/// A half float as a float.
float widened(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 31,
                        fraction = half & 0x3FF;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
    if (exponent == 0)
        return std::copysign(std::ldexp(float(fraction), -24), std::bit_cast<float>(sign | 1));
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

template <class T>
T loaded(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint32_t bits_at(const std::byte* at, std::uint32_t bytes) {
    return bytes == 4   ? loaded<std::uint32_t>(at)
           : bytes == 2 ? loaded<std::uint16_t>(at)
                        : loaded<std::uint8_t>(at);
}

/// The bits of a number as a kernel gets them.
std::uint32_t number(const Texture& t, const std::byte* at) {
    const std::uint32_t bits = bits_at(at, t.bytes);
    if (t.numbers == Texture::Numbers::float_)
        return t.bytes == 2 ? std::bit_cast<std::uint32_t>(widened(std::uint16_t(bits))) : bits;
    const unsigned unused = 32 - 8 * t.bytes;
    const bool is_signed = t.numbers == Texture::Numbers::signed_;
    const std::int32_t value = std::int32_t(bits << unused) >> unused;
    if (t.normalized_numbers) {
        const auto most = float((1u << (8 * t.bytes - is_signed)) - 1);
        const float scaled = is_signed ? std::max(float(value) / most, -1.0f) : float(bits) / most;
        return std::bit_cast<std::uint32_t>(scaled);
    }
    return is_signed ? std::uint32_t(value) : bits;
}

/// Texels are written in place: small values that are returned in parts make a CPU wait.
void read(const Texture& t, std::uint64_t address, Texel& to) {
    const auto* at = reinterpret_cast<const std::byte*>(address);
    for (std::uint32_t c = 0; c < t.channels; ++c) to[c] = number(t, at + c * t.bytes);
}

constexpr std::int64_t border = -1;

/// The element that stands for an index outside of `size` elements; `border`: none.
std::int64_t addressed(std::int64_t index, std::int64_t size, TextureAddress how) {
    const auto remainder = [](std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; };
    if (index >= 0 && index < size) return index;
    switch (how) {
        case TextureAddress::border:
            return border;
        case TextureAddress::wrap:
            return remainder(index, size);
        case TextureAddress::mirror: {
            const std::int64_t in_two = remainder(index, 2 * size);
            return in_two < size ? in_two : 2 * size - 1 - in_two;
        }
        case TextureAddress::clamp:
            break;
    }
    return std::clamp<std::int64_t>(index, 0, size - 1);
}

/// A coordinate among elements. NaN reads the first element.
float among_elements(const Texture& t, float x, std::uint32_t size) {
    if (std::isnan(x)) return 0;
    const float scaled = t.normalized_coordinates ? x * float(size) : x;
    return std::clamp(scaled, -1e9f, 1e9f);
}

/// Two neighbours, and the weight of the second one: 9 bits, 8 of them behind the point.
struct Weighted {
    std::int64_t first;
    float weight;
};

std::int64_t whole_part(float x) {
    const auto truncated = std::int64_t(x);
    return truncated - (float(truncated) > x);
}

Weighted neighbours(float x) {
    const float from = x - 0.5f;
    const std::int64_t first = whole_part(from);
    return {first, float(whole_part((from - float(first)) * 256 + 0.5f)) / 256};
}

/// Wrap and mirror need normalised coordinates, and are as clamp without them.
TextureAddress mode_of(const Texture& t, unsigned dimension) {
    const TextureAddress mode = t.address[dimension];
    const bool is_periodic = mode == TextureAddress::wrap || mode == TextureAddress::mirror;
    return is_periodic && !t.normalized_coordinates ? TextureAddress::clamp : mode;
}

}  // namespace

Texture Texture::slice(std::uint32_t number) const {
    Texture one = *this;
    one.memory += std::min(number, slices() - 1) * slice_bytes();
    one.depth = 0;
    return one;
}

TextureReads Texture::reads_of_index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    TextureReads reads;
    if (x >= 0 && x < width && y >= 0 && y < rows() && z >= 0 && z < slices())
        reads.add(address_of(x, y, z), 1);
    return reads;
}

TextureReads Texture::reads_at(float x, float y, float z) const {
    TextureReads reads;
    const auto add = [&](std::int64_t column, std::int64_t row, std::int64_t number, float weight) {
        const std::int64_t i = addressed(column, width, mode_of(*this, 0));
        const std::int64_t j = height == 0 ? 0 : addressed(row, height, mode_of(*this, 1));
        const std::int64_t k = depth == 0 ? 0 : addressed(number, depth, mode_of(*this, 2));
        if (i != border && j != border && k != border) reads.add(address_of(i, j, k), weight);
    };
    x = among_elements(*this, x, width);
    y = height == 0 ? 0 : among_elements(*this, y, height);
    z = depth == 0 ? 0 : among_elements(*this, z, depth);
    if (!interpolates()) {
        add(whole_part(x), whole_part(y), whole_part(z), 1);
        return reads;
    }
    const Weighted i = neighbours(x), j = height == 0 ? Weighted{0, 0} : neighbours(y),
                   k = depth == 0 ? Weighted{0, 0} : neighbours(z);
    for (const bool behind : {false, true})
        for (const bool lower : {false, true})
            for (const bool right : {false, true}) {
                const float weight = (right ? i.weight : 1 - i.weight) *
                                     (lower ? j.weight : 1 - j.weight) *
                                     (behind ? k.weight : 1 - k.weight);
                if (weight != 0) add(i.first + right, j.first + lower, k.first + behind, weight);
            }
    return reads;
}

Texel Texture::texel_of(const TextureReads& reads) const {
    Texel result{};
    if (!interpolates()) {
        if (reads.count) read(*this, reads.elements[0].address, result);
        return result;
    }
    std::array<float, 4> sums{};
    for (unsigned e = 0; e < reads.count; ++e) {
        Texel one{};
        read(*this, reads.elements[e].address, one);
        for (std::uint32_t c = 0; c < channels; ++c)
            sums[c] += reads.elements[e].weight * std::bit_cast<float>(one[c]);
    }
    for (std::uint32_t c = 0; c < channels; ++c) result[c] = std::bit_cast<std::uint32_t>(sums[c]);
    return result;
}

// CUDA C++ Programming Guide, "Cubemap Textures": the face that the direction points to, and where
// it meets the face.
TextureReads Texture::reads_of_cube(float x, float y, float z) const {
    const float ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
    std::uint32_t face;
    float most, s, t;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        most = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        most = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5;
        most = az, s = z >= 0 ? x : -x, t = -y;
    }
    Texture one = slice(face);
    one.normalized_coordinates = true;
    return one.reads_at((s / most + 1) / 2, (t / most + 1) / 2);
}

std::uint64_t Textures::add(const Texture& t) {
    if (t.width == 0) throw Error("a texture has no elements");
    constexpr std::uint64_t most_bytes = std::uint64_t(1) << 40;
    const std::uint64_t row = std::uint64_t(t.width) * t.element_bytes();
    if (row > most_bytes || t.pitch > most_bytes / t.rows() / t.slices() ||
        t.memory > ~std::uint64_t(0) - 2 * most_bytes)
        throw Error("a texture is too large");
    if (t.height > 1 && t.pitch < row)
        throw Error("the rows of a texture overlap: its pitch is less than a row");
    const bool is_float = t.numbers == Texture::Numbers::float_;
    if ((t.channels != 1 && t.channels != 2 && t.channels != 4) ||
        (t.bytes != 1 && t.bytes != 2 && t.bytes != 4) || (is_float && t.bytes == 1))
        throw Error(
            "a texture's elements have 1, 2 or 4 integers of 8, 16 or 32 bits, or floats of 16 or "
            "32 bits");
    all_[++newest_] = t;
    return newest_;
}

const Texture* Textures::find(std::uint64_t handle) const {
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : &found->second;
}

}  // namespace warpscope::emulator
