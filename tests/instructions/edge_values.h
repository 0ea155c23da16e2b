#pragma once

#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace warpscope::tests {

/// Zero, the smallest and largest subnormals, ones, neighbours for rounding, the largest number,
/// infinity and NaN, with both signs.
inline std::vector<std::uint64_t> half_edges() {
    std::vector<std::uint64_t> values;
    for (std::uint64_t v : {0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x0401, 0x1400, 0x2e66, 0x3555,
                            0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4100, 0x4248, 0x5640, 0x63ff,
                            0x6400, 0x6801, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7e00, 0x7fff})
        for (std::uint64_t sign : {0x0000, 0x8000}) values.push_back(v | sign);
    return values;
}
/// Likewise for bfloat16.
inline std::vector<std::uint64_t> bfloat_edges() {
    std::vector<std::uint64_t> values;
    for (std::uint64_t v : {0x0000, 0x0001, 0x0002, 0x007f, 0x0080, 0x0081, 0x2000, 0x3e80, 0x3eab,
                            0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4020, 0x4049, 0x42c8, 0x437f,
                            0x4380, 0x4b7f, 0x5f00, 0x7f7e, 0x7f7f, 0x7f80, 0x7fc0, 0x7fff})
        for (std::uint64_t sign : {0x0000, 0x8000}) values.push_back(v | sign);
    return values;
}
inline std::vector<std::uint64_t> pair_edges(const std::vector<std::uint64_t>& halves) {
    std::vector<std::uint64_t> values;
    for (std::size_t k = 0; k < halves.size(); ++k)
        values.push_back(halves[k] | halves[(k * 7 + 3) % halves.size()] << 16);
    return values;
}

/// The bits of operands that instructions often handle wrongly, for a PTX type such as "s16".
inline std::vector<std::uint64_t> edge_values(std::string_view type) {
    if (type == "f16") return half_edges();
    if (type == "f16x2") return pair_edges(half_edges());
    if (type == "bf16") return bfloat_edges();
    if (type == "bf16x2") return pair_edges(bfloat_edges());
    int width = 64;
    std::from_chars(type.data() + 1, type.data() + type.size(), width);  // "s16"
    std::vector<std::uint64_t> values;
    if (type[0] != 'f') {
        const std::uint64_t top = std::uint64_t(1) << (width - 1);
        for (std::uint64_t v : {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 256})
            values.push_back(v);
        for (std::uint64_t v : {top - 1, top, top + 1, 2 * top - 1, 2 * top - 2})
            values.push_back(v);
        for (std::uint64_t v : {std::uint64_t(-7), std::uint64_t(-32), std::uint64_t(-100)})
            values.push_back(v);
        for (std::uint64_t v : {0x5555555555555555, 0x123456789abcdef0}) values.push_back(v);
        return values;
    }
    std::vector<double> reals{0.0,          0.25,         0.5,
                              0.49999997,   1.0,          1.5,
                              2.5,          3.0,          3.5,
                              1.0 / 3,      M_PI,         100.0,
                              127.5,        255.5,        32767.5,
                              65535.5,      8388607.5,    16777217.0,
                              1e10,         2147483647.0, 2147483648.0,
                              4294967040.0, 4294967296.0, 0x1p63,
                              0x1p64,       FLT_MAX,      FLT_MIN,
                              1e-38,        1e-40,        0x1p-149,
                              1e-20,        1e20,         std::numeric_limits<double>::infinity()};
    if (width == 64)
        for (double x : {DBL_MAX, DBL_MIN, 0x1p-1074, 1e-310, 1 + DBL_EPSILON}) reals.push_back(x);
    for (double x : reals)
        for (double v : {x, -x})
            values.push_back(width == 32 ? std::bit_cast<std::uint32_t>(float(v))
                                         : std::bit_cast<std::uint64_t>(v));
    values.push_back(width == 32 ? 0x7fffffff : 0x7fffffffffffffff);  // the NaN that GPUs make
    values.push_back(width == 32 ? 0xffc00001 : 0xfff8000000000001);
    return values;
}

}  // namespace warpscope::tests
