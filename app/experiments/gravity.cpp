#include "experiments/gravity.h"

#include <tbb/parallel_for.h>

#include <cmath>

namespace warpscope::experiments {
namespace {

/// Columns of doubles: a body's fields lie far apart in Bodies, and floats would be converted
/// n times each.
struct Columns {
    std::vector<double> x, y, z, mass;
    explicit Columns(const Bodies& bodies) {
        for (const Body& body : bodies) {
            x.push_back(body.position[0]);
            y.push_back(body.position[1]);
            z.push_back(body.position[2]);
            mass.push_back(body.mass);
        }
    }
    std::size_t size() const { return x.size(); }
};

Pull pull_on(const Columns& c, std::size_t i, double eps) {
    Pull pull;
    auto& a = pull.acceleration;
    for (std::size_t j = 0; j < c.size(); ++j) {
        const double dx = c.x[j] - c.x[i], dy = c.y[j] - c.y[i], dz = c.z[j] - c.z[i];
        const double distance2 = dx * dx + dy * dy + dz * dz;
        const double softened2 = distance2 + eps * eps;
        const double s = c.mass[j] / (softened2 * std::sqrt(softened2));
        a[0] += dx * s;
        a[1] += dy * s;
        a[2] += dz * s;
        pull.magnitude += std::sqrt(distance2) * s;
    }
    return pull;
}

}  // namespace

std::vector<Pull> reference_pulls(const Bodies& bodies, double eps,
                                  std::span<const std::size_t> which) {
    const Columns columns(bodies);
    std::vector<Pull> pulls(which.size());
    tbb::parallel_for(std::size_t(0), which.size(),
                      [&](std::size_t k) { pulls[k] = pull_on(columns, which[k], eps); });
    return pulls;
}

Energy energy(const Bodies& bodies, double eps) {
    const Columns c(bodies);
    // Row sums first, and then those in order: the result does not depend on the threads.
    std::vector<double> rows(bodies.size());
    tbb::parallel_for(std::size_t(0), c.size(), [&](std::size_t i) {
        double sum = 0;
        for (std::size_t j = i + 1; j < c.size(); ++j) {
            const double dx = c.x[j] - c.x[i], dy = c.y[j] - c.y[i], dz = c.z[j] - c.z[i];
            sum += c.mass[j] / std::sqrt(dx * dx + dy * dy + dz * dz + eps * eps);
        }
        rows[i] = c.mass[i] * sum;
    });
    Energy result;
    for (double row : rows) result.potential -= row;
    for (const Body& body : bodies) {
        const Vector v{body.velocity[0], body.velocity[1], body.velocity[2]};
        result.kinetic += 0.5 * body.mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return result;
}

}  // namespace warpscope::experiments
