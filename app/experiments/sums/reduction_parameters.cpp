#include "experiments/sums/reduction_parameters.h"

namespace warpscope::experiments {

ReductionParameters::ReductionParameters()
    : kernel(
          *this, "kernel", "Kernel",
          "Each kernel makes one change to the one before: neighbours are added first; the first "
          "threads add, without gaps between them; each thread adds two elements when it loads "
          "them; the lanes of a warp add with shuffles; each load reads 16 bytes, and the blocks "
          "just fill the GPU; the block that ends last adds the partial sums, so that one launch "
          "gives the total.",
          {{"sum_within_block", "sumWithinBlock"},
           {"reduce0", "interleaved"},
           {"sequential", "sequential addressing"},
           {"first_add", "first add on load"},
           {"shuffle", "warp shuffle"},
           {"vectorized", "float4 loads, GPU-sized grid"},
           {"single_pass", "single pass (last block adds the partial sums)"}}),
      n(*this, "n", "Elements", "Number of floats that are added.", 1 << 20, 1,
        std::int64_t(1) << 28),
      block(*this, "block", "Block",
            "Threads in each block. The kernels vectorized and single_pass round it up to whole "
            "warps.",
            256, 1, 1024) {
    group("Kernel", {&kernel, &n, &block});
}

double ReductionParameters::work() const {
    constexpr double element[] = {106, 149, 106, 57, 47, 6.6, 7.2};
    return double(n) * element[kernel.index()];
}

}  // namespace warpscope::experiments
