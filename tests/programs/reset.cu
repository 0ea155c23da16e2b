// What cudaDeviceReset() frees and destroys.
#include "book.h"

__device__ int counter = 5;

__global__ void count(int* result) { *result = ++counter; }

int main() {
    const std::size_t gibibyte = std::size_t(1) << 30;  // the emulated GPU has 8
    for (int i = 0; i < 9; ++i) {
        void* memory;
        HANDLE_ERROR(cudaMalloc(&memory, gibibyte));
        HANDLE_ERROR(cudaDeviceReset());
    }
    int *result, *pinned, own[1024], value = 0;
    cudaStream_t stream;
    cudaEvent_t event;
    HANDLE_ERROR(cudaMallocManaged(&result, sizeof(int)));
    HANDLE_ERROR(cudaMallocHost(&pinned, sizeof(int)));
    HANDLE_ERROR(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaEventCreate(&event));
    count<<<1, 1, 0, stream>>>(result);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("%d\n", *result);
    HANDLE_ERROR(cudaDeviceReset());

    std::printf("free: %s\n", cudaGetErrorName(cudaFree(result)));
    std::printf("free of pinned memory: %s\n", cudaGetErrorName(cudaFreeHost(pinned)));
    std::printf("unregister: %s\n", cudaGetErrorName(cudaHostUnregister(own)));
    std::printf("stream: %s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
    std::printf("event: %s\n", cudaGetErrorName(cudaEventSynchronize(event)));
    HANDLE_ERROR(cudaMalloc(&result, sizeof(int)));
    count<<<1, 1>>>(result);
    HANDLE_ERROR(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("%d again\n", value);
    HANDLE_ERROR(cudaFree(result));
    HANDLE_ERROR(cudaDeviceReset());
}
