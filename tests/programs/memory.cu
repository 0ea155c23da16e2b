// Pools, virtual memory, memory and events of several processes, and the device's heap.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "book.h"

__global__ void set(int* data, int value) {
    *data = value;
}

struct Node {
    int value;
    Node* next;
};
__global__ void push(Node** list) {
    Node* const node = new Node{int(threadIdx.x), nullptr};
    list[threadIdx.x] = node;
}
__global__ void pop(Node** list, int* sum) {
    atomicAdd(sum, list[threadIdx.x]->value);
    delete list[threadIdx.x];
}
__global__ void grab(int* results, unsigned bytes) {
    void* const all = malloc(bytes);
    void* const more = malloc(bytes);
    results[0] = all != nullptr;
    results[1] = more != nullptr;
    free(all);
    results[2] = malloc(bytes) != nullptr;
}

void pools() {
    cudaMemPool_t pool;
    unsigned long long threshold = 4096, read = 0;
    int reuse = 0;
    HANDLE_ERROR(cudaDeviceGetDefaultMemPool(&pool, 0));
    HANDLE_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    HANDLE_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    HANDLE_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    int *data, value = 0;
    cudaStream_t stream;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(
        cudaMallocFromPoolAsync(reinterpret_cast<void**>(&data), sizeof(int), pool, stream));
    set<<<1, 1, 0, stream>>>(data, 6);
    HANDLE_ERROR(cudaMemcpyAsync(&value, data, sizeof value, cudaMemcpyDeviceToHost, stream));
    HANDLE_ERROR(cudaFreeAsync(data, stream));
    HANDLE_ERROR(cudaStreamSynchronize(stream));
    cudaStreamAttrValue attribute{}, kept{};
    attribute.accessPolicyWindow.num_bytes = 512;
    HANDLE_ERROR(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute));
    HANDLE_ERROR(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &kept));
    std::printf("pool: reuse %d, threshold %d, value %d; stream: window %d\n", reuse, int(read),
                value, int(kept.accessPolicyWindow.num_bytes));
}

void virtual_memory() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    std::size_t step = 0;
    DRIVER(cuMemGetAllocationGranularity)(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr range;
    const int odd = DRIVER(cuMemCreate)(&memory, step + 1, &properties, 0);
    const int created = DRIVER(cuMemCreate)(&memory, step, &properties, 0);
    const int reserved = DRIVER(cuMemAddressReserve)(&range, 2 * step, 0, 0, 0);
    // One memory at two addresses.
    const int mapped = DRIVER(cuMemMap)(range, step, 0, memory, 0);
    const int again = DRIVER(cuMemMap)(range + step, step, 0, memory, 0);
    const int twice = DRIVER(cuMemMap)(range + step, step, 0, memory, 0);
    DRIVER(cuMemRelease)(memory);
    std::printf("without access: %s\n",
                cudaGetErrorName(cudaMemset(reinterpret_cast<void*>(range), 0, 4)));
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemSetAccess)(range, 2 * step, &access, 1);
    set<<<1, 1>>>(reinterpret_cast<int*>(range), 8);
    int value = 0;
    HANDLE_ERROR(cudaMemcpy(&value, reinterpret_cast<void*>(range + step), sizeof value,
                            cudaMemcpyDeviceToHost));
    const int unmapped = DRIVER(cuMemUnmap)(range, 2 * step);
    std::printf("virtual memory: %d %d %d %d %d %d, value %d, unmapped %d, then %s\n", odd, created,
                reserved, mapped, again, twice, value, unmapped,
                cudaGetErrorName(cudaMemset(reinterpret_cast<void*>(range), 0, 4)));
}

/// The host waits for copies from and to pinned memory whose direction CUDA finds out.
void pinned() {
    int *host, *data;
    HANDLE_ERROR(cudaMallocHost(&host, sizeof *host));
    HANDLE_ERROR(cudaMalloc(&data, sizeof *data));
    set<<<1, 1>>>(data, 5);
    HANDLE_ERROR(cudaMemcpy(host, data, sizeof *host, cudaMemcpyDefault));
    std::printf("pinned: %d\n", *host);
}

/// What a program sees of a second GPU, where there is one.
void devices() {
    int count = 0, can = 0, current = 0;
    HANDLE_ERROR(cudaGetDeviceCount(&count));
    const cudaError_t second = cudaSetDevice(1);
    HANDLE_ERROR(cudaGetDevice(&current));
    cudaDeviceCanAccessPeer(&can, current, 0);
    std::printf("%d GPUs, the second %s, current %d, access %d\n", count, cudaGetErrorName(second),
                current, can);
    cudaGetLastError();
}

/// The child doubles what the parent has put into memory of the device.
int child(const char* text) {
    cudaIpcMemHandle_t handle;
    for (std::size_t i = 0; i < sizeof handle; ++i) {
        unsigned byte;
        std::sscanf(text + 2 * i, "%2x", &byte);
        handle.reserved[i] = char(byte);
    }
    int *data, value;
    HANDLE_ERROR(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&data), handle,
                                      cudaIpcMemLazyEnablePeerAccess));
    HANDLE_ERROR(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost));
    set<<<1, 1>>>(data, 2 * value);
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaIpcCloseMemHandle(data));
    return 0;
}

void processes(const char* program) {
    int* data;
    HANDLE_ERROR(cudaMalloc(&data, sizeof(int)));
    set<<<1, 1>>>(data, 21);
    cudaIpcMemHandle_t handle;
    HANDLE_ERROR(cudaIpcGetMemHandle(&handle, data));
    char text[2 * sizeof handle + 1];
    for (std::size_t i = 0; i < sizeof handle; ++i)
        std::snprintf(text + 2 * i, 3, "%02x", unsigned(handle.reserved[i]) & 255);
    if (fork() == 0) {
        execl(program, program, text, nullptr);
        _exit(1);
    }
    int status = 0, value = 0;
    wait(&status);
    HANDLE_ERROR(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("another process: %d, value %d\n", status, value);
}

void heap() {
    Node** list;
    int* numbers;
    HANDLE_ERROR(cudaMalloc(&list, 32 * sizeof *list));
    HANDLE_ERROR(cudaMallocManaged(&numbers, 3 * sizeof(int)));
    HANDLE_ERROR(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    push<<<1, 32>>>(list);
    pop<<<1, 32>>>(list, numbers);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("heap: sum %d\n", numbers[0]);  // 0 + 1 + ... + 31
    grab<<<1, 1>>>(numbers, 600 << 10);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("of 1 MiB: %d %d, freed %d\n", numbers[0], numbers[1], numbers[2]);
}

int main(int count, char** arguments) {
    if (count > 1) return child(arguments[1]);
    devices();
    pinned();
    pools();
    virtual_memory();
    processes(arguments[0]);
    heap();
}
