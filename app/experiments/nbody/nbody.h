#pragma once

#include <functional>
#include <optional>
#include <string>

#include "experiments/framework/experiment.h"
#include "experiments/nbody/nbody_check.h"
#include "experiments/nbody/nbody_parameters.h"
#include "experiments/nbody/nbody_picture.h"
#include "experiments/nbody/nbody_state.h"

namespace warpscope::experiments {

/// Gravity between all pairs of N bodies, computed by a kernel of kernels/nbody.cu or
/// nbody_ladder.cu. G = 1. The generated starts have mass 1 and a radius near 1; files are scaled
/// to that.
class NBody : public Experiment {
  public:
    using Parameters = NBodyParameters;
    explicit NBody(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    /// The positions after a step with all barriers, by a kernel that does not divide sums.
    std::vector<KnownResult> known_results() override;
    Places places() override;
    Size picture_size(Size view) const override { return view; }
    void render_into(const PixelTarget& target) override;
    /// relative_error is computed once for each choice of kernel, start, size, block and softening,
    /// from the positions of the moment; energies anew for new frames, but for many bodies not at
    /// every call (the sentence names the frame).
    Report report() override;
    std::optional<Comparison> compare() override;
    MouseUse mouse_use() const override { return {.drag = true, .scroll = true}; }
    void drag(double dx, double dy) override;
    void scroll(double notches) override;

  protected:
    void changed(std::span<Parameter* const> which) override;
    std::any save_state() override;
    void load_state(const std::any& state) override;
    void do_step() override;
    void do_reset() override;

  private:
    using Start = Parameters::Start;

    struct Made {
        Bodies bodies;
        files::Sentence origin;         ///< sentences
        files::Sentence mass_origin{};  ///< a sentence; empty for generated starts
    };
    Made make_start();
    void adopt(const Bodies& start);

    float eps() const { return float(chosen_.softening); }
    double most_pairs() const;
    Reading bodies_reading() const;
    Reading mass_reading() const;
    Reading error_reading(const Bodies& now);
    /// What follows from the barriers that the kernel lacks.
    files::Sentence barriers_sentence(bool passed) const;
    std::optional<Reading> sectors_reading() const;
    Reading energy_reading(const Bodies& now);
    Reading rate_reading();
    Comparison::Row compared(NBodyKernel kernel, const StepReference& reference, const Bodies& now);
    void compare_with_one(Comparison& comparison, const StepReference& reference,
                          const Bodies& now);
    Comparison::Row measured(const std::function<NBodyState(const Bodies&)>& make,
                             const StepReference& reference, const Bodies& now);

    Parameters chosen_;

    Bodies start_state_;               ///< of frame 0
    files::Sentence origin_;           ///< sentences that say where they come from
    files::Sentence mass_origin_;      ///< a sentence about their masses; may be empty
    double radius_ = 1;                ///< holds 90 % of them
    double reference_speed_ = 1;       ///< for the colours
    std::optional<NBodyState> state_;  ///< on the device
    NBodyPicture picture_;
    std::optional<StepError> step_error_;  ///< empty if it has to be computed again
    std::uint64_t step_error_frame_ = 0;
    Drift drift_;
};

}  // namespace warpscope::experiments
