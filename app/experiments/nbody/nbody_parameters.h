#pragma once

#include "experiments/framework/parameter.h"
#include "experiments/nbody/nbody_kernel.h"

namespace warpscope::experiments {

struct NBodyParameters : ParameterSet {
    enum class Start { plummer, disk, collision, cold, file };

    NBodyParameters();
    std::string kernel_file() const override { return std::string(file_of(kernel)); }
    double work() const override;
    bool has_barrier_if(std::string_view name) const override;
    /// `kernel`, without barriers and waits that are switched off.
    NBodyKernel launched() const;
    /// Sectors of global memory that the loop over all bodies reads for each interaction, where a
    /// launch moves `moved` bodies: by the kernel tiled, or float4.
    double sectors_per_interaction(bool with_tile, double moved) const;
    /// A sentence that compares the two.
    files::Sentence tile_note() const;

    static constexpr std::int64_t most_bodies = 1 << 24;

    Toggle tile, load_barrier, reuse_barrier, copy_wait;
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
