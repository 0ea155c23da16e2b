// Correct: functions of <cmath> and <algorithm> in device code, of float and of double.
// nvcc: --expt-relaxed-constexpr
#include <algorithm>
#include <cmath>
__device__ float norm(float x) { return std::sqrt(std::pow(x, 2.0f)) / std::max(1.0f, std::fabs(x)); }
__global__ void f(float* p) { p[threadIdx.x] = std::min(norm(p[threadIdx.x] + 2), std::clamp(0.5f, 0.0f, 1.0f)); }
int main() { float* p; cudaMalloc(&p, 64 * sizeof(float)); cudaMemset(p, 0, 64 * sizeof(float)); f<<<1, 64>>>(p); }
