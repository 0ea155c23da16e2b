"""The committed kernels/ptx is what this toolkit makes of kernels/*.cu.

usage: committed_ptx_test.py COMMITTED_FOLDER BUILT_FOLDER
Exits 77 (skipped) where the committed texts come from another toolkit version.
"""
import pathlib
import re
import sys


def toolkit(text):
    found = re.search(r"^// Cuda compilation tools, (.*)$", text, re.MULTILINE)
    return found.group(1) if found else "unknown"


def texts(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*.ptx"))


def main():
    committed, built = map(pathlib.Path, sys.argv[1:])
    names = texts(built)
    assert names, f"no PTX in {built}"
    stale = [name for name in texts(committed) if name not in names]
    skipped = None
    for name in names:
        fresh = (built / name).read_text()
        old = (committed / name).read_text() if (committed / name).exists() else ""
        if old and toolkit(old) != toolkit(fresh):
            skipped = f"{name} was made by {toolkit(old)}, this toolkit is {toolkit(fresh)}"
        elif old != fresh:
            stale.append(name)
    if stale:
        print("stale or missing in kernels/ptx:", ", ".join(stale))
        print("run: cmake --build --preset default --target update_ptx")
        return 1
    if skipped:
        print("skipped:", skipped)
        return 77
    return 0


sys.exit(main())
