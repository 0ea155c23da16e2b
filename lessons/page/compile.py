"""Compiles the sources of the lessons in a page with NVRTC, with all of their barriers: compile.py [--check]. A page has no compiler.
With --check no file is written, and the exit status is 1 if one is not fresh, 77 without NVRTC 13.0."""
import ctypes
import os
import pathlib
import re
import sys

folder = pathlib.Path(__file__).resolve().parent
sources = {"mend_ripple": "ripple", "hidden": "launch/hidden", "two_barriers": "launch/two_barriers", "divergent": "launch/divergent",
           "too_many": "launch/too_many"}


def load():
    for name in "libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13":
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print("NVRTC 13 is not installed")
    sys.exit(77)


def ptx(nvrtc, source, name, option):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 3)(b"--gpu-architecture=compute_75", b"--std=c++17", option.encode())
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None) == 0
    assert nvrtc.nvrtcCompileProgram(program, 3, options) == 0, name
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return re.sub(r'(\.file\s+\d+ ")/(kernels/)', r"\1\2", text.value.decode())


def main():
    nvrtc = load()
    os.chdir("/")  # the texts name the folder
    stale = []
    for name, kernel in sources.items():
        source = (folder.parent / f"{name}.cu").read_text()
        marked = folder / f"{name}.cu"
        if marked.exists():  # the lesson's source and further barriers, each on a line of its own
            assert re.sub(r"\n */\*__sync\w+\(\)\*/;", "", marked.read_text()) == source, f"{marked} is not {name}.cu with more barriers"
            source = marked.read_text()
        source = re.sub(r"/\*(__sync\w+\(\))\*/", r"\1", source)
        for end, option in ("ptx", "--generate-line-info"), ("debug.ptx", "--device-debug"):
            file, text = folder / f"{name}.{end}", ptx(nvrtc, source, f"kernels/{kernel}.cu", option)
            if end == "debug.ptx" and kernel == "ripple":
                continue  # the types of its kernels are built in
            if "--check" not in sys.argv:
                file.write_text(text)
            elif file.read_text() != text:
                stale.append(file.name)
    if stale:
        sys.exit("run lessons/page/compile.py: not fresh: " + ", ".join(stale))


main()
