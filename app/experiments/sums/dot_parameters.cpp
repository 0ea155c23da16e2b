#include "experiments/sums/dot_parameters.h"

namespace warpscope::experiments {

DotParameters::DotParameters()
    : kernel(
          *this, "kernel", "Kernel",
          "The first six kernels have the barriers of CUDA by Example, lack some of them, or have "
          "one inside the if. From \"shuffle\" on, each kernel makes one change to the one before: "
          "the lanes of a warp add with shuffles; each load reads 16 bytes, and the blocks fill "
          "the GPU; the block that ends last adds the partial sums.",
          {{"book", "both barriers"},
           {"no_first_barrier", "no first barrier"},
           {"no_loop_barrier", "no barrier in the loop"},
           {"no_barriers", "no barriers"},
           {"divergent", "barrier inside the if"},
           {"divergent_bounded", "barrier inside the if, other threads still run"},
           {"shuffle", "warp shuffle"},
           {"vectorized", "float4 loads, GPU-sized grid"},
           {"single_pass", "single pass (last block adds the partial sums)"}}),
      n(*this, "n", "Elements", "Length of the vectors.", 33 * 1024, 1, std::int64_t(1) << 28),
      block(
          *this, "block", "Block",
          "Threads in each block. At most 32 blocks run. The last two kernels use more blocks, and "
          "their blocks consist of whole warps.",
          256, 1, 1024),
      launches(*this, "launches", "Last launches",
               "Statistics over the last N launches: how many gave a wrong result.", 20, 1, 1000),
      hold(*this, "hold", "Hold",
           "For divergent_bounded: how long a thread that skips the barrier continues, in clocks.",
           2'000, 0, 10'000'000) {
    hold.only_when([this] { return kernel == Variant::divergent_bounded; });
    group("Kernel", {&kernel, &n, &block});
    group("Statistics", {&launches});
    group("Race laboratory", {&hold});
}

double DotParameters::work() const {
    const double element = kernel >= Variant::vectorized ? 5.4 : 9.8;
    // In each of 32 blocks a warp waits at every step of the tree.
    constexpr double waiting = 32 * 32 * 10;
    const double held = kernel == Variant::divergent_bounded ? waiting * double(hold) : 0;
    return double(n) * element + held;
}

/// The variant "book" runs a kernel without these conditions.
bool DotParameters::has_barrier_if(std::string_view name) const {
    if (name == "first_barrier") return kernel == Variant::no_loop_barrier;
    if (name == "loop_barrier") return kernel == Variant::no_first_barrier;
    return true;
}

}  // namespace warpscope::experiments
