"""Runs the program with every case of a table.

usage: cases_test.py WARPSCOPE FOLDER NVCC [PREFIX]

A row of expected.tsv is one run of `warpscope --check race,barrier,memory` in this folder: the case, more
options (- for none), the exit code, and what the output must contain: texts with " & " between them. A
text that begins with ! must not be there. The output is standard output and standard error, with one
blank in place of line breaks and margins.

A case with a main() is a program, which nvcc compiles, and its options are the arguments of the program.
`// nvcc: OPTIONS` in a line of its own gives nvcc more options. FOLDER keeps the compiled programs, for the
next time. Without nvcc (""), programs are skipped. Every other case is opened by --launch.

PREFIX chooses the cases whose names begin with it. WARPSCOPE_ONE_PROGRAM_OF=4 runs every fourth program,
and WARPSCOPE_ONE_CASE_OF=8 every eighth row.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
WARPSCOPE, FOLDER, NVCC, PREFIX = "warpscope", Path("."), "", ""
ONE_CASE_OF = int(os.environ.get("WARPSCOPE_ONE_CASE_OF", 1))
ONE_PROGRAM_OF = int(os.environ.get("WARPSCOPE_ONE_PROGRAM_OF", 1))
CHECK = ["--check", "race,barrier,memory"]


def rows():
    for line in (HERE / "expected.tsv").read_text().splitlines()[1:]:
        if line and not line.startswith("#"):
            yield line.split("\t")


def is_program(case):
    return case.endswith(".cu") and re.search(r"\bmain\s*\(", (HERE / case).read_text()) is not None


def compiled(case):
    """The path of the program, which nvcc compiles unless it is newer than the files beside its source."""
    to = FOLDER / case.removesuffix(".cu").replace("/", "-")
    source = HERE / case
    newest = max(file.stat().st_mtime for file in [source, *source.parent.glob("*.h")])
    if not to.exists() or to.stat().st_mtime < newest:
        options = re.search(r"^// nvcc: (.*)$", source.read_text(), re.MULTILINE)
        subprocess.run([NVCC, "-g", "-lineinfo", "-std=c++17", "-gencode", "arch=compute_75,code=compute_75",
                        *(options[1].split() if options else []), "-o", to, case], cwd=HERE, check=True)
    return to


class Cases(unittest.TestCase):
    def run_all(self, table, command_of):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home}
            for case, options, code, texts in table:
                if not case.startswith(PREFIX):
                    continue
                with self.subTest(case=case, options=options):
                    more = [] if options == "-" else options.split()
                    done = subprocess.run([WARPSCOPE, *CHECK, *command_of(case), *more], cwd=HERE, text=True,
                                          env=environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.compare(done, int(code), texts.split(" & "))

    def compare(self, done, code, texts):
        output = " ".join(done.stdout.replace("=========", " ").split())
        if "NVRTC" in output and "not installed" in output:
            self.skipTest(output)
        if "could not open source file" in output or "cannot open source file" in output:
            self.skipTest("the headers of the CUDA Toolkit are not installed")
        self.assertEqual(done.returncode, code, done.stdout)
        for text in texts:
            if text.startswith("!"):
                self.assertNotIn(text[1:], output)
            else:
                self.assertIn(text, output)

    def test_each_launch_ends_as_the_table_says(self):
        launches = [row for row in rows() if not is_program(row[0])]
        self.run_all(launches[::ONE_CASE_OF], lambda case: ["--launch", case])

    @unittest.skipUnless(sys.argv[3:] and sys.argv[3], "nvcc is not here")
    def test_each_program_ends_as_the_table_says(self):
        programs = [row for row in rows() if is_program(row[0])][::max(ONE_CASE_OF, ONE_PROGRAM_OF)]
        programs = [row for row in programs if row[0].startswith(PREFIX)]
        FOLDER.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compiled, {row[0] for row in programs}))
        self.run_all(programs, lambda case: ["--", compiled(case)])


class Table(unittest.TestCase):
    def test_every_file_has_a_row(self):
        names = {row[0] for row in rows()}
        sources = {str(path.relative_to(HERE)) for path in HERE.rglob("*.cu")}
        launches = {str(path.relative_to(HERE)) for path in HERE.rglob("*.launch.json")}
        self.assertEqual(launches - names, set())
        without = {source for source in sources - names
                   if not any(name.startswith(source[:-3]) for name in names)}
        self.assertEqual(without - {"arguments/buffer_offset.cu", "arguments/function_pointers.cu"}, set())
        self.assertEqual(names - sources - launches, set())


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    WARPSCOPE, FOLDER, NVCC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3]
    PREFIX = "".join(sys.argv[4:5])
    unittest.main(argv=sys.argv[:1])
