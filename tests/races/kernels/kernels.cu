// Small kernels with and without races, for a few warps. Shared memory is volatile, so that the
// compiler keeps every access and their order. Each thread stores its loads to a word of `out`. At
// most 256 threads.

constexpr int most_threads = 256;

#define KERNEL extern "C" __global__ void
#define SHARED __shared__ volatile

// Races between warps.

KERNEL mirror_no_barrier(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[blockDim.x - 1 - threadIdx.x];
}

KERNEL mirror(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cell[blockDim.x - 1 - threadIdx.x];
}

// Each round needs a second barrier, after the reads.
KERNEL rounds_one_barrier_short(unsigned* out) {
    SHARED unsigned cell[most_threads];
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < 3; ++round) {
        cell[threadIdx.x] = round;
        __syncthreads();
        sum += cell[(threadIdx.x + 32) % blockDim.x];
    }
    out[threadIdx.x] = sum;
}

KERNEL rounds(unsigned* out) {
    SHARED unsigned cell[most_threads];
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < 3; ++round) {
        cell[threadIdx.x] = round;
        __syncthreads();
        sum += cell[(threadIdx.x + 32) % blockDim.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Two buffers take turns, so one barrier in each round is enough.
KERNEL double_buffered(unsigned* out) {
    SHARED unsigned cell[2][most_threads];
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < 4; ++round) {
        cell[round % 2][threadIdx.x] = round;
        __syncthreads();
        sum += cell[round % 2][(threadIdx.x + 32) % blockDim.x];
    }
    out[threadIdx.x] = sum;
}

// Races within a warp.

KERNEL neighbour_no_syncwarp(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[threadIdx.x ^ 1];
}

KERNEL neighbour(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = cell[threadIdx.x ^ 1];
}

// A shuffle exchanges registers; it does not order memory accesses.
KERNEL neighbour_shuffle(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    const unsigned other = __shfl_xor_sync(0xffffffffu, threadIdx.x, 1);
    out[threadIdx.x] = cell[other];
}

// Each half of a warp has its own barrier and accesses its own words.
KERNEL neighbour_half_warps(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncwarp(threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
    out[threadIdx.x] = cell[threadIdx.x ^ 1];
}

KERNEL other_half_half_warps(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncwarp(threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
    out[threadIdx.x] = cell[threadIdx.x ^ 16];
}

// The two sides of a branch run in any order.
KERNEL branches(unsigned* out) {
    SHARED unsigned cell[most_threads];
    unsigned value = 0;
    if (threadIdx.x % 32 < 16)
        cell[threadIdx.x] = threadIdx.x;
    else
        value = cell[threadIdx.x - 16];
    out[threadIdx.x] = value;
}

// The last warp of a reduction in the style of before Volta, for 64 threads.
KERNEL last_warp_in_step(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 32) {
#pragma unroll
        for (unsigned offset = 32; offset > 0; offset /= 2)
            cell[threadIdx.x] = cell[threadIdx.x] + cell[threadIdx.x + offset];
        out[threadIdx.x] = cell[0];
    }
}

KERNEL last_warp(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 32) {
#pragma unroll
        for (unsigned offset = 32; offset > 0; offset /= 2) {
            const unsigned sum = cell[threadIdx.x] + cell[threadIdx.x + offset];
            __syncwarp();
            cell[threadIdx.x] = sum;
            __syncwarp();
        }
        out[threadIdx.x] = cell[0];
    }
}

// Several writes of one word.

KERNEL one_word_many_values(unsigned* out) {
    SHARED unsigned cell;
    cell = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cell;
}

KERNEL one_word_one_value(unsigned* out) {
    SHARED unsigned cell;
    cell = 7;
    __syncthreads();
    out[threadIdx.x] = cell;
}

KERNEL first_lanes_write(unsigned* out) {
    SHARED unsigned cell;
    if (threadIdx.x % 32 == 0) cell = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cell;
}

// Bytes and vectors.

// Neighbouring bytes belong to threads of different warps; 64 threads.
KERNEL byte_neighbours(unsigned* out) {
    SHARED unsigned char cell[most_threads];
    const unsigned mine = threadIdx.x % 32 * 2 + threadIdx.x / 32;
    cell[mine] = static_cast<unsigned char>(threadIdx.x);
    out[threadIdx.x] = cell[mine];
}

KERNEL byte_of_neighbour(unsigned* out) {
    SHARED unsigned char cell[most_threads];
    const unsigned mine = threadIdx.x % 32 * 2 + threadIdx.x / 32;
    cell[mine] = static_cast<unsigned char>(threadIdx.x);
    out[threadIdx.x] = cell[mine ^ 1];
}

// Reads a word whose four bytes were written by four threads of the other warp; 64 threads.
KERNEL word_of_bytes(unsigned* out) {
    SHARED __align__(4) unsigned char cell[most_threads];
    cell[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    const unsigned from = (threadIdx.x + 32) % 64;
    if (threadIdx.x % 4 == 0)
        out[threadIdx.x] = *reinterpret_cast<volatile unsigned*>(&cell[from]);
}

KERNEL vector_no_barrier(unsigned* out) {
    SHARED unsigned long long cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = static_cast<unsigned>(cell[(threadIdx.x + 32) % blockDim.x]);
}

// Atomics.

KERNEL histogram(unsigned* out) {
    __shared__ unsigned count[32];
    if (threadIdx.x < 32) count[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count[threadIdx.x * 7 % 32], 1u);
    __syncthreads();
    out[threadIdx.x] = *const_cast<volatile unsigned*>(&count[threadIdx.x % 32]);
}

// The counts are read while other warps may still add.
KERNEL histogram_no_barrier(unsigned* out) {
    __shared__ unsigned count[32];
    if (threadIdx.x < 32) count[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count[threadIdx.x % 32], 1u);
    out[threadIdx.x] = *const_cast<volatile unsigned*>(&count[threadIdx.x % 32]);
}

// Barriers of some of the warps.

// Warp 0 writes for warp 1; the other warps do not use the barrier.
KERNEL hand_over(unsigned* out) {
    SHARED unsigned cell[32];
    if (threadIdx.x < 32) {
        cell[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = cell[threadIdx.x - 32];
    }
}

// As hand_over, but warp 0 writes again without waiting until warp 1 has read.
KERNEL hand_over_and_on(unsigned* out) {
    SHARED unsigned cell[32];
    if (threadIdx.x < 32) {
        cell[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        cell[threadIdx.x] = 1;
    } else if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = cell[threadIdx.x - 32];
    }
}

// Each pair of warps has its own barrier.
KERNEL pairs(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    out[threadIdx.x] = cell[threadIdx.x ^ 32];
}

KERNEL wrong_pairs(unsigned* out) {
    SHARED unsigned cell[most_threads];
    cell[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    out[threadIdx.x] = cell[threadIdx.x ^ 64];
}

// Words that no thread has written.

KERNEL unwritten(unsigned* out) {
    SHARED unsigned cell[most_threads];
    if (threadIdx.x >= 8) cell[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cell[threadIdx.x];
}

// Barriers that not every thread reaches.

KERNEL half_a_warp_waits(unsigned* out) {
    if (threadIdx.x % 32 < 16) __syncthreads();
    out[threadIdx.x] = threadIdx.x;
}

KERNEL some_have_left(unsigned* out) {
    if (threadIdx.x >= 32) return;
    __syncthreads();
    out[threadIdx.x] = threadIdx.x;
}

KERNEL some_of_a_warp_have_left(unsigned* out) {
    if (threadIdx.x >= 40) return;
    __syncthreads();
    out[threadIdx.x] = threadIdx.x;
}
