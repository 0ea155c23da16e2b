// What a block has read goes into a word that another block looks at before it writes there: the
// word cannot have the value before it was read. None of these kernels has a fence.

enum Publishes { what_it_read, constant, a_condition };

// Each block moves its number to the word of the block before, behind a look at its count. The
// count is made of what the block has read, or not, or the block reads its word later.
enum Looks { waits, in_vain, never };
template <Publishes publishes, bool reads_first, Looks looks>
__global__ void moved_down(int* a, volatile int* count, int* out) {
    const int b = blockIdx.x;
    if (threadIdx.x) return;
    int mine = reads_first ? a[b] : 0;
    if (publishes == what_it_read)
        count[b] = mine + 1;
    else if (publishes == constant)
        count[b] = 1;
    else if (mine > 5)
        count[b] = 2;
    else
        count[b] = 1;
    if (!reads_first) mine = a[b];
    if (b == 0) return;
    if (looks == waits)
        while (count[b - 1] == 0) {}
    if (looks == in_vain) out[b] = atomicAdd((int*)count + b - 1, 0);
    a[b - 1] = mine + 3;
}

// A count comes from the words of all threads of the block, behind a barrier, or from the word of
// thread 0. This thread looks for its block, and a barrier makes the others wait for it, or not.
template <bool before, bool behind>
__global__ void tile_moved_down(int* a, volatile int* count) {
    __shared__ int sum;
    const int b = blockIdx.x, t = threadIdx.x, threads = blockDim.x;
    if (t == 0) sum = 1;
    __syncthreads();
    const int mine = a[b * threads + t];
    if (before) {
        atomicAdd(&sum, mine);
        __syncthreads();
    }
    if (t == 0) {
        count[b] = before ? sum : mine + 1;
        if (b > 0)
            while (count[b - 1] == 0) {}
    }
    if (behind) __syncthreads();
    if (b > 0) a[(b - 1) * threads + t] = mine + 3;
}

// A chain: the count of a block comes from the counts of the blocks before. Each block writes the
// first words of the array, or reads what the block before has written.
template <bool reads_result>
__global__ void chain(int* a, volatile int* count, int* out) {
    const int b = blockIdx.x;
    if (threadIdx.x) return;
    const int mine = a[b];
    int before = 1;
    if (b > 0)
        while ((before = count[b - 1]) == 0) {}
    count[b] = before + mine;
    if (b == 2) a[0] = mine + 3;
    if (b == 3) out[0] = reads_result ? a[0] : mine;
}

// A block reads the last word of the tile before, which that block stores as it was, or changed.
template <int added>
__global__ void put_back(int* a, volatile int* count) {
    const int b = blockIdx.x;
    if (threadIdx.x) return;
    const int mine = a[b], before = b > 0 ? a[b - 1] : 0;
    if (b > 0)
        while (count[b - 1] == 0) {}
    count[b] = mine + before + 1;
    a[b] = mine + added;
}
