// What a host does wrong. Without a macro nothing is wrong; each macro makes one error.
#include <cstring>

#include "book.h"

__global__ void square(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= values[i];
}


int main() {
    const int n = 64;
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> values(n + 1, 3);
    float *device, *other;
    cudaStream_t stream;
    cudaEvent_t event;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaEventCreate(&event));
    HANDLE_ERROR(cudaMalloc(&device, bytes));
    HANDLE_ERROR(cudaMalloc(&other, bytes));
#ifndef UNWRITTEN
    HANDLE_ERROR(cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice));
#endif
#ifdef FREED_ARGUMENT
    HANDLE_ERROR(cudaFree(other));
    square<<<1, n>>>(other, 0);
    other = nullptr;
#endif
#ifdef TOO_MANY_THREADS
    square<<<1, 2048>>>(device, n);
#elif !defined(UNWRITTEN)
    square<<<1, n>>>(device, n);
    HANDLE_ERROR(cudaGetLastError());
#endif
#ifdef HOST_READ
    values[0] = device[1];
#endif
#ifdef HOST_WRITE
    std::memcpy(device, values.data(), bytes);
#endif
#ifdef TOO_LONG
    cudaMemcpy(values.data(), device, bytes + 4, cudaMemcpyDeviceToHost);
#endif
#ifdef SWAPPED
    cudaMemcpy(device, values.data(), bytes, cudaMemcpyDeviceToHost);
#endif
#ifdef WRONG_DIRECTION
    cudaMemcpy(device, other, bytes, cudaMemcpyHostToDevice);
#endif
#ifdef FREED_COPY
    HANDLE_ERROR(cudaFree(other));
    cudaMemcpy(other, values.data(), bytes, cudaMemcpyHostToDevice);
    other = nullptr;
#endif
    HANDLE_ERROR(cudaMemcpy(values.data(), device, bytes, cudaMemcpyDeviceToHost));
    std::printf("%g\n", values[0]);
#ifndef LEAK
    HANDLE_ERROR(cudaFree(device));
    HANDLE_ERROR(cudaFree(other));
    HANDLE_ERROR(cudaEventDestroy(event));
    HANDLE_ERROR(cudaStreamDestroy(stream));
#endif
#ifdef FREED_TWICE
    cudaFree(device);
#endif
}
