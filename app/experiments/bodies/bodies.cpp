#include "experiments/bodies/bodies.h"

#include <algorithm>
#include <cmath>

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

}  // namespace warpscope::experiments
