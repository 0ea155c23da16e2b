#include "experiments/bodies/bodies_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compute/device/device.h"
#include "experiments/bodies/bodies_format.h"
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
