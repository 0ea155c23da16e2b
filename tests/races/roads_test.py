"""Runs each row of cases/cases.tsv as a launch file and as a program, which nvcc compiles: both ways must
find equal faults, with equal severities, lines and exit statuses.

usage: roads_test.py PROGRAM FOLDER NVCC
FOLDER keeps the compiled programs, for the next time. Without nvcc (""), the test is skipped.
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

PROGRAM, FOLDER, NVCC = "", Path("."), ""
ONE_OF = int(os.environ.get("WARPSCOPE_ONE_CASE_OF", 1))  # rows of which one is run
# Rows that only the launch file can show: the code without optimization is not known of a program.
NEEDS_SOURCE = "undefined.cu"

HEAD = """#include <cstdlib>
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
        lines.append(f"cudaLaunchConfig_t config{{.gridDim = {one['grid']}, .blockDim = {one['block']}, "
                     ".attrs = &cluster, .numAttrs = 1};")
        lines.append(f"cudaLaunchKernelEx(&config, {row['kernel']}, {', '.join(values)});")
    else:
        lines.append(f"{row['kernel']}<<<{shape}, {shared}>>>({', '.join(values)});")
    return [f"    case {number}: {{"] + [f"        {line}" for line in lines] + ["        break;", "    }"]


def compiled(source, cases):
    """The program that makes the launches of all rows of a source: its argument chooses one. None: nvcc
    cannot compile the source, which was written for NVRTC."""
    text = HEAD % source + "\n".join(line for number, row in cases for line in statements(number, row))
    text += "\n    }\n    cudaDeviceSynchronize();\n}\n"
    FOLDER.mkdir(parents=True, exist_ok=True)
    main, to = FOLDER / f"{Path(source).stem}_main.cu", FOLDER / Path(source).stem
    newest = max(file.stat().st_mtime for file in CASES.iterdir())
    if not to.exists() or to.stat().st_mtime < newest or main.read_text() != text:
        main.write_text(text)
        for architecture in (75, 80, 90):
            done = subprocess.run([NVCC, "-std=c++20", "-lineinfo", "-I", CASES, "-gencode",
                                   f"arch=compute_{architecture},code=compute_{architecture}", "-o", to, main],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return to
        return None  # nvcc takes std::uint64_t for unsigned long, NVRTC for unsigned long long
    return to


def place(at):
    return f"{Path(at['file'] or '').name}:{at['line']}" if at else ""


def faults(found):
    """What must be equal of the findings. A run of a launch file makes its launch twice, so counts are not; nor
    are reads of words that nothing wrote, which the order of the warps makes of a race, and which the launch's
    number decides. A program's memory check has findings of the host, too."""
    one = [(f["kind"], f["severity"], f["hazard"] or "", place(f["first"]), place(f["second"]))
           for f in found["findings"] if f["first"]["thread"] and f["kind"] != "uninitialized"]
    return sorted(one), bool(found["stopped"])


class Roads(unittest.TestCase):
    def report(self, arguments, folder):
        file = Path(folder) / "found.json"
        file.unlink(missing_ok=True)
        at = arguments.index("--") if "--" in arguments else len(arguments)
        done = subprocess.run([PROGRAM, "--check", "race,barrier,memory", *arguments[:at], "--json", file,
                               *arguments[at:]], capture_output=True, text=True, timeout=300, cwd=folder)
        if not file.exists() and "NVRTC" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertTrue(file.exists(), done.stderr)
        return *faults(json.loads(file.read_text())), done.returncode

    def check(self, number, row, program, folder):
        options = [] if row["options"] == "-" else shlex.split(row["options"])
        file = Path(folder) / "case.launch.json"
        file.write_text(json.dumps(launch_of(row)))
        of_launch = self.report([*options, "--launch", str(file)], folder)
        of_program = self.report([*options, "--", str(program), str(number)], folder)
        self.assertEqual(of_program, of_launch)

    def test_a_launch_file_and_a_program_get_one_verdict(self):
        if not NVCC:
            self.skipTest("nvcc is not installed")
        by_source = {}
        for number, row in list(enumerate(rows()))[::ONE_OF]:
            if row["source"] != NEEDS_SOURCE and "--emulator" not in row["options"]:
                by_source.setdefault(row["source"], []).append((number, row))
        with tempfile.TemporaryDirectory() as folder:
            for source, cases in by_source.items():
                program = compiled(source, cases)
                for number, row in cases if program else []:
                    with self.subTest(kernel=row["kernel"], grid=row["grid"], options=row["options"]):
                        self.check(number, row, program, folder)


if __name__ == "__main__":
    PROGRAM, FOLDER, NVCC = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), sys.argv[3]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
