// What the GPU says that it is, and what the kernel that it runs was compiled for.
#include <cstdio>

__global__ void architecture(int* out) {
#ifdef __CUDA_ARCH__
    *out = __CUDA_ARCH__;
#endif
}

int main() {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    int major = 0, clusters = 0, ran = 0, *out = nullptr;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0);
    cudaMalloc(&out, sizeof *out);
    architecture<<<1, 1>>>(out);
    cudaMemcpy(&ran, out, sizeof ran, cudaMemcpyDeviceToHost);
    if (major != properties.major) return 1;
    std::printf("%d.%d, the kernel is for %d, clusters %d\n", major, properties.minor, ran, clusters);
}
