"""Makes a Python wheel of a tarball and of the module in python/: wheel.py TARBALL GLIBC FOLDER.

GLIBC is the version of the C library that the program needs, such as 2.36.
"""
import base64
import hashlib
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# What pip does not install where desktops and shells look for it, what the wheel has elsewhere, and what needs Open MPI.
LEFT_OUT = re.compile(r"share/(applications|icons|man|bash-completion|zsh)/|share/doc/warpscope/LICENSE$"
                      r"|lib/warpscope/libwarpscope_mpi")

METADATA = """Metadata-Version: 2.1
Name: warpscope
Version: {version}
Summary: Runs CUDA kernels without a GPU, finds their races, and shows what shared memory does
License: MIT
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Requires-Dist: nvidia-cuda-nvrtc==13.0.*
Provides-Extra: headers
Requires-Dist: nvidia-cuda-runtime==13.0.*; extra == "headers"
Requires-Dist: nvidia-cuda-crt==13.0.*; extra == "headers"
Requires-Dist: nvidia-cuda-cccl==13.0.*; extra == "headers"
Description-Content-Type: text/markdown

{about}"""
WHEEL = """Wheel-Version: 1.0
Generator: warpscope
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """[console_scripts]
warpscope = warpscope.__main__:main

[pytest11]
warpscope = warpscope.pytest_plugin
"""


def unpack(tarball, to):
    """A wheel has no links: a library gets the name by which it is loaded, which is that of a link to it."""
    links = []
    with tarfile.open(tarball) as archive:
        for member in archive.getmembers():
            member.name = member.name.partition("/")[2]
            if member.issym():
                links.append((to / member.name, (to / member.name).parent / member.linkname))
            elif member.isfile() and not LEFT_OUT.match(member.name):
                archive.extract(member, to)
    for link, file in links:
        file.rename(link)


def pack(content, info, wheel):
    """RECORD has the name, checksum and size of every file."""
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(f for f in content.rglob("*") if f.is_file()):
            data, name = file.read_bytes(), file.relative_to(content).as_posix()
            checksum = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            archive.write(file, name)
            record.append(f"{name},sha256={checksum},{len(data)}\n")
        archive.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")


def main(tarball, glibc, to):
    version, machine = re.fullmatch(r"warpscope-(.+)-linux-(\w+)\.tar\.gz", Path(tarball).name).groups()
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_{machine}"
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder)
        info = content / f"warpscope-{version}.dist-info"
        shutil.copytree(REPOSITORY / "python/warpscope", content / "warpscope",
                        ignore=shutil.ignore_patterns("__pycache__"))
        unpack(tarball, content / "warpscope/app")
        info.mkdir()
        shutil.copy(REPOSITORY / "LICENSE", info)
        about = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")
        Path(info, "METADATA").write_text(METADATA.format(version=version, about=about), encoding="utf-8")
        Path(info, "WHEEL").write_text(WHEEL.format(tag=tag))
        Path(info, "entry_points.txt").write_text(ENTRY_POINTS)
        pack(content, info.name, Path(to, f"warpscope-{version}-{tag}.whl"))


if __name__ == "__main__":
    main(*sys.argv[1:])
