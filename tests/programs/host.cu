// What the host does wrong. Without an argument it does nothing wrong; each argument makes one
// error.
#include <cstring>

#include "book.h"

__global__ void square(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= values[i];
}

int main(int count, char** arguments) {
    const auto is = [&](const char* word) { return count > 1 && !std::strcmp(arguments[1], word); };
    const int n = 64;
    const std::size_t bytes = n * sizeof(float), half = bytes / 2;
    std::vector<float> values(n + 1, 3), result(n);
    float *squares, *others;
    cudaStream_t stream;
    cudaEvent_t event;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaEventCreate(&event));
    HANDLE_ERROR(cudaMalloc(&squares, bytes));
    HANDLE_ERROR(cudaMalloc(&others, bytes));
    if (is("before_a_copy")) squares[2] = 1;
    HANDLE_ERROR(cudaMemcpy(squares, values.data(), bytes, cudaMemcpyHostToDevice));
    square<<<1, n, 0, stream>>>(squares, n);
    HANDLE_ERROR(cudaGetLastError());
    HANDLE_ERROR(cudaEventRecord(event, stream));
    HANDLE_ERROR(cudaStreamSynchronize(stream));

    if (is("host_read")) values[0] = squares[1];
    if (is("in_memcpy")) std::memcpy(squares, values.data(), bytes);

    if (is("half_written"))
        HANDLE_ERROR(cudaMemcpy(others, values.data(), half, cudaMemcpyHostToDevice));
    if (is("copied")) {  // a half was written, and the other half is copied from new memory
        float* fresh;
        HANDLE_ERROR(cudaMalloc(&fresh, half));
        HANDLE_ERROR(cudaMemcpy(others, squares, half, cudaMemcpyDeviceToDevice));
        HANDLE_ERROR(cudaMemcpy(others + n / 2, fresh, half, cudaMemcpyDeviceToDevice));
        HANDLE_ERROR(cudaFree(fresh));
    }
    if (is("unwritten") || is("half_written") || is("copied"))
        HANDLE_ERROR(cudaMemcpy(result.data(), others, bytes, cudaMemcpyDeviceToHost));

    if (is("too_long")) cudaMemcpy(values.data(), squares, bytes + 4, cudaMemcpyDeviceToHost);
    if (is("swapped")) cudaMemcpy(squares, values.data(), bytes, cudaMemcpyDeviceToHost);
    if (is("wrong_direction")) cudaMemcpy(others, squares, bytes, cudaMemcpyHostToDevice);

    HANDLE_ERROR(cudaMemcpy(result.data(), squares, bytes, cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaFree(others));
    if (is("freed_argument")) square<<<1, n>>>(others + 1, 0);
    if (is("freed_copy")) cudaMemcpy(others, values.data(), bytes, cudaMemcpyHostToDevice);
    if (is("freed_twice")) cudaFree(others);
    if (is("too_many_threads")) square<<<1, 2048>>>(squares, n);
    if (is("asked")) {
        square<<<1, 2048>>>(squares, n);
        if (cudaGetLastError() == cudaSuccess) return 2;
    }
    if (is("kernel_fails")) square<<<1, n>>>(squares + n, n);
    if (is("freed_use")) square<<<1, n>>>(others, n);
    std::printf("%g\n", result[0]);
    if (is("kernel_fails") || is("freed_use") || is("leaks")) return 0;
    HANDLE_ERROR(cudaFree(squares));
    HANDLE_ERROR(cudaEventDestroy(event));
    HANDLE_ERROR(cudaStreamDestroy(stream));
}
