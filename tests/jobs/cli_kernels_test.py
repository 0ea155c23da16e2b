"""Runs the real program with kernels from files.

usage: cli_kernels_test.py PROGRAM REPOSITORY
"""

import json
import os
import shlex
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import cli_test

KERNELS = Path("kernels")
EMULATED = ["--headless", "--device", "emulator"]
STRIPES = """struct Pixel { unsigned char r, g, b, a; };

extern "C" __global__ void stripes(Pixel* pixels, int width, int height, float time, float3 mouse) {
    __shared__ unsigned char row[16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (threadIdx.y == 0) row[threadIdx.x] = 17 * threadIdx.x;
    __syncthreads();
    if (x < width && y < height) pixels[y * width + x] = {row[15 - threadIdx.x], 9, 9, 255};
}
"""

# An old ripple.cu that has the kernels of all layouts. Each of them paints red.
OLD_RIPPLE = """using Pixel = unsigned;
#define RIPPLE_KERNEL(name)                                                                        \\
    extern "C" __global__ void name(Pixel* pixels, int width, int height, float, int) {            \\
        const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;            \\
        if (x < width && y < height) pixels[y * width + x] = 0xff0000ffu;                          \\
    }
""" + "".join(f"RIPPLE_KERNEL(ripple_{layout}{sync})\n" for sync in ("", "_nosync")
              for layout in ("txty", "tytx", "padded17", "padded", "bytes"))


def unfiltered(raw, width):
    """Rows of RGBA as they were before the PNG's filters: https://www.w3.org/TR/png, 9.2."""
    rows, above = [], bytes(4 * width)
    for at in range(0, len(raw), 4 * width + 1):
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + 4 * width])
        for i in range(4 * width):
            left, up = row[i - 4] if i >= 4 else 0, above[i]
            corner = above[i - 4] if i >= 4 else 0
            paeth = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[i] = (row[i] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
        rows.append(bytes(row))
        above = rows[-1]
    return rows


class Kernels(cli_test.CommandLine):
    def setUp(self):
        super().setUp()
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        self.cache = Path(cache.name) / "cache"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def run_program(self, *arguments, **options):
        environment = {"XDG_CACHE_HOME": str(self.cache)}
        return super().run_program(*arguments, environment=environment, **options)

    def cached(self):
        return {f: f.stat().st_ino for f in self.cache.rglob("*.kernel")}

    def json_of(self, *arguments):
        return json.loads(self.expect_success(*arguments, "--json", "-"))


class WithoutACompiler(Kernels):
    def test_built_in_sources_are_not_compiled(self):
        shutil.copy(KERNELS / "ripple.cu", self.folder)
        self.write("notes.cu", "this is no CUDA")
        result = self.json_of(*EMULATED, "--experiment", "ripple", "--set", "ripple.size=64",
                              "--kernels", ".")
        self.assertEqual(result["kernel_source"], [{"file": "kernels/ripple.cu",
                                                    "from": "./ripple.cu", "warnings": []}])
        self.assertEqual(self.cached(), {})

    def test_missing_files_are_refused(self):
        for arguments, pattern in [
            ([*EMULATED, "--experiment", "ripple", "--kernel-source", "my.cu"],
             r"--kernel-source my\.cu: No such file"),
            ([*EMULATED, "--experiment", "ripple", "--kernel-source", "."],
             r"--kernel-source \.: it is a folder"),
            ([*EMULATED, "--kernel-source", "my.cu"], r"--kernel-source: add --experiment NAME"),
            ([*EMULATED, "--experiment", "ripple", "--kernels", "none"], r"--kernels none: "),
            ([*EMULATED, "--experiment", "ripple", "--kernels", "."], r"--kernels \.: .*ripple\.cu"),
            (["--kernels", "none"], r"--kernels none: "),
            (["--experiment", "ripple", "--kernel-source", "my.cu"],
             r"--kernel-source my\.cu: No such file"),
            (["--list", "--kernels", "."], r"--kernels: only the window and --headless"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern)


class Compiled(Kernels):
    def setUp(self):
        super().setUp()
        done = self.run_program(*EMULATED, "--launch", self.write("try.cu", STRIPES))
        if "NVRTC" in done.stderr:
            self.skipTest(done.stderr.strip())
        shutil.rmtree(self.cache, ignore_errors=True)
        (self.folder / "try.cu").unlink()

    def test_a_kernel_draws_the_picture(self):
        self.write("my stripes.cu", STRIPES)
        self.write("my stripes.launch.json", json.dumps({
            "source": "my stripes.cu", "scalars": {"width": 768, "height": 512},
            "buffers": {"pixels": {"type": "uchar4", "shape": ["height", "width"]}},
            "launches": [{"kernel": "stripes", "block": [16, 16],
                          "grid": ["(width + 15) / 16", "(height + 15) / 16"],
                          "arguments": {"mouse": {"x": 0, "y": 0, "z": 0}}}]}))
        self.expect_success(*EMULATED, "--set", "launch.width=32", "--set", "launch.height=16",
                            "--launch", "my stripes.cu", "--view-only", "--screenshot", "a.png")
        pixels, texts = cli_test.read_png(self.folder / "a.png")
        row = b"".join(bytes([17 * (15 - x % 16), 9, 9, 255]) for x in range(32))
        self.assertEqual(unfiltered(pixels, 32), 16 * [row])
        self.assertEqual(texts["kernels/launch/my stripes.cu"], STRIPES)
        command = shlex.split(texts["command"])
        command[command.index("--screenshot") + 1] = "b.png"
        self.expect_success(*command[1:])
        self.assertEqual(cli_test.read_png(self.folder / "b.png")[0], pixels)

    def test_the_gallery_is_not_compiled(self):
        self.expect_success(*EMULATED, "--launch", "life", "--set", "launch.width=32", "--view-only",
                            "--screenshot", "a.png")
        self.assertEqual(self.cached(), {})
        pixels, texts = cli_test.read_png(self.folder / "a.png")
        command = shlex.split(texts["command"])
        self.assertEqual(command[2:4], ["--launch", "life"])
        command[command.index("--screenshot") + 1] = "b.png"
        self.expect_success(*command[1:])
        self.assertEqual(cli_test.read_png(self.folder / "b.png")[0], pixels)

    def test_checks_and_counters_use_the_file(self):
        racy = self.write("racy.cu", STRIPES.replace("__syncthreads();", ""))
        done = self.run_program("--check", "race", "--counters", "--launch", racy, "--json",
                                "-", "--set", "launch.width=16", "--set", "launch.height=16")
        # The source has no host program: the block is guessed, so the findings are no errors.
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual({(f["kind"], f["first"]["file"]) for f in result["findings"]
                          if f["kind"] == "race"}, {("race", "racy.cu")})
        for finding in result["findings"]:
            self.assertIn("racy.cu:", finding["sentence"])
            self.assertIn("This may come from what was guessed for the launch: ", finding["sentence"])
        proposal = result["proposal"]
        self.assertIn("the block", proposal["guesses"])
        self.assertNotIn("width", proposal["guesses"], "it was given")
        self.assertEqual(proposal["launch_file"]["launches"][0]["kernel"], "stripes")
        self.assertEqual(proposal["not_launched"], [])
        counted = next(k for k in result["counters"] if k["kernel"] == "stripes")
        self.assertEqual(counted["blocks"], counted["launches"])
        self.assertEqual(counted["barriers"], 0)

    def test_compile_errors_have_line_and_column(self):
        before = STRIPES.count("\n", 0, STRIPES.index("__syncthreads")) + 1
        file = self.write("bad.cu", STRIPES.replace("__syncthreads()", "syncthreads(); int a"))
        done = self.run_program(*EMULATED, "--launch", file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.splitlines(), [
            f'bad.cu:{before}:5: error: identifier "syncthreads" is undefined',
            f'bad.cu:{before}:24: warning: #177-D: variable "a" was declared but never referenced'])

    def test_warnings_are_printed_and_stored_in_the_json(self):
        ripple = (KERNELS / "ripple.cu").read_text()
        file = self.write("warns.cu", ripple + "__global__ void more() { int a; }\n")
        for _ in range(2):
            done = self.run_program(*EMULATED, "--experiment", "ripple", "--set", "ripple.size=64",
                                    "--kernel-source", file, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"\Awarns\.cu:\d+:30: warning: #177-D: [^\n]*\n\Z")
            warnings = json.loads(done.stdout)["kernel_source"][0]["warnings"]
            self.assertEqual([w["column"] for w in warnings], [30])

    def test_a_second_start_compiles_nothing(self):
        shutil.copy(KERNELS / "ripple.cu", self.folder)
        with open(self.folder / "ripple.cu", "a") as file:
            file.write("// mine\n")
        arguments = [*EMULATED, "--experiment", "ripple", "--set", "ripple.size=64", "--kernels",
                     "."]
        self.expect_success(*arguments)
        kept = self.cached()
        self.assertEqual(len(kept), 1)
        self.expect_success(*arguments)
        self.assertEqual(self.cached(), kept)
        self.expect_success(*arguments, "--math", "fast")
        self.assertEqual(len(self.cached()), 2)

    def test_an_old_ripple_file_runs_or_names_the_files_of_its_kernels(self):
        self.write("ripple.cu", OLD_RIPPLE)
        ripple = [*EMULATED, "--experiment", "ripple", "--set", "ripple.size=64", "--view-only",
                  "--screenshot", "a.png"]

        def red():
            pixels, _ = cli_test.read_png(self.folder / "a.png")
            return set(unfiltered(pixels, 64)) == {bytes([255, 0, 0, 255]) * 64}

        def warning(file, names, home):
            return (f"{file}: warning: Warpscope runs {names} of this text from kernels/{home}.cu: "
                    "put what you changed there\n")

        # --kernel-source replaces the file of the chosen layout. The old file has its kernels.
        for layout, said in (("txty", warning("ripple.cu", "ripple_tytx and 7 more",
                                              "ripple_layouts")),
                             ("padded", warning("ripple.cu", "ripple_txty and 1 more", "ripple"))):
            done = self.run_program(*ripple, "--set", f"ripple.layout={layout}",
                                    "--kernel-source", "ripple.cu")
            self.assertEqual((done.returncode, done.stderr), (0, said))
            self.assertTrue(red(), layout)
        # In a folder it replaces the kernel file of its name.
        done = self.run_program(*ripple, "--kernels", ".")
        self.assertEqual((done.returncode, done.stderr),
                         (0, warning("./ripple.cu", "ripple_tytx and 7 more", "ripple_layouts")))
        self.assertTrue(red())

    def test_an_unwritable_cache_is_no_error(self):
        self.cache.write_text("in the way")
        self.expect_success(*EMULATED, "--launch", self.write("my.cu", STRIPES))

    def test_an_invalid_access_is_reported_with_line_block_and_thread(self):
        wild = self.write("wild.cu", STRIPES.replace("pixels[y * width + x]",
                                                     "pixels[y * width + x + (x == 5 ? 1 << 30 : 0)]"))
        self.expect_refusal([*EMULATED, "--launch", wild], 1,
                            r"wild\.cu:8: thread \(5,\d+,0\) of block \(0,\d+,0\)")

    def test_the_output_of_printf_is_shown(self):
        says = self.write("says.cu", STRIPES.replace("__syncthreads();", """__syncthreads();
    if (x == 3 && y == 2 && time == 0) printf("here %d %s\\n", x + y, "we are");"""))
        result = self.json_of(*EMULATED, "--launch", says)
        self.assertEqual(result["output"], "here 5 we are\n")
        self.assertIn("\nhere 5 we are\n", self.expect_success(*EMULATED, "--launch", says))

    def test_printf_sends_no_escape_sequence_to_the_terminal(self):
        says = self.write("says.cu", STRIPES.replace("__syncthreads();", """__syncthreads();
    if (x == 3 && y == 2 && time == 0) printf("\\033[2Jgone\\n");"""))
        self.assertEqual(self.json_of(*EMULATED, "--launch", says)["output"],
                         "\x1b[2Jgone\n")
        self.assertIn("\n\\x1b[2Jgone\n",
                      self.expect_success(*EMULATED, "--launch", says))

    def test_a_binary_file_is_refused(self):
        (self.folder / "noise.cu").write_bytes(bytes(range(256)) * 10)
        done = self.run_program(*EMULATED, "--experiment", "ripple", "--kernel-source", "noise.cu")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Anoise\.cu:1: error: [^\n]*0x00[^\n]*\n\Z")


if __name__ == "__main__":
    cli_test.PROGRAM = os.path.abspath(sys.argv.pop(1))
    KERNELS = Path(sys.argv.pop(1)).resolve() / "kernels"
    unittest.main()
