// Member masks of warp-wide instructions. Each fault has a correct twin.
#define ALL 0xffffffffu

// Two groups of 16 lanes; the mask names the lower group only.
template <bool right>
__global__ void half_masks(int* out) {
    const unsigned t = threadIdx.x;
    const unsigned mask = right ? (t & 16 ? 0xffff0000u : 0x0000ffffu) : 0x0000ffffu;
    int v = int(t);
    for (int d = 8; d > 0; d /= 2) v = max(v, __shfl_xor_sync(mask, v, d));
    out[t] = v;
}

// Groups of eight lanes; the mask is computed with % where / belongs.
template <bool right>
__global__ void mask_modulo(int* out) {
    const unsigned t = threadIdx.x, w = 8;
    const unsigned mask = 0xffu << (right ? t % 32 / w * w : t % (32 / w) * w);
    int v = 1;
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d, w);
    out[t] = v;
}

// A full mask, in a branch that some lanes of the warp do not take: the others wait for ever.
template <bool right>
__global__ void shuffle_in_if(int* out) {
    const unsigned t = threadIdx.x;
    int v = int(t);
    if (right || t < 20) v = __shfl_down_sync(ALL, v, 1);
    out[t] = v;
}

// Lanes leave a loop in pairs; the shuffle in it has a full mask.
template <bool right>
__global__ void activemask_loop(int* out) {
    const int t = int(threadIdx.x);
    int sum = 0;
    for (int k = 0; k < 1 + t / 2; ++k) sum += __shfl_xor_sync(right ? __activemask() : ALL, 1, 1);
    out[t] = sum;
}

// A vote of all lanes whose mask leaves out lane 31.
template <bool right>
__global__ void ballot_outside_mask(int* out) {
    out[threadIdx.x] = int(__ballot_sync(right ? ALL : ALL >> 1, threadIdx.x % 2));
}

// Half of the lanes vote, and their masks are right; the other half has another vote.
__global__ void two_ballots(int* out) {
    const unsigned t = threadIdx.x;
    const unsigned mask = t & 16 ? 0xffff0000u : 0x0000ffffu;
    out[t] = int(__ballot_sync(mask, t % 2)) + __any_sync(mask, t == 3);
}

// All lanes of the lower half read lane 20, which is not in their mask.
template <bool right>
__global__ void read_inactive(int* out) {
    const unsigned t = threadIdx.x;
    int v = int(t);
    if (t < 16) v = __shfl_sync(0xffffu, v, right ? 10 : 20);
    out[t] = v;
}

// The sum of 12 lanes: lane 0 reads lane 8 + 4 = 12 beyond the mask, in the right twin zeroes are
// added for the lanes that are missing.
template <bool right>
__global__ void sum_of_some(int* out) {
    const unsigned t = threadIdx.x;
    int v = t < 12 ? 1 : 0;
    if (right || t < 12)
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(right ? ALL : 0xfffu, v, d);
    if (t == 0) out[0] = v;
}

// The sum of 20 lanes: lane 0 reads no lane beyond the mask, but lane 8, which has read lane 24.
template <bool right>
__global__ void sum_of_20(int* out) {
    const unsigned t = threadIdx.x;
    if (t < 20) {
        int v = int(t);
        for (int d = 16; d > 0; d /= 2) {
            const int other = __shfl_down_sync(0xfffffu, v, d);
            v += !right || t + d < 20 ? other : 0;
        }
        if (t == 0) out[0] = v;
    }
}

// Each warp of 24 lanes hands its maximum over in shared memory.
template <bool right>
__global__ void maximum_by_shared(int* out) {
    __shared__ int s[2];
    const unsigned lane = threadIdx.x % 32;
    if (lane < 24) {
        int v = int(lane);
        for (int d = 16; d > 0; d /= 2) {
            const int other = __shfl_xor_sync(0xffffffu, v, d);
            if (!right || (lane ^ d) < 24) v = max(v, other);
        }
        if (lane == 0) s[threadIdx.x / 32] = v;
    }
    __syncthreads();
    if (threadIdx.x < 2) out[threadIdx.x] = s[threadIdx.x];
}

// An exclusive scan of 10 lanes. In the wrong one the first lane of the mask reads lane 3.
template <bool right>
__global__ void scan_up(int* out) {
    const unsigned t = threadIdx.x;
    if (t < 4 || t >= 14) return;
    int v = 1;
    for (int d = 1; d < 16; d *= 2) {
        const int other = __shfl_up_sync(0x3ff0u, v, d);
        if (!right || int(t) - d >= 4) v += other;
    }
    out[t] = v;
}

// What the shuffle gives decides a branch.
template <bool right>
__global__ void branch_by_outsider(int* out) {
    const unsigned t = threadIdx.x;
    if (t < 8 && __shfl_sync(0xffu, int(t), right ? 7 : 8) > 6) atomicAdd(out, 1);
}

// The first 16 lanes add; lanes behind the first one read past the mask, and nobody uses that.
__global__ void tree_of_16(int* out) {
    const unsigned t = threadIdx.x;
    int v = 1;
    if (t < 16)
        for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    if (t == 0) out[0] = v;
}

// What a lane reads beyond the mask is thrown away.
__global__ void guarded_read(int* out) {
    const unsigned t = threadIdx.x;
    int v = 1;
    if (t < 12)
        for (int d = 16; d > 0; d /= 2) {
            const int other = __shfl_down_sync(0xfffu, v, d);
            if (t + d < 12) v += other;
        }
    if (t == 0) out[0] = v;
}

// Lane 0 names lanes 0 and 1; lane 1 names itself.
template <bool right>
__global__ void masks_differ(int* out) {
    const unsigned t = threadIdx.x;
    out[t] = __any_sync(right ? 3u << (t & ~1u) : t % 2 ? 2u << (t & ~1u) : 3u << t, t == 0);
}

// __syncwarp() of lanes that are not in its mask.
template <bool right>
__global__ void syncwarp_outside(int* out) {
    __shared__ int s[32];
    const unsigned t = threadIdx.x;
    s[t] = int(t);
    __syncwarp(right ? ALL : 0x7fffffffu);
    out[t] = s[t];
}

template <bool right>
__global__ void match_outside(int* out) {
    out[threadIdx.x] = int(__match_any_sync(right ? ALL : ALL << 1, threadIdx.x / 4));
}

// Correct: the lanes of a ballot's result work on, and new ballots are theirs.
__global__ void subset_then_all(int* out) {
    const unsigned t = threadIdx.x;
    const unsigned some = __ballot_sync(ALL, t % 3 == 0);
    int v = 0;
    if (t % 3 == 0) v = __popc(__ballot_sync(some, t % 2));
    __syncwarp();
    out[t] = v + __shfl_sync(ALL, v, 0);
}
