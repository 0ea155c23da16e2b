# Reverses the numbers of each block. An argument leaves out the barrier.
import sys

import cupy
import numpy as np

kernel = cupy.RawKernel(r"""
extern "C" __global__ void reverse(const float* from, float* to) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = from[i];
#ifndef NO_BARRIER
    __syncthreads();
#endif
    to[i] = tile[255 - threadIdx.x];
}""", "reverse", options=("-lineinfo", *(["-DNO_BARRIER"] if sys.argv[1:] else [])))
a = cupy.asarray(np.arange(512, dtype=np.float32))
b = cupy.empty_like(a)
kernel((2,), (256,), (a, b))
print("right" if (b.get() == a.get().reshape(2, 256)[:, ::-1].ravel()).all() else "wrong")
