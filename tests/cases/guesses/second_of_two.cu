// What the first kernel makes of unknown numbers steers the second one.
__global__ void scale(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * 2; }
__global__ void scatter(const int* at, float* out) { out[at[threadIdx.x]] = 1; }

int* numbers_of_a_file();

int main() {
    int *in, *at;
    float* out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&at, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemcpy(in, numbers_of_a_file(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(in, at);
    scatter<<<1, 64>>>(at, out);
    cudaDeviceSynchronize();
}
