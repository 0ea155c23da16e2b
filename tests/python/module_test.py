"""The Python module, with the program that was built: module_test.py PROGRAM REPOSITORY."""
import array
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, REPOSITORY = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
del sys.argv[1:3]
os.environ["WARPSCOPE_PROGRAM"] = str(PROGRAM)
sys.path.insert(0, str(REPOSITORY / "python"))
import warpscope  # noqa: E402
from warpscope import _program  # noqa: E402

SCALE = """
__global__ void scale(const float* in, float* out, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
__global__ void shift(int* values) {
    values[threadIdx.x] = values[(threadIdx.x + 1) % 64];
}
__global__ void sum(const int* rows, long long* total) {
    for (int i = 0; i < 6; ++i) *total += rows[i];
}
"""


def has(module):
    return importlib.util.find_spec(module) is not None


def scale(**others):
    return warpscope.check(SCALE, "scale", 2, 4, **{
        "in": array.array("f", range(8)), "out": array.array("f", [-1] * 8), "factor": 2.5, "n": 7, **others})


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            scale()
        except warpscope.WarpscopeError as error:
            if "NVRTC" in str(error):
                raise unittest.SkipTest(str(error))
            raise

    def test_a_launch_returns_new_arrays_and_no_findings(self):
        given = array.array("f", [-1] * 8)
        result = scale(out=given)
        self.assertTrue(result.ok, result)
        self.assertEqual(result.findings, [])
        self.assertEqual(list(result["out"]), [0, 2.5, 5, 7.5, 10, 12.5, 15, -1])
        self.assertEqual(list(given), [-1] * 8)
        self.assertEqual(repr(result), "no findings")

    def test_a_race_is_found_with_its_source_line_and_threads(self):
        result = warpscope.check(SCALE, "shift", 1, 64, values=array.array("i", range(64)))
        self.assertFalse(result.ok)
        [found] = [f for f in result.findings if f.kind == "race"]
        self.assertEqual({(p.file, p.line) for p in found.places}, {("kernel.cu", 7)})
        self.assertEqual(found.places[0].text, "values[threadIdx.x] = values[(threadIdx.x + 1) % 64];")
        self.assertEqual(found.places[0].block, (0, 0, 0))
        self.assertNotEqual(found.places[0].thread, found.places[1].thread)
        self.assertIn("kernel.cu:7: values[threadIdx.x]", str(result))

    def test_a_comment_at_a_line_allows_its_race(self):
        allowed = SCALE.replace("% 64];", "% 64];  // warpscope: allow race: a test")
        values = array.array("i", range(64))
        self.assertFalse(warpscope.check(SCALE, "shift", 1, 64, values=values).ok)
        result = warpscope.check(allowed, "shift", 1, 64, values=values)
        self.assertTrue(result.ok, result)
        self.assertEqual(result.findings, [])

    def test_a_notebook_shows_the_picture_and_the_findings_as_text(self):
        page = warpscope.check(SCALE.replace("% 64]", "% 64] + (1 < 0)"), "shift", 1, 64,
                               values=array.array("i", range(64)))._repr_html_()
        self.assertIn("data:image/png;base64,iVBOR", page)
        self.assertIn("kernel.cu:7: values[threadIdx.x] = values[(threadIdx.x + 1) % 64] + (1 &lt; 0);", page)

    def test_an_access_behind_an_array_ends_the_launch_with_an_error(self):
        result = scale(out=array.array("f", [0] * 4))
        self.assertFalse(result.ok)
        self.assertEqual([f.kind for f in result.findings], ["memory"])
        self.assertNotEqual(result.error, "")
        self.assertEqual(result.arrays, {})

    def test_a_source_that_does_not_compile_raises_with_its_line(self):
        with self.assertRaisesRegex(warpscope.WarpscopeError, r"kernel.cu:4.*error.*nothing"):
            warpscope.check(SCALE.replace("factor *", "nothing *"), "scale", 1, 1)

    def test_a_parameter_without_a_value_and_an_element_of_another_type_raise(self):
        with self.assertRaisesRegex(warpscope.WarpscopeError, "const float[*] in has no value"):
            warpscope.check(SCALE, "scale", 1, 1, n=1)
        with self.assertRaisesRegex(warpscope.WarpscopeError, "double"):
            scale(out=array.array("d", [0] * 8))
        with self.assertRaisesRegex(TypeError, "out: elements of the format"):
            scale(out=memoryview(bytearray(8)).cast("P"))

    def test_one_process_answers_all_checks_and_another_follows_one_that_has_ended(self):
        scale()
        first = _program.server.process
        scale()
        self.assertIs(_program.server.process, first)
        first.kill()
        first.wait()
        self.assertTrue(scale().ok)
        self.assertIsNot(_program.server.process, first)

    def test_the_process_refuses_what_is_no_run_without_a_window_and_answers_on(self):
        code, printed, said = _program.server.run(["--list"])
        self.assertEqual((code, printed), (2, ""))
        self.assertIn("a request needs --headless, --check or --counters", said)
        self.assertTrue(scale().ok)

    def test_headers_beside_a_source_file_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "own.h").write_text("__device__ inline float twice(float x) { return 2 * x; }\n")
            source = Path(folder, "own.cu")
            source.write_text('#include "own.h"\n__global__ void f(float* x) { x[0] = twice(x[0]); }\n')
            result = warpscope.check(source, "f", 1, 1, x=array.array("f", [21]))
        self.assertEqual(result["x"][0], 42)

    @unittest.skipUnless(has("numpy"), "numpy is not installed")
    def test_arrays_of_numpy_keep_their_types_and_shapes(self):
        import numpy
        rows = numpy.arange(6, dtype=numpy.int32).reshape(2, 3).T  # not contiguous
        result = warpscope.check(SCALE, "sum", 1, 1, rows=rows, total=numpy.zeros(1, numpy.int64))
        self.assertEqual(result["total"].tolist(), [15])
        self.assertEqual(result["rows"].tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(result["rows"].dtype, numpy.int32)
        self.assertEqual(scale(factor=numpy.float32(2.5))["out"][2], 5)

    def test_the_example_of_the_page_does_what_its_comments_say(self):
        page = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")
        example = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
        done = subprocess.run([sys.executable, "-c", example], text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}, check=True)
        self.assertRegex(done.stdout, r"\Aerror: .*\n(.*\n)*4\n63\.0\n\Z")

    @unittest.skipUnless(has("pytest"), "pytest is not installed")
    def test_the_fixture_fails_a_test_with_the_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "test_kernels.py").write_text(
                'import array\n'
                f'SOURCE = """{SCALE}"""\n'
                'VALUES = array.array("i", range(64))\n'
                'def test_races(warpscope):\n'
                '    warpscope(SOURCE, "shift", 1, 64, values=VALUES)\n'
                'def test_passes(warpscope):\n'
                '    assert warpscope(SOURCE, "shift", 1, 1, values=VALUES)["values"][0] == 1\n')
            done = subprocess.run([sys.executable, "-m", "pytest", "-p", "warpscope.pytest_plugin", folder], text=True,
                                  env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
                                  stdout=subprocess.PIPE)
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertIn("kernel.cu:7: values[threadIdx.x]", done.stdout)


if __name__ == "__main__":
    unittest.main()
