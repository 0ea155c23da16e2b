// The statuses that wrong kernels and launches end with, each by its argument.
#include <cassert>
#include <string>

#include "book.h"

__global__ void store(char* to) {
    *reinterpret_cast<int*>(to) = 1;
}
__global__ void write(cudaSurfaceObject_t surface, int byte) {
    surf2Dwrite(1, surface, byte, 1);
}
__global__ void fail() {
    assert(threadIdx.x > 0);
}
__global__ void trap() {
    asm volatile("trap;");
}
__global__ void reverse(const float* in, float* out) {
    extern __shared__ float values[];
    __shared__ float scale;
    if (threadIdx.x == 0) scale = in[0];
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x] * scale;
}
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];
}
struct Padded {
    char first;
    int second;
};
__global__ void set(Padded* all) {
    all[threadIdx.x].first = 1;
    all[threadIdx.x].second = 2;
}
__global__ void copy(const Padded* in, Padded* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

cudaSurfaceObject_t surface_of_ints(int side) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    HANDLE_ERROR(cudaMallocArray(&resource.res.array.array, &format, side, side,
                                 cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t surface;
    HANDLE_ERROR(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    const auto is = [&](const char* word) { return what == word; };
    const int n = 32, more = 48 << 10;
    char* bytes;
    float *in, *out, *staging;
    HANDLE_ERROR(cudaMalloc(&bytes, 256));
    HANDLE_ERROR(cudaMalloc(&in, n * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&out, 2 * n * sizeof(float)));
    HANDLE_ERROR(cudaMemset(in, 0, n * sizeof(float)));
    if (is("misaligned")) store<<<1, 1>>>(bytes + 2);
    if (is("misaligned_behind")) store<<<1, 1>>>(bytes + 255);
    if (is("outside")) store<<<1, 1>>>(bytes + 256);
    if (is("surface")) write<<<1, 1>>>(surface_of_ints(8), 4);
    if (is("misaligned_in_surface")) write<<<1, 1>>>(surface_of_ints(8), 2);
    if (is("outside_of_surface")) write<<<1, 1>>>(surface_of_ints(8), 32);
    if (is("assert")) fail<<<1, 32>>>();
    if (is("trap")) trap<<<1, 1>>>();
    if (is("attribute"))
        HANDLE_ERROR(
            cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, more));
    if (is("attribute") || is("shared")) reverse<<<1, n, more>>>(in, out);
    if (is("shared_fits")) reverse<<<1, n, more - 16>>>(in, out);
    if (is("partly_set") || is("set")) {  // by one byte too few
        int* const numbers = reinterpret_cast<int*>(bytes);
        HANDLE_ERROR(cudaMemset(numbers, 0, n * sizeof(int) - is("partly_set")));
        twice<<<1, n>>>(numbers, reinterpret_cast<int*>(out));
    }
    if (is("padding")) {
        auto* const all = reinterpret_cast<Padded*>(bytes);
        set<<<1, n>>>(all);
        copy<<<1, n>>>(all, reinterpret_cast<Padded*>(out));
    }
    if (is("graph") || is("freed")) {  // a graph that copies from memory
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        HANDLE_ERROR(cudaStreamCreate(&stream));
        HANDLE_ERROR(cudaMallocHost(&staging, n * sizeof(float)));
        for (int i = 0; i < n; ++i) staging[i] = i;
        HANDLE_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        HANDLE_ERROR(cudaMemcpyAsync(in, staging, n * sizeof(float), cudaMemcpyDefault, stream));
        HANDLE_ERROR(cudaStreamEndCapture(stream, &graph));
        if (is("freed")) HANDLE_ERROR(cudaFreeHost(staging));
        HANDLE_ERROR(cudaGraphInstantiate(&executable, graph, 0));
        HANDLE_ERROR(cudaGraphLaunch(executable, stream));
    }
    const cudaError_t launched = cudaGetLastError(), ended = cudaDeviceSynchronize();
    std::printf("%s, %s\n", cudaGetErrorName(launched), cudaGetErrorName(ended));
}
