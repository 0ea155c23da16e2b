// Kernels that measure the limits of a GPU, to which other kernels are compared: how many bytes of
// global memory it copies and reads in a second, how many float operations it executes in a second,
// and how long the launch of an empty kernel takes.

// Two events around a launch of this kernel measure the launch itself.
extern "C" __global__ void empty() {}

// Copies `count` 16-byte words, four per thread: to[] = from[]. The accesses are streaming because
// nothing is used twice.
extern "C" __global__ void copy16(uint4* to, const uint4* from, unsigned count) {
    const unsigned first = blockIdx.x * 4 * blockDim.x + threadIdx.x;
    uint4 word[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned i = first + k * blockDim.x;
        if (i < count) word[k] = __ldcs(from + i);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned i = first + k * blockDim.x;
        if (i < count) __stcs(to + i, word[k]);
    }
}

// Reads `count` 16-byte words; each thread has four loads in flight. out[thread of the grid] is the
// exclusive or of the words that the thread read, so that the compiler cannot remove a load.
extern "C" __global__ void read16(unsigned* out, const uint4* from, unsigned count) {
    const unsigned stride = gridDim.x * 4 * blockDim.x;
    unsigned folded = 0;
    for (unsigned first = blockIdx.x * 4 * blockDim.x + threadIdx.x; first < count;
         first += stride) {
        uint4 word[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned i = first + k * blockDim.x;
            word[k] = i < count ? __ldcs(from + i) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) folded ^= word[k].x ^ word[k].y ^ word[k].z ^ word[k].w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = folded;
}

// Each thread computes x = x * a + b 256 * `rounds` times, in 8 chains that do not depend on one
// another; out[] is the sum of their last values. The chains start at 1/2, 9/16, ..., 15/16. With
// a = -1 and b = 1 each chain has its first value again after two steps, exactly, and each step
// changes its bits.
extern "C" __global__ void fma_chains(float* out, float a, float b, int rounds) {
    float chain[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) chain[k] = 0.5f + k / 16.0f;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 32; ++step)
#pragma unroll
            for (int k = 0; k < 8; ++k) chain[k] = fmaf(chain[k], a, b);
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += chain[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
