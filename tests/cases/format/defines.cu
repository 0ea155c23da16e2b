#ifdef TWICE
#define FACTOR 2
#else
#define FACTOR 1
#endif
__global__ void scale(int* p) { p[threadIdx.x] = FACTOR * WIDTH; }
