// Clears shared memory before a kernel that may race. Without this, a block may find the values of
// its own previous launch there: a read that comes too early then reads the right value, and nobody
// notices it.

// Sets the dynamic shared memory of each block, `words` * 4 bytes, to 0. `volatile` keeps the
// compiler from removing stores that nothing reads.
extern "C" __global__ void clear_shared(int words) {
    extern __shared__ unsigned memory[];
    volatile unsigned* cell = memory;
    for (int i = threadIdx.x; i < words; i += blockDim.x) cell[i] = 0;
}
