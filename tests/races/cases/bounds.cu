// Accesses that run from one array of shared memory into the next one.

template <bool right>
__global__ void next_array(const int* in, int* out, int kept) {
    __shared__ int buffer[64];
    __shared__ int other[64];
    const int t = int(threadIdx.x);
    buffer[t] = in[t];
    other[t] = -1;
    __syncthreads();
    const int at = t + 32 * kept;
    int v = 0;
    if (!right || at < 64) v = buffer[at];
    out[t] = v + other[t];
}

template <bool right>
__global__ void array_before(const int* in, int* out, int back) {
    __shared__ int lower[64];
    __shared__ int upper[64];
    const int t = int(threadIdx.x);
    lower[t] = upper[t] = in[t];
    __syncthreads();
    int v = lower[63 - t];
    if (!right || t >= back) v += upper[t - back] + lower[right && t < back ? 0 : (t - back) & 63];
    out[t] = v;
}

// Stores one row too many.
template <bool right>
__global__ void store_beyond(const int* in, int* out, int rows) {
    __shared__ int tile[4][16];
    __shared__ int edge[16];
    const int t = int(threadIdx.x);
    if (t < 16) edge[t] = 7;
    __syncthreads();
    for (int r = t / 16; r < (right ? rows - 1 : rows); r += 4) tile[r][t % 16] = in[t];
    __syncthreads();
    out[t] = tile[t / 16][t % 16] + edge[t % 16];
}

// A pointer that moves from row to row of one array.
__global__ void rows_of_one_array(const int* in, int* out) {
    __shared__ int tile[4][16];
    __shared__ int other[16];
    const int t = int(threadIdx.x);
    tile[t / 16][t % 16] = in[t];
    if (t < 16) other[t] = 1;
    __syncthreads();
    int sum = 0;
    for (int* p = &tile[0][0]; p != &tile[0][0] + 64; p += 16) sum += p[t % 16];
    out[t] = sum + other[t % 16];
}

// One of two arrays, chosen by the thread.
__global__ void either_array(const int* in, int* out) {
    __shared__ int even[32], odd[32];
    const int t = int(threadIdx.x);
    int* mine = t % 2 ? odd : even;
    mine[t / 2] = in[t];
    __syncthreads();
    out[t] = (t % 2 ? even : odd)[t / 2];
}

// A local array runs into the next one.
__global__ void local_beyond(const int* in, int* out, int n) {
    int before[3], own[4], behind[5];
    for (int i = 0; i < 3; ++i) before[i] = in[i];
    for (int i = 0; i < 5; ++i) behind[i] = in[i];
    for (int i = 0; i < n; ++i) own[i] = in[i + 3];
    int sum = 0;
    for (int i = 0; i < 3; ++i) sum += before[in[i] % 3] + own[in[i] & 3] + behind[in[i] % 5];
    out[threadIdx.x] = sum;
}

// Or into the one before.
__global__ void local_before(const int* in, int* out, int n) {
    int left[6], right[6];
    for (int i = 0; i < 6; ++i) left[i] = right[i] = in[i];
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += right[in[i] - 1] + left[in[i] % 6] + right[in[i] % 6];
    for (int i = 0; i < n; ++i) sum += left[in[i] % 6 - in[0]];
    out[threadIdx.x] = sum;
}

struct TwoRows {
    int upper[4], lower[4];
};

// Pointers into the middle of arrays and structs may go both ways.
__global__ void local_middle(const int* in, int* out, int n) {
    int all[16];
    int* const half = all + 8;
    for (int i = 0; i < 16; ++i) all[i] = in[i];
    TwoRows rows;
    for (int i = 0; i < 4; ++i) rows.upper[i] = rows.lower[i] = in[i];
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += half[-in[i]] + half[in[i]] + all[in[i] + 8];
    int* const row = rows.lower;
    out[threadIdx.x] = sum + rows.upper[in[1]] + row[in[2]] + row[-in[1]];
}

// Both arrays begin at one address, so that counts overwrite keys, without a race.
template <bool right>
__global__ void two_extern_arrays(const int* in, int* out) {
    extern __shared__ int keys[];
    extern __shared__ int counts[];
    const unsigned t = threadIdx.x;
    int* const second = right ? counts + 64 : counts;
    keys[t] = in[t];
    second[t] = 2 * in[t];
    __syncthreads();
    out[t] = keys[63 - t] + second[63 - t];
}

// Correct: the memory is used again for numbers of another type.
__global__ void used_again(const int* in, int* out) {
    extern __shared__ int whole[];
    extern __shared__ float scaled[];
    const unsigned t = threadIdx.x;
    whole[t] = in[t];
    __syncthreads();
    const int other = whole[63 - t];
    __syncthreads();
    scaled[t] = float(other) / 2;
    __syncthreads();
    out[t] = int(scaled[63 - t]);
}
