// Correct: each function with the type of its argument.
#include <cmath>
template <typename T> __global__ void g(T* p) { p[threadIdx.x] = std::exp(std::log(T(2) + p[threadIdx.x])) + std::fma(T(1), T(2), T(3)) + std::abs(T(-1)); }
int main() { double* p; cudaMalloc(&p, 16 * sizeof(double)); cudaMemset(p, 0, 16 * sizeof(double)); g<<<1, 16>>>(p); }
