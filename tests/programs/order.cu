// The order of the work of four streams, which pauses of the host do not change.
#include <unistd.h>

#include "book.h"

__global__ void append(int* order, int number) { *order = 10 * *order + number; }

int main(int count, char**) {
    int *order, result;
    HANDLE_ERROR(cudaMalloc(&order, sizeof(int)));
    HANDLE_ERROR(cudaMemset(order, 0, sizeof(int)));
    HANDLE_ERROR(cudaDeviceSynchronize());
    for (int number = 1; number <= 4; ++number) {
        cudaStream_t stream;
        HANDLE_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        append<<<1, 1, 0, stream>>>(order, number);
        if (count > 1) usleep(250'000);
    }
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaMemcpy(&result, order, sizeof result, cudaMemcpyDeviceToHost));
    std::printf("%d\n", result);
}
