# The dot product of "CUDA by Example" as a notebook of PyCUDA has it. An argument leaves out a
# barrier.
import sys

import numpy as np
import pycuda.autoinit
import pycuda.driver as cu
from pycuda.compiler import SourceModule

source = """
#define imin(a, b) (a < b ? a : b)
const int N = 33 * 1024;
__global__ void dot_static(float* a, float* b, float* c)
{
    __shared__ float cache[256];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIdx = threadIdx.x;
    float temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIdx] = temp;
    WAIT
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIdx < i) cache[cacheIdx] += cache[cacheIdx + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIdx == 0) c[blockIdx.x] = cache[0];
}
"""
kernel = SourceModule(source.replace("WAIT", "" if sys.argv[1:] else "__syncthreads();")).get_function("dot_static")
n = 33 * 1024
a = np.arange(n, dtype=np.float32) % 8
c = np.zeros(32, dtype=np.float32)
kernel(cu.In(a), cu.In(a), cu.Out(c), grid=(32, 1, 1), block=(256, 1, 1))
print("right" if c.sum() == (a * a).sum() else "wrong")
