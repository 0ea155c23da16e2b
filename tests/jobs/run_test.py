"""Tests of the script `run` with fakes of the programs that it calls: run_test.py REPOSITORY."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path.cwd()


def has_toolkit():
    """Whether this machine has an NVRTC that the script finds in a folder with a fixed name."""
    return any(any(Path("/").glob(f"{folder}/lib64/libnvrtc.so*"))
               for folder in ["usr/local/cuda*", "opt/cuda"])


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copy(REPOSITORY / "run", self.folder / "run")
        self.program("build/default/warpscope", 'echo "started: $*"')
        for name in ["cmake", "ldconfig"]:
            self.program(f"bin/{name}", "exit 0")
        self.program("bin/dpkg-query", 'printf "install ok installed"')
        self.program("bin/uname", "echo x86_64")
        self.calls = self.folder / "calls"
        self.program("bin/python3", f'echo "$*" >>"{self.calls}"\n'
                     f'for last; do :; done\ncp "$last" "{self.folder}/wanted" 2>/dev/null\nexit 1')

    def program(self, name, lines):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)

    def start(self, **environment):
        known = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.folder / "home")}
        done = subprocess.run([self.folder / "run", "--list"], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**known, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "started: --list\n")
        return done.stderr

    @unittest.skipIf(has_toolkit(), "this machine has a CUDA Toolkit")
    def test_a_missing_nvrtc_is_downloaded_and_the_app_starts_where_that_fails(self):
        said = self.start()
        self.assertRegex(said, r"\Arun: downloading NVRTC.*\nrun: NVRTC was not downloaded: .*\n\Z")
        self.assertIn("--require-hashes", self.calls.read_text())
        self.assertRegex((self.folder / "wanted").read_text(),
                         r"\Anvidia-cuda-nvrtc==[0-9.]+ \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n)+\Z")

    def test_an_installed_nvrtc_is_not_downloaded(self):
        for name in ["toolkit/lib64", "data/warpscope/nvrtc"]:
            library = self.folder / name / "libnvrtc.so.13"
            library.parent.mkdir(parents=True)
            library.touch()
            with self.subTest(folder=name):
                self.assertEqual(self.start(CUDA_HOME=str(self.folder / "toolkit"),
                                            XDG_DATA_HOME=str(self.folder / "data")), "")
                self.assertFalse(self.calls.exists())
            library.unlink()

    def test_a_variable_prevents_the_download(self):
        self.assertEqual(self.start(WARPSCOPE_NVRTC="0"), "")
        self.assertFalse(self.calls.exists())


if __name__ == "__main__":
    unittest.main()
