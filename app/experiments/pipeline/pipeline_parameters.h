#pragma once

#include "experiments/framework/parameter.h"

namespace warpscope::experiments {

struct PipelineParameters : ParameterSet {
    /// How tiles come into shared memory.
    enum class Copies { synchronous, async, bulk };
    enum class View { picture, wrong, source };
    /// The enumerators are those of kernels/pipeline.cu and kernels/pipeline_bulk.cu.
    enum Steps { wait_before_read = 1, commit_copies = 2, keep_tile = 4, fence_proxy = 8 };

    PipelineParameters();
    std::string kernel_file() const override { return file_of(copies); }
    double work() const override;

    /// The kernel file with the kernel that fills tiles in this way, and its name.
    static std::string file_of(Copies copies);
    static std::string kernel_of(Copies copies);
    /// A set of Steps.
    int steps() const;
    bool has_all_steps() const { return steps() == all_steps; }
    std::int64_t side() const;  ///< of the picture, in pixels

    static constexpr int all_steps = 15;

    ChoiceOf<Copies> copies;
    Integer stages;
    Toggle wait, commit, keep, fence;
    ChoiceOf<View> view;
    Choice size;
    Real speed;
};

}  // namespace warpscope::experiments
