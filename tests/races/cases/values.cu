// Threads that store to one word: equal values, different values, updates.

__global__ void one_value(int* flag) { *flag = 1; }

__global__ void many_values(int* flag) { *flag = int(threadIdx.x); }

__global__ void one_writer(int* flag) {
    if (threadIdx.x == 0 && blockIdx.x == 0) *flag = 1;
}

// f08: two lines store 0 to the words at the edges of the blocks.
__global__ void one_value_two_lines(float* y) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    y[i] = 0;
    __syncthreads();
    y[i + 1] = 0;
}

__global__ void two_values_two_lines(float* y) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    y[i] = 0;
    __syncthreads();
    y[i + 1] = 1;
}

// All lanes read, change and write one word.
template <bool right>
__global__ void two_add_one(int* out) {
    __shared__ int s[1];
    if (threadIdx.x == 0) s[0] = 0;
    __syncthreads();
    if (right) atomicAdd(&s[0], 1); else s[0] += 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[0];
}

template <bool right>
__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    if (right) atomicAdd(&bins[in[threadIdx.x]], 1); else bins[in[threadIdx.x]]++;
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

// Each lane changes a word of its own.
__global__ void own_words(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    s[threadIdx.x] += 2;
    out[threadIdx.x] = s[threadIdx.x];
}

// All lanes store one value that they compute of the word: nothing is lost.
__global__ void set_bit(int* out) {
    __shared__ int s[1];
    if (threadIdx.x == 0) s[0] = 0;
    __syncthreads();
    s[0] |= 4;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[0];
}

// The largest number: two threads may both find theirs larger.
template <bool right>
__global__ void largest(const int* in, int* out) {
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    const int own = in[threadIdx.x];
    if (right)
        atomicMax(&most, own);
    else if (own > most)
        most = own;
    __syncthreads();
    out[threadIdx.x] = most;
}

// Each block stores what the other blocks store, lane by lane, or values of its own.
template <typename Word, bool EQUAL>
__global__ void copied_by_blocks(const int* in, double* out) {
    const int t = int(threadIdx.x);
    reinterpret_cast<Word*>(out)[t] = Word(in[t] + (EQUAL ? 0 : blockIdx.x));
}

template <bool EQUAL>
__global__ void pairs_by_blocks(const int* in, double* out) {
    const int t = int(threadIdx.x);
    reinterpret_cast<int2*>(out)[t] = make_int2(in[t], EQUAL ? t : blockIdx.x);
}

// What the data decide goes to words that the lanes of each block find in another order.
template <bool EQUAL>
__global__ void scattered_by_blocks(const int* in, double* out) {
    const int t = int(threadIdx.x);
    out[in[t] * 7 % 64] = EQUAL ? t : t + blockIdx.x;
}

// Bytes of pixels, which lie apart. Neighbouring blocks share some pixels where a block has fewer than its threads, and
// store equal bytes there or not.
template <int PIXELS, bool EQUAL>
__global__ void bytes_of_pixels(unsigned char* out) {
    const int pixel = int(blockIdx.x) * PIXELS + int(threadIdx.x);
    out[pixel * 4 + 0] = 0;
    out[pixel * 4 + 1] = EQUAL ? pixel * 3 : pixel * 3 + blockIdx.x;
    out[pixel * 4 + 3] = 255;
}
