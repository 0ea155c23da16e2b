// The host reads memory before the kernel is done that writes it: it finds what was there before,
// however long it has paused. A host that polls gets what it waits for. Nor do pauses change the
// order of the work of four streams.
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>

#include "book.h"

constexpr int n = 1000;
constexpr useconds_t a_while = 350'000;  // microseconds; the emulator looks at the host every 100 ms

__managed__ int variable = 1;
struct List {
    volatile int value;
    List* next;
};

__global__ void append(int* order, int number) { *order = 10 * *order + number; }
__global__ void set(volatile int* value) { *value = 7; }
__global__ void set_all(int* values) { values[threadIdx.x] = 7; }
__global__ void set_variable() { variable = 7; }
__global__ void set_last(List* list) {
    while (list->next) list = list->next;
    list->value = 7;
}
/// The host answers each number with the next one.
__global__ void answer(volatile int* shared) {
    for (int i = 0; i < 3; ++i) {
        shared[0] = i + 1;
        while (shared[1] != i + 1) {
        }
    }
}

/// Returns the first value that is not 1.
int polled(const volatile int* value) {
    while (*value == 1) {
    }
    return *value;
}

void run_four_streams(int* order, useconds_t between) {
    HANDLE_ERROR(cudaMemset(order, 0, sizeof(int)));
    HANDLE_ERROR(cudaDeviceSynchronize());
    for (int number = 1; number <= 4; ++number) {
        cudaStream_t stream;
        HANDLE_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        append<<<1, 1, 0, stream>>>(order, number);
        usleep(between);
    }
    int result = 0;
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaMemcpy(&result, order, sizeof result, cudaMemcpyDeviceToHost));
    std::printf("%d\n", result);
}

std::mutex mutex;
std::condition_variable changed;
bool is_called = false;

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    int *value, *values, *pinned, *device;
    HANDLE_ERROR(cudaMallocManaged(&value, sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&values, n * sizeof(int)));
    HANDLE_ERROR(cudaMallocHost(&pinned, 2 * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&device, sizeof(int)));
    *value = pinned[0] = pinned[1] = 1;
    for (int i = 0; i < n; ++i) values[i] = 1;
    if (what == "pause" || what == "") {
        set<<<1, 1>>>(value);
        set_all<<<1, n>>>(values);
        if (what == "pause") usleep(a_while);
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += values[i];
        std::printf("before %d and %d, ", *value, sum);
    }
    if (what == "streams") run_four_streams(device, 0);
    if (what == "paused_streams") run_four_streams(device, a_while);
    if (what == "managed") {
        set<<<1, 1>>>(value);
        std::printf("%d\n", polled(value));
    }
    if (what == "behind_reads") {
        set<<<1, 1>>>(value);
        set_all<<<1, n>>>(values);
        usleep(a_while);
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += values[i];
        std::printf("%d\n", sum);
        polled(value);
    }
    if (what == "sleeping") {
        set<<<1, 1>>>(value);
        while (*static_cast<volatile int*>(value) == 1) usleep(1000);
        std::printf("%d\n", *value);
    }
    if (what == "pinned") {
        set<<<1, 1>>>(pinned);
        std::printf("%d\n", polled(pinned));
    }
    if (what == "copied") {
        set<<<1, 1>>>(device);
        HANDLE_ERROR(cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost));
        std::printf("%d\n", polled(pinned));
    }
    if (what == "variable") {
        set_variable<<<1, 1>>>();
        std::printf("%d\n", polled(&variable));
    }
    if (what == "list") {
        List *first, *second;
        HANDLE_ERROR(cudaMallocManaged(&first, sizeof(List)));
        HANDLE_ERROR(cudaMallocManaged(&second, sizeof(List)));
        first->next = second;
        second->value = 1;
        second->next = nullptr;
        set_last<<<1, 1>>>(first);
        std::printf("%d\n", polled(&second->value));
    }
    if (what == "answers") {
        volatile int* shared = pinned;
        shared[0] = shared[1] = 0;
        answer<<<1, 1>>>(pinned);
        for (int i = 0; i < 3; ++i) {
            while (shared[0] != i + 1) {
            }
            shared[1] = i + 1;
        }
        std::printf("3 answers\n");
    }
    if (what == "function") {  // that a stream calls, and that needs what its caller holds
        std::unique_lock lock(mutex);
        set<<<1, 1>>>(value);
        HANDLE_ERROR(cudaLaunchHostFunc(
            0,
            [](void*) {
                const std::scoped_lock held(mutex);
                is_called = true;
                changed.notify_one();
            },
            nullptr));
        HANDLE_ERROR(cudaMallocManaged(&values, sizeof(int)));
        changed.wait(lock, [] { return is_called; });
        std::printf("%d\n", *value);
    }
    if (what == "calls_cuda") {
        static cudaError_t status;
        HANDLE_ERROR(cudaLaunchHostFunc(
            0, [](void*) { status = cudaDeviceSynchronize(); }, nullptr));
        HANDLE_ERROR(cudaDeviceSynchronize());
        std::printf("%s\n", cudaGetErrorName(status));
    }
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("after %d\n", *value);
}
