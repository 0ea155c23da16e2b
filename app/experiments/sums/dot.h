#pragma once

#include "experiments/framework/experiment.h"
#include "experiments/framework/parameter.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/sums/sums.h"

namespace warpscope::experiments {

struct DotParameters : ParameterSet {
    enum class Variant {
        book,
        no_first_barrier,
        no_loop_barrier,
        no_barriers,
        divergent,
        divergent_bounded,
        shuffle,
        vectorized,
        single_pass
    };

    DotParameters();
    std::string kernel_file() const override { return file_of(kernel); }
    double work() const override;
    double seconds_of_inputs() const override;
    bool has_barrier_if(std::string_view name) const override;
    /// Returns "dot" for a kernel of kernels/dot.cu, "dot_ladder" for the others.
    static std::string file_of(Variant variant) {
        return variant < Variant::shuffle ? "dot" : "dot_ladder";
    }

    ChoiceOf<Variant> kernel;
    Integer n, block, launches, hold;
};

/// The dot product of "CUDA by Example", sections 5.3.1 and 5.3.2: a[i] = i, b[i] = 2i, a tree in
/// shared memory, with each of its barriers in its place, removed, or inside the `if`. Further
/// kernels lead to a single pass at the rate of memory. A frame is one launch.
class Dot : public Experiment {
  public:
    using Parameters = DotParameters;
    explicit Dot(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    /// The sums of the blocks, for the kernels with a block for each of these shares.
    std::vector<KnownResult> known_results() override;
    Size picture_size(Size) const override { return {}; }
    void render_into(const PixelTarget&) override {}
    /// The readings of the newest `launches` launches. Runs the launches that are missing.
    Report report() override;
    std::optional<Comparison> compare() override;
    const Tree* tree() override;
    /// Launches `divergent` and `divergent_bounded` once each.
    std::optional<Report> measure_barriers() override;

  private:
    using Variant = Parameters::Variant;
    using Floats = compute::DevicePointer<float>;
    using Clocks = compute::DevicePointer<long long>;
    using Sum = compute::Kernel<Floats, Floats, Floats, unsigned>;
    using Ticket = compute::DevicePointer<unsigned>;
    using WholeSum = compute::Kernel<Floats, Floats, Floats, unsigned, Floats, Ticket>;
    using BoundedSum = compute::Kernel<Floats, Floats, Floats, unsigned, long long, Clocks>;

    static constexpr unsigned max_blocks = 32;  ///< the number in the book

    /// The vectors and their exact product: the sum of 2 fl(i)^2, where fl rounds to a float.
    struct Inputs {
        Inputs(compute::Device& device, std::int64_t n);
        compute::Buffer<float> a, b;
        double exact = 0;
    };
    struct Results {
        Results(compute::Device& device, std::size_t slots, std::size_t most_blocks);
        std::size_t slot_size;
        compute::Buffer<float> partials;    ///< slot_size for each slot
        compute::Buffer<long long> waited;  ///< max_blocks for each slot
        compute::Buffer<float>
            /// Sums of the blocks of the single pass, which stores one sum in `partials`.
            block_sums;
        /// Counts the blocks of the single pass; 0 between launches.
        compute::Buffer<unsigned> ticket;
        std::uint64_t launches = 0;
        /// Launches before the first launch of the current frame.
        std::uint64_t launches_before = 0;
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const>) const override { return false; }
    void do_step() override;
    void do_reset() override;

    GpuSizedGrid gpu_sized_grid() const;
    compute::LaunchShape shape(Variant variant) const;
    Results make_results(std::size_t slots);
    /// Slots for the launches of the window, and for one that has not ended yet.
    std::size_t slots() const { return std::size_t(chosen_.launches) + 1; }
    std::string kernel_name(Variant variant) const;
    /// Returns whether the variant has every barrier in its place.
    static bool synchronized(Variant variant);
    double error_bound(Variant variant) const;
    double relative_error(double value) const;
    /// Leaves the partial sums in slot `slot` of `results`.
    void launch(Variant variant, const Results& results, std::size_t slot, std::int64_t hold);
    void launch_next(std::uint64_t frame);
    /// Notes that other launches come between those of the current frame, or that one of them was
    /// stopped. report() then makes all of them again, so that each has the schedule that it has
    /// without an interruption.
    void break_frame();
    double sum_of(Variant variant, std::span<const float> partials, std::size_t slot) const;
    /// Returns the place of the barriers that a variant lacks or has inside the `if`: "dot.cu:30".
    files::Sentence barriers_place(Variant variant) const;
    Reading judge(double error, std::size_t wrong, std::size_t launches) const;
    files::Sentence ended_sentence(Variant variant, bool right) const;
    Reading waited_reading(const Results& results, std::size_t slot, std::int64_t hold) const;
    Comparison::Row compare(Variant variant, const Results& results, ColdRuns& cold);
    /// Measures cuBLAS. Returns nullopt if it is not installed.
    std::optional<Comparison::Row> compare_library(ColdRuns& cold);
    double bytes() const { return 8 * double(chosen_.n); }  ///< read by a kernel
    Tree make_tree();

    Parameters chosen_;

    std::vector<Sum> sums_;  ///< indexed by variant; the two others have other arguments
    BoundedSum bounded_sum_;
    WholeSum whole_sum_;
    SharedMemoryCleaner cleaner_;

    std::optional<Inputs> inputs_;
    std::optional<Results> results_;
    std::optional<std::uint64_t> begun_frame_;
    std::optional<Tree> tree_;
};

}  // namespace warpscope::experiments
