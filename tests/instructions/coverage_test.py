"""Every instruction form of the kernels has an instruction test.

usage: coverage_test.py INSTRUCTIONS_TESTS FOLDER_OF_PTX_FILES KERNEL_PTX…
A form is an opcode with its modifiers and types. The tests' tables come from the report of a run
that executes none of them (WARPSCOPE_ONLY_FORMS): this test only checks that the forms are tested.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def forms(ptx):
    ptx = re.sub(r"//.*", "", ptx)
    found = set()
    for statement in re.split(r"[;{}]", ptx):
        statement = re.sub(r"^(\s*[\w$]+:)*\s*(@!?%\w+\s+)?", "", statement)
        opcode = re.match(r"[a-z]\w*(\.[\w:]+)*(?=\s|$)", statement)
        if opcode:
            found.add(opcode.group())
    return found


def tested(binary, folder):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        subprocess.run([binary, "--gtest_filter=*/emulator", f"--gtest_output=json:{report}"],
                       env={**os.environ, "WARPSCOPE_ONLY_FORMS": "1"},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        suites = json.loads(report.read_text())["testsuites"]
    found = set()
    for suite in suites:
        for test in suite["testsuite"]:
            found |= forms(test.get("forms", ""))
    for path in (pathlib.Path(folder) / "ptx").glob("*.ptx"):
        if path.name not in ("frame.ptx", "atomic.ptx"):
            found |= forms(path.read_text())
    # Asynchronous copies, mbarriers and clusters need several threads and moments.
    machine = pathlib.Path(folder).parent / "emulator/machine"
    for name in ("async_copy_test.cpp", "cluster_test.cpp"):
        found |= forms((machine / name).read_text())
    return found


def main():
    binary, folder, *kernels = sys.argv[1:]
    have = tested(binary, folder)
    assert len(have) > 300, f"only {len(have)} forms found in the tests: the report is not read"
    needed = set()
    for kernel in kernels:
        needed |= forms(pathlib.Path(kernel).read_text())
    assert len(needed) > 80, f"only {len(needed)} forms found in {len(kernels)} kernel files"
    missing = sorted(needed - have)
    print(f"{len(needed)} forms in the kernels, {len(have)} forms tested")
    if missing:
        print("no instruction test has:", ", ".join(missing))
    return 1 if missing else 0


sys.exit(main())
