#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "experiments/bodies/bodies_file.h"
#include "experiments/bodies/bodies_format.h"

namespace warpscope::experiments {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t header_bytes = 28;  // often followed by 4 bytes of padding
constexpr std::size_t count_offset = 8, dimensions_offset = 12, kinds_offset = 16;

struct Kind {
    std::string_view name;
    std::size_t floats;  ///< of a record
    float luminosity;
};
constexpr Kind kinds[] = {{"gas", 12, 1.0f}, {"dark", 9, 0.12f}, {"star", 11, 1.0f}};

constexpr std::string_view tipsy_fields[] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

class Bytes {
  public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

    void swap_order() { swapped_ = true; }
    std::int32_t integer(std::size_t offset) const {
        return std::bit_cast<std::int32_t>(word(offset));
    }
    float real(std::size_t offset) const { return std::bit_cast<float>(word(offset)); }

  private:
    std::uint32_t word(std::size_t offset) const {
        std::array<char, 4> copy;
        std::copy_n(bytes_.begin() + std::ptrdiff_t(offset), 4, copy.begin());
        if (swapped_) std::reverse(copy.begin(), copy.end());
        return std::bit_cast<std::uint32_t>(copy);
    }

    std::string_view bytes_;
    bool swapped_ = false;
};

[[noreturn]] void refuse(std::size_t offset, const std::string& why) {
    throw BodiesFileError(fmt::format("byte {}: {}", offset, why));
}

struct Header {
    std::size_t counts[3];  ///< of each kind
    std::size_t bytes;      ///< 28 or 32
};

/// Finds the byte order, reads the counts and compares them with the length of the file.
Header read_header(Bytes& bytes, std::size_t length, std::size_t most) {
    if (length < header_bytes)
        refuse(length, fmt::format("the file ends within the header of {}", header_bytes));
    if (bytes.integer(dimensions_offset) != 3) bytes.swap_order();
    if (bytes.integer(dimensions_offset) != 3)
        refuse(dimensions_offset,
               "the number of dimensions is not 3 in either byte order: this is not a tipsy file "
               "(and not a table, which is text)");
    const std::int32_t n = bytes.integer(count_offset);
    if (n < 1) refuse(count_offset, fmt::format("the header says {} bodies", n));
    if (std::size_t(n) > most)
        refuse(count_offset, fmt::format("the header says {} bodies; the maximum is {}", n, most));

    Header header{};
    std::size_t all = 0, floats = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t offset = kinds_offset + 4 * k;
        const std::int32_t count = bytes.integer(offset);
        if (count < 0) refuse(offset, fmt::format("{} {} bodies", count, kinds[k].name));
        header.counts[k] = std::size_t(count);
        all += header.counts[k];
        floats += header.counts[k] * kinds[k].floats;
    }
    if (all != std::size_t(n))
        refuse(count_offset, fmt::format("the header says {} bodies, but {} gas, dark and star "
                                         "bodies together",
                                         n, all));
    const std::size_t body_bytes = 4 * floats;
    header.bytes = length == header_bytes + body_bytes ? header_bytes : header_bytes + 4;
    const std::size_t wanted = header.bytes + body_bytes;
    if (length < wanted)
        refuse(length, fmt::format("the file ends here, but its header needs {} bytes", wanted));
    if (length > wanted)
        refuse(wanted, fmt::format("{} bytes follow the last body", length - wanted));
    return header;
}

RawBody read_body(const Bytes& bytes, std::size_t offset, const Kind& kind, std::size_t index) {
    double values[std::size(tipsy_fields)];
    for (std::size_t i = 0; i < std::size(tipsy_fields); ++i) {
        values[i] = bytes.real(offset + 4 * i);
        const bool good = std::isfinite(values[i]) && !(i == 0 && values[i] < 0);
        if (!good)
            refuse(offset + 4 * i, fmt::format("{} of {} body {} is {}", tipsy_fields[i], kind.name,
                                               index, values[i]));
    }
    return {{values[1], values[2], values[3]},
            {values[4], values[5], values[6]},
            values[0],
            kind.luminosity};
}

}  // namespace

RawBodies read_tipsy(std::string_view content, std::size_t most) {
    Bytes bytes(content);
    const Header header = read_header(bytes, content.size(), most);
    std::vector<RawBody> bodies;
    std::size_t offset = header.bytes;
    for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t i = 0; i < header.counts[k]; ++i) {
            bodies.push_back(read_body(bytes, offset, kinds[k], i));
            offset += 4 * kinds[k].floats;
        }
    }
    return {std::move(bodies), false, {}};
}

}  // namespace warpscope::experiments
