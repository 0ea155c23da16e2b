#pragma once

#include "experiments/framework/parameter.h"

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

}  // namespace warpscope::experiments
