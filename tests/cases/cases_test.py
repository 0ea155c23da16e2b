"""Runs the program with every case of a table.

usage: cases_test.py PROGRAM [PREFIX]

A row of expected.tsv is one run of `warpscope --check race,barrier,memory --launch CASE OPTIONS` in
this folder: the case, more options (- for none), the exit code, and what the output must contain:
texts with " & " between them. A text that begins with ! must not be there. The output is standard
output and standard error, with one blank in place of line breaks and margins. PREFIX chooses the
cases whose names begin with it.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ONE_OF = int(os.environ.get("WARPSCOPE_ONE_CASE_OF", 1))  # rows of which one is run


def rows():
    for line in (FOLDER / "expected.tsv").read_text().splitlines()[1:]:
        if line and not line.startswith("#"):
            yield line.split("\t")


class Cases(unittest.TestCase):
    program, prefix = "warpscope", ""

    def test_each_case_ends_as_the_table_says(self):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home}
            for case, options, code, texts in list(rows())[::ONE_OF]:
                if case.startswith(self.prefix):
                    with self.subTest(case=case, options=options):
                        self.check(case, options, int(code), texts.split(" & "), environment)

    def check(self, case, options, code, texts, environment):
        more = [] if options == "-" else options.split()
        done = subprocess.run(
            [self.program, "--check", "race,barrier,memory", "--launch", case, *more], cwd=FOLDER,
            text=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
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


class Table(unittest.TestCase):
    def test_every_file_has_a_row(self):
        names = {row[0] for row in rows()}
        sources = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.cu")}
        launches = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.launch.json")}
        self.assertEqual(launches - names, set())
        without = {source for source in sources - names
                   if not any(name.startswith(source[:-3]) for name in names)}
        self.assertEqual(without - {"arguments/buffer_offset.cu", "arguments/function_pointers.cu"}, set())
        self.assertEqual(names - sources - launches, set())


if __name__ == "__main__":
    Cases.program = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        Cases.prefix = sys.argv.pop(1)
    unittest.main()
