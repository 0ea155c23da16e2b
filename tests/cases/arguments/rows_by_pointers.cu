// FAULT: nobody writes the rows. Each block adds up one that it finds by a pointer in memory.
constexpr int rows = 8, columns = 64;

__global__ void sums(const float* const* row, float* out, int n) {
    __shared__ float part[columns];
    const int t = threadIdx.x;
    part[t] = t < n ? row[blockIdx.x][t] : 0;
    __syncthreads();
    for (int half = columns / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

int main() {
    float *row[rows], **dev_row, *dev_out;
    for (int i = 0; i < rows; ++i) cudaMalloc(&row[i], columns * sizeof(float));
    cudaMalloc(&dev_row, rows * sizeof(float*));
    cudaMemcpy(dev_row, row, rows * sizeof(float*), cudaMemcpyHostToDevice);
    cudaMalloc(&dev_out, rows * sizeof(float));
    sums<<<rows, columns>>>(dev_row, dev_out, columns);
    cudaDeviceSynchronize();
}
