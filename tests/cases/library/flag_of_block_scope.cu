// The flag orders the threads of a block, and is used between two blocks.
#include <cuda/atomic>

__global__ void pass(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        *data = 5;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

int main() {
    int *data, *flag, *out;
    cudaMalloc(&data, sizeof(int));
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    pass<<<2, 32>>>(data, flag, out);
}
