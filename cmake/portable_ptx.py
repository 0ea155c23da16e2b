"""Rewrites a PTX file in place, so that every machine gets the same text from the same kernel.

usage: portable_ptx.py PTX_FILE
nvcc writes absolute paths, times and sizes: `.file 1 "/home/me/kernels/dot.cu", 1700000000, 512`.
The path of a kernel becomes "kernels/NAME.cu" or "kernels/gallery/NAME.cu", the path of a header of
the toolkit becomes "cuda/NAME". Names of functions and variables of one file contain a hash of the
path, such as `_INTERNAL_0c3fe329_9_reduce_cu`; it is replaced by zeros. nvcc also states the ISA
version of its own release; the kernels need no newer one than that of CUDA 11.0, so that every
driver from then on takes the text. Kernels for sm_80 may need that of CUDA 11.1 (parities of
mbarriers), and kernels for sm_90 that of CUDA 12.0.
"""
import pathlib
import re
import sys

NEXT_BYTE = r"(?:,|\n\.b8 )"  # between two bytes of a string in .debug_str
INTERNAL = NEXT_BYTE.join(str(byte) for byte in b"_INTERNAL_")
HASH = rf"({INTERNAL})((?:{NEXT_BYTE}\d+){{8}})"


def portable_path(match):
    path = pathlib.PurePosixPath(match.group(2))
    folder = "kernels" if path.suffix == ".cu" else "cuda"
    if path.suffix == ".cu" and path.parent.name == "gallery":
        folder += "/gallery"
    return f'{match.group(1)}"{folder}/{path.name}"'


def zeros(match):
    return match.group(1) + re.sub(r"(?<![b\d])\d+", str(ord("0")), match.group(2))


def oldest_version(text):
    found = re.search(r"(?m)^\.target sm_(\d+)", text)
    target = int(found.group(1)) if found else 0
    # 7.0 has the line information of inlined functions.
    return f".version {'8.0' if target >= 90 else '7.1' if target >= 80 else '7.0'}"


target = pathlib.Path(sys.argv[1])
text = target.read_text()
text = re.sub(r'(?m)^(\s*\.file\s+\d+\s+)"([^"]+)"(?:,\s*\d+)*', portable_path, text)
text = re.sub(r"(?m)^\.version \d+\.\d+", oldest_version(text), text)
text = re.sub(r"(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}_", r"\g<1>00000000_", text)
target.write_text(re.sub(HASH, zeros, text))
