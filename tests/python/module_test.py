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


TYPES = """
struct Point { float x; int n; };
__constant__ float weight[1];
__global__ void take(float* out, int n, unsigned char c, bool b, float f, unsigned long long u, Point p, const void* v) {
    out[0] = n; out[1] = c; out[2] = b; out[3] = f; out[4] = u; out[5] = p.x + p.n; out[6] = v == nullptr;
    out[7] = weight[0];
}
"""


def take(**others):
    return warpscope.check(TYPES, "take", 1, 1, **{
        "out": array.array("f", [0] * 8), "n": -3, "c": 255, "b": True, "f": 2.5, "u": 1 << 40,
        "p": {"x": 0.5, "n": 2}, "v": None, **others})


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
        with self.assertRaisesRegex(warpscope.WarpscopeError, "^the parameter const float[*] in has no value$"):
            warpscope.check(SCALE, "scale", 1, 1, n=1)
        with self.assertRaisesRegex(warpscope.WarpscopeError, "double"):
            scale(out=array.array("d", [0] * 8))
        with self.assertRaisesRegex(TypeError, "out: elements of the format"):
            scale(out=memoryview(bytearray(8)).cast("P"))

    def test_arguments_have_the_values_that_were_given(self):
        self.assertEqual(list(take()["out"]), [-3, 255, 1, 2.5, 2.0 ** 40, 2.5, 1, 0])
        result = take(n=3.0, b=False, f=float("-inf"), v=array.array("i", [1]), weight=array.array("f", [4]))
        self.assertEqual(list(result["out"]), [3, 255, 0, float("-inf"), 2.0 ** 40, 2.5, 0, 4])

    def test_what_no_parameter_can_take_is_refused_with_the_name_of_the_argument(self):
        array_of_one = array.array("f", [1])
        for argument, error, message in [
                ({"n": 2.5}, warpscope.WarpscopeError, "the argument n of take: 2.5 does not fit into the type int"),
                ({"n": 3000000000}, warpscope.WarpscopeError, "n of take: 3000000000 does not fit into the type int"),
                ({"n": float("inf")}, warpscope.WarpscopeError, "n of take: .* does not fit into the type int"),
                ({"c": 256}, warpscope.WarpscopeError, "c of take: 256 does not fit into the type unsigned char"),
                ({"c": -1}, warpscope.WarpscopeError, "c of take: -1 does not fit into the type unsigned char"),
                ({"u": 1 << 64}, warpscope.WarpscopeError, "u of take: .* does not fit"),
                ({"b": 2}, warpscope.WarpscopeError, "b of take: 2 does not fit into the type bool"),
                ({"f": 1e300}, warpscope.WarpscopeError, r"f of take: 1e\+300 does not fit into the type float"),
                ({"p": {"x": 1, "n": 1.5}}, warpscope.WarpscopeError, "p.n of take: 1.5 does not fit"),
                ({"n": None}, warpscope.WarpscopeError, "n of take: pass a number for the int"),
                ({"n": array_of_one}, warpscope.WarpscopeError, "n of take: n is an array; pass a number for the int"),
                ({"v": 5}, warpscope.WarpscopeError, "v of take: 5 is no array; pass an array, or None"),
                ({"q": array_of_one}, warpscope.WarpscopeError, "q: take has no parameter q, and the source no variable"),
                ({"q": 1}, warpscope.WarpscopeError, "^take has no parameter q; it has: out, n, c"),
                ({"out": [0.0] * 8}, TypeError, "^out: a list is no array"),
                ({"f": 1j}, TypeError, "^f: a value of the type complex can't be passed"),
                ({"v": array.array("f")}, ValueError, "^v: the array is empty")]:
            with self.subTest(argument), self.assertRaisesRegex(error, message) as raised:
                take(**argument)
            self.assertNotRegex(str(raised.exception), r"launch\.json|launches\[|buffer")

    def test_sizes_that_no_launch_has_are_refused_with_their_name(self):
        for grid, block, shared, message in [(1.5, 1, 0, "^grid: 1.5 is no integer"), (0, 1, 0, "^grid: .* not 0$"),
                                             (1, (1, 1, 1, 1), 0, "^block: .* three sizes, not 4"),
                                             (1, 1, -1, "^shared_bytes: .* not -1$")]:
            with self.subTest(message), self.assertRaisesRegex(Exception, message):
                warpscope.check(SCALE, "shift", grid, block, shared_bytes=shared, values=array.array("i", [1]))

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
