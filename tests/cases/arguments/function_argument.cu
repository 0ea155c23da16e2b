typedef float (*Op)(float);
__device__ float twice(float v) { return 2 * v; }
__global__ void function_argument(float* p, Op op) { p[threadIdx.x] = op(p[threadIdx.x]); }
