#pragma once

#include "experiments/framework/parameter.h"

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
    bool has_barrier_if(std::string_view name) const override;
    /// Returns "dot" for a kernel of kernels/dot.cu, "dot_ladder" for the others.
    static std::string file_of(Variant variant) {
        return variant < Variant::shuffle ? "dot" : "dot_ladder";
    }

    ChoiceOf<Variant> kernel;
    Integer n, block, launches, hold;
};

}  // namespace warpscope::experiments
