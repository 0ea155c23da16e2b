// Stores of threads and bulk copies of the same words of shared or global memory. They belong to
// different proxies, so fence.proxy.async must stand between. In each kernel that is right, `out` is what a
// plain loop would compute.

using Bar = uint64_t;
constexpr int threads = 64, bytes = threads * 4;

__device__ unsigned address_of(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fence_all_memory() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ void fence_global_memory() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

__device__ void init(Bar* bar) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(bar)) : "memory");
}

// A bulk copy may count its bytes there.
__device__ void init_for_copies(Bar* bar) {
    init(bar);
    fence_proxy_async();
}

__device__ void fetch(int* tile, const int* in, Bar* bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 256, [%0];"
                 ::"r"(address_of(bar)), "r"(address_of(tile)), "l"(in) : "memory");
}

__device__ void wait(Bar* bar, unsigned parity) {
    asm volatile("{.reg .pred ended;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
                 "@!ended bra again;}" ::"r"(address_of(bar)), "r"(parity) : "memory");
}

// Copies a tile to global memory and waits.
__device__ void store_tile(int* out, const int* tile) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;" ::"l"(out), "r"(address_of(tile)) : "memory");
}

// Threads change a tile where it is, and the next tile takes its place.
template <bool FENCE>
__global__ void changed_in_place(const int* in, int* out) {
    __shared__ alignas(128) int tile[threads];
    __shared__ Bar full;
    const int t = threadIdx.x;
    if (t == 0) init_for_copies(&full);
    int sum = 0;
    for (int k = 0; k < 2; ++k) {
        __syncthreads();
        if (t == 0) fetch(tile, in + k * threads, &full);
        wait(&full, k & 1);
        tile[t] *= 2;
        if (FENCE) fence_proxy_async();
        __syncthreads();
        sum += tile[threads - 1 - t];
    }
    out[t] = sum;
}

// A warp stores 64 numbers, and one lane fences for all and copies. SYNC: the stores come before its
// fence.
template <bool SYNC>
__global__ void fenced_by_one_lane(int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    tile[t] = tile[t + 32] = t;
    if (SYNC) __syncwarp();
    if (t == 0) {
        fence_proxy_async();
        store_tile(out, tile);
    }
}

// Two of three warps store a tile. A named barrier orders them before the fence of one thread, or
// before the copy that this thread starts behind its fence.
template <bool BEHIND>
__global__ void behind_named_barrier(int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    if (t >= threads) return;
    tile[t] = t;
    if (!BEHIND) fence_proxy_async();
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (BEHIND && t == 0) fence_proxy_async();
    if (t == 0) store_tile(out, tile);
}

// Each thread fences before its store, or behind it.
template <bool BEHIND>
__global__ void fenced_once(int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    if (!BEHIND) fence_proxy_async();
    tile[t] = t;
    if (BEHIND) fence_proxy_async();
    __syncthreads();
    if (t == 0) store_tile(out, tile);
}

// The fence is for all memory, or for global memory alone.
template <bool ALL>
__global__ void fenced_memory(int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    tile[t] = t;
    if (ALL) fence_all_memory();
    if (!ALL) fence_global_memory();
    __syncthreads();
    if (t == 0) store_tile(out, tile);
}

// Threads count with atomics, and a bulk copy takes the counts away.
template <bool FENCE>
__global__ void counted(const int* in, int* out) {
    __shared__ alignas(128) int bins[threads];
    const int t = threadIdx.x;
    bins[t] = 0;
    if (FENCE) fence_proxy_async();
    __syncthreads();
    if (!FENCE && t == 0) fence_proxy_async();  // only for what is stored so far
    atomicAdd(&bins[in[t] % 8], 1);
    if (FENCE) fence_proxy_async();
    __syncthreads();
    if (t == 0) store_tile(out, bins);
}

// One warp hands its numbers over by an mbarrier to another one, of which one lane fences and copies.
template <bool FENCE>
__global__ void handed_over(int* out) {
    __shared__ alignas(128) int tile[threads];
    __shared__ Bar ready;
    const int t = threadIdx.x;
    if (t == 0) init(&ready);
    __syncthreads();
    if (t < 32) {
        tile[t] = tile[t + 32] = t;
        __syncwarp();
        if (t == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&ready)) : "memory");
    } else if (t == 32) {
        wait(&ready, 0);
        if (FENCE) fence_proxy_async();
        store_tile(out, tile);
    }
}

enum Fence { shared_memory, global_memory, all_memory };

template <Fence FENCE>
__device__ void fence_memory() {
    if (FENCE == shared_memory) fence_proxy_async();
    if (FENCE == global_memory) fence_global_memory();
    if (FENCE == all_memory) fence_all_memory();
}

// Threads store numbers to global memory, and a bulk copy fetches them.
template <Fence FENCE>
__global__ void stored_and_fetched(int* data, int* out) {
    __shared__ alignas(128) int tile[threads];
    __shared__ Bar full;
    const int t = threadIdx.x;
    if (t == 0) init_for_copies(&full);
    data[t] = 3 * t;
    fence_memory<FENCE>();
    __syncthreads();
    if (t == 0) fetch(tile, data, &full);
    wait(&full, 0);
    out[t] = tile[threads - 1 - t];
}

// Threads store zeroes to every second word of global memory, where a bulk copy stores its tile.
template <Fence FENCE>
__global__ void zeroed_first(int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    if (t % 2 == 0) out[t] = 0;
    tile[t] = t;
    fence_memory<shared_memory>();
    fence_memory<FENCE>();
    __syncthreads();
    if (t == 0) store_tile(out, tile);
}

// A warp changes global memory; one lane fences for all of them, in front of __syncwarp() or behind.
template <bool BEHIND>
__global__ void changed_by_a_warp(int* data, int* out) {
    __shared__ alignas(128) int tile[threads];
    __shared__ Bar full;
    const int t = threadIdx.x;
    if (t == 0) init_for_copies(&full);
    if (t < 32) {
        data[t] += 1;
        data[t + 32] += 2;
        if (!BEHIND && t == 0) fence_global_memory();
        __syncwarp();
        if (BEHIND && t == 0) fence_global_memory();
        if (t == 0) fetch(tile, data, &full);
    }
    __syncthreads();
    wait(&full, 0);
    out[t] = tile[threads - 1 - t];
}
