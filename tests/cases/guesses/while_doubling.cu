// A loop that doubles its counter writes some elements only: what the others hold is not known.
__global__ void follow(const int* next, int* out) { out[next[threadIdx.x]] = threadIdx.x; }

int main() {
    int next[64], *d_next, *out;
    int i = 1;
    while (i < 64) {
        next[i] = 0;
        i *= 2;
    }
    cudaMalloc(&d_next, sizeof next);
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemcpy(d_next, next, sizeof next, cudaMemcpyHostToDevice);
    follow<<<1, 64>>>(d_next, out);
    cudaDeviceSynchronize();
}
