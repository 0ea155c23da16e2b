// A graph of kernels and a copy, launched twice.
#include "book.h"

__global__ void scale(float* y, const float* x, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}

__global__ void add(float* y, const float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

int main() {
    constexpr int n = 1000;
    std::vector<float> x(n);
    for (int i = 0; i < n; ++i) x[i] = float(i);
    float *first, *second, *third;
    HANDLE_ERROR(cudaMalloc(&first, n * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&second, n * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&third, n * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(first, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    cudaStream_t stream;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    scale<<<4, 256, 0, stream>>>(second, first, 2, n);
    HANDLE_ERROR(
        cudaMemcpyAsync(third, second, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    add<<<4, 256, 0, stream>>>(second, third, n);
    add<<<4, 256, 0, stream>>>(first, second, n);
    cudaGraph_t graph;
    HANDLE_ERROR(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t launched;
#if CUDART_VERSION >= 12000
    HANDLE_ERROR(cudaGraphInstantiate(&launched, graph, 0));
#else
    HANDLE_ERROR(cudaGraphInstantiate(&launched, graph, nullptr, nullptr, 0));
#endif
    HANDLE_ERROR(cudaGraphDestroy(graph));
    // Each launch makes x + 2 * (2 * x) of x.
    for (int k = 0; k < 2; ++k) HANDLE_ERROR(cudaGraphLaunch(launched, stream));
    HANDLE_ERROR(
        cudaMemcpyAsync(x.data(), first, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    HANDLE_ERROR(cudaStreamSynchronize(stream));
    HANDLE_ERROR(cudaGraphExecDestroy(launched));
    std::printf("%g %g\n", x[1], x[999]);
}
