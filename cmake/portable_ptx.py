"""Rewrites a PTX file's .file directives so that the text is the same on every machine.

nvcc writes absolute paths, sizes and times: `.file 1 "/home/me/kernels/dot.cu", 1700000000, 512`.
Kernels become "kernels/NAME.cu", the toolkit's own headers "cuda/NAME".
"""
import pathlib
import re
import sys


def portable(match):
    path = pathlib.PurePosixPath(match.group(2))
    folder = "kernels" if path.suffix == ".cu" else "cuda"
    return f'{match.group(1)}"{folder}/{path.name}"'


target = pathlib.Path(sys.argv[1])
text = target.read_text()
target.write_text(re.sub(r'(?m)^(\s*\.file\s+\d+\s+)"([^"]+)"(?:,\s*\d+)*', portable, text))
