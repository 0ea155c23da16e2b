#pragma once

#include "experiments/framework/parameter.h"

namespace warpscope::experiments {

struct RippleParameters : ParameterSet {
    enum class View { picture, wrong, stale, split };
    enum class DelayBefore { write, read };

    RippleParameters();
    std::string kernel_file() const override { return file_of(layout.index()); }
    double work() const override;
    const Toggle* barrier_switch() const override { return &sync; }
    bool has_barrier_if(std::string_view name) const override {
        return name != "barrier" || with_barrier();
    }
    /// The kernel that is shown and judged has the barrier. In the split view it has none: it draws
    /// the left half, and the right half is what it is compared with.
    bool with_barrier() const { return sync && view != View::split; }

    /// Returns the kernel file that draws a layout: "ripple" for kernels/ripple.cu.
    static std::string file_of(std::size_t layout);
    /// The kernel's name with the barrier or without it: "ripple_txty", "ripple_txty_nosync".
    std::string kernel_of(std::size_t layout, bool sync) const;

    /// The tile of CUDA by Example. The stamped kernels add a stamp to each word of this tile.
    static constexpr std::size_t book_layout = 0;
    /// The layout whose kernels stamp each word: the timeline and the stale reads come from them.
    static constexpr std::size_t stamped_layout = 5;
    bool stamped() const { return layout.index() == stamped_layout; }
    /// The tile that a thread reads lies in the other block of a cluster.
    static constexpr std::size_t cluster_layout = 6;
    bool in_cluster() const { return layout.index() == cluster_layout; }

    Choice pattern;
    Toggle sync;
    Choice layout;
    Integer size;
    Real speed;
    ChoiceOf<View> view;
    Integer window;
    Choice delayed;
    Integer delay;
    ChoiceOf<DelayBefore> delay_before;
    Integer timed_block;
};

}  // namespace warpscope::experiments
