"""Makes a Python wheel of a tarball and of the module in python/: wheel.py TARBALL FOLDER."""
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# What pip does not install where desktops and shells look for it, what the wheel has elsewhere, what needs Open MPI,
# the font of Chinese, which desktops in Chinese have, and the library for programs of others: the wheel has at most 15 MB.
LEFT_OUT = re.compile(r"share/(applications|icons|man|bash-completion|zsh)/|share/doc/warpscope/LICENSE$"
                      r"|lib/warpscope/libwarpscope_mpi|lib/libwarpscope.so|include/|share/doc/warpscope/examples/"
                      r"|.*/(DroidSansFallbackFull.ttf|fonts-droid-fallback)$")

METADATA = """Metadata-Version: 2.4
Name: warpscope
Version: {version}
Summary: Runs CUDA kernels and programs without a GPU, and finds their races, missing barriers and invalid accesses
Author: The Warpscope authors
License-Expression: MIT
License-File: LICENSE
Keywords: CUDA,PTX,race detector,racecheck,emulator,shared memory,debugging
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Environment :: X11 Applications
Classifier: Framework :: Pytest
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Education
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Classifier: Topic :: Software Development :: Testing
Requires-Python: >=3.8
Requires-Dist: nvidia-cuda-nvrtc==13.0.*
{extras}Description-Content-Type: text/markdown

{about}"""
# Packages of NVIDIA on PyPI.
HEADERS = ["nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl"]
EXTRAS = {"headers": HEADERS, "nvcc": ["nvidia-cuda-nvcc", "nvidia-nvvm", *HEADERS]}
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


def extras():
    return "".join(f"Provides-Extra: {extra}\n" +
                   "".join(f'Requires-Dist: {package}==13.0.*; extra == "{extra}"\n' for package in packages)
                   for extra, packages in EXTRAS.items())


def needed_glibc(folder):
    """The newest version of the C library that a program or a library in the folder asks for, such as "2_34"."""
    files = [f for f in folder.rglob("*") if f.is_file() and f.read_bytes()[:4] == b"\x7fELF"]
    symbols = subprocess.run(["objdump", "-T", *files], check=True, text=True, stdout=subprocess.PIPE).stdout
    return "%d_%d" % max((int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", symbols))


def unpack(tarball, to):
    """A wheel has no links: a library gets the name by which it is loaded, which is that of a link to it."""
    links = []
    with tarfile.open(tarball) as archive:
        for member in archive.getmembers():
            member.name = member.name.partition("/")[2]
            if LEFT_OUT.match(member.name):
                continue
            if member.issym():
                links.append((to / member.name, (to / member.name).parent / member.linkname))
            elif member.isfile():
                archive.extract(member, to)
    for link, file in links:
        file.rename(link)


def pack(content, info, wheel):
    """RECORD has the name, checksum and size of every file."""
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(f for f in content.rglob("*") if f.is_file()):
            data, name = file.read_bytes(), file.relative_to(content).as_posix()
            checksum = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            archive.write(file, name)
            record.append(f"{name},sha256={checksum},{len(data)}\n")
        archive.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")


def main(tarball, to):
    version, machine = re.fullmatch(r"warpscope-(.+)-linux-(\w+)\.tar\.gz", Path(tarball).name).groups()
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder)
        info = content / f"warpscope-{version}.dist-info"
        shutil.copytree(REPOSITORY / "python/warpscope", content / "warpscope",
                        ignore=shutil.ignore_patterns("__pycache__"))
        unpack(tarball, content / "warpscope/app")
        tag = f"py3-none-manylinux_{needed_glibc(content)}_{machine}"
        (info / "licenses").mkdir(parents=True)
        shutil.copy(REPOSITORY / "LICENSE", info / "licenses")
        about = (REPOSITORY / "python/README.md").read_text(encoding="utf-8")
        Path(info, "METADATA").write_text(METADATA.format(version=version, extras=extras(), about=about),
                                          encoding="utf-8")
        Path(info, "WHEEL").write_text(WHEEL.format(tag=tag))
        Path(info, "entry_points.txt").write_text(ENTRY_POINTS)
        pack(content, info.name, Path(to, f"warpscope-{version}-{tag}.whl"))


if __name__ == "__main__":
    main(*sys.argv[1:])
