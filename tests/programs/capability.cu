// What the GPU says that it is, what the kernel that it runs was compiled for, and whether a stream
// can ask the L2 cache to keep a part of memory.
#include <cstdio>

__global__ void architecture(int* out) {
#ifdef __CUDA_ARCH__
    *out = __CUDA_ARCH__;
#endif
}

bool can_keep_in_l2(const cudaDeviceProp& properties, int* memory) {
    if (properties.persistingL2CacheMaxSize == 0) return false;
    cudaStream_t stream;
    cudaStreamAttrValue asked{}, stored{};
    asked.accessPolicyWindow = {memory, sizeof *memory, 1.0f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties.persistingL2CacheMaxSize);
    cudaStreamCreate(&stream);
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &asked);
    cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &stored);
    cudaCtxResetPersistingL2Cache();
    return stored.accessPolicyWindow.base_ptr == memory && sizeof *memory <= properties.accessPolicyMaxWindowSize &&
           cudaGetLastError() == cudaSuccess;
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
    std::printf("%d.%d, the kernel is for %d, clusters %d, L2 %d\n", major, properties.minor, ran, clusters,
                can_keep_in_l2(properties, out));
}
