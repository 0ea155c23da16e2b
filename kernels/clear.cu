// What a race reads depends on what lies in shared memory. After this it lies zeroed, as if no
// kernel had run before: else a block may meet its own values of the launch before, and a stale
// read goes unnoticed.

// Zeroes each block's dynamic shared memory of `words` * 4 bytes. Volatile, since nobody here reads
// these stores.
extern "C" __global__ void clear_shared(int words) {
    extern __shared__ unsigned memory[];
    volatile unsigned* cell = memory;
    for (int i = threadIdx.x; i < words; i += blockDim.x) cell[i] = 0;
}
