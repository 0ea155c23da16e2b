#include "experiments/bodies/bodies_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "compute/device/device.h"
#include "experiments/bodies/bodies_text.h"
#include "files/regular_file.h"

namespace warpscope::experiments {
namespace {

/// Far more than the largest number of bodies needs.
constexpr std::size_t largest_file = std::size_t(256) << 20;

std::string read_whole(const std::filesystem::path& path, const std::stop_token& stop) {
    constexpr std::size_t part = std::size_t(1) << 20;
    files::RegularFile file(path);
    std::string text;
    do {
        compute::throw_if_stopped(stop, "reading the file");
        text += file.read(part);
        if (text.size() > largest_file)
            throw BodiesFileError(
                fmt::format("it is larger than {} MiB, the largest file of bodies that is read",
                            largest_file >> 20));
    } while (!text.empty() && text.size() % part == 0);
    if (text.empty()) throw BodiesFileError("it is empty");
    return text;
}

/// A binary file has control characters in its first bytes, which no text has.
bool is_text(const std::string& content) {
    return std::none_of(content.begin(), content.begin() + std::min<long>(32, content.size()),
                        [](unsigned char c) { return c < 9 || (c > 13 && c < 32); });
}

double radius_of_nine_tenths(const std::vector<RawBody>& raw) {
    std::vector<double> radii;
    for (const RawBody& body : raw) {
        const Vector& x = body.position;
        radii.push_back(std::hypot(x[0], x[1], x[2]));
    }
    const std::size_t index = (radii.size() * 9 + 9) / 10 - 1;
    std::nth_element(radii.begin(), radii.begin() + std::ptrdiff_t(index), radii.end());
    return radii[index];
}

/// Units with G = 1 have small numbers: a large mass is one in kilograms. Throws BodiesFileError
/// where the other numbers are not in metres and metres per second: where the root of the mean
/// squared speed is not within a tenth and ten times that of an orbit round all of the mass. It is
/// 32 times as much in cm and g, and 1/32 000 in km and kg.
bool is_in_kilograms(const std::vector<RawBody>& raw, double mass, double radius) {
    constexpr double least = 1e20, margin = 10;
    const auto largest = std::max_element(
        raw.begin(), raw.end(), [](const RawBody& a, const RawBody& b) { return a.mass < b.mass; });
    if (largest->mass < least) return false;
    double squares = 0;
    for (const RawBody& body : raw)
        for (const double v : body.velocity) squares += v * v;
    const double speed = std::sqrt(squares / double(raw.size()));
    const double orbit = std::sqrt(LoadedBodies::newton_si * mass / radius);
    if (speed > 0 && radius > 0 && !(speed > orbit / margin && speed < orbit * margin))
        throw BodiesFileError(
            fmt::format("the masses look like kilograms (the largest is {:.4g}), but the positions "
                        "and speeds do not fit metres and metres per second: name all units in a "
                        "header, such as \"x [km],y [km],z [km],vx [km/s],vy [km/s],vz [km/s],mass "
                        "[kg]\"",
                        largest->mass));
    return true;
}

/// Puts bodies into the units that load_bodies promises.
LoadedBodies scaled(RawBodies content) {
    std::vector<RawBody>& raw = content.bodies;
    double mass = 0;
    for (const RawBody& body : raw) mass += body.mass;
    move_to_centre_of_mass(raw, mass == 0);
    const double radius = radius_of_nine_tenths(raw);

    LoadedBodies loaded{.total_mass = mass, .is_si = content.is_si, .said = content.said};
    if (!loaded.is_si && is_in_kilograms(raw, mass, radius)) {
        loaded.is_si = true;
        loaded.said += fmt::format(
            "{}Its large masses are taken as kilograms, and its other "
            "numbers as metres and metres per second.",
            loaded.said.empty() ? "" : " ");
    }
    // If all masses are 0, or all bodies are at one point, the file's unit stays.
    loaded.mass_unit = mass > 0 ? mass : 1;
    loaded.length_unit = radius > 0 ? radius : 1;
    const double speed_unit = std::sqrt(loaded.gravity() * loaded.mass_unit / loaded.length_unit);
    for (const RawBody& body : raw) {
        Body& out = loaded.bodies.emplace_back();
        bool fits = true;
        for (int k = 0; k < 3; ++k) {
            const double x = body.position[k] / loaded.length_unit;
            const double v = body.velocity[k] / speed_unit;
            fits = fits && std::abs(x) < 1e15 && std::abs(v) < 1e15;
            out.position[k] = float(x);
            out.velocity[k] = float(v);
        }
        if (!fits)
            throw BodiesFileError(
                fmt::format("body {} of {} is too far away or too fast, compared with the others, "
                            "for float arithmetic",
                            loaded.bodies.size(), raw.size()));
        out.mass = float(body.mass / loaded.mass_unit);
        out.luminosity = body.luminosity;
    }
    return loaded;
}

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t header_bytes = 28;  // often followed by 4 bytes of padding
constexpr std::size_t count_offset = 8, dimensions_offset = 12, kinds_offset = 16;

struct ParticleKind {
    std::string_view name;
    std::size_t floats;  ///< of a record
    float luminosity;
};
constexpr ParticleKind kinds[] = {{"gas", 12, 1.0f}, {"dark", 9, 0.12f}, {"star", 11, 1.0f}};

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

RawBody read_body(const Bytes& bytes, std::size_t offset, const ParticleKind& kind,
                  std::size_t index) {
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

/// Tipsy: a header {double time; int bodies, dimensions, gas, dark, stars} and 4 bytes of padding,
/// and then records of 12 (gas), 9 (dark) and 11 (star) floats that begin mass, x, y, z, vx, vy,
/// vz; all of one byte order. Dark bodies get a faint luminosity. Throws BodiesFileError that
/// begins "byte 1234: …".
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

}  // namespace

double estimated_bodies(const std::filesystem::path& path) {
    constexpr double line_bytes = 80, tipsy_bytes = 36;  // of a line, of a dark body
    try {
        const std::string begin = files::RegularFile(path).read(32);
        const auto bytes = double(std::filesystem::file_size(path));
        return std::max(1.0, bytes / (is_text(begin) ? line_bytes : tipsy_bytes));
    } catch (const std::runtime_error&) {
        return 0;
    }
}

LoadedBodies load_bodies(const std::filesystem::path& path, std::size_t most,
                         const std::stop_token& stop) {
    try {
        const std::string content = read_whole(path, stop);
        return scaled(is_text(content) ? read_table(content, most, stop)
                                       : read_tipsy(content, most));
    } catch (const compute::Cancelled&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw BodiesFileError(fmt::format("bodies file {}: {}", path.string(), error.what()));
    }
}

}  // namespace warpscope::experiments
