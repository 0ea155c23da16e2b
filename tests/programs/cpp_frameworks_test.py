"""Runs tests of CUDA C++ libraries in the emulator: cpp_frameworks_test.py WARPSCOPE FOLDER NVCC.

The variables WARPSCOPE_CCCL, WARPSCOPE_STDGPU and WARPSCOPE_MODERNGPU name clones of NVIDIA/cccl, stotko/stdgpu and
moderngpu/moderngpu; CUB's tests also need WARPSCOPE_CATCH2, a clone of catchorg/Catch2, and those of stdgpu CCCL and
GoogleTest. What is not named is skipped. Each program takes a minute to compile; FOLDER keeps them.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WARPSCOPE, FOLDER, NVCC = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
del sys.argv[1:4]
# CCCL's own jobs with compute-sanitizer compile for the GPU of their machine, an RTX A6000, with -lineinfo.
OPTIONS = ["-std=c++17", "-arch=compute_86", "-code=compute_86", "-lineinfo", "-w", "--extended-lambda",
           "--expt-relaxed-constexpr", "-Xcompiler", "-O0"]


# Names of tests, as a regular expression, and how many pass.
THRUST = {"replace": ("", 39), "sequence": ("", 9), "count": ("", 14), "partition": ("Simple|Dispatch|Zip", 52)}
# Definitions for the compiler, and how many test cases pass.
CUB = {
    "warp_store": (["-DLWT=16", "-DALGO_TYPE=3"], 171),
    "device_scan_api": ([], 18),
    "device_segmented_reduce_api": ([], 18),
    "device_for_api": ([], 17),
    "device_select_api": ([], 12),
    "device_histogram_api": ([], 8),
    "device_merge_sort_api": ([], 7),
    "device_segmented_scan_api": ([], 17),
    "device_partition_api": ([], 3),
    "device_run_length_encode_api": ([], 2),
    "device_run_length_encode_non_trivial_runs": (["-DTEST_LAUNCH=0"], 7),
}
# Names of tests for Catch2, where the others take minutes; and what is found.
CUB_NAMES = {"device_run_length_encode_non_trivial_runs": ["*empty input*,*single element*,*counting types*,*all *"]}
CUB_FOUND = {"device_run_length_encode_non_trivial_runs": {("warning", "race", "get_value.h")}}
# How many tests pass.
STDGPU = {"atomic": 138, "bitset": 23, "mutex": 11, "vector": 46}
# What each program prints where a result is right, how often that is waited for (the programs go on for hours; 0: to
# their end), and what is found.
UNUSED_KEY = {("error", "uninitialized", "cta_merge.hxx"), ("note", "uninitialized", "cta_merge.hxx")}
MODERNGPU = {
    "reduce": ("success", 100, set()),
    "compact": ("stream_count", 60, set()),
    "merge": ("SUCCESS", 20, UNUSED_KEY),
    "mergesort": ("SUCCESS", 120, UNUSED_KEY),
    "segsort": ("SUCCESS", 150, {("error", "uninitialized", "cta_segsort.hxx"), ("note", "uninitialized", "cta_segsort.hxx"),
                                ("error", "uninitialized", "kernel_segsort.hxx"), ("note", "race", "cta_segsort.hxx")}),
    "scan": ("", 0, set()),
    "load_balance": ("", 0, set()),
    "sortedsearch": ("", 0, set()),
    "bulkinsert": ("", 0, set()),
    "bulkremove": ("", 0, {("error", "race", "loadstore.hxx"), ("error", "memory", "kernel_bulkremove.hxx")}),
}


def clone(name):
    folder = os.environ.get(f"WARPSCOPE_{name}")
    if not NVCC or not folder:
        raise unittest.SkipTest(f"nvcc, or WARPSCOPE_{name}, is missing")
    return Path(folder).resolve()


def compiled(name, *arguments):
    """The program or object with this name; nvcc is called with the arguments unless it exists."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / name
    if not target.exists():
        done = subprocess.run([NVCC, *OPTIONS, *arguments, "-o", target], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            raise AssertionError(f"{name} can't be compiled: {done.stdout[-2000:]}")
    return target


def run(*command, text="", lines=0):
    """Output and findings of a program under the checks. It is ended after so many lines with this text; 0: it ends."""
    environment = {**os.environ, "C2H_SEED_COUNT_OVERRIDE": "1"}  # as in CCCL's jobs
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        said = []
        with subprocess.Popen([WARPSCOPE, "--check", "race,barrier,memory", "--json", report.name, "--", *command],
                              text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            for line in process.stdout:
                said.append(line)
                lines -= lines > 0 and text in line
                if text and not lines:
                    process.terminate()
        findings = json.loads(Path(report.name).read_text())["findings"]
    places = [(f["first"].get("inlined") or [f["first"]])[0]["file"] for f in findings]
    return "".join(said), {(f["severity"], f["kind"], Path(place).name) for f, place in zip(findings, places)}


class Cccl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = clone("CCCL")
        cls.options = ["-DCCCL_ENABLE_ASSERTIONS",
                       *(f"-I{cls.folder / part}" for part in ["thrust", "cub", "libcudacxx/include"])]

    def test_thrust(self):
        testing = self.folder / "thrust/testing"
        options = [*self.options, f"-I{testing}"]
        framework = [compiled(f"thrust_{index}.o", *options, "-c", testing / "unittest" / source)
                     for index, source in enumerate(["testframework.cu", "cuda/testframework.cu"])]
        for name, (tests, passes) in THRUST.items():
            with self.subTest(name):
                program = compiled(f"thrust.{name}", *options, testing / f"{name}.cu", *framework)
                names = subprocess.run([program, "--list"], text=True, stdout=subprocess.PIPE).stdout.split()
                said, findings = run(program, "--sizes=tiny", *(test for test in names if re.search(tests, test)))
                self.assertIn(f"0 failures, 0 known failures, 0 errors, and {passes} passes.", said)
                self.assertEqual(findings, set())

    def test_cub(self):
        catch = clone("CATCH2")
        settings = FOLDER / "catch/catch2/catch_user_config.hpp"
        settings.parent.mkdir(parents=True, exist_ok=True)
        text = (catch / "src/catch2/catch_user_config.hpp.in").read_text()
        text = re.sub(r"^#cmakedefine .*$", "", text, flags=re.MULTILINE)
        settings.write_text(text.replace("@CATCH_CONFIG_DEFAULT_REPORTER@", "console")
                            .replace("@CATCH_CONFIG_CONSOLE_WIDTH@", "120"))
        options = [*self.options, "-DCATCH_CONFIG_PREFIX_ALL", "-DC2H_HAS_CURAND=0", f"-I{settings.parent.parent}",
                   *(f"-I{folder}" for folder in [catch / "src", self.folder / "c2h/include", self.folder / "cub/test"])]
        helpers = [compiled(f"c2h.{source}.o", *options, "-c", self.folder / "c2h" / f"{source}.cu")
                   for source in ["generators", "generators_gen_values", "generators_uniform_offsets",
                                  "generators_vector", "catch2_runner", "catch2_runner_helper"]]
        helpers.append(compiled("catch.o", "-DCATCH_AMALGAMATED_CUSTOM_MAIN", f"-I{catch / 'extras'}", "-c",
                                catch / "extras/catch_amalgamated.cpp"))
        for name, (defines, cases) in CUB.items():
            with self.subTest(name):
                program = compiled(f"cub.{name}", *options, *defines, self.folder / f"cub/test/catch2_test_{name}.cu",
                                   *helpers, "-lcuda")
                said, findings = run(program, *CUB_NAMES.get(name, []))
                self.assertRegex(said, rf"All tests passed .* {cases} test cases|test cases: +{cases} [|] +{cases} passed")
                self.assertEqual(findings, CUB_FOUND.get(name, set()))


class Stdgpu(unittest.TestCase):
    def test_its_tests_pass_and_nothing_is_found(self):
        folder, cccl = clone("STDGPU"), clone("CCCL")
        config = (folder / "src/stdgpu/config.h.in").read_text()
        for word, value in {"VERSION_MAJOR": 1, "VERSION_MINOR": 3, "VERSION_PATCH": 0, "VERSION": "1.3.0"}.items():
            config = config.replace(f"@stdgpu_{word}@", str(value))
        for word, value in {"": "STDGPU_BACKEND_CUDA", "_DIRECTORY": "cuda", "_NAMESPACE": "cuda",
                            "_MACRO_NAMESPACE": "CUDA"}.items():
            config = config.replace(f"@STDGPU_BACKEND{word}@", value)
        header = FOLDER / "stdgpu/stdgpu/config.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(re.sub(r"^#cmakedefine01 (\w+)", r"#define \1 1", config, flags=re.MULTILINE))
        options = ["-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CUDA", f"-I{header.parent.parent}",
                   f"-I{folder / 'src'}", f"-I{folder / 'tests'}",
                   *(f"-I{cccl / part}" for part in ["thrust", "cub", "libcudacxx/include"])]
        objects = [compiled("stdgpu." + source.replace("/", ".") + ".o", *options, "-c", folder / source)
                   for source in ["src/stdgpu/impl/iterator.cpp", "src/stdgpu/impl/memory.cpp",
                                  "src/stdgpu/impl/device.cpp", "src/stdgpu/cuda/impl/memory.cpp",
                                  "src/stdgpu/cuda/impl/device.cpp", "tests/test_memory_utils.cpp",
                                  "tests/stdgpu/main.cpp"]]
        for name, passes in STDGPU.items():
            with self.subTest(name):
                said, findings = run(compiled(f"stdgpu.{name}", *options, folder / f"tests/stdgpu/cuda/{name}.cu",
                                              *objects, "-lgtest", "-lpthread"))
                self.assertIn(f"[  PASSED  ] {passes} tests.", said)
                self.assertNotIn("FAILED", said)
                self.assertEqual(findings, set())


class Moderngpu(unittest.TestCase):
    def test_its_results_are_right_and_nothing_else_is_found(self):
        folder = clone("MODERNGPU")
        for name, (text, lines, expected) in MODERNGPU.items():
            with self.subTest(name):
                program = compiled(f"moderngpu.{name}", f"-I{folder / 'src'}", folder / f"tests/test_{name}.cu")
                said, findings = run("stdbuf", "-oL", program, text=text, lines=lines)
                self.assertNotRegex(said, "(?i)error|failure")
                self.assertEqual(findings, expected)


if __name__ == "__main__":
    unittest.main()
