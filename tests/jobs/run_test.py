"""Tests of the scripts `run` and `fetch_compiler` with fakes of the programs that it calls: run_test.py REPOSITORY."""
import os
import shutil
import signal
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


class Script(unittest.TestCase):
    """A copy of the script `run`, with fakes of the programs that it calls."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "assets").mkdir()
        for name in ["run", "assets/fetch_compiler"]:
            shutil.copy(REPOSITORY / name, self.folder / name)
        for program in ("warpscope", "warpscope_bench"):
            self.program(f"build/default/{program}", 'echo "started: $*"')
        for name in ["cmake", "ldconfig"]:
            self.program(f"bin/{name}", "exit 0")
        self.program("bin/dpkg-query", 'printf "install ok installed"')
        self.program("bin/uname", "echo x86_64")
        self.calls = self.folder / "calls"
        self.program("bin/python3", f'echo "$*" >>"{self.calls}"\n'
                     'case $* in *--version) exit 0 ;; esac\n'
                     f'for last; do :; done\ncp "$last" "{self.folder}/wanted" 2>/dev/null\nexit 1')

    def program(self, name, lines):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)


class Run(Script):
    def start(self, **environment):
        known = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.folder / "home")}
        done = subprocess.run([self.folder / "run", "--list"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**known, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "started: --list\n")
        return done.stderr

    @unittest.skipIf(has_toolkit(), "this machine has a CUDA Toolkit")
    def test_a_missing_nvrtc_is_downloaded_and_the_app_starts_where_that_fails(self):
        said = self.start()
        self.assertRegex(said, r"\Arun: downloading NVRTC.*\nfetch_compiler: pip: .*\n"
                               r"run: NVRTC was not downloaded: .*\n\Z")
        self.assertIn("--require-hashes", self.calls.read_text())
        self.assertRegex((self.folder / "wanted").read_text(),
                         r"\A(nvidia-cuda-(nvrtc|runtime|crt|cccl)==[0-9.]+ \\\n"
                         r"( +--hash=sha256:[0-9a-f]{64}( \\)?\n)+){4}\Z")

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


class Bench(Script):
    """The packages that only the bench needs are missing."""

    def setUp(self):
        super().setUp()
        self.program("bin/dpkg-query", 'for name; do :; done\n'
                     'case $name in *opencl*) exit 1 ;; *) printf "install ok installed" ;; esac')
        self.program("bin/id", "echo 0")
        self.installed = self.folder / "installed"
        self.program("bin/apt-get", f'echo "$*" >>"{self.installed}"')

    def bench(self, *arguments):
        """Returns what `run` says and what it installs."""
        done = subprocess.run([self.folder / "run", "bench", *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={"PATH": f"{self.folder}/bin:/usr/bin:/bin",
                                   "HOME": str(self.folder / "home"), "WARPSCOPE_NVRTC": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"started: {' '.join(arguments)}\n")
        return done.stderr, self.installed.read_text() if self.installed.exists() else ""

    def test_pocl_is_installed_for_the_section_that_it_is_compared_in(self):
        for arguments in [["frames,gpu"], ["gpu", "--json", "emulator.json"]]:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.bench(*arguments), ("", ""))
        for arguments in [[], ["frames,emulator"], ["--json", "-"]]:
            with self.subTest(arguments=arguments):
                self.assertRegex(self.bench(*arguments)[1],
                                 r"\Aupdate .*\ninstall .* pocl-opencl-icd ocl-icd-opencl-dev "
                                 r"opencl-headers\n\Z")
                self.installed.unlink()

    def test_the_bench_runs_where_pocl_cannot_be_installed(self):
        self.program("bin/apt-get", "exit 100")
        self.assertRegex(self.bench()[0], r"(?m)^run: PoCL was not installed: .*$")


class FetchCompiler(unittest.TestCase):
    """The script that downloads NVRTC or nvcc, with a fake of Python that obeys the words of a test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.data = self.home / ".local/share/warpscope"
        self.data.mkdir(parents=True)

    def script(self, download, version="exit 0", compiler="nvrtc"):
        """Starts it. The lines `download` and `version` are those of a fake of pip."""
        fake = self.home / "bin/python3"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(f"""#!/bin/sh
for to; do [ "$last" = -d ] && break; last=$to; done
case $* in
    *--version) {version} ;;
    *download*) {download} ;;
    *zipfile*nvrtc.whl*) mkdir -p "$5/nvidia/cu13/lib" "$5/nvidia_cuda_nvrtc-13.dist-info/licenses"
        touch "$5/nvidia/cu13/lib/libnvrtc.so.13" "$5/nvidia_cuda_nvrtc-13.dist-info/licenses/License.txt" ;;
    *zipfile*nvcc.whl*) mkdir -p "$5/nvidia/cu13/bin" "$5/nvidia/cu13/nvvm/bin" "$5/nvidia_cuda_nvcc-13.dist-info/licenses"
        touch "$5/nvidia/cu13/bin/nvcc" "$5/nvidia/cu13/nvvm/bin/cicc" "$5/nvidia_cuda_nvcc-13.dist-info/licenses/License.txt" ;;
    *zipfile*) mkdir -p "$5/nvidia/cu13/include/cccl"
        touch "$5/nvidia/cu13/include/cuda_fp16.h" ;;
esac
""", encoding="utf-8")
        fake.chmod(0o755)
        return subprocess.Popen([REPOSITORY / "assets/fetch_compiler", compiler], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True,
                                env={"HOME": str(self.home), "PATH": f"{fake.parent}:/usr/bin:/bin"})

    def files(self):
        return sorted(str(path.relative_to(self.data)) for path in self.data.rglob("*"))

    def fails(self, script):
        _, said = script.communicate()
        self.assertEqual(script.returncode, 1)
        return said

    def test_a_download_replaces_the_folder(self):
        (self.data / "nvrtc").mkdir()
        (self.data / "nvrtc/libnvrtc.so.12").touch()
        said, complaint = self.script('touch "$to/nvrtc.whl" "$to/cccl.whl"').communicate()
        self.assertEqual((said, complaint), (f"{self.data}/nvrtc\n", ""))
        self.assertEqual(self.files(),
                         ["nvrtc", "nvrtc/License.txt", "nvrtc/include", "nvrtc/include/cccl",
                          "nvrtc/include/cuda_fp16.h", "nvrtc/libnvrtc.so.13"])

    def test_nvcc_keeps_the_folders_of_its_packages_and_can_be_started(self):
        said, complaint = self.script('touch "$to/nvcc.whl" "$to/cccl.whl"', compiler="nvcc").communicate()
        self.assertEqual((said, complaint), (f"{self.data}/nvcc\n", ""))
        self.assertEqual([name for name in self.files() if (self.data / name).is_file()],
                         ["nvcc/License.txt", "nvcc/bin/nvcc", "nvcc/include/cuda_fp16.h", "nvcc/nvvm/bin/cicc"])
        for program in ["bin/nvcc", "nvvm/bin/cicc"]:
            self.assertTrue(os.access(self.data / "nvcc" / program, os.X_OK), program)

    def test_without_the_name_of_a_compiler_it_says_which_there_are(self):
        self.assertEqual(self.fails(self.script("exit 0", compiler="clang")),
                         "fetch_compiler: name a compiler: nvrtc or nvcc\n")

    def test_a_failure_is_one_line_and_leaves_nothing(self):
        for says, line in [
                ("ERROR: THE HASHES DO NOT MATCH", "pip: THE HASHES DO NOT MATCH"),
                ("WARNING: Retrying after connection broken by\nERROR: No distribution",
                 "PyPI can't be reached: connect to the network, or set the proxy or the mirror of "
                 "pip")]:
            with self.subTest(says=says):
                script = self.script(f"""touch "$to/half.whl"; echo "{says}" >&2; exit 1""")
                self.assertEqual(self.fails(script), f"fetch_compiler: {line}\n")
                self.assertEqual(self.files(), [])

    def test_without_pip_it_says_which_package_to_install(self):
        said = self.fails(self.script("exit 0", version="exit 1"))
        self.assertEqual(said, "fetch_compiler: pip is missing: install the package python3-pip\n")

    def test_a_signal_leaves_nothing(self):
        script = self.script('touch "$to/half.whl"; exec sleep 600')
        self.addCleanup(script.communicate)
        while not list(self.data.glob("nvrtc.*/half.whl")):
            self.assertIsNone(script.poll())
        os.killpg(script.pid, signal.SIGTERM)
        self.assertEqual(script.wait(60), 143)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
