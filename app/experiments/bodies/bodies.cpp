#include "experiments/bodies/bodies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/device/device.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::experiments {

double total_mass(const Bodies& bodies) {
    double sum = 0;
    for (const Body& body : bodies) sum += body.mass;
    return sum;
}

Vector total_momentum(const Bodies& bodies) {
    Vector sum{};
    for (const Body& body : bodies)
        for (int k = 0; k < 3; ++k) sum[k] += double(body.mass) * body.velocity[k];
    return sum;
}

double momentum_scale(const Bodies& bodies) {
    double sum = 0;
    for (const Body& body : bodies) {
        const auto& v = body.velocity;
        sum += double(body.mass) * std::hypot(double(v[0]), double(v[1]), double(v[2]));
    }
    return sum;
}

double rms_speed(const Bodies& bodies) {
    double sum = 0;
    for (const Body& body : bodies)
        for (double v : body.velocity) sum += v * v;
    return std::sqrt(sum / double(bodies.size()));
}

double radius_of_share(const Bodies& bodies, double share) {
    std::vector<double> radii;
    radii.reserve(bodies.size());
    for (const Body& body : bodies) {
        const auto& x = body.position;
        radii.push_back(std::hypot(double(x[0]), double(x[1]), double(x[2])));
    }
    const auto rank = std::size_t(std::ceil(share * double(radii.size())));
    const std::size_t index = std::clamp<std::size_t>(rank, 1, radii.size()) - 1;
    std::nth_element(radii.begin(), radii.begin() + std::ptrdiff_t(index), radii.end());
    return radii[index];
}

namespace {

using std::numbers::pi;

/// splitmix64: a seed gives equal bodies with every standard library.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// Between 0 and 1, both excluded.
    double uniform() {
        const std::uint64_t x = emulator::splitmix64(state_);
        state_ += emulator::splitmix64_step;
        return (double(x >> 11) + 0.5) * 0x1p-53;
    }

    /// Mean 0, variance 1 (Box & Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * pi * uniform());
    }

    std::array<float, 3> direction(double length) {
        const double z = 2 * uniform() - 1;
        const double angle = 2 * pi * uniform();
        const double across = std::sqrt(1 - z * z);
        return {float(length * across * std::cos(angle)), float(length * across * std::sin(angle)),
                float(length * z)};
    }

  private:
    std::uint64_t state_;
};

/// Called for each body i. Looks for a stop request about every millisecond.
void check_stop(const std::stop_token& stop, std::size_t i) {
    if (i % 4096 == 0) compute::throw_if_stopped(stop, "the start of the bodies");
}

struct DiskShape {
    double mass = 1;
    double scale = 1;  ///< lengths in units of the standard disk's
};

constexpr double disk_length = 0.35;               ///< scale length of the surface density
constexpr double central_share = 0.6;              ///< of the disk's mass
constexpr double disk_from = 0.25, disk_to = 4.5;  ///< scale lengths; no body beyond

/// A disk in the plane z = 0 round a central body, turning counter-clockwise.
Bodies make_disk(std::size_t n, const DiskShape& shape, Random& random,
                 const std::stop_token& stop) {
    Bodies bodies(n);
    if (n == 0) return bodies;
    const double central_mass = n == 1 ? 1 : central_share;
    bodies[0].mass = float(shape.mass * central_mass);
    const double speed_unit = std::sqrt(shape.mass / shape.scale);
    for (std::size_t i = 1; i < n; ++i) {
        check_stop(stop, i);
        // The surface density falls as exp(-x): the mass within x has the distribution of the sum
        // of two exponential variables.
        double x;
        do x = -std::log(random.uniform() * random.uniform());
        while (x < disk_from || x > disk_to);
        const double radius = disk_length * x;
        const double inside = central_mass + (1 - central_mass) * (1 - (1 + x) * std::exp(-x));
        const double speed = std::sqrt(inside / radius);
        const double angle = 2 * pi * random.uniform();
        const double c = std::cos(angle), s = std::sin(angle);
        const double along = speed * (1 + 0.06 * random.normal());
        const double out = speed * 0.06 * random.normal();
        Body& body = bodies[i];
        body.mass = float(shape.mass * (1 - central_mass) / double(n - 1));
        body.position = {float(shape.scale * radius * c), float(shape.scale * radius * s),
                         float(shape.scale * 0.02 * random.normal())};
        body.velocity = {float(speed_unit * (out * c - along * s)),
                         float(speed_unit * (out * s + along * c)),
                         float(speed_unit * 0.04 * speed * random.normal())};
    }
    return bodies;
}

/// Turns a vector by `angle` about the x axis.
void tilt(std::array<float, 3>& v, double angle) {
    const double y = v[1], z = v[2];
    v[1] = float(y * std::cos(angle) - z * std::sin(angle));
    v[2] = float(y * std::sin(angle) + z * std::cos(angle));
}

}  // namespace

Bodies plummer_sphere(std::size_t n, std::uint64_t seed, const std::stop_token& stop) {
    Random random(seed);
    Bodies bodies(n);
    const double length = 3 * pi / 16;  // Plummer's radius in Hénon units
    for (std::size_t i = 0; i < n; ++i) {
        check_stop(stop, i);
        const double inside = 0.999 * random.uniform();
        const double radius = 1 / std::sqrt(std::pow(inside, -2.0 / 3) - 1);
        // Speed over escape speed: density q^2 (1 - q^2)^(7/2), nowhere above 0.1.
        double q, y;
        do {
            q = random.uniform();
            y = 0.1 * random.uniform();
        } while (y > q * q * std::pow(1 - q * q, 3.5));
        const double speed = q * std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
        Body& body = bodies[i];
        body.mass = float(1 / double(n));
        body.position = random.direction(length * radius);
        body.velocity = random.direction(speed / std::sqrt(length));
    }
    move_to_centre_of_mass(bodies, false);
    return bodies;
}

Bodies rotating_disk(std::size_t n, std::uint64_t seed, const std::stop_token& stop) {
    Random random(seed);
    Bodies bodies = make_disk(n, {}, random, stop);
    move_to_centre_of_mass(bodies, false);
    return bodies;
}

Bodies colliding_galaxies(std::size_t n, std::uint64_t seed, const std::stop_token& stop) {
    Random random(seed);
    const std::size_t first = n - n / 3;
    const double second_mass = n / 3 == 0 ? 0 : 1.0 / 3;
    const DiskShape small{second_mass, 0.7};
    Bodies bodies = make_disk(first, {1 - second_mass, 1}, random, stop);
    Bodies other = make_disk(n - first, small, random, stop);

    // Two points on a bound orbit with 0.9 of the parabolic speed. As points they would pass each
    // other at about a third of their first distance.
    const Vector offset{2.2, 1.3, 0.3};
    const double distance = std::hypot(offset[0], offset[1], offset[2]);
    const float speed = float(0.9 * std::sqrt(2 / distance));
    for (Body& body : other) {
        tilt(body.position, -50 * pi / 180);
        tilt(body.velocity, -50 * pi / 180);
        for (int k = 0; k < 3; ++k) body.position[k] += float(offset[k]);
        body.velocity[0] -= speed;
    }
    bodies.insert(bodies.end(), other.begin(), other.end());
    move_to_centre_of_mass(bodies, false);
    return bodies;
}

Bodies cold_sphere(std::size_t n, std::uint64_t seed, const std::stop_token& stop) {
    Random random(seed);
    Bodies bodies(n);
    for (std::size_t i = 0; i < n; ++i) {
        check_stop(stop, i);
        Body& body = bodies[i];
        body.mass = float(1 / double(n));
        body.position = random.direction(std::cbrt(random.uniform()));
    }
    move_to_centre_of_mass(bodies, false);
    return bodies;
}

}  // namespace warpscope::experiments
