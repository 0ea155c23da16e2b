// The host passes numbers to parameters that are named as two values of a launch file are.
__global__ void store(float* d, int frame, int time) { d[(frame - 1) * 4 + threadIdx.x] = 10.0f / time; }

int main() {
    float* d;
    cudaMalloc(&d, 4 * sizeof(float));
    store<<<1, 4>>>(d, 1, 5);
    cudaDeviceSynchronize();
}
