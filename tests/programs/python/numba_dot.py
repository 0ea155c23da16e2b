# The sum of a block in a tree. An argument leaves out the barrier before it.
import sys
import warnings

import numpy as np
from numba import cuda, float32

warnings.simplefilter("ignore")
with_barrier = not sys.argv[1:]


@cuda.jit(lineinfo=True)
def dot(a, b, out):
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[thread] = a[i] * b[i] if i < a.size else 0
    if with_barrier:
        cuda.syncthreads()
    half = 128
    while half:
        if thread < half:
            tile[thread] += tile[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, tile[0])


a = np.arange(5000, dtype=np.float32) % 8
out = np.zeros(1, np.float32)
dot[20, 256](a, a, out)
print("right" if out[0] == (a * a).sum() else "wrong")
