"""The committed PTX is what this toolkit makes of the kernels now.

usage: committed_ptx_test.py COMMITTED_FOLDER BUILT_FOLDER UPDATE_TARGET
Exits with 77 (skipped) if the committed texts come from another version of the toolkit.
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
    committed, built = map(pathlib.Path, sys.argv[1:3])
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
        print(f"these files of {committed} are missing or do not match the kernels:",
              ", ".join(stale))
        print("run: cmake --build --preset default --target", sys.argv[3])
        return 1
    if skipped:
        print("skipped:", skipped)
        return 77
    return 0


sys.exit(main())
