#include "experiments/bodies/gravity.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "compute/device/device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "experiments/bodies/gravity.cpp"
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

/// Sum over j >= from of m_i m_j / distance.
double bond_of(const Columns& c, std::size_t i, std::size_t from, double eps) {
    const Lanes d;
    const Doubles eps2 = hn::Set(d, eps * eps);
    Doubles total = hn::Zero(d);
    for (std::size_t j = from; j < c.size; j += hn::Lanes(d)) {
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

namespace {

double kinetic_energy(const Bodies& bodies) {
    double sum = 0;
    for (const Body& body : bodies) {
        const Vector v{body.velocity[0], body.velocity[1], body.velocity[2]};
        sum += 0.5 * body.mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return sum;
}

/// A body of a sample, which stands for `weight` bodies.
struct Sampled {
    std::size_t body;
    double weight;
};

std::vector<Sampled> take_sample(const Bodies& bodies, std::size_t size) {
    const double heavy = total_mass(bodies) / double(size);
    std::vector<Sampled> sample;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].mass > heavy)
            sample.push_back({i, 1});
        else
            others.push_back(i);
    const double weight = std::max(1.0, double(others.size()) / double(size));
    for (double k = weight / 2; k < double(others.size()); k += weight)
        sample.push_back({others[std::size_t(k)], weight});
    return sample;
}

}  // namespace

Energy energy(const Bodies& bodies, double eps, std::size_t sample, const std::stop_token& stop) {
    if (sample >= bodies.size()) return energy(bodies, eps, stop);
    const Columns columns(bodies);
    const std::vector<Sampled> taken = take_sample(bodies, std::max<std::size_t>(sample, 1));
    std::vector<double> rows(taken.size());
    for_rows(rows.size(), stop, [&](std::size_t k) {
        const std::size_t i = taken[k].body;
        const double mass = columns.mass[i];
        const double itself = mass * mass / eps;
        rows[k] = HWY_DYNAMIC_DISPATCH(bond_of)(columns, i, 0, eps) - itself;
    });
    Energy result{.kinetic = kinetic_energy(bodies)};
    for (std::size_t k = 0; k < rows.size(); ++k)
        result.potential -= taken[k].weight * rows[k] / 2;  // each pair is in two rows
    return result;
}

Energy energy(const Bodies& bodies, double eps, const std::stop_token& stop) {
    const Columns columns(bodies);
    // Each row is summed first, then the row sums in order: the result does not depend on the
    // number of threads.
    std::vector<double> rows(bodies.size());
    for_rows(rows.size(), stop, [&](std::size_t i) {
        rows[i] = HWY_DYNAMIC_DISPATCH(bond_of)(columns, i, i + 1, eps);
    });
    Energy result{.kinetic = kinetic_energy(bodies)};
    for (double row : rows) result.potential -= row;
    return result;
}

}  // namespace warpscope::experiments
#endif
