"""Makes a Python wheel of a tarball and of the module in python/: wheel.py TARBALL GLIBC FOLDER.

GLIBC is the version of the C library that the program needs, such as 2.36. The package `wheel` packs.
"""
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# What only a system without Python's packages needs: menus, icons, man pages, completions.
LEFT_OUT = re.compile(r"share/(applications|icons|man|bash-completion|zsh)/")

METADATA = """Metadata-Version: 2.1
Name: warpscope
Version: {version}
Summary: Runs CUDA kernels without a GPU, finds their races, and shows what shared memory does
License: MIT
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Requires-Dist: nvidia-cuda-nvrtc<14,>=13
Provides-Extra: headers
Requires-Dist: nvidia-cuda-runtime<14,>=13; extra == "headers"
Requires-Dist: nvidia-cuda-crt<14,>=13; extra == "headers"
Requires-Dist: nvidia-cuda-cccl<14,>=13; extra == "headers"
Description-Content-Type: text/markdown

{about}"""
WHEEL = """Wheel-Version: 1.0
Generator: warpscope
Root-Is-Purelib: false
Tag: py3-none-manylinux_{glibc}_{machine}
"""
ENTRY_POINTS = """[console_scripts]
warpscope = warpscope.__main__:main

[pytest11]
warpscope = warpscope.pytest_plugin
"""


def main(tarball, glibc, to):
    version, machine = re.fullmatch(r"warpscope-(.+)-linux-(\w+)\.tar\.gz", Path(tarball).name).groups()
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder, "content")
        module, info = content / "warpscope", content / f"warpscope-{version}.dist-info"
        shutil.copytree(REPOSITORY / "python/warpscope", module,
                        ignore=shutil.ignore_patterns("__pycache__"))
        with tarfile.open(tarball) as archive:
            for member in archive.getmembers():
                member.name = member.name.partition("/")[2]
                if member.isfile() and not LEFT_OUT.match(member.name):
                    archive.extract(member, module / "app")
        info.mkdir()
        about = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")
        shutil.copy(REPOSITORY / "LICENSE", info)
        Path(info, "METADATA").write_text(METADATA.format(version=version, about=about), encoding="utf-8")
        Path(info, "WHEEL").write_text(WHEEL.format(glibc=glibc.replace(".", "_"), machine=machine))
        Path(info, "entry_points.txt").write_text(ENTRY_POINTS)
        subprocess.run([sys.executable, "-m", "wheel", "pack", content, "--dest-dir", to], check=True,
                       stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(*sys.argv[1:])
