"""Runs CUDA programs in the emulator and compares what they and the app print with programs.tsv.

usage: programs_test.py WARPSCOPE NVCC FOLDER
FOLDER keeps the compiled programs, for the next time.
"""

import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WARPSCOPE, NVCC, FOLDER = "warpscope", "nvcc", Path(".")


def rows():
    for number, line in enumerate((HERE / "programs.tsv").read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            cells = line.split("\t")
            assert len(cells) == 5, f"programs.tsv:{number}: five cells with tabs between them"
            yield number, *cells


def parts(cell):
    return [part for part in cell.split(" | ") if part]


def compiled(program):
    """The path of the program, which nvcc compiles unless it is newer than the sources."""
    source, *flags = program.split()
    to = FOLDER / ("_".join([Path(source).stem, *(flag.strip("-") for flag in flags)]))
    newest = max(file.stat().st_mtime for file in (HERE / source, HERE / "book.h"))
    if not to.exists() or to.stat().st_mtime < newest:
        subprocess.run([NVCC, "-std=c++17", "-lineinfo", *flags, "-o", to, source], cwd=HERE,
                       check=True)
    return to


class Programs(unittest.TestCase):
    def test_programs_end_as_the_table_says(self):
        for number, program, options, status, output, report in rows():
            with self.subTest(row=number, program=program, options=options):
                run = subprocess.run([WARPSCOPE, *options.split(), "--", compiled(program)],
                                     cwd=HERE, capture_output=True, text=True, timeout=300)
                self.assertEqual(run.returncode, int(status), run.stdout + run.stderr)
                said = " ".join(line.removeprefix("=========").strip()
                                for line in run.stderr.splitlines())
                for line in parts(output):
                    self.assertIn(line, run.stdout.splitlines(), run.stderr)
                for words in parts(report):
                    self.assertIn(words, said)


if __name__ == "__main__":
    WARPSCOPE, NVCC, FOLDER = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).resolve()
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
