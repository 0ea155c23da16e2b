// Correct: arrays in managed memory, one with a value.
__managed__ float sums[4];
__device__ __managed__ int limit = 3;
__global__ void add(int* seen)
{
    atomicAdd(&sums[threadIdx.x % 4], 1.0f);
    if (threadIdx.x == 0) *seen = limit;
}
int main() { int* seen; cudaMalloc(&seen, 4); add<<<1, 32>>>(seen); }
