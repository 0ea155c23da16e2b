// Calls of the runtime whose results can be told without a GPU.
#include <cstring>

#include "book.h"

__constant__ int factor;
__device__ int counter;
__managed__ int shared_by_both = 5;

__global__ void scale(int* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
    if (i == 0) {
        printf("thread 0 of %d\n", int(gridDim.x * blockDim.x));
        shared_by_both *= 2;
    }
    atomicAdd(&counter, 1);
}

int main() {
    int devices = 0, value = 3;
    cudaDeviceProp properties;
    HANDLE_ERROR(cudaGetDeviceCount(&devices));
    HANDLE_ERROR(cudaGetDeviceProperties(&properties, 0));
    std::printf("%d device, %s, warps of %d, %d threads, %d KiB shared\n", devices, properties.name,
                properties.warpSize, properties.maxThreadsPerBlock,
                int(properties.sharedMemPerBlock >> 10));
    std::printf("%d SMs, %d threads each, %d bytes of constants\n", properties.multiProcessorCount,
                properties.maxThreadsPerMultiProcessor, int(properties.totalConstMem));
    HANDLE_ERROR(cudaMemcpyToSymbol(factor, &value, sizeof value));
    const int n = 1000;
    int *pinned, *managed;
    HANDLE_ERROR(cudaMallocHost(&pinned, n * sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&managed, n * sizeof(int)));
    for (int i = 0; i < n; ++i) pinned[i] = managed[i] = i;
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) HANDLE_ERROR(cudaStreamCreate(&stream));
    scale<<<4, 256, 0, streams[0]>>>(pinned, n);
    scale<<<4, 256, 0, streams[1]>>>(managed, n);
    HANDLE_ERROR(cudaDeviceSynchronize());
    int wrong = 0, counted = 0;
    for (int i = 0; i < n; ++i) wrong += pinned[i] != 3 * i || managed[i] != 3 * i;
    HANDLE_ERROR(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    std::printf("%d wrong, %d threads counted, managed %d\n", wrong, counted, shared_by_both);
    std::printf("too much shared memory: %s\n",
                (scale<<<1, 1, 1 << 20>>>(managed, 1), cudaGetErrorName(cudaGetLastError())));
    std::printf("too many threads: %s\n",
                (scale<<<1, 2048>>>(managed, 1), cudaGetErrorName(cudaGetLastError())));
    std::printf("bad direction: %s\n",
                cudaGetErrorName(cudaMemcpy(pinned, managed, 4, cudaMemcpyKind(9))));
    std::printf("peek: %s, ", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf("last: %s, ", cudaGetErrorName(cudaGetLastError()));
    std::printf("then: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    HANDLE_ERROR(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    scale<<<4, 256, 0, streams[0]>>>(managed, n);
    HANDLE_ERROR(cudaStreamEndCapture(streams[0], &graph));
    HANDLE_ERROR(cudaGraphInstantiate(&executable, graph, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, streams[0]));
    HANDLE_ERROR(cudaGraphLaunch(executable, streams[0]));
    HANDLE_ERROR(cudaStreamSynchronize(streams[0]));
    std::printf("after the graph: %d\n", managed[10]);
    return 3;
}
