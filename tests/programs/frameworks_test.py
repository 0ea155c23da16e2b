"""Runs tests of other people's frameworks in the emulator: frameworks_test.py WARPSCOPE.

It gets the frameworks from PyPI into folders of its own, and is skipped where that fails. PyPI has only the smallest file of tinygrad's tests and
none of CuPy's; the variables WARPSCOPE_TINYGRAD and WARPSCOPE_CUPY name clones that have them. docs/frameworks.md has the results.
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

WARPSCOPE = Path(sys.argv.pop(1)).resolve()
TOOLKIT = ["numpy", "pytest", *(f"nvidia-cuda-{name}==13.0.*" for name in ["nvrtc", "runtime", "crt", "cccl"])]


def fetch(folder, *packages):
    """Makes a Python environment in the folder. Returns its Python and the toolkit in it."""
    python = folder / "venv/bin/python"
    run(sys.executable, "-m", "venv", folder / "venv")
    run(python, "-m", "pip", "install", "-q", "--retries", "1", *TOOLKIT, *packages)
    [toolkit] = folder.glob("venv/lib/python*/site-packages/nvidia/cu13")
    return python, toolkit


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise unittest.SkipTest(f"the framework can't be fetched: {done.stdout.strip().splitlines()[-1:]}")


class Framework(unittest.TestCase):
    PACKAGES = []

    @classmethod
    def setUpClass(cls):
        if cls is Framework:
            raise unittest.SkipTest("its subclasses have tests")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.python, cls.toolkit = fetch(cls.folder, *cls.PACKAGES)
        cls.clone = cls.find_tests()

    @classmethod
    def find_tests(cls):
        """The folder in which the tests are run."""
        return cls.folder

    def check(self, *arguments, **variables):
        """What the program says of a Python program."""
        environment = {**os.environ, "CUDA_PATH": str(self.toolkit), "CUDA_HOME": str(self.toolkit),
                       "LD_LIBRARY_PATH": f"{self.toolkit}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}", **variables}
        return subprocess.run([WARPSCOPE, "--check", "race,barrier,memory", "--", self.python, *arguments], cwd=self.clone,
                              env=environment, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def pytest(self, file, left_out, **variables):
        return self.check("-m", "pytest", "-q", "-p", "no:cacheprovider", file,
                          *(f"--deselect={file}::{test}" for test in left_out), **variables)

    def expect(self, file, said, passed, kernels):
        """`passed`: an expression for the line that says that all tests have passed."""
        last = re.search(passed, said, re.MULTILINE)
        self.assertTrue(last and "failed" not in last[0], said)
        self.assertEqual(set(re.findall(r"^=+ (?:Error|Warning|Note): .* in ([\w:]+) \[", said, re.MULTILINE)), kernels)
        print(f"{file}: {last[0]}", flush=True)


class Tinygrad(Framework):
    PACKAGES = ["hypothesis"]
    # A file of tests; those that are left out, as docs/frameworks.md says; and the kernels in which something is wrong.
    FILES = [
        ("test/test_tiny.py", [], {"test"}),
        ("test/backend/test_jit.py", [], set()),
        ("test/unit/test_jit.py", [], set()),
        ("test/backend/test_uops.py", ["TestBitcastBufferView::test_load", "TestBitcastBufferView::test_store"], set()),
        ("test/backend/test_custom_kernel.py", [],
         {"test", "custom_gemm_14_48_6", "alu_scalar", "alu_subview", "store_unshard"}),
        ("test/backend/test_arange.py", ["TestIndexing::test_llama_embedding", "TestIndexing::test_llama_embedding_opt"],
         {"E_2"}),
        ("test/backend/test_dtype_alu.py", [], set()),
    ]

    @classmethod
    def find_tests(cls):
        if os.environ.get("WARPSCOPE_TINYGRAD"):
            return Path(os.environ["WARPSCOPE_TINYGRAD"]).resolve()
        run(cls.python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", cls.folder,
            "tinygrad==0.14.0")
        with tarfile.open(next(cls.folder.glob("tinygrad-*.tar.gz"))) as archive:
            archive.extractall(cls.folder)
        return next(path for path in cls.folder.glob("tinygrad-*") if path.is_dir())

    def test_its_tests_pass_and_nothing_else_is_found(self):
        for file, left_out, kernels in self.FILES:
            if not (self.clone / file).exists():
                continue
            with self.subTest(file):
                self.expect(file, self.pytest(file, left_out, DEV="CUDA", PYTHONPATH="."), r"^\d.* passed.*$", kernels)


class Numba(Framework):
    PACKAGES = ["numba", "numba-cuda==0.30.4", "filecheck", "cffi", "psutil", "nvidia-nvvm==13.0.*"]
    TESTS = "numba::cuda::tests::cudapy::"
    # A module of its tests, and the kernels in which something is wrong, as docs/frameworks.md says.
    MODULES = [
        ("test_boolean", set()), ("test_casting", set()), ("test_cooperative_groups", set()), ("test_gufunc", set()),
        ("test_intrinsics", set()), ("test_minmax", set()),
        ("test_sm", {f"{TESTS}test_sm::TestSharedMemoryIssue::test_issue_2393::_3clocals_3e::costs_func"}),
        ("test_sync", set()), ("test_warp_ops", {f"{TESTS}test_warp_ops::useful_syncwarp"}),
    ]

    def test_its_tests_pass_and_nothing_else_is_found(self):
        for module, kernels in self.MODULES:
            with self.subTest(module):
                said = self.check("-m", "numba.runtests", f"numba.cuda.tests.cudapy.{module}")
                self.expect(module, said, r"^Ran \d+ tests? in .*\n\nOK.*$", kernels)


class CuPy(Framework):
    """Its kernels are compiled by NVRTC to PTX; what NVIDIA's libraries do is machine code."""
    PACKAGES = ["cupy-cuda13x==14.2.0", "scipy"]
    # A file of tests, and those that are left out, as docs/frameworks.md says.
    FILES = [
        ("core_tests/test_scan.py", ["TestScan::test_multi_gpu"]),
        ("core_tests/test_userkernel.py", ["TestUserkernel::test_cached_code", "TestUserkernel::test_manual_indexing",
                                         *(f"TestElementwiseKernelTexture_param_{size}::test_texture_input" for size in
                                           ["0_{dimensions=(64, 0, 0)}", "1_{dimensions=(64, 32, 0)}", "2_{dimensions=(64, 32, 19)}"])]),
        ("creation_tests/test_ranges.py", []),
        ("manipulation_tests/test_rearrange.py", []),
    ]

    @classmethod
    def find_tests(cls):
        if not os.environ.get("WARPSCOPE_CUPY"):
            raise unittest.SkipTest("WARPSCOPE_CUPY names no clone of CuPy's repository")
        # Its own folder "cupy" must not come before the package.
        tests = cls.folder / "tests"
        tests.symlink_to(Path(os.environ["WARPSCOPE_CUPY"], "tests").resolve())
        return cls.folder

    def test_its_tests_pass_and_nothing_is_found(self):
        for file, left_out in self.FILES:
            with self.subTest(file):
                said = self.pytest(f"tests/cupy_tests/{file}", left_out, CUPY_COMPILE_WITH_PTX="1", CUPY_ACCELERATORS="",
                                   CUPY_CACHE_DIR=str(self.folder / "cache"))
                self.expect(file, said, r"^\d.* passed.*$", set())


if __name__ == "__main__":
    unittest.main()
