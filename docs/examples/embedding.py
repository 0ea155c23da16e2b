"""Runs the kernel of reverse.ptx without a GPU: embedding.py LIBWARPSCOPE.SO REVERSE.PTX"""
import ctypes
import json
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p, cast


def library(path):
    """The functions of warpscope.h. Without their types ctypes would cut addresses to 32 bits."""
    warpscope = ctypes.CDLL(path)
    for name, result, *arguments in [
            ("error", c_char_p), ("open", c_void_p, c_char_p), ("close", c_int, c_void_p),
            ("load", c_void_p, c_void_p, c_char_p), ("allocate", c_void_p, c_void_p, c_size_t),
            ("copy", c_int, c_void_p, c_void_p, c_void_p, c_size_t),
            ("launch", c_int, c_void_p, c_void_p, c_char_p, c_uint * 3, c_uint * 3, c_size_t, c_void_p, c_size_t, c_uint),
            ("report", c_char_p, c_void_p)]:
        function = getattr(warpscope, f"warpscope_{name}")
        function.restype, function.argtypes = result, arguments
    return warpscope


def main(path, ptx):
    warpscope = library(path)

    def demand(result):
        if not result:
            sys.exit(warpscope.warpscope_error().decode())
        return result
    gpu = demand(warpscope.warpscope_open(b"race,barrier,memory"))
    with open(ptx, "rb") as file:
        module = demand(warpscope.warpscope_load(gpu, file.read()))
    numbers = (ctypes.c_float * 64)(*range(64))
    in_, out = (c_void_p(demand(warpscope.warpscope_allocate(gpu, ctypes.sizeof(numbers)))) for _ in range(2))
    demand(warpscope.warpscope_copy(gpu, in_, numbers, ctypes.sizeof(numbers)) == 0)
    arguments = (c_void_p * 2)(*(cast(byref(argument), c_void_p) for argument in (in_, out)))
    demand(warpscope.warpscope_launch(gpu, module, b"reverse", (c_uint * 3)(1, 1, 1), (c_uint * 3)(64, 1, 1), 0,
                                      arguments, 2, 0) == 0)
    print("out[63] =", cast(out, ctypes.POINTER(ctypes.c_float))[63])
    for finding in json.loads(warpscope.warpscope_report(gpu))["findings"]:
        print(f"{finding['severity']}: {finding['sentence']}")
    warpscope.warpscope_close(gpu)


if __name__ == "__main__":
    main(*sys.argv[1:])
