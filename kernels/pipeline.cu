// A picture is filtered through tiles in shared memory: each pixel becomes the mean of the nine
// pixels around it in its row. A block filters one tile after the other. The first kernel loads a
// tile, waits for it, and filters it. The second one has a ring of tiles: while a tile is filtered,
// asynchronous copies (cp.async, from sm_80 on) fill the others.

constexpr int threads = 256;  // of a block; each filters four pixels of a tile
constexpr int quads = threads + 2;  // of a tile: one more on each side

using Pixels = uint4;  // four pixels of 4 bytes: red lowest, then green, blue and alpha

// What the host can take out of the kernel with the ring.
enum Steps {
    wait_before_read = 1,  // else a thread waits for a copy when it has read the tile
    commit = 2,            // else no copy belongs to the group that the thread waits for
    keep_tile = 4          // else a tile may be filled again while other threads read it
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

extern "C" __global__ void pipeline_synchronous(const Pixels* source, Pixels* pixels, int tiles) {
    __shared__ Pixels tile[quads];
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        for (int i = threadIdx.x; i < quads; i += threads) tile[i] = source[t * threads + i];
        // Removes a read-after-write hazard: threads read pixels that their neighbours stored.
        __syncthreads();
        pixels[t * threads + threadIdx.x] = filtered(tile);
        // Removes a write-after-read hazard: the next tile takes the place of this one.
        __syncthreads();
    }
}

// Copies 16 bytes. The thread does not wait for them.
__device__ void copy_async(Pixels* to, const Pixels* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     unsigned(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
}

__device__ void commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `in_flight` groups of the thread are not complete.
template <int in_flight>
__device__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(in_flight) : "memory");
}

// The number of groups is part of the instruction.
__device__ void wait_for_oldest(int stages) {
    switch (stages) {
        case 1: return wait_group<0>();
        case 2: return wait_group<1>();
        case 3: return wait_group<2>();
        case 4: return wait_group<3>();
        case 5: return wait_group<4>();
        case 6: return wait_group<5>();
        case 7: return wait_group<6>();
        default: return wait_group<7>();
    }
}

// Starts to fill a tile of the ring, if there is another one, and closes the group of its copies.
__device__ void start(Pixels* tile, const Pixels* source, int t, int tiles, int steps) {
    if (t < tiles)
        for (int i = threadIdx.x; i < quads; i += threads)
            copy_async(tile + i, source + t * threads + i);
    if (steps & commit) commit_group();
}

// The ring has `stages` tiles, from 1 to 8.
extern "C" __global__ void pipeline_async(const Pixels* source, Pixels* pixels, int tiles,
                                          int stages, int steps) {
    extern __shared__ Pixels ring[];
    for (int stage = 0; stage < stages; ++stage)
        start(ring + stage * quads, source, blockIdx.x + stage * gridDim.x, tiles, steps);
    int stage = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        Pixels* const tile = ring + stage * quads;
        if (steps & wait_before_read) wait_for_oldest(stages);
        // Removes a read-after-write hazard: each thread has waited for its own copies only.
        __syncthreads();
        pixels[t * threads + threadIdx.x] = filtered(tile);
        if (!(steps & wait_before_read)) wait_for_oldest(stages);
        // Removes a write-after-read hazard: other threads may still read the tile.
        if (steps & keep_tile) __syncthreads();
        start(tile, source, t + stages * gridDim.x, tiles, steps);
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
