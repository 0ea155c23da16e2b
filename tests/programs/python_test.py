"""Runs programs of Python packages in the emulator, and finds what is wrong in them.

usage: python_test.py WARPSCOPE FOLDER_OF_NVCC [PYTHON]
A test is skipped where its package is not installed for PYTHON, which is the python3 that runs the
tests unless the variable WARPSCOPE_TEST_PYTHON names another one.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent / "python"
PYTHON = os.environ.get("WARPSCOPE_TEST_PYTHON", sys.executable)
WARPSCOPE, NVCC = (Path(path).resolve() for path in sys.argv[1:3])


def needs(package):
    """Skips a test where the package is missing. It may need a driver to be imported."""
    found = subprocess.run([PYTHON, "-c", "import importlib.util, sys\n"
                            f"sys.exit(not importlib.util.find_spec('{package}'))"])
    return unittest.skipIf(found.returncode, f"{package} is not installed for {PYTHON}")


def run(program, *arguments, check="race,barrier,memory", options=()):
    environment = {**os.environ, "PATH": f"{NVCC.parent}:{os.environ['PATH']}"}
    return subprocess.run([WARPSCOPE, "--check", check, *options, "--", PYTHON, program, *arguments],
                          cwd=HERE, env=environment, capture_output=True, text=True, timeout=600)


def line_of(program, text):
    lines = (HERE / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class PythonPrograms(unittest.TestCase):
    def expect_right(self, ran):
        self.assertIn("right", ran.stdout.splitlines(), ran.stderr)
        self.assertIn("(0 errors", ran.stderr)

    def expect_race(self, ran, first, second):
        """Lines of the race, as the end of a file's name and a number."""
        self.assertEqual(ran.returncode, 1, ran.stderr)
        said = " ".join(line.removeprefix("=========").strip() for line in ran.stderr.splitlines())
        self.assertRegex(said, f"race between [^ ]*{first} and [^ ]*{second}")

    @needs("pycuda")
    def test_pycuda(self):
        self.expect_right(run("pycuda_dot.py", check="race"))
        # The lines are those of the text that SourceModule gets, with one that PyCUDA puts first.
        self.expect_race(run("pycuda_dot.py", "no_barrier"), "kernel.cu:15", "kernel.cu:19")

    @needs("numba")
    def test_numba(self):
        self.expect_right(run("numba_dot.py"))
        write, read = line_of("numba_dot.py", "a[i] * b[i]"), line_of("numba_dot.py", "+= tile[")
        self.expect_race(run("numba_dot.py", "no_barrier"), f"numba_dot.py:{write}",
                         f"numba_dot.py:{read}")

    @needs("cupy")
    def test_cupy(self):
        self.expect_right(run("cupy_reverse.py"))
        self.expect_race(run("cupy_reverse.py", "no_barrier"), ".cu:5", ".cu:9")

    @needs("triton")
    def test_triton(self):
        self.expect_right(run("triton_sum.py"))
        beyond = run("triton_sum.py", "beyond", check="memory")
        self.assertIn(f"invalid access at triton_sum.py:{line_of('triton_sum.py', 'tl.store(out, tl.sum')}",
                      beyond.stderr)

    @needs("cupy")
    def test_a_captured_launch_without_a_source_runs_with_equal_results(self):
        with tempfile.TemporaryDirectory() as folder:
            run("cupy_reverse.py", options=["--capture", folder])
            result = Path(folder, "result.json")
            ran = subprocess.run([WARPSCOPE, "--headless", "--launch", folder, "--json", result],
                                 capture_output=True, text=True, timeout=300)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            verdicts = [reading["verdict"] for reading in json.loads(result.read_text())["report"]]
            self.assertIn("pass", verdicts)
            self.assertNotIn("fail", verdicts)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
