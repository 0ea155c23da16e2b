#pragma once

#include "experiments/framework/parameter.h"
#include "experiments/nbody/nbody_kernel.h"

namespace warpscope::experiments {

struct NBodyParameters : ParameterSet {
    enum class Start { plummer, disk, collision, cold, file };

    NBodyParameters();
    std::string kernel_file() const override { return std::string(file_of(kernel)); }
    double work() const override;

    static constexpr std::int64_t most_bodies = 1 << 24;

    ChoiceOf<NBodyKernel> kernel;
    Integer bodies, block;
    ChoiceOf<Start> start;
    Text file;
    Integer seed;
    Real dt, softening;
    Choice check;
    Real yaw, pitch, distance, exposure;
};

}  // namespace warpscope::experiments
