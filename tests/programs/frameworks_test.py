"""Runs tests of other people's frameworks in the emulator: frameworks_test.py WARPSCOPE.

It gets the frameworks from PyPI into a folder of its own, and is skipped where that fails. PyPI has only the smallest file of
tinygrad's tests; the variable WARPSCOPE_TINYGRAD names a clone that has all of them.
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
PACKAGES = ["numpy", "pytest", "hypothesis", *(f"nvidia-cuda-{name}==13.0.*" for name in ["nvrtc", "runtime", "crt", "cccl"])]


def fetch(folder):
    """Makes a Python environment in the folder, with tinygrad's sources beside it."""
    python = folder / "venv/bin/python"

    def run(*command):
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise unittest.SkipTest(f"the framework can't be fetched: {done.stdout.strip().splitlines()[-1:]}")
    run(sys.executable, "-m", "venv", folder / "venv")
    run(python, "-m", "pip", "install", "-q", "--retries", "1", *PACKAGES)
    if os.environ.get("WARPSCOPE_TINYGRAD"):
        return python, Path(os.environ["WARPSCOPE_TINYGRAD"]).resolve()
    run(python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, "tinygrad==0.14.0")
    with tarfile.open(next(folder.glob("tinygrad-*.tar.gz"))) as archive:
        archive.extractall(folder)
    return python, next(path for path in folder.glob("tinygrad-*") if path.is_dir())


class Tinygrad(unittest.TestCase):
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
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.python, cls.tinygrad = fetch(Path(folder.name))
        [cls.toolkit] = Path(folder.name).glob("venv/lib/python*/site-packages/nvidia/cu13")

    def run_file(self, file, left_out):
        environment = {**os.environ, "DEV": "CUDA", "PYTHONPATH": ".", "CUDA_PATH": str(self.toolkit),
                       "LD_LIBRARY_PATH": f"{self.toolkit}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        return subprocess.run([WARPSCOPE, "--check", "race,barrier,memory", "--", self.python, "-m", "pytest", "-q",
                               "-p", "no:cacheprovider", file, *(f"--deselect={file}::{test}" for test in left_out)],
                              cwd=self.tinygrad, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout

    def test_its_tests_pass_and_nothing_else_is_found(self):
        for file, left_out, kernels in self.FILES:
            if not (self.tinygrad / file).exists():
                continue
            with self.subTest(file):
                said = self.run_file(file, left_out)
                last = re.search(r"^\d.* passed.*$", said, re.MULTILINE)
                self.assertTrue(last, said)
                self.assertNotIn("failed", last[0], said)
                self.assertEqual(set(re.findall(r"^=+ (?:Error|Warning|Note): .* in (\w+) \[", said, re.MULTILINE)), kernels)
                print(f"{file}: {last[0]}", flush=True)


if __name__ == "__main__":
    unittest.main()
