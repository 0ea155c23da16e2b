// Two streams that use one buffer. Without an argument everything is ordered; each argument leaves
// out what orders two of them.
#include <cstring>

#include "book.h"

__global__ void fill(int* values, int value) {
    values[threadIdx.x] = value;
}
__global__ void add(const int* values, int* sum) {
    atomicAdd(sum, values[threadIdx.x]);
}

int main(int count, char** arguments) {
    const auto is = [&](const char* word) { return count > 1 && !std::strcmp(arguments[1], word); };
    const int n = 32;
    const std::size_t bytes = n * sizeof(int);
    int *values, *sum, *result;
    HANDLE_ERROR(cudaMalloc(&values, 2 * bytes));
    HANDLE_ERROR(cudaMalloc(&sum, sizeof(int)));
    HANDLE_ERROR(cudaMallocHost(&result, bytes));
    cudaStream_t first, second;
    cudaEvent_t filled;
    HANDLE_ERROR(cudaStreamCreate(&first));
    HANDLE_ERROR(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    HANDLE_ERROR(cudaEventCreate(&filled));
    HANDLE_ERROR(cudaMemset(sum, 0, sizeof(int)));
    HANDLE_ERROR(cudaDeviceSynchronize());

    // Each stream has a half of the buffer, and both add to one sum by atomics.
    fill<<<1, n, 0, first>>>(values, 1);
    add<<<1, n, 0, first>>>(values, sum);
    fill<<<1, n, 0, second>>>(values + n, 2);
    add<<<1, n, 0, second>>>(values + n, sum);
    HANDLE_ERROR(cudaEventRecord(filled, first));

    if (!is("no_event")) HANDLE_ERROR(cudaStreamWaitEvent(second, filled));
    fill<<<1, n, 0, second>>>(values, 3);
    if (!is("no_wait")) HANDLE_ERROR(cudaStreamSynchronize(second));
    HANDLE_ERROR(cudaMemcpyAsync(result, values, bytes, cudaMemcpyDeviceToHost, first));
    HANDLE_ERROR(cudaStreamSynchronize(first));

    // The legacy default stream waits for the first stream, and not for one that is non-blocking.
    fill<<<1, n, 0, is("legacy") ? second : first>>>(values, 4);
    fill<<<1, n>>>(values, 5);
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaMemcpy(&result[1], sum, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("sum %d\n", result[1]);
}
