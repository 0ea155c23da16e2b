// The picture of ripple.cu, whose tiles lie in the shared memory of another block: two neighbouring
// blocks are a cluster, and each computes the brightness of its neighbour's pixels. A thread reads
// from its neighbour the element that the opposite thread wrote there. The picture is right only if
// a barrier of the cluster separates the write from the read. Clusters need an sm_90 GPU.

constexpr unsigned side = 16;  // of a tile in pixels, and of a block in threads
constexpr float pi = 3.1415926535897932f;

enum Pattern { spheres, rings };

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

// As in ripple.cu: the cosine of pi * a.
__device__ float cos_pi(float a) {
#ifdef __USE_FAST_MATH__
    return __cosf(pi * a);
#else
    return cospif(a);
#endif
}

// As in ripple.cu: the brightness of pixel (x, y), from 0 to 255.
__device__ float brightness(int pattern, unsigned x, unsigned y, int width, int height,
                            float ticks) {
    if (pattern == spheres) {
        const float step = 2.0f / 128;  // one period, 2 pi, in 128 pixels
        const float across = cos_pi(x * step - 0.5f) + 1, down = cos_pi(y * step - 0.5f) + 1;
        return 255.0f / 4 * across * down;
    }
    const float dx = float(x) - width / 2, dy = float(y) - height / 2;
    const float distance = sqrtf(dx * dx + dy * dy) / 10;
    return 128 + 127 * cos_pi((distance - ticks / 7) / pi) / (distance + 1);
}

// As in ripple.cu: green for the spheres, grey for the rings.
__device__ Pixel colour(int pattern, float value) {
    const unsigned shade = min(__float2uint_rz(value), 255u);
    return 0xff000000u | (pattern == spheres ? shade << 8 : shade * 0x010101u);
}

// The barrier of the cluster: cluster.sync() of Cooperative Groups.
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

// The address of a variable in shared memory of the other block: cluster.map_shared_rank().
__device__ const float* in_other_block(const float* own) {
    const float* other;
    asm("{\n\t.reg .b32 rank;\n\t"
        "mov.u32 rank, %%cluster_ctarank;\n\txor.b32 rank, rank, 1;\n\t"
        "mapa.u64 %0, %1, rank;\n\t}"
        : "=l"(other)
        : "l"(own));
    return other;
}

// `barrier` is known when the kernels below are compiled: each has its own copy of this function.
__device__ void draw(Pixel* pixels, int width, int height, float ticks, int pattern, bool barrier) {
    __shared__ float tile[side][side];
    const unsigned theirs = (blockIdx.x ^ 1) * side + threadIdx.x;
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;

    tile[threadIdx.x][threadIdx.y] = brightness(pattern, theirs, y, width, height, ticks);
    // Removes a read-after-write hazard: the neighbour block may not have written its tile yet.
    if (barrier) cluster_sync();
    const float* const other = in_other_block(&tile[0][0]);
    const float value = other[(side - 1 - threadIdx.x) * side + side - 1 - threadIdx.y];
    // The shared memory of a block that has ended is gone.
    cluster_sync();

    // The last blocks of a row and of a column may reach beyond the picture.
    if (x < width && y < height) pixels[y * width + x] = colour(pattern, value);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    ripple_cluster(Pixel* pixels, int width, int height, float ticks, int pattern) {
    draw(pixels, width, height, ticks, pattern, true);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    ripple_cluster_nosync(Pixel* pixels, int width, int height, float ticks, int pattern) {
    draw(pixels, width, height, ticks, pattern, false);
}
