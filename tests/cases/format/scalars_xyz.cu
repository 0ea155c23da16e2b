__global__ void f(float* p, int x, int y, float z, int i, int lane) { p[threadIdx.x] = x + 10 * y + 100 * z + 1000 * i + 10000 * lane; }
