"""Tests the man page and the completions against the options that the program prints.

usage: manual_test.py PROGRAM REPOSITORY
"""
import gzip
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, REPOSITORY = sys.argv[1:3] if len(sys.argv) > 2 else ("warpscope", ".")


def run(*command, **settings):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True,
                          **settings).stdout


def printed_options():
    """Every option that --help explains."""
    options = run(PROGRAM, "--help").split("\nExamples:\n")[0]
    return {name for line in re.findall(r"^ +(-.*)$", options, re.M)
            for name in re.findall(r"(?:^|, *)(--?[a-z-]+)", line)}


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        run(sys.executable, "-B", f"{REPOSITORY}/cmake/package/manual.py", PROGRAM, cls.folder)

    def setUp(self):
        self.assertLess({"-h", "--help", "--headless", "--set", "--widget-map"}, printed_options())

    def complete(self, *words, cwd=None):
        """The completions of the last word. `=` is a word of its own, as in bash."""
        script = ('source "$0"; COMP_WORDS=(warpscope "$@"); COMP_CWORD=$#; _warpscope; '
                  '((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "--norc", "-c", script, self.folder / "warpscope", *words,
                   cwd=cwd).splitlines()

    def page(self):
        return gzip.decompress((self.folder / "warpscope.1.gz").read_bytes()).decode()

    def test_the_man_page_has_every_option_and_no_other(self):
        options = self.page().split(".SH OPTIONS\n")[1].split(".SH NOTES\n")[0]
        self.assertEqual({name.replace("\\", "") for name in re.findall(r"\\fB(\S+?)\\fR", options)},
                         printed_options())

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_the_man_page_says_what_the_help_says(self):
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-rLL=10000n"], text=True,
                              input=self.page(), capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        page = " ".join(re.sub("\x1b\\[\\d+m", "", done.stdout).split())
        for text in re.findall(r"^ +-.*?  +(\S.*)$", run(PROGRAM, "--help"), re.M):
            self.assertIn(text, page)
        self.assertIn("2 if an argument can't be used", page)

    def test_bash_completes_every_option_and_no_other(self):
        self.assertEqual(set(self.complete("-")), printed_options())
        self.assertEqual(self.complete("--headless", "--exp"), ["--experiment"])

    def test_bash_completes_the_values_that_the_help_lists(self):
        for option, values in {
            "--check": ["race", "barrier", "memory", "leaks", "needed"],
            "--experiment": ["ripple", "nbody", "dot", "reduction", "pipeline",
                             "launch"],
            "--device": ["auto", "cuda", "emulator"],
            "--math": ["precise", "fast"],
            "--schedule": ["random", "run-to-barrier", "reverse"],
            "--barriers": ["volta", "before-volta", "strict"],
            "--landing": ["random", "at-once", "late"],
            "--vsync": ["on", "off"],
            "--frames": [],
        }.items():
            with self.subTest(option=option):
                self.assertEqual(self.complete(option, ""), values)
        self.assertEqual(self.complete("--check", "race,b"), ["race,barrier"])
        self.assertEqual(self.complete("--device", "=", "em"), ["emulator"])

    def test_bash_completes_parameters_and_their_values(self):
        self.assertEqual(self.complete("--set", "ripple.sy"), ["ripple.sync="])
        self.assertEqual(self.complete("--set", "ripple.sync", "="), ["on", "off"])
        self.assertEqual(self.complete("--set", "dot.kernel", "=", "no_f"), ["no_first_barrier"])
        self.assertEqual(self.complete("--set", "ripple.size", "=", ""), [])

    def test_bash_completes_files_of_the_right_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ["a kernel.cu", "notes.txt"]:
                (Path(folder) / name).touch()
            (Path(folder) / "more").mkdir()
            self.assertEqual(sorted(self.complete("--kernel-source", "", cwd=folder)),
                             ["a kernel.cu", "more"])
            self.assertEqual(self.complete("--kernels", "", cwd=folder), ["more"])
            self.assertEqual(sorted(self.complete("--bodies", "", cwd=folder)),
                             ["a kernel.cu", "more", "notes.txt"])

    def test_zsh_has_every_option_and_no_other(self):
        arguments = (self.folder / "_warpscope").read_text().split("\n_arguments ")[1]
        names = re.findall(r"^ +'(?:\((-[^)]*)\)|\*?(--[a-z-]+)\[)", arguments, re.M)
        self.assertEqual({name for pair in names for name in " ".join(pair).split()},
                         printed_options())

    @unittest.skipUnless(shutil.which("zsh"), "needs zsh")
    def test_zsh_reads_the_completion(self):
        run("zsh", "-fn", self.folder / "_warpscope")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
