"""Runs each row of cases/cases.tsv as a launch file and as a program, which nvcc compiles: both ways must
find equal faults, with equal severities, lines and exit statuses.

usage: roads_test.py PROGRAM
Without nvcc, the test is skipped.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases_test
from cases_test import CASES, launch_of, rows

PROGRAM = ""
# Of programs, in seconds, for rows in which blocks wait for ever. A launch file has a limit of its own.
TIME_LIMIT = 30
ONE_OF = 1 if "WARPSCOPE_LONG_TESTS" in os.environ else 100  # rows of which one is run: nvcc takes seconds

HEAD = """// nvcc: -std=c++20 -I%s
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>
#include "%s"

// An array of the device with `count` elements, each of which `value` gives for its index.
template <class T, class F>
T* array(int count, F value) {
    T* const host = new T[count];
    for (int i = 0; i < count; ++i) host[i] = T(value(i));
    T* device = nullptr;
    cudaMalloc(&device, count * sizeof(T));
    cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

int main(int, char** arguments) {
    switch (atoi(arguments[1])) {
"""


def parameters(source, kernel):
    """The (type, name) of each parameter; T of a template is its argument."""
    name = kernel.split("<")[0]
    text = (CASES / source).read_text()
    found = re.search(r"(?:template <([^>]*)>\s*)?__global__[^(;]*?\b" + name + r"\(([^)]*)\)", text)
    each = [one.strip().rsplit(" ", 1) for one in found[2].split(",")]
    return [(re.sub(r"\b(const|volatile|__restrict__)\b", "", kind).strip(), word)
            for kind, word in each]


def statements(number, row):
    """The case of the switch that makes the launch of a row."""
    launch = launch_of(row)
    one = launch["launches"][0]
    lines, values = [], []
    for kind, name in parameters(row["source"], row["kernel"]):
        if name in launch["scalars"]:
            values.append(str(launch["scalars"][name]))
            continue
        while name.startswith("*"):
            kind, name = kind + "*", name[1:]
        buffer = launch["buffers"][name]
        lines.append(f"auto* {name} = array<{kind.rstrip('*').strip()}>({buffer['shape']}, "
                     f"[](int i) {{ return {buffer.get('fill', '0 * i')}; }});")
        values.append(name)
    shape = f"{one['grid']}, {one['block']}"
    shared = one.get("shared", 0)
    if one.get("cooperative"):
        pointers = ", ".join(f"&{value}" for value in values)
        lines.append(f"void* all[] = {{{pointers}}};")
        lines.append(f"cudaLaunchCooperativeKernel((const void*){row['kernel']}, {shape}, all, {shared});")
    elif "cluster" in one:
        lines.append("cudaLaunchAttribute cluster{};")
        lines.append("cluster.id = cudaLaunchAttributeClusterDimension;")
        lines.append(f"cluster.val.clusterDim = {{{one['cluster']}, 1, 1}};")
        lines.append(f"cudaLaunchConfig_t config{{.gridDim = {one['grid']}, .blockDim = {one['block']}, .dynamicSmemBytes = {shared}, "
                     ".attrs = &cluster, .numAttrs = 1};")
        lines.append(f"cudaLaunchKernelEx(&config, {row['kernel']}, {', '.join(values)});")
    else:
        lines.append(f"{row['kernel']}<<<{shape}, {shared}>>>({', '.join(values)});")
    return [f"    case {number}: {{"] + [f"        {line}" for line in lines] + ["        break;", "    }"]


def write_program(folder, source, cases):
    """Writes the program that makes the launches of all rows of a source: its argument chooses one."""
    text = HEAD % (CASES, source) + "\n".join(line for number, row in cases for line in statements(number, row))
    text += "\n    }\n    cudaDeviceSynchronize();\n}\n"
    program = Path(folder) / f"{Path(source).stem}_main.cu"
    program.write_text(text)
    return program


def place(at):
    return f"{Path(at['file'] or '').name}:{at['line']}" if at else ""


def faults(found):
    """What must be equal of the findings. A note counts words, which depends on the order, so counts are not. The
    number of a launch decides the order of its warps, and that whether a race is a read after a write or a write
    after a read, or a read of a word that nothing wrote. A program's memory check has findings of the host, too."""
    one = [(f["kind"], f["severity"], *sorted([place(f["first"]), place(f["second"])]))
           for f in found["findings"] if f["first"]["thread"] and f["kind"] != "uninitialized"]
    return sorted(one), bool(found["stopped"])


class Roads(unittest.TestCase):
    def report(self, arguments, folder):
        file = Path(folder) / "found.json"
        file.unlink(missing_ok=True)
        done = subprocess.run([PROGRAM, "--check", "race,barrier,memory", "--json", file, *arguments],
                              capture_output=True, text=True, timeout=300, cwd=folder)
        if not file.exists() and "is not installed" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertTrue(file.exists(), done.stderr)
        return *faults(json.loads(file.read_text())), done.returncode

    def check(self, number, row, program, folder):
        options = [] if row["options"] == "-" else shlex.split(row["options"])
        file = Path(folder) / "case.launch.json"
        file.write_text(json.dumps(launch_of(row)))
        of_launch = self.report([*options, "--launch", file], folder)
        of_program = self.report([*options, "--time-limit", str(TIME_LIMIT), program, str(number)], folder)
        # An error of the memory ends a launch, and in another order of the threads it may not happen.
        if of_program[1] != of_launch[1]:
            of_program, of_launch = (([fault for fault in one[0] if fault[0] != "memory"], one[2])
                                     for one in (of_program, of_launch))
        self.assertEqual(of_program, of_launch)

    def test_a_launch_file_and_a_program_get_one_verdict(self):
        by_source = {}
        for number, row in list(enumerate(rows()))[::ONE_OF]:
            if "--emulator" not in row["options"]:
                by_source.setdefault(row["source"], []).append((number, row))
        with tempfile.TemporaryDirectory() as folder:
            for source, cases in by_source.items():
                program = write_program(folder, source, cases)
                for number, row in cases:
                    with self.subTest(kernel=row["kernel"], grid=row["grid"], options=row["options"]):
                        self.check(number, row, program, folder)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
