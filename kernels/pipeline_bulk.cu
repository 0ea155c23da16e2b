// The filter of pipeline.cu with bulk copies (from sm_90 on). One warp produces: a single thread of
// it starts the copy of a whole tile. Eight warps consume: they filter the tile and store the result
// into shared memory, from which another bulk copy takes it to the picture. mbarriers tell the
// consumers that a tile is full, and the producer that it is empty again.

constexpr int threads = 256;        // that filter; each filters four pixels of a tile
constexpr int quads = threads + 2;  // of a tile: one more on each side
constexpr int most_stages = 8;

using Pixels = uint4;  // four pixels of 4 bytes: red lowest, then green, blue and alpha
using Mbarrier = unsigned long long;

// What the host can take out.
enum Steps {
    wait_before_read = 1,  // else the consumers wait for a tile when they have read it
    commit = 2,            // else no copy belongs to the group that a thread waits for
    keep_tile = 4,         // else the consumers give a tile back before they read it
    fence_proxy = 8        // else bulk copies may not see what threads have stored
};

// Sums of colours. Red and blue share one word, 16 bits each, and are added together.
struct Sums {
    unsigned red_blue, green;
    __device__ void add(unsigned pixel) {
        red_blue += pixel & 0xff00ffu;
        green += pixel >> 8 & 0xffu;
    }
    __device__ void remove(unsigned pixel) {
        red_blue -= pixel & 0xff00ffu;
        green -= pixel >> 8 & 0xffu;
    }
    __device__ unsigned mean() const {
        return 0xff000000u | (red_blue >> 16) / 9 << 16 | green / 9 << 8 | (red_blue & 0xffffu) / 9;
    }
};

// The means of four pixels, from the twelve that begin four pixels before them.
__device__ Pixels filtered(const Pixels* tile) {
    const Pixels left = tile[threadIdx.x], own = tile[threadIdx.x + 1];
    const Pixels right = tile[threadIdx.x + 2];
    Sums sums = {};
    for (const unsigned pixel :
         {left.x, left.y, left.z, left.w, own.x, own.y, own.z, own.w, right.x})
        sums.add(pixel);
    Pixels result;
    result.x = sums.mean();
    sums.remove(left.x), sums.add(right.y);
    result.y = sums.mean();
    sums.remove(left.y), sums.add(right.z);
    result.z = sums.mean();
    sums.remove(left.z), sums.add(right.w);
    result.w = sums.mean();
    return result;
}

__device__ unsigned shared_address(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
}

__device__ void init(Mbarrier* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

__device__ void arrive(Mbarrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

// Arrives, and lets the phase wait for this many bytes of bulk copies.
__device__ void arrive_expecting(Mbarrier* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

// Waits until the phase with this parity has ended.
__device__ void wait(Mbarrier* barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
        "@!ended bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

__device__ void copy_to_shared(void* to, const void* from, unsigned bytes, Mbarrier* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

__device__ void copy_to_global(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

__device__ void commit_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Makes what the thread has stored, or knows of, visible to bulk copies.
__device__ void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

struct Ring {
    alignas(128) Pixels results[2][threads];
    Mbarrier full[most_stages], empty[most_stages];
};

__device__ void produce(Ring& ring, Pixels* tiles_of_ring, const Pixels* source, int tiles,
                        int stages) {
    int stage = 0;
    unsigned parity = 1;  // no phase has ended yet, so that the first waits end at once
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        wait(&ring.empty[stage], parity);
        arrive_expecting(&ring.full[stage], quads * sizeof(Pixels));
        copy_to_shared(tiles_of_ring + stage * quads, source + t * threads,
                       quads * sizeof(Pixels), &ring.full[stage]);
        if (++stage == stages) stage = 0, parity ^= 1;
    }
}

__device__ void consume(Ring& ring, const Pixels* tiles_of_ring, Pixels* pixels, int tiles,
                        int stages, int steps) {
    int stage = 0, result = 0;
    unsigned parity = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        if (steps & wait_before_read) wait(&ring.full[stage], parity);
        if (!(steps & keep_tile) && (steps & wait_before_read)) arrive(&ring.empty[stage]);
        const Pixels means = filtered(tiles_of_ring + stage * quads);
        if (!(steps & wait_before_read)) wait(&ring.full[stage], parity);
        if ((steps & keep_tile) || !(steps & wait_before_read)) arrive(&ring.empty[stage]);
        ring.results[result][threadIdx.x] = means;
        if (steps & fence_proxy) fence_proxy_async();
        // The copy before must have read its half of `results`, which the next step writes.
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        // The barrier of the consumers: all have stored their results.
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (threadIdx.x == 0) {
            copy_to_global(pixels + t * threads, ring.results[result], threads * sizeof(Pixels));
            if (steps & commit) commit_group();
        }
        result ^= 1;
        if (++stage == stages) stage = 0, parity ^= 1;
    }
    // A block must not end while copies read its shared memory.
    if (threadIdx.x == 0) {
        commit_group();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// 288 threads. The ring has `stages` tiles, from 1 to 8.
extern "C" __global__ void pipeline_bulk(const Pixels* source, Pixels* pixels, int tiles,
                                         int stages, int steps) {
    __shared__ Ring ring;
    extern __shared__ Pixels tiles_of_ring[];
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&ring.full[stage], 1);
            init(&ring.empty[stage], threads);
        }
        fence_proxy_async();
    }
    // Removes a race: the other threads use the mbarriers that thread 0 has made.
    __syncthreads();
    if (threadIdx.x < threads)
        consume(ring, tiles_of_ring, pixels, tiles, stages, steps);
    else if (threadIdx.x == threads)
        produce(ring, tiles_of_ring, source, tiles, stages);
}
