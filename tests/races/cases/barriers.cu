// Findings that one barrier repairs, and advice.

// One thread writes the block's base, all threads read it.
template <bool right>
__global__ void one_writer(const int* flag, int* slot, int* cursor) {
    __shared__ int sums[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int mine = flag[blockIdx.x * blockDim.x + threadIdx.x];
    int s = mine;
    for (int d = 1; d < 32; d <<= 1) {
        const int t = __shfl_up_sync(0xffffffffu, s, d);
        if (lane >= d) s += t;
    }
    if (lane == 31) sums[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int t = sums[w];
            sums[w] = total;
            total += t;
        }
        sums[31] = atomicAdd(cursor, total);
    }
    if (right) __syncthreads();
    const int at = sums[31] + sums[warp] + s - mine;
    slot[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// A tile is loaded, used and loaded again; the second barrier of the loop is missing.
template <bool right>
__global__ void tile_war(const float* in, float* out, int n) {
    __shared__ float tile[256];
    float sum = 0;
    for (int base = 0; base < n; base += 128) {
        tile[threadIdx.x] = in[base + threadIdx.x];
        tile[128 + threadIdx.x] = 2 * in[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; ++k) sum += tile[k] + tile[128 + k];
        if (right) __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Two barriers are missing.
__global__ void two_missing(const int* in, int* out) {
    __shared__ int s[64], r[64];
    const int t = int(threadIdx.x);
    s[t] = in[t];
    r[t] = s[63 - t];
    const int x = r[63 - t];
    out[t] = x;
}

// Two extern arrays are one memory.
template <bool right>
__global__ void two_extern(const float* in, float* out) {
    extern __shared__ float first[];
    extern __shared__ float second_[];
    float* second = right ? first + blockDim.x : second_;
    first[threadIdx.x] = in[threadIdx.x];
    second[blockDim.x - 1 - threadIdx.x] = 10 * in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

__device__ void wait_at(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive_at(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Warp 0 fills two slots in turn, warp 1 empties them: barriers 2 and 3 say that a slot is full, 4
// and 5 that it is empty. All numbers of barriers lie in registers, which the unrolled loops reuse.
template <bool right>
__global__ void two_slots(int* out) {
    __shared__ int slots[2][32];
    constexpr int steps = 6;
    const int lane = int(threadIdx.x) & 31;
    int sum = 0;
    if (threadIdx.x < 32)
        for (int step = 0; step < steps; ++step) {
            if (step >= 2) wait_at(4 + step % 2, 64);
            slots[step % 2][lane] = step * lane;
            arrive_at(2 + step % 2, 64);
        }
    else
        for (int step = 0; step < steps; ++step) {
            const int early = slots[step % 2][31 - lane];
            wait_at(2 + step % 2, 64);
            sum += right ? slots[step % 2][31 - lane] : early;
            if (step + 2 < steps) arrive_at(4 + step % 2, 64);
        }
    out[threadIdx.x] = sum;
}

// A prefix sum in place: a line reads words that it changes. READ: all have read before the first
// one writes.
template <bool READ>
__global__ void scanned_in_place(int* sums) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    tile[t] = 1;
    for (int distance = 1; distance < 64; distance *= 2) {
        __syncthreads();
        if (READ) {
            const int other = t >= distance ? tile[t - distance] : 0;
            __syncthreads();
            tile[t] += other;
        } else if (t >= distance) {
            tile[t] += tile[t - distance];
        }
    }
    sums[t] = tile[t];
}

// Lanes leave a loop one after another, since its end depends on what other threads write. Then one
// barrier is there for all of them (ALL), or two barriers, each for half of the lanes.
template <bool ALL>
__device__ void meet() {
    if (ALL)
        __syncthreads();
    else if (threadIdx.x % 2)
        asm volatile("bar.sync 1;" ::: "memory");
    else
        asm volatile("bar.sync 2;" ::: "memory");
}

template <bool ALL>
__global__ void behind_lock(int* lock, int* sum) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) != 0) continue;
        __threadfence();
        *sum += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
    }
    meet<ALL>();
}

template <bool ALL>
__global__ void behind_maximum(int* most, const int* in) {
    int seen = 0, old = atomicAdd(most, 0);
    do {
        seen = old;
        if (in[threadIdx.x] <= seen) break;
        old = atomicCAS(most, seen, in[threadIdx.x]);
    } while (old != seen);
    meet<ALL>();
}

// Each lane walks to the end of its chain.
template <bool ALL>
__global__ void behind_chains(volatile const int* next, int* out) {
    int at = int(threadIdx.x), steps = 0;
    for (; next[at] > 0; ++steps) at = next[at] - 1;
    meet<ALL>();
    out[threadIdx.x] = steps;
}

// The barrier stands in the loop: all lanes meet at it as often.
template <bool ALL>
__global__ void in_rounds(int* lock, int* sum) {
    for (int round = 0; round < 3; ++round) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *sum += 1;
        __threadfence();
        atomicExch(lock, 0);
        meet<ALL>();
    }
}

// Threads leave the loop after one to five passes: no barrier can stand in it, and each needs
// a table of its own.
template <bool OWN>
__global__ void uneven_passes(int* out) {
    __shared__ int tables[64 * 5];
    int* const table = tables + (OWN ? threadIdx.x * 5 : 0);
    for (int i = 0; i < 5; ++i) table[i] = 1;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x % 5; i < 5; ++i) {
        sum += table[i];
        table[(i + 1) % 5] = sum;
    }
    out[threadIdx.x] = sum;
}

// The two warps wait at barriers of two lines, or of one.
template <bool ONE>
__global__ void two_lines(int* out) {
    if (ONE) {
        __syncthreads();
    } else if (threadIdx.x >= 32) {
        out[64 + threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[64 + threadIdx.x] = 2;
        __syncthreads();
    }
    out[threadIdx.x] = 3;
}
