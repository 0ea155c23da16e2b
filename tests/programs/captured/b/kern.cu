#include <maths/scale.h>

__global__ void kb(float* values) { values[threadIdx.x] = scaled(values[threadIdx.x]); }

void launch_b(float* values) { kb<<<1, 64>>>(values); }
