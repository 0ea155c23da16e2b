// Loads of bytes between the members of a structure, and of vectors of which a program uses a part.
struct __align__(16) Three { float x, y, z; };
struct Tagged { char tag; int value; };

__global__ void three_members(const float* in, float* out) {
    __shared__ Three tile[64];
    tile[threadIdx.x].x = in[threadIdx.x];
    tile[threadIdx.x].y = 1;
    tile[threadIdx.x].z = 2;
    __syncthreads();
    const Three v = tile[63 - threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z;
}

// Copies the structures with what is between their members.
__global__ void copies(const float* in, float* out) {
    __shared__ Three tile[64];
    __shared__ Tagged tags[64];
    tile[threadIdx.x].x = in[threadIdx.x];
    tile[threadIdx.x].y = 1;
    tile[threadIdx.x].z = 2;
    tags[threadIdx.x].tag = 'a';
    tags[threadIdx.x].value = 3;
    __syncthreads();
    reinterpret_cast<Three*>(out)[threadIdx.x] = tile[63 - threadIdx.x];
    reinterpret_cast<Tagged*>(out + 256)[threadIdx.x] = tags[63 - threadIdx.x];
}

// A row of four numbers, of which three are set. FIXED uses these.
template <bool FIXED>
__global__ void rows_of_three(const float* in, float* out) {
    __shared__ __align__(16) float rows[64][4];
    for (int k = 0; k < 3; ++k) rows[threadIdx.x][k] = in[threadIdx.x] + k;
    __syncthreads();
    const float4 v = *reinterpret_cast<float4*>(rows[63 - threadIdx.x]);
    out[threadIdx.x] = v.x + v.y + v.z + (FIXED ? 0 : v.w);
}

// The last row is never set.
template <bool FIXED>
__global__ void last_row(const float4* in, float4* out) {
    __shared__ float4 rows[64];
    if (FIXED || threadIdx.x < 63) rows[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = rows[63 - threadIdx.x];
}
