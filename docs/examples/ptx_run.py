"""ptx_run() of gpuocelot, for tinygrad's mock of CUDA, by libwarpscope.so. In test/mockgpu/helpers.py of tinygrad:

    from ptx_run import ptx_run

The variable LIBWARPSCOPE names the library. Kernels may use all memory of the process, as with gpuocelot.
"""
import ctypes
import os
import threading
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_void_p

lib = ctypes.CDLL(os.environ.get("LIBWARPSCOPE", "libwarpscope.so.1"))
for name, result, *arguments in [
        ("error", c_char_p), ("open", c_void_p, c_char_p), ("load", c_void_p, c_void_p, c_char_p),
        ("attach", c_int, c_void_p, c_void_p, c_size_t), ("free", c_int, c_void_p, c_void_p),
        ("launch", c_int, c_void_p, c_void_p, c_char_p, c_uint * 3, c_uint * 3, c_size_t, c_void_p, c_size_t, c_uint)]:
    function = getattr(lib, f"warpscope_{name}")
    function.restype, function.argtypes = result, arguments
gpu, modules, lock = lib.warpscope_open(None), {}, threading.Lock()


def demand(result):
    if not result:
        raise RuntimeError(lib.warpscope_error().decode())
    return result


def memory_of(values):
    """The memory of the process in which one of the values is an address. An array may lie in several mappings that touch."""
    pieces = [[0, 0]]
    with open("/proc/self/maps") as maps:
        for line in maps:
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            if not line.split()[1].startswith("rw"):
                continue
            if begin == pieces[-1][1]:
                pieces[-1][1] = end
            else:
                pieces.append([begin, end])
    return [(begin, end - begin) for begin, end in pieces if any(begin <= value < end for value in values)]


def ptx_run(source, n_args, args, blck_x, blck_y, blck_z, grid_x, grid_y, grid_z, shared):
    """`args` has the values themselves; one of 4 bytes is the lower half of its element."""
    source = source if isinstance(source, bytes) else ctypes.cast(source, c_char_p).value
    values = (ctypes.c_uint64 * max(n_args, 1))(*(args[i] or 0 for i in range(n_args)))
    pointers = (c_void_p * max(n_args, 1))(*(ctypes.addressof(values) + 8 * i for i in range(n_args)))
    with lock:
        if source not in modules:
            modules[source] = demand(lib.warpscope_load(gpu, source))
        attached = []
        try:
            for begin, length in memory_of(set(values)):
                demand(lib.warpscope_attach(gpu, begin, length) == 0)
                attached.append(begin)
            demand(lib.warpscope_launch(gpu, modules[source], None, (c_uint * 3)(grid_x, grid_y, grid_z),
                                        (c_uint * 3)(blck_x, blck_y, blck_z), shared, pointers, n_args, 0) == 0)
        finally:
            for begin in attached:
                lib.warpscope_free(gpu, begin)
