// Kernels whose threads order accesses by words of memory: with fences, releases and acquires.
// `data` is what is ordered; `asm volatile` keeps the compiler from moving accesses where the kernel
// has no fence that does. 64 threads. Where nothing else is said, thread 0 writes for warp 1.

#define KERNEL extern "C" __global__ void
#define KEEP asm volatile("" ::: "memory")

__device__ unsigned global_flag;

__device__ unsigned acquired(unsigned* word) {
    unsigned value;
    asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ unsigned relaxed(unsigned* word) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ void release(unsigned* word, unsigned value) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ void write_relaxed(unsigned* word, unsigned value) {
    asm volatile("st.relaxed.cta.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

// How thread 0 says that the data is there, and how warp 1 waits for that.
#define HAND_OVER_BY(flag_of_the_kernel, name, publish, wait) \
    KERNEL name(unsigned* out) {                              \
        __shared__ unsigned data;                             \
        flag_of_the_kernel;                                   \
        if (threadIdx.x == 0) flag = 0;                       \
        __syncthreads();                                      \
        if (threadIdx.x == 0) {                               \
            data = out[0];                                         \
            KEEP;                                             \
            publish;                                          \
        } else if (threadIdx.x >= 32) {                       \
            wait;                                             \
            KEEP;                                             \
            out[threadIdx.x] = data;                          \
        }                                                     \
    }
#define HAND_OVER(name, publish, wait) \
    HAND_OVER_BY(__shared__ unsigned flag, name, publish, wait)
#define HAND_OVER_GLOBALLY(name, publish, wait) \
    HAND_OVER_BY(unsigned& flag = global_flag, name, publish, wait)

#define IS_VOLATILE(word) *const_cast<volatile unsigned*>(&word)

HAND_OVER(exchange_no_fence, atomicExch(&flag, 1), while (atomicAdd(&flag, 0) == 0) {})
HAND_OVER(exchange_fences, __threadfence_block(); atomicExch(&flag, 1),
          while (atomicAdd(&flag, 0) == 0) {} __threadfence_block())
HAND_OVER(exchange_wide_fences, __threadfence_system(); atomicExch(&flag, 1),
          while (atomicAdd(&flag, 0) == 0) {} __threadfence())
HAND_OVER(exchange_fence_of_writer, __threadfence_block(); atomicExch(&flag, 1),
          while (atomicAdd(&flag, 0) == 0) {})
HAND_OVER(exchange_fence_of_reader, atomicExch(&flag, 1),
          while (atomicAdd(&flag, 0) == 0) {} __threadfence_block())
HAND_OVER(fence_behind_the_flag, atomicExch(&flag, 1); __threadfence_block(),
          while (atomicAdd(&flag, 0) == 0) {} __threadfence_block())
HAND_OVER(volatile_fences, __threadfence_block(); IS_VOLATILE(flag) = 1,
          while (IS_VOLATILE(flag) == 0) {} __threadfence_block())
HAND_OVER(volatile_no_fence, IS_VOLATILE(flag) = 1, while (IS_VOLATILE(flag) == 0) {})
HAND_OVER(volatile_fence_of_writer, __threadfence_block(); IS_VOLATILE(flag) = 1,
          while (IS_VOLATILE(flag) == 0) {})
HAND_OVER(release_acquire, release(&flag, 1), while (acquired(&flag) == 0) {})
HAND_OVER(release_relaxed, release(&flag, 1), while (relaxed(&flag) == 0) {})
HAND_OVER(relaxed_acquire, write_relaxed(&flag, 1), while (acquired(&flag) == 0) {})
HAND_OVER(fence_acquire, __threadfence(); write_relaxed(&flag, 1), while (acquired(&flag) == 0) {})
HAND_OVER(release_fence, release(&flag, 1), while (relaxed(&flag) == 0) {} __threadfence())
// A weak store in between publishes nothing.
HAND_OVER(weak_store_behind_release, release(&flag, 1); KEEP; flag = 2,
          while (acquired(&flag) != 2) {})
// An atomic in between does not end what was published.
HAND_OVER(atomic_behind_release, release(&flag, 1); atomicAdd(&flag, 1),
          while (acquired(&flag) != 2) {})
HAND_OVER_GLOBALLY(flag_in_global_memory, __threadfence(); atomicExch(&flag, 1),
                   while (atomicAdd(&flag, 0) == 0) {} __threadfence())
HAND_OVER_GLOBALLY(flag_in_global_memory_no_fence, atomicExch(&flag, 1),
                   while (atomicAdd(&flag, 0) == 0) {})

// What thread 0 writes behind its release is not published.
KERNEL write_behind_release(unsigned* out) {
    __shared__ unsigned data, flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        release(&flag, 1);
        data = out[0];
    } else if (threadIdx.x >= 32) {
        while (acquired(&flag) == 0) {}
        out[threadIdx.x] = data;
    }
}

// Warp 0 writes, its lane 0 publishes for all; lane 0 of warp 1 waits for all.
KERNEL one_lane_for_its_warp(unsigned* out) {
    __shared__ unsigned data[32], flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x;
        __syncwarp();
        if (threadIdx.x == 0) release(&flag, 1);
    } else {
        if (threadIdx.x == 32)
            while (acquired(&flag) == 0) {}
        __syncwarp();
        out[threadIdx.x] = data[threadIdx.x - 32];
    }
}

// As above, but nothing orders the other lanes of warp 0 before lane 0.
KERNEL one_lane_for_itself(unsigned* out) {
    __shared__ unsigned data[32], flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x;
        if (threadIdx.x == 0) release(&flag, 1);
    } else {
        if (threadIdx.x == 32)
            while (acquired(&flag) == 0) {}
        __syncwarp();
        out[threadIdx.x] = data[threadIdx.x - 32];
    }
}

// Thread 0 hands over to thread 32, and that to thread 64, which has not met thread 0. 96 threads.
KERNEL three_in_a_row(unsigned* out) {
    __shared__ unsigned data, flag[2];
    if (threadIdx.x < 2) flag[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[0];
        release(&flag[0], 1);
    } else if (threadIdx.x == 32) {
        while (acquired(&flag[0]) == 0) {}
        release(&flag[1], 1);
    } else if (threadIdx.x == 64) {
        while (acquired(&flag[1]) == 0) {}
        out[threadIdx.x] = data;
    }
}

// Each thread adds under a lock.
KERNEL spin_lock(unsigned* out) {
    __shared__ unsigned sum, lock;
    if (threadIdx.x == 0) sum = lock = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum += threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}

KERNEL spin_lock_no_fence(unsigned* out) {
    __shared__ unsigned sum, lock;
    if (threadIdx.x == 0) sum = lock = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            KEEP;
            sum += threadIdx.x;
            KEEP;
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}

// A compare-and-swap that fails only reads: it publishes nothing.
KERNEL failed_swap(unsigned* out) {
    __shared__ unsigned data, lock;
    if (threadIdx.x == 0) lock = 2;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[0];
        unsigned old;
        asm volatile("atom.acq_rel.cta.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(&lock) : "memory");
        out[threadIdx.x] = old + data;
    } else if (threadIdx.x == 32) {
        out[threadIdx.x] = acquired(&lock);
        data = 8;
    }
}

// The warp whose thread counts last reads what all have written.
KERNEL last_one_done(unsigned* out) {
    __shared__ unsigned data[256], done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;
    __threadfence_block();
    const bool is_last = atomicAdd(&done, 1) == blockDim.x - 1;
    __threadfence_block();
    if (is_last) {
        unsigned sum = 0;
        for (unsigned k = 0; k < blockDim.x; ++k) sum += data[k];
        out[0] = sum;
    }
}

// A barrier of warps 0 and 1, then a release by warp 1 for warp 2, which reads what warp 0 wrote. 96
// threads.
KERNEL barrier_then_release(unsigned* out) {
    __shared__ unsigned data[32], flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 64) {
        if (threadIdx.x < 32) data[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (threadIdx.x == 32) release(&flag, 1);
    } else {
        while (acquired(&flag) == 0) {}
        out[threadIdx.x] = data[threadIdx.x - 64];
    }
}
