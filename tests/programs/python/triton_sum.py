# Adds two arrays and sums the result. Triton takes whatever has a pointer and a type, so the arrays
# are ones of the driver. An argument has the sum read beyond the end of its array.
import ctypes
import sys

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


class Array:
    def __init__(self, values):
        self.values, self.dtype = values, "fp32"
        self.pointer, self.bytes = ctypes.c_uint64(), ctypes.c_size_t(values.nbytes)
        cuda.cuMemAlloc_v2(ctypes.byref(self.pointer), self.bytes)
        cuda.cuMemcpyHtoD_v2(self.pointer, values.ctypes.data_as(ctypes.c_void_p), self.bytes)

    def data_ptr(self):
        return self.pointer.value

    def numpy(self):
        cuda.cuMemcpyDtoH_v2(self.values.ctypes.data_as(ctypes.c_void_p), self.pointer, self.bytes)
        return self.values


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + i, i < n, 0.0), 0))


context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
x, y = Array(np.arange(1000, dtype=np.float32)), Array(np.ones(1000, np.float32))
out, sum_of_out = Array(np.zeros(1000, np.float32)), Array(np.zeros(1, np.float32))
add[(4,)](x, y, out, 1000, BLOCK=256)
total[(1,)](out, sum_of_out, 1023 if sys.argv[1:] else 1000, BLOCK=1024)
right = (out.numpy() == np.arange(1, 1001)).all() and sum_of_out.numpy()[0] == 500500
print("right" if right else "wrong")
