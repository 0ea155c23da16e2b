#pragma once

#include "experiments/framework/experiment.h"
#include "experiments/framework/parameter.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/sums/sums.h"

namespace warpscope::experiments {

struct ReductionParameters : ParameterSet {
    enum class Variant {
        sum_within_block,
        reduce0,
        sequential,
        first_add,
        shuffle,
        vectorized,
        single_pass
    };

    ReductionParameters();
    std::string kernel_file() const override { return file_of(kernel); }
    double work() const override;
    /// Returns "reduce" for a kernel of kernels/reduce.cu, "reduce_ladder" for the others.
    static std::string file_of(Variant variant) {
        return variant <= Variant::reduce0 ? "reduce" : "reduce_ladder";
    }

    ChoiceOf<Variant> kernel;
    Integer n, block;
};

/// Element `i` of the reduction's input: close to normally distributed, with mean 0 and deviation
/// 1, equal on every machine.
float reduction_input(std::uint64_t i);

/// The sum of n floats, with one partial sum for each block. The kernels go from a tutorial's
/// sumWithinBlock and the first kernel of Harris's series to a single pass at the rate of memory.
/// A frame is one launch.
class Reduction : public Experiment {
  public:
    using Parameters = ReductionParameters;
    explicit Reduction(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    /// The sums of the blocks, for the kernels whose blocks take elements that follow each other.
    std::vector<KnownResult> known_results() override;
    Size picture_size(Size) const override { return {}; }
    void render_into(const PixelTarget&) override {}
    /// The readings of the newest launch. Launches the kernel if there was no launch yet.
    Report report() override;
    std::optional<Comparison> compare() override;
    const Tree* tree() override;

  private:
    using Variant = Parameters::Variant;
    using Floats = compute::DevicePointer<float>;
    using Ticket = compute::DevicePointer<unsigned>;
    using Sum = compute::Kernel<Floats, Floats, unsigned>;
    using WholeSum = compute::Kernel<Floats, Floats, unsigned, Floats, Ticket>;

    struct Inputs {
        Inputs(compute::Device& device, std::int64_t n);
        compute::Buffer<float> values;
        double sum = 0;
        double magnitudes = 0;  ///< sum of |values|
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const>) const override { return false; }
    void do_step() override;
    void do_reset() override;

    /// Number of blocks of the kernels whose blocks take the fewest elements.
    std::size_t most_blocks() const {
        return std::size_t((chosen_.n + chosen_.block - 1) / chosen_.block);
    }
    std::string kernel_name(Variant variant) const;
    GpuSizedGrid gpu_sized_grid() const;
    compute::LaunchShape shape(Variant variant) const;
    double error_bound(Variant variant) const;
    /// Returns |value - sum| relative to the sum of the magnitudes.
    double relative_error(double value) const;
    compute::Work work(Variant variant) const;
    void launch(Variant variant);
    double value_of(Variant variant);
    Comparison::Row compare(Variant variant, ColdRuns& cold);
    /// Measures CUB. Returns nullopt if the libraries of the benchmark are not built.
    std::optional<Comparison::Row> compare_library(ColdRuns& cold);
    Tree make_tree();

    Parameters chosen_;

    std::vector<Sum> sums_;  ///< indexed by variant, without single_pass
    WholeSum single_pass_;
    compute::Buffer<float> total_;  ///< the result of the single pass
    /// Counts the blocks of the single pass; 0 between launches.
    compute::Buffer<unsigned> ticket_;
    std::optional<Inputs> inputs_;
    compute::Buffer<float> partials_;  ///< one for each block
    bool launched_ = false;
    std::optional<double> value_;  ///< the sum of the newest launch, once it is read
    std::optional<Tree> tree_;
};

}  // namespace warpscope::experiments
