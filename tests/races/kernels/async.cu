// Kernels with asynchronous copies (cp.async) and mbarriers, and their twins with one wait, arrival
// or barrier less. Each block of 64 threads copies words of `out`, and stores what it reads.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

#include <cooperative_groups.h>

constexpr int threads = 64;

#define KERNEL extern "C" __global__ void

__device__ void copy(unsigned* to, const unsigned* from) {
    __pipeline_memcpy_async(to, from, 4);
}

KERNEL waited_and_barrier(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[threads - 1 - t] + 1;
}

KERNEL not_waited(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    __syncthreads();
    out[t + threads] = tile[threads - 1 - t] + 1;
}

KERNEL not_committed(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t + threads] = tile[threads - 1 - t] + 1;
}

KERNEL own_word_not_waited(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    out[t + threads] = tile[t] + 1;
}

KERNEL own_word_waited(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t + threads] = tile[t] + 1;
}

KERNEL waited_without_barrier(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t + threads] = tile[threads - 1 - t] + 1;
}

// Each lane reads a word of the other warp: __syncwarp() does not order that.
KERNEL waited_and_syncwarp(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    out[t + threads] = tile[t ^ 32] + 1;
}

KERNEL source_changed(unsigned* out) {
    __shared__ unsigned tile[threads];
    const int t = threadIdx.x;
    copy(&tile[t], &out[t]);
    __pipeline_commit();
    out[t] = 5;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t + threads] = tile[t];
}

// The second wait leaves the newest of two groups in flight, which is the one that is read.
KERNEL waited_for_the_older_group(unsigned* out) {
    __shared__ unsigned tile[2][threads];
    const int t = threadIdx.x;
    copy(&tile[0][t], &out[t]);
    __pipeline_commit();
    copy(&tile[1][t], &out[t]);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    out[t + threads] = tile[0][t] + tile[1][t];
    __pipeline_wait_prior(0);
}

__device__ unsigned address_of(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
}
__device__ void init(unsigned long long* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count));
}
__device__ void arrive(unsigned long long* barrier) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(address_of(barrier))
                 : "memory");
}
__device__ void wait(unsigned long long* barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred p;\nagain: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra again;\n}" ::"r"(address_of(barrier)),
        "r"(parity)
        : "memory");
}

// Warp 0 stores, and all of its lanes arrive; warp 1 waits and reads.
KERNEL handed_over_by_all_lanes(unsigned* out) {
    __shared__ unsigned tile[32];
    __shared__ unsigned long long full;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[lane] = lane;
        arrive(&full);
    } else {
        wait(&full, 0);
        out[lane] = tile[lane];
    }
}

// One lane arrives for the stores of all 32.
KERNEL handed_over_by_one_lane(unsigned* out) {
    __shared__ unsigned tile[32];
    __shared__ unsigned long long full;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[lane] = lane;
        if (lane == 0) arrive(&full);
    } else {
        wait(&full, 0);
        out[lane] = tile[lane];
    }
}

// __syncwarp() lets one lane arrive for all.
KERNEL handed_over_behind_syncwarp(unsigned* out) {
    __shared__ unsigned tile[32];
    __shared__ unsigned long long full;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[lane] = lane;
        __syncwarp();
        if (lane == 0) arrive(&full);
    } else {
        wait(&full, 0);
        out[lane] = tile[lane];
    }
}

// The reader looks at the phase before the one that it needs. That one has ended.
KERNEL wrong_parity(unsigned* out) {
    __shared__ unsigned tile[32];
    __shared__ unsigned long long full;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[lane] = lane;
    } else {
        wait(&full, 1);
        out[lane] = tile[lane];
    }
    arrive(&full);
}

// Nothing orders the initialisation before the arrival of the other warp, whose schedule may make it
// come too early: tests run it where it does not.
KERNEL init_without_barrier(unsigned* out) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 64);
    __syncwarp();
    if (threadIdx.x == 0) arrive(&full);
    if (threadIdx.x == 63) arrive(&full);
    out[threadIdx.x] = 1;
}

// The copies arrive at the mbarrier, and so do their threads.
KERNEL copies_counted(unsigned* out) {
    __shared__ unsigned tile[threads];
    __shared__ unsigned long long full;
    const int t = threadIdx.x;
    if (t == 0) init(&full, threads);
    __syncthreads();
    copy(&tile[t], &out[t]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(&full))
                 : "memory");
    wait(&full, 0);
    out[t + threads] = tile[threads - 1 - t];
}

// The threads arrive, their copies do not.
KERNEL copies_not_counted(unsigned* out) {
    __shared__ unsigned tile[threads];
    __shared__ unsigned long long full;
    const int t = threadIdx.x;
    if (t == 0) init(&full, threads);
    __syncthreads();
    copy(&tile[t], &out[t]);
    arrive(&full);
    wait(&full, 0);
    out[t + threads] = tile[threads - 1 - t];
}

// A pipeline of the library, over two stages.
template <bool waits>
__device__ void library_pipeline(unsigned* out) {
    namespace cg = cooperative_groups;
    __shared__ unsigned tile[2][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int k = 0; k < 2; ++k) {
        pipeline.producer_acquire();
        cuda::memcpy_async(block, tile[k], out, sizeof(tile[k]), pipeline);
        pipeline.producer_commit();
    }
    unsigned sum = 0;
    for (int k = 0; k < 2; ++k) {
        if (waits) pipeline.consumer_wait();
        sum += tile[k][threads - 1 - threadIdx.x];
        if (waits) pipeline.consumer_release();
    }
    out[threads + threadIdx.x] = sum;
}

KERNEL pipeline_of_the_library(unsigned* out) {
    library_pipeline<true>(out);
}
KERNEL pipeline_without_wait(unsigned* out) {
    library_pipeline<false>(out);
}

// Two public kinds of bugs, each reduced to a page.

// A pipeline of two stages that orders them by __syncwarp() alone. Each thread waits for its own
// copies; __syncwarp() lets it read those of its warp. But a row goes to the next warp, too: what
// is missing is a barrier of the block, as in pipeline_of_stages.
template <bool block_barrier>
__device__ void stages_of_rows(unsigned* out) {
    constexpr int rows = 4;
    __shared__ unsigned stage[2][threads];
    const int t = threadIdx.x;
    unsigned sum = 0;
    copy(&stage[0][t], &out[t]);
    __pipeline_commit();
    for (int row = 0; row < rows; ++row) {
        if (row + 1 < rows) copy(&stage[(row + 1) % 2][t], &out[t]);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        block_barrier ? __syncthreads() : __syncwarp();
        sum += stage[row % 2][(t + 1) % threads];  // lane 31 reads a word of the other warp
        block_barrier ? __syncthreads() : __syncwarp();
    }
    out[t + threads] = sum;
}
KERNEL pipeline_of_stages(unsigned* out) {
    stages_of_rows<true>(out);
}
KERNEL pipeline_of_stages_by_syncwarp(unsigned* out) {
    stages_of_rows<false>(out);
}

// A producer warp and a consumer warp with a full and an empty mbarrier, over several phases. Of
// the producer, one lane arrives for the stores of all 32: what is missing is __syncwarp() before
// it, or the arrivals of the others.
enum class Fault { none, one_lane, no_empty_arrival, ends_early };

template <Fault fault>
__device__ void hand_rows_over(unsigned* out) {
    constexpr int rows = 4;
    __shared__ unsigned row_of[32];
    __shared__ unsigned long long full, empty;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(&full, fault == Fault::one_lane ? 1 : 32);
        init(&empty, 32);
    }
    __syncthreads();
    for (int row = 0; row < rows; ++row) {
        if (threadIdx.x < 32) {
            if (fault == Fault::ends_early && row == 2) return;
            wait(&empty, row % 2 ^ 1);
            row_of[lane] = row * 32 + lane;
            if (fault != Fault::one_lane || lane == 0) arrive(&full);
        } else {
            wait(&full, row % 2);
            out[lane] = row_of[31 - lane];
            if (fault != Fault::no_empty_arrival || lane > 0) arrive(&empty);
        }
    }
}
KERNEL rows_handed_over(unsigned* out) {
    hand_rows_over<Fault::none>(out);
}
KERNEL rows_handed_over_by_one_lane(unsigned* out) {
    hand_rows_over<Fault::one_lane>(out);
}

// These hang.
KERNEL hangs_for_an_arrival(unsigned* out) {
    hand_rows_over<Fault::no_empty_arrival>(out);
}
KERNEL hangs_for_a_warp_that_has_ended(unsigned* out) {
    hand_rows_over<Fault::ends_early>(out);
}

// The consumer looks twice at the first phase, and takes its end for that of the second one.
KERNEL phase_waited_for_twice(unsigned* out) {
    __shared__ unsigned first[32], second[32];
    __shared__ unsigned long long full, empty;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(&full, 32);
        init(&empty, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        first[lane] = lane;
        arrive(&full);
        second[lane] = 2 * lane;
        wait(&empty, 0);
        arrive(&full);
    } else {
        wait(&full, 0);
        const unsigned a = first[lane];
        wait(&full, 0);
        out[lane] = a + second[lane];
        arrive(&empty);
    }
}

// All arrive once and wait for the phase after that one.
KERNEL hangs_for_the_next_parity(unsigned* out) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, threads);
    __syncthreads();
    arrive(&full);
    wait(&full, 0);
    wait(&full, 1);
    out[threadIdx.x] = 1;
}
