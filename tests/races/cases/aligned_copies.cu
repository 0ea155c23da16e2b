// cuda::memcpy_async() of an aligned size: for sm_90 the header makes a bulk copy of it, which needs
// fence.proxy.async behind the stores of threads; for sm_80 copies of the generic proxy, which need none.
#include <cuda/barrier>

constexpr int threads = 64;

// FENCE: behind init() and the zeroes that the copy overwrites.
template <bool FENCE>
__global__ void aligned_copy(const int* in, int* out) {
    __shared__ alignas(16) int tile[threads];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    const int t = threadIdx.x;
    tile[t] = 0;
    if (t == 0) init(&ready, threads);
#if __CUDA_ARCH__ >= 900
    if (FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
    if (t == 0) cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), ready);
    ready.arrive_and_wait();
    out[t] = tile[threads - 1 - t];
}
