// The host copies the address of a function from a variable of the device.
typedef float (*Op)(float, float);
__device__ float add(float a, float b) { return a + b; }
template <class T> __device__ T times(T a, T b) { return a * b; }
__device__ Op device_add = add;
__device__ Op device_times = times<float>;

__global__ void combine(float* out, const float* in, Op op) { out[threadIdx.x] = op(in[threadIdx.x], 3); }

int main() {
    float h[32], *in, *out;
    for (int i = 0; i < 32; ++i) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    Op op;
    cudaMemcpyFromSymbol(&op, device_add, sizeof(Op));
    combine<<<1, 32>>>(out, in, op);
    cudaMemcpyFromSymbol(&op, device_times, sizeof(Op));
    combine<<<1, 32>>>(out, in, op);
    cudaDeviceSynchronize();
}
