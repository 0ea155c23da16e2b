// Limits of <cstdint> and <climits>.
#include <climits>
#include <cstdint>

__global__ void limits(unsigned long long* out) {
    const unsigned long long all[] = {UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX, INT8_MAX,
                                      INT16_MAX, INT32_MAX,  INT64_MAX,  INT_MAX,    ULLONG_MAX};
    if (threadIdx.x < 10) out[threadIdx.x] = all[threadIdx.x] % 1000;
}

int main() {
    unsigned long long* out;
    cudaMalloc(&out, 10 * sizeof(*out));
    limits<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
