#include "experiments/nbody/gravity.h"

#include <tbb/parallel_for.h>

#include "compute/device/device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "experiments/nbody/gravity.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef WARPSCOPE_GRAVITY_COLUMNS
#define WARPSCOPE_GRAVITY_COLUMNS
namespace warpscope::experiments {

/// Bodies as columns of doubles. Distant bodies without mass follow, to fill the last vectors.
struct Columns {
    std::vector<double> x, y, z, mass;
    std::size_t size;                          ///< number of bodies without the filler
    static constexpr std::size_t filler = 32;  ///< no vector holds more doubles

    explicit Columns(const Bodies& bodies) : size(bodies.size()) {
        for (const Body& body : bodies) add(body.position, body.mass);
        for (std::size_t i = 0; i < filler; ++i) add({1e9f, 0, 0}, 0);
    }
    void add(const std::array<float, 3>& position, float m) {
        x.push_back(position[0]);
        y.push_back(position[1]);
        z.push_back(position[2]);
        mass.push_back(m);
    }
};

}  // namespace warpscope::experiments
#endif

HWY_BEFORE_NAMESPACE();
namespace warpscope::experiments::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Doubles = hn::Vec<Lanes>;

/// Distances from body i to bodies j, j + 1, ….
struct Ways {
    Doubles x, y, z, distance2;

    Ways(const Columns& c, std::size_t i, std::size_t j) {
        const Lanes d;
        x = hn::Sub(hn::LoadU(d, &c.x[j]), hn::Set(d, c.x[i]));
        y = hn::Sub(hn::LoadU(d, &c.y[j]), hn::Set(d, c.y[i]));
        z = hn::Sub(hn::LoadU(d, &c.z[j]), hn::Set(d, c.z[i]));
        distance2 = hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z)));
    }
};

Pull pull_on(const Columns& c, std::size_t i, double eps) {
    const Lanes d;
    const Doubles eps2 = hn::Set(d, eps * eps);
    Doubles x = hn::Zero(d), y = x, z = x, magnitude = x;
    for (std::size_t j = 0; j < c.size; j += hn::Lanes(d)) {
        const Ways way(c, i, j);
        const Doubles softened2 = hn::Add(way.distance2, eps2);
        const Doubles cube = hn::Mul(softened2, hn::Sqrt(softened2));
        const Doubles s = hn::Div(hn::LoadU(d, &c.mass[j]), cube);
        x = hn::MulAdd(way.x, s, x);
        y = hn::MulAdd(way.y, s, y);
        z = hn::MulAdd(way.z, s, z);
        magnitude = hn::MulAdd(hn::Sqrt(way.distance2), s, magnitude);
    }
    const auto sum = [&](Doubles v) { return hn::GetLane(hn::SumOfLanes(d, v)); };
    return {{sum(x), sum(y), sum(z)}, sum(magnitude)};
}

/// Sum over j > i of m_i m_j / distance.
double bond_of(const Columns& c, std::size_t i, double eps) {
    const Lanes d;
    const Doubles eps2 = hn::Set(d, eps * eps);
    Doubles total = hn::Zero(d);
    for (std::size_t j = i + 1; j < c.size; j += hn::Lanes(d)) {
        const Ways way(c, i, j);
        const Doubles mass = hn::LoadU(d, &c.mass[j]);
        total = hn::Add(total, hn::Div(mass, hn::Sqrt(hn::Add(way.distance2, eps2))));
    }
    return c.mass[i] * hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace warpscope::experiments::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::experiments {

HWY_EXPORT(pull_on);
HWY_EXPORT(bond_of);

namespace {

/// Calls row(0) … row(count - 1) on all cores.
template <class Row>
void for_rows(std::size_t count, const std::stop_token& stop, Row row) {
    tbb::parallel_for(std::size_t(0), count, [&](std::size_t k) {
        if (!stop.stop_requested()) row(k);
    });
    compute::throw_if_stopped(stop, "the reference in double precision");
}

}  // namespace

std::vector<Pull> reference_pulls(const Bodies& bodies, double eps,
                                  std::span<const std::size_t> which, const std::stop_token& stop) {
    const Columns columns(bodies);
    std::vector<Pull> pulls(which.size());
    for_rows(which.size(), stop, [&](std::size_t k) {
        pulls[k] = HWY_DYNAMIC_DISPATCH(pull_on)(columns, which[k], eps);
    });
    return pulls;
}

Energy energy(const Bodies& bodies, double eps, const std::stop_token& stop) {
    const Columns columns(bodies);
    // Each row is summed first, then the row sums in order: the result does not depend on the
    // number of threads.
    std::vector<double> rows(bodies.size());
    for_rows(rows.size(), stop,
             [&](std::size_t i) { rows[i] = HWY_DYNAMIC_DISPATCH(bond_of)(columns, i, eps); });
    Energy result;
    for (double row : rows) result.potential -= row;
    for (const Body& body : bodies) {
        const Vector v{body.velocity[0], body.velocity[1], body.velocity[2]};
        result.kinetic += 0.5 * body.mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return result;
}

}  // namespace warpscope::experiments
#endif
