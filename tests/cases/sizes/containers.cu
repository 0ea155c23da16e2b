#include <array>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 1000;
    std::vector<float> a(n, 1.0f), b, c(n);
    b.resize(n, 2.0f);
    std::array<float, 16> few;
    few.fill(3);
    float *p, *q, *r, *s;
    cudaMalloc(&p, a.size() * sizeof(float));
    cudaMalloc(&q, b.size() * sizeof(b[0]));
    cudaMalloc(&r, sizeof(float) * c.size());
    cudaMalloc(&s, sizeof(few));
    cudaMemcpy(p, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(q, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(s, few.data(), few.size() * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(p, q, r, n);
    add<<<1, 16>>>(s, s, s, 16);
}
