// Memory that streams allocate and free. Without an argument everything is ordered; each argument
// leaves out what orders two of them.
#include <string>

#include "book.h"

constexpr int n = 64;

__global__ void fill(int* values, int value) {
    values[threadIdx.x] = value;
}
__global__ void increment(int* values) {
    values[threadIdx.x] += 1;
}
__global__ void add(const int* values, int* sum) {
    atomicAdd(sum, values[threadIdx.x]);
}
/// Loads a pointer, so that no call knows of it.
__global__ void fill_where(int** where) {
    (*where)[threadIdx.x] = 2;
}

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    const auto is = [&](const char* word) { return what == word; };
    const std::size_t bytes = n * sizeof(int);
    cudaStream_t owner, user;
    cudaEvent_t event;
    HANDLE_ERROR(cudaStreamCreateWithFlags(&owner, cudaStreamNonBlocking));
    HANDLE_ERROR(cudaStreamCreateWithFlags(&user, cudaStreamNonBlocking));
    HANDLE_ERROR(cudaEventCreate(&event));
    int *values, *sum, **where, result = 0;
    HANDLE_ERROR(cudaMalloc(&sum, sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&where, sizeof(int*)));
    HANDLE_ERROR(cudaMemset(sum, 0, sizeof(int)));
    HANDLE_ERROR(cudaDeviceSynchronize());

    HANDLE_ERROR(cudaMallocAsync(&values, bytes, owner));
    HANDLE_ERROR(cudaEventRecord(event, owner));
    if (!is("not_behind_allocation")) HANDLE_ERROR(cudaStreamWaitEvent(user, event));
    fill<<<1, n, 0, user>>>(values, 1);
    add<<<1, n, 0, user>>>(values, sum);
    HANDLE_ERROR(cudaEventRecord(event, user));
    if (!is("not_before_free")) HANDLE_ERROR(cudaStreamWaitEvent(owner, event));
    HANDLE_ERROR(cudaMemcpyAsync(where, &values, sizeof values, cudaMemcpyHostToDevice, owner));
    HANDLE_ERROR(cudaFreeAsync(values, owner));
    if (is("behind_free")) fill_where<<<1, n, 0, owner>>>(where);
    int* next;
    HANDLE_ERROR(cudaMallocAsync(&next, bytes, owner));
    fill<<<1, n, 0, owner>>>(next, 5);
    HANDLE_ERROR(cudaFreeAsync(next, owner));
    if (is("behind_free")) return 0;
    HANDLE_ERROR(cudaDeviceSynchronize());

    // One stream changes what another one reads.
    HANDLE_ERROR(cudaMallocAsync(&values, bytes, owner));
    HANDLE_ERROR(cudaMemsetAsync(values, 0, bytes, owner));
    HANDLE_ERROR(cudaStreamSynchronize(owner));
    increment<<<1, n, 0, owner>>>(values);
    HANDLE_ERROR(cudaEventRecord(event, owner));
    if (!is("changed_while_read")) HANDLE_ERROR(cudaStreamWaitEvent(user, event));
    add<<<1, n, 0, user>>>(values, sum);
    HANDLE_ERROR(cudaStreamSynchronize(user));
    HANDLE_ERROR(cudaStreamSynchronize(owner));
    HANDLE_ERROR(cudaFreeAsync(values, owner));
    HANDLE_ERROR(cudaDeviceSynchronize());

    // Three streams: the newest access of each counts.
    cudaStream_t third;
    HANDLE_ERROR(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    HANDLE_ERROR(cudaMalloc(&values, bytes));
    HANDLE_ERROR(cudaMemset(values, 0, bytes));
    HANDLE_ERROR(cudaDeviceSynchronize());
    add<<<1, n, 0, user>>>(values, sum);
    HANDLE_ERROR(cudaEventRecord(event, user));
    add<<<1, n, 0, third>>>(values, sum);
    if (!is("one_of_two_readers")) HANDLE_ERROR(cudaStreamWaitEvent(third, event));
    HANDLE_ERROR(cudaEventRecord(event, third));
    HANDLE_ERROR(cudaStreamWaitEvent(owner, event));
    fill<<<1, n, 0, owner>>>(values, 3);
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    std::printf("sum %d\n", result);
}
