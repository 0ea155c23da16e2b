// Lambdas of the host fill an array, compute the grid and launch. The comparison has one thread too many.
__global__ void scatter(const int* to, const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[to[i]] = in[i];
}

int main() {
    const int n = 128, m = 100;
    int h_to[n], *to;
    float h_in[n], *in, *out;
    auto fill = [&](float* p, int count) {
        for (int i = 0; i < count; ++i) p[i] = 0.5f * i;
    };
    auto blocks = [](int count) { return (count + 31) / 32; };
    for (int i = 0; i < n; ++i) h_to[i] = i;
    fill(h_in, n);
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(to, h_to, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&in, n * sizeof(float));
    cudaMemcpy(in, h_in, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&out, m * sizeof(float));
    auto launch = [&]() { scatter<<<blocks(m), 32>>>(to, in, out, m); };
    launch();
    cudaDeviceSynchronize();
}
