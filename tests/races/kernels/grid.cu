// Accesses to global memory by several blocks of 64 threads; `out` has 1024 words, all 0.

__device__ int blocks_done;

extern "C" __global__ void one_word_many_values(int* out) {
    if (threadIdx.x == 0) *out = int(blockIdx.x);
}

extern "C" __global__ void one_word_one_value(int* out) {
    if (threadIdx.x == 5) *out = 1;
}

extern "C" __global__ void increments(int* out) {
    if (threadIdx.x == 0) ++*out;
}

extern "C" __global__ void atomic_increments(int* out) {
    atomicAdd(out, 1);
}

extern "C" __global__ void atomics_and_a_read(int* out) {
    atomicAdd(out, 1);
    __syncthreads();
    if (threadIdx.x == 0) out[1 + blockIdx.x] = *out;
}

extern "C" __global__ void own_words(int* out) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    out[i] = int(i);
    out[i] += 1;
}

// Each thread reads the word of a thread of the next block.
extern "C" __global__ void next_block(int* out) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    out[i] = int(i);
    __syncthreads();
    out[512 + i] = out[i + 64];
}

// The first thread of each block reads the last word of the block before it.
extern "C" __global__ void edges(int* out) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    out[i] = int(i);
    if (threadIdx.x == 0 && i > 0) out[512 + i] = out[i - 1];
}

extern "C" __global__ void bytes_of_a_word(unsigned char* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

extern "C" __global__ void vectors(int4* out) {
    const unsigned i = (blockIdx.x * 64 + threadIdx.x) % 128;
    out[i] = make_int4(1, 2, 3, int(blockIdx.x));
}

// The last block that is done reads what all have written, as in NVIDIA's sample
// threadFenceReduction.
template <bool has_fence>
__device__ void sum_by_last_block(volatile int* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = int(blockIdx.x);
        if (has_fence) __threadfence();
        is_last = atomicAdd(&blocks_done, 1) == int(gridDim.x) - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x < gridDim.x) out[512 + threadIdx.x] = out[threadIdx.x];
    if (is_last && threadIdx.x == 0) blocks_done = 0;
}

extern "C" __global__ void last_block(int* out) {
    sum_by_last_block<true>(out);
}

extern "C" __global__ void last_block_no_fence(int* out) {
    sum_by_last_block<false>(out);
}

// Each block hands what it and the blocks before have written to the next one.
template <bool passes_on>
__device__ void hand_over(int* out) {
    if (threadIdx.x != 0) return;
    unsigned flag = 1;
    if (blockIdx.x > 0)
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(out + 100 + blockIdx.x));
    if (flag == 0) return;
    out[0] += 1;
    if (passes_on || blockIdx.x != 1)
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(out + 101 + blockIdx.x), "r"(1u));
    else
        asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(out + 101 + blockIdx.x), "r"(1u));
}

extern "C" __global__ void block_after_block(int* out) {
    hand_over<true>(out);
}

extern "C" __global__ void a_link_does_not_release(int* out) {
    hand_over<false>(out);
}

// Races within a block, in global memory.
extern "C" __global__ void mirror_in_global_memory_no_barrier(int* out) {
    int* const mine = out + blockIdx.x * 128;
    mine[threadIdx.x] = int(threadIdx.x);
    mine[64 + threadIdx.x] = mine[63 - threadIdx.x];
}

extern "C" __global__ void mirror_in_global_memory(int* out) {
    int* const mine = out + blockIdx.x * 128;
    mine[threadIdx.x] = int(threadIdx.x);
    __syncthreads();
    mine[64 + threadIdx.x] = mine[63 - threadIdx.x];
}

extern "C" __global__ void histogram_in_global_memory_no_atomics(int* out) {
    ++out[blockIdx.x * 64 + threadIdx.x % 32];
}
