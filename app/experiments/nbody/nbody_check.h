#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "experiments/bodies/bodies.h"
#include "experiments/bodies/gravity.h"
#include "experiments/nbody/nbody_state.h"

namespace warpscope::experiments {

/// The difference between the velocity change of one step and its double-precision reference.
struct StepError {
    double relative = 0;         ///< |error| over |reference change|, both as L2 norms over bodies
    double tolerance = 0;        ///< limit of `relative`
    double worst = 0;            ///< largest error of a body / sum of the lengths of its pulls
    double worst_tolerance = 0;  ///< limit of `worst`
    std::size_t checked = 0;     ///< bodies that were compared
    std::size_t bodies = 0;
    /// False for NaN.
    bool passed() const { return relative <= tolerance && worst <= worst_tolerance; }
};

/// The expected result of one step, in double precision.
struct StepReference {
    Bodies bodies;  ///< at rest, so that one step of dt = 1 gives the accelerations unrounded
    float eps = 0;
    std::vector<std::size_t> which;  ///< the bodies that are compared
    std::vector<Pull> pulls;         ///< on the bodies `which`
};

/// Computes the reference for all bodies, or for evenly spaced ones if all would cost more than
/// `most_pairs`. Throws Cancelled soon after a stop request.
StepReference make_reference(Bodies bodies, float eps, double most_pairs,
                             const std::stop_token& stop = {});

/// Compares computed accelerations, one for each of reference.which.
///
/// Where roundings go either way, a float sum of n pulls of lengths p_1 … p_n is off by about
/// u sqrt(n) (p_1 + … + p_n), u = 2^-24. Where thousands of nearly equal pulls are added to a large
/// one, such as a far galaxy's to a near black hole's, they are all rounded the same way, which
/// makes up to u n: an eighth of that is allowed (measured: 1/37 for two galaxies, 1/200 for a
/// sphere). Each pull itself is off by a few u more. So `tolerance` is u (8 + sqrt(n) + n / 8)
/// times the norm of the added lengths over the norm of the accelerations; a single body may be off
/// by four times as much of its own pulls. One wrong mass among many
/// bodies may not change the norm, but it changes the acceleration of its nearest neighbour.
StepError compare_with(const StepReference& reference, std::span<const Vector> computed);

/// Runs one step of `scratch`, a state of reference.bodies, and compares its velocities.
StepError check_step(NBodyState scratch, unsigned block, const StepReference& reference);
/// Runs one step of `kernel` in memory that it allocates, and compares its velocities.
StepError check_step(compute::Device& device, NBodyKernel kernel, unsigned block,
                     const StepReference& reference);

/// Compares energy and momentum with those of an earlier state, in double precision.
class Drift {
  public:
    /// Takes `from` as the state to compare with; computes nothing yet.
    void begin(Bodies from, float eps, std::uint64_t frame);
    std::uint64_t begun_at() const { return begin_frame_; }

    /// (E - E_0) / |E_0|. Energies cost n^2 / 2 pairs: above 4096 bodies a value is kept for some
    /// frames, the longer the more bodies there are; energy_frame() says which frame it is of.
    /// With fewer than all bodies in the `sample`, both are estimated from it. Throws Cancelled
    /// soon after a stop request; a later call computes what is missing.
    double energy(const Bodies& now, std::uint64_t frame, std::size_t sample,
                  const std::stop_token& stop = {});
    /// Bodies in the sample of the last energy().
    std::size_t sample() const { return sample_; }
    std::uint64_t energy_frame() const { return energy_frame_; }

    /// |P - P_0| over the sum of |m v| now.
    double momentum(const Bodies& now) const;

  private:
    bool due(std::size_t bodies, std::uint64_t frame) const;

    Bodies begin_;            ///< empty once its energy is known exactly
    std::size_t sample_ = 0;  ///< of the energies below
    float eps_ = 0;
    std::uint64_t begin_frame_ = 0;
    std::optional<double> begin_energy_, energy_;
    std::uint64_t energy_frame_ = 0;
    Vector begin_momentum_{};
};

}  // namespace warpscope::experiments
