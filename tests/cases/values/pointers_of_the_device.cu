// Variables of the device that are pointers: one gets the address of an array, the other managed memory.
__device__ float* data;
__managed__ int* order;

__global__ void gather(float* out) { out[threadIdx.x] = data[order[threadIdx.x]]; }

int main() {
    float *a, *out;
    cudaMalloc(&a, 64 * sizeof(float));
    cudaMemset(a, 0, 64 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemcpyToSymbol(data, &a, sizeof a);
    cudaMallocManaged(&order, 32 * sizeof(int));
    for (int i = 0; i < 32; ++i) order[i] = 63 - i;
    gather<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
