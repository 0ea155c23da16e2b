#include "experiments/nbody/nbody_check.h"

#include <algorithm>
#include <cmath>

namespace warpscope::experiments {
namespace {

double norm2(const Vector& v) {
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

}  // namespace

StepReference make_reference(Bodies bodies, float eps, double most_pairs,
                             const std::stop_token& stop) {
    StepReference reference;
    for (Body& body : bodies) body.velocity = {};
    const auto n = double(bodies.size());
    const double stride = std::max(1.0, n * n / most_pairs);
    for (double i = 0; i < n; i += stride) reference.which.push_back(std::size_t(i));
    reference.pulls = reference_pulls(bodies, eps, reference.which, stop);
    reference.bodies = std::move(bodies);
    reference.eps = eps;
    return reference;
}

StepError compare_with(const StepReference& reference, std::span<const Vector> computed) {
    StepError result;
    result.checked = reference.which.size();
    result.bodies = reference.bodies.size();
    double error2 = 0, change2 = 0, length2 = 0;
    for (std::size_t k = 0; k < computed.size(); ++k) {
        const Pull& pull = reference.pulls[k];
        Vector difference;
        for (int c = 0; c < 3; ++c) difference[c] = computed[k][c] - pull.acceleration[c];
        const double error = norm2(difference);
        error2 += error;
        change2 += norm2(pull.acceleration);
        length2 += pull.magnitude * pull.magnitude;
        // This form keeps a NaN.
        const double own = error == 0 ? 0 : std::sqrt(error) / pull.magnitude;
        if (!(own <= result.worst)) result.worst = own;
    }
    result.relative = error2 == 0 ? 0 : std::sqrt(error2 / change2);
    const auto n = double(result.bodies);
    const double rounding = 0x1p-24 * (8 + std::sqrt(n) + n / 8);
    result.tolerance = change2 == 0 ? 0 : rounding * std::sqrt(length2 / change2);
    result.worst_tolerance = 4 * rounding;
    return result;
}

StepError check_step(compute::Device& device, NBodyKernel kernel, unsigned block,
                     const StepReference& reference) {
    return check_step(NBodyState(device, kernel, reference.bodies), block, reference);
}

StepError check_step(NBodyState scratch, unsigned block, const StepReference& reference) {
    scratch.step(block, 1.0f, reference.eps);
    const Bodies after = scratch.download();
    std::vector<Vector> computed;
    computed.reserve(reference.which.size());
    for (std::size_t i : reference.which) {
        const auto& v = after[i].velocity;
        computed.push_back({v[0], v[1], v[2]});
    }
    return compare_with(reference, computed);
}

void Drift::begin(Bodies from, float eps, std::uint64_t frame) {
    begin_momentum_ = total_momentum(from);
    begin_ = std::move(from);
    eps_ = eps;
    begin_frame_ = frame;
    begin_energy_.reset();
    energy_.reset();
}

bool Drift::due(std::size_t bodies, std::uint64_t frame) const {
    if (!energy_) return true;
    if (bodies <= 4096) return frame != energy_frame_;
    const double times = double(bodies) / 4096;
    return frame < energy_frame_ || double(frame - energy_frame_) >= 30 * times * times;
}

double Drift::energy(const Bodies& now, std::uint64_t frame, std::size_t sample,
                     const std::stop_token& stop) {
    sample = std::min(sample, now.size());
    if (!begin_energy_ || (sample > sample_ && !begin_.empty())) {
        begin_energy_ = experiments::energy(begin_, eps_, sample, stop).total();
        sample_ = sample;
        energy_.reset();
        if (sample == now.size()) begin_ = {};
    }
    if (due(now.size(), frame)) {
        const bool unmoved = frame == begin_frame_;
        energy_ = unmoved ? *begin_energy_ : experiments::energy(now, eps_, sample_, stop).total();
        energy_frame_ = frame;
    }
    const double change = *energy_ - *begin_energy_;
    return change == 0 ? 0 : change / std::abs(*begin_energy_);
}

double Drift::momentum(const Bodies& now) const {
    const Vector momentum = total_momentum(now);
    Vector change;
    for (int k = 0; k < 3; ++k) change[k] = momentum[k] - begin_momentum_[k];
    const double size = std::sqrt(norm2(change));
    return size == 0 ? 0 : size / momentum_scale(now);
}

}  // namespace warpscope::experiments
