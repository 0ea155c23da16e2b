#include "experiments/sums/dot_parameters.h"

namespace warpscope::experiments {

DotParameters::DotParameters()
    : kernel(
          *this, "kernel", "Kernel",
          "Where the barriers are, compared with the kernel of CUDA by Example. From \"shuffle\" "
          "on, each kernel has one change from the one before: lanes pass sums on in registers; "
          "each load reads 16 bytes, and the blocks fill the GPU; the block that ends last adds "
          "the sums of the others.",
          {{"book", "both barriers"},
           {"no_first_barrier", "no first barrier"},
           {"no_loop_barrier", "no barrier in the loop"},
           {"no_barriers", "no barriers"},
           {"divergent", "barrier inside the if"},
           {"divergent_bounded", "barrier inside the if; other threads still running"},
           {"shuffle", "warp shuffle"},
           {"vectorized", "float4 loads, GPU-sized grid"},
           {"single_pass", "single pass (last block adds the partial sums)"}}),
      n(*this, "n", "Elements", "Length of the vectors.", 33 * 1024, 1, std::int64_t(1) << 28),
      block(*this, "block", "Block",
            "Threads of a block. At most 32 blocks run, except for the kernels vectorized and "
            "single_pass: their blocks fill the GPU and consist of whole warps.",
            256, 1, 1024),
      launches(*this, "launches", "Launches",
               "Number of launches, the newest ones, in which wrong results are counted.", 20, 1,
               1000),
      hold(*this, "hold", "Hold",
           "For divergent_bounded: clocks for which a thread that skips the barrier keeps running.",
           2'000, 0, 10'000'000) {
    hold.only_when([this] { return kernel == Variant::divergent_bounded; });
}

}  // namespace warpscope::experiments
