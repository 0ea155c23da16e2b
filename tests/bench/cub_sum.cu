// What the benchmark holds the app's sums against, as a library that --bench loads: CUB's header is
// the toolkit's, and the app itself does without.
#include <cub/device/device_reduce.cuh>

// With scratch == nullptr only *scratch_bytes is set. Returns a cudaError_t.
extern "C" int warpscope_cub_sum(void* scratch, std::size_t* scratch_bytes, const float* x,
                                 float* result, int n, void* stream) {
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, x, result, n,
                                  static_cast<cudaStream_t>(stream));
}
