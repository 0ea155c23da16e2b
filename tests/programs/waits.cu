// What the host does with memory that work on the GPU uses. Without an argument it waits first;
// each argument leaves one wait out, or orders the two in another way.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include "book.h"

constexpr int n = 64;

__managed__ int variable;

__global__ void square(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}
__global__ void set_upper_half(int* values) {
    values[n / 2 + threadIdx.x] = 7;
}
__global__ void set_variable() {
    variable = 7;
}
__global__ void set_bytes(char* bytes) {
    bytes[2 * threadIdx.x] = 1;
}
/// Takes what the host hands over, and hands it back.
__global__ void answer(volatile int* flags, int* data) {
    while (flags[0] == 0) {
    }
    __threadfence_system();
    data[1] = data[0] + 1;
    __threadfence_system();
    flags[1] = 1;
}

std::mutex mutex;
std::condition_variable changed;
bool is_called = false;

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    const auto is = [&](const char* word) { return what == word; };
    int *managed, *other, *pinned, *flags, *device;
    cudaStream_t stream;
    cudaEvent_t event;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaEventCreate(&event));
    HANDLE_ERROR(cudaMallocManaged(&managed, n * sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&other, n * sizeof(int)));
    HANDLE_ERROR(cudaMallocHost(&pinned, n * sizeof(int)));
    HANDLE_ERROR(cudaMallocHost(&flags, 2 * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; ++i) managed[i] = pinned[i] = other[i] = i;

    square<<<1, n, 0, stream>>>(managed, other);
    if (is("reads_what_is_read")) std::printf("%d\n", managed[3]);
    if (is("read")) std::printf("%d\n", other[3]);
    if (is("written")) managed[5] = 1;
    if (is("both_write")) other[5] = 1;
    if (is("waits_for_an_earlier_event")) {
        HANDLE_ERROR(cudaEventRecord(event, stream));
        square<<<1, n, 0, stream>>>(other, managed);
        HANDLE_ERROR(cudaEventSynchronize(event));
        std::printf("%d\n", managed[2]);
    }
    if (is("event")) {
        HANDLE_ERROR(cudaEventRecord(event, stream));
        HANDLE_ERROR(cudaEventSynchronize(event));
        std::printf("%d\n", other[3]);
    }
    if (is("query")) {
        while (cudaStreamQuery(stream) == cudaErrorNotReady) {
        }
        std::printf("%d\n", other[3]);
    }
    if (is("function")) {  // which tells the host that the work before it has ended
        HANDLE_ERROR(cudaLaunchHostFunc(
            stream,
            [](void* data) {
                const std::scoped_lock held(mutex);
                static_cast<int*>(data)[0] = 1;
                is_called = true;
                changed.notify_one();
            },
            other));
        std::unique_lock lock(mutex);
        changed.wait(lock, [] { return is_called; });
        std::printf("%d\n", other[3]);
    }
    HANDLE_ERROR(cudaStreamSynchronize(stream));

    // The copy to pinned memory, and the copy from it.
    HANDLE_ERROR(cudaMemcpyAsync(device, pinned, sizeof(int) * n, cudaMemcpyHostToDevice, stream));
    if (is("source_read")) std::printf("%d\n", pinned[3]);
    if (is("source_changed")) pinned[3] = 1;
    HANDLE_ERROR(cudaMemcpyAsync(&pinned[8], device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    if (is("neighbour")) std::printf("%d\n", pinned[9]);
    if (is("copied")) std::printf("%d\n", pinned[8]);
    HANDLE_ERROR(cudaStreamSynchronize(stream));
    std::printf("copied %d\n", pinned[8]);

    set_upper_half<<<1, n / 2>>>(managed);
    if (is("lower_half")) managed[n / 2 - 1] = 3;
    if (is("upper_half")) managed[n - 1] = 3;
    HANDLE_ERROR(cudaDeviceSynchronize());
    set_bytes<<<1, n>>>(reinterpret_cast<char*>(managed));
    if (is("other_bytes"))
        for (int i = 0; i < n; ++i) reinterpret_cast<char*>(managed)[2 * i + 1] = 2;
    if (is("same_byte")) reinterpret_cast<char*>(managed)[6] = 2;
    HANDLE_ERROR(cudaDeviceSynchronize());
    set_variable<<<1, 1>>>();
    if (is("variable")) std::printf("%d\n", variable);
    HANDLE_ERROR(cudaDeviceSynchronize());
    if (is("memset")) {  // of managed memory, which ends before it returns
        cudaStream_t alone;
        HANDLE_ERROR(cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking));
        HANDLE_ERROR(cudaMemset(managed, 0, n * sizeof(int)));
        set_upper_half<<<1, n / 2, 0, alone>>>(managed);
        HANDLE_ERROR(cudaStreamSynchronize(alone));
    }
    if (is("handshake")) {
        volatile int* const shared = flags;
        shared[0] = shared[1] = 0;
        answer<<<1, 1>>>(flags, pinned);
        pinned[0] = 20;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        shared[0] = 1;
        while (shared[1] == 0) {
        }
        HANDLE_ERROR(cudaGetLastError());
        std::printf("%d\n", pinned[1]);
        HANDLE_ERROR(cudaDeviceSynchronize());
    }
    // The system reads and writes a buffer of which a copy uses another part, or that part.
    const std::size_t half = n / 2 * sizeof(int);
    const int zeros = open("/dev/zero", O_RDONLY), nothing = open("/dev/null", O_WRONLY);
    HANDLE_ERROR(cudaMemcpyAsync(device, pinned, half, cudaMemcpyHostToDevice, stream));
    HANDLE_ERROR(cudaMemcpyAsync(other, device, half, cudaMemcpyDeviceToHost, stream));
    const int *const used = other, *const unused = other + n / 2;
    if (is("system"))
        std::printf("%zd read, %zd written\n", read(zeros, pinned + n / 2, half),
                    write(nothing, unused, half));
    if (is("read_into_source")) read(zeros, pinned, half);
    if (is("written_early")) write(nothing, used, half);
    HANDLE_ERROR(cudaStreamSynchronize(stream));
}
