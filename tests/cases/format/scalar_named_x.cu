__global__ void scalar_named_x(int* p, int x) { p[threadIdx.x] = x; }
