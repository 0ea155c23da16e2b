__global__ void scale(TYPE* p) { p[threadIdx.x] = VALUE; }
