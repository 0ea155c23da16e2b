#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <vector>

namespace warpscope::experiments {

using Vector = std::array<double, 3>;

/// One body as the kernels get it. G = 1; starts and loaded files have a total mass of 1.
struct Body {
    std::array<float, 3> position{};
    std::array<float, 3> velocity{};
    float mass = 0;
    float luminosity = 1;  ///< 0..1, brightness in the picture; gravity ignores it
};

using Bodies = std::vector<Body>;

double total_mass(const Bodies& bodies);
Vector total_momentum(const Bodies& bodies);
/// Sum of |m v|: the scale with which a momentum is compared.
double momentum_scale(const Bodies& bodies);
/// Root of the mean squared speed over all bodies.
double rms_speed(const Bodies& bodies);
/// Distance from the origin within which `share` (0..1) of the bodies lie; by number, not by mass.
double radius_of_share(const Bodies& bodies, double share);
/// Moves the centre of mass to the origin and makes its velocity 0; with `massless`, the mean
/// position and velocity.
template <class AnyBody>
void move_to_centre_of_mass(std::vector<AnyBody>& bodies, bool massless) {
    double weights = 0;
    Vector position{}, velocity{};
    for (const AnyBody& body : bodies) {
        const double weight = massless ? 1.0 : double(body.mass);
        weights += weight;
        for (std::size_t k = 0; k < 3; ++k) {
            position[k] += weight * body.position[k];
            velocity[k] += weight * body.velocity[k];
        }
    }
    using Number = std::remove_reference_t<decltype(bodies[0].position[0])>;
    for (AnyBody& body : bodies)
        for (std::size_t k = 0; k < 3; ++k) {
            body.position[k] = Number(body.position[k] - position[k] / weights);
            body.velocity[k] = Number(body.velocity[k] - velocity[k] / weights);
        }
}

/// Starts. All have total mass 1, the centre of mass at rest in the origin, and depend on n >= 1
/// and seed alone. They throw compute::Cancelled soon after a stop request.

/// Plummer sphere in equilibrium, in Hénon units (G = M = 1, E = -1/4, virial radius 1): Aarseth,
/// Hénon & Wielen, Astron. Astrophys. 37, 183 (1974), appendix. Cut at 99.9 % of the mass.
Bodies plummer_sphere(std::size_t n, std::uint64_t seed, const std::stop_token& stop = {});
/// Exponential disk of scale length 0.35 on nearly circular orbits round a central body that holds
/// 60 % of the mass.
Bodies rotating_disk(std::size_t n, std::uint64_t seed, const std::stop_token& stop = {});
/// Two such disks, the second tilted, smaller and half as heavy, on a bound orbit that brings them
/// together.
Bodies colliding_galaxies(std::size_t n, std::uint64_t seed, const std::stop_token& stop = {});
/// Homogeneous sphere of radius 1 at rest. It collapses at t = pi/2 * sqrt(1/2).
Bodies cold_sphere(std::size_t n, std::uint64_t seed, const std::stop_token& stop = {});

}  // namespace warpscope::experiments
