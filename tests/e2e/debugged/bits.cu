// Bits, votes and shuffles, in the style of NVIDIA's sample shfl_scan.
#include <cstdio>

__device__ int depth(int n) {
    if (n <= 1) return 1;
    const int below = depth(n / 2);
    if (n == 9)
        printf("values: n=%d below=%d\n", n, below);
    return below + 1;
}

__global__ void bits(unsigned long long* out, unsigned seed) {
    const unsigned lane = threadIdx.x & 31;
    unsigned state = seed ^ (lane * 2654435761U);
    state ^= state << 13;
    state ^= state >> 17;
    const int ones = __popc(state), zeros = __clz(int(state));
    const unsigned reversed = __brev(state);
    const unsigned ballot = __ballot_sync(0xFFFFFFFFU, ones > 16);
    int sum = ones;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int other = __shfl_up_sync(0xFFFFFFFFU, sum, offset);
        if (lane >= unsigned(offset)) sum += other;
    }
    const unsigned long long wide = (unsigned long long)reversed << 32 | state;
    const long long negative = -(long long)(wide >> 8);
    const unsigned short low = state;
    const signed char top = state >> 24;
    const bool odd = state & 1;
    const int levels = depth(int(lane));
    const size_t bytes = sizeof wide;
    if (lane == 9)
        printf("values: seed=%u lane=%u state=%u ones=%d zeros=%d reversed=%u ballot=%u sum=%d wide=%llu negative=%lld low=%d top=%d odd=%d levels=%d bytes=%llu out[0]=%llu\n",
               seed, lane, state, ones, zeros, reversed, ballot, sum, wide, negative, low, top, odd, levels, (unsigned long long)bytes, out[0]);
    out[lane] = wide;
}

int main() {
    unsigned long long* out;
    cudaMalloc(&out, 256);
    cudaMemset(out, 0, 256);
    bits<<<1, 32>>>(out, 12345);
    return cudaDeviceSynchronize();
}
