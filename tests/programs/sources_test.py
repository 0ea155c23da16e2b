"""Runs programs from their sources: compiled by nvcc, confined, and with a time limit.

usage: sources_test.py WARPSCOPE FOLDER NVCC
FOLDER keeps the compiled programs, for the next time. Without nvcc (""), sources are not compiled.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WARPSCOPE, FOLDER, NVCC = Path("warpscope"), Path("."), "nvcc"
NEEDS_NVCC = unittest.skipUnless(sys.argv[3:] != [""], "nvcc is not here")

# One thread adds up what the others have written, without a barrier in between.
RACE = """#include <cstdio>
__global__ void sum(float* out) {
    __shared__ float part[64];
    part[threadIdx.x] = 1;
    if (threadIdx.x == 0)
        for (int i = 0; i < 64; ++i) *out += part[i];
}
int main(int count, char** words) {
    float* out;
    cudaMalloc(&out, sizeof *out);
    cudaMemset(out, 0, sizeof *out);
    sum<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    for (int i = 0; i < count; ++i) std::printf("%s\\n", words[i]);
    return 7;
}
"""


# The compiler chooses a value for x, which is never set, and removes an array that is never read.
OPTIMIZED = """__global__ void kernel(int* out, int n) {
    __shared__ int unread[32];
    int x;
    if (n > 5) x = 3;
    unread[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = x;
}
int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof *out);
    kernel<<<1, 32>>>(out, 2);
    cudaDeviceSynchronize();
}
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def run_app(self, *arguments, **options):
        environment = {**os.environ, "XDG_CACHE_HOME": str(FOLDER / "cache"), "TMPDIR": str(self.folder)}
        return subprocess.run([WARPSCOPE, *arguments], capture_output=True, text=True, timeout=300,
                              cwd=self.folder, env=environment, **options)

    def report(self, ran):
        return " ".join(line.removeprefix("=========").strip() for line in ran.stderr.splitlines())


class Sources(Case):
    @NEEDS_NVCC
    def test_a_source_is_compiled_and_run_with_its_arguments(self):
        self.write("app.cu", RACE)
        for command in (["app.cu", "--a", "--", "b c"], ["--", "app.cu", "--a", "--", "b c"]):
            ran = self.run_app("--headless", *command)
            self.assertEqual(ran.stdout.splitlines(), ["app", "--a", "--", "b c"], ran.stderr)
            self.assertEqual(ran.returncode, 7)
            self.assertIn("sum ", ran.stderr)

    @NEEDS_NVCC
    def test_the_checks_name_lines_of_the_source(self):
        self.write("app.cu", RACE)
        for command in (["app.cu"], ["--launch", "app.cu"]):
            ran = self.run_app("--check", "race", "--json", "r.json", "--error-exitcode", "5", *command)
            self.assertEqual(ran.returncode, 5, ran.stderr)
            self.assertIn("app.cu:6", self.report(ran))
            result = json.loads((self.folder / "r.json").read_text())
            self.assertEqual(result["command"], ["app.cu"])
            self.assertFalse(result["timed_out"])

    @NEEDS_NVCC
    def test_the_checks_look_at_the_code_without_optimization(self):
        self.write("app.cu", OPTIMIZED)
        ran = self.run_app("--check", "memory", "app.cu")
        self.assertEqual(ran.returncode, 0, ran.stderr)  # what only this code shows is a note
        self.assertIn("Note: undefined value at app.cu:6, in kernel [32 accesses]", self.report(ran))
        self.assertIn("  app.cu:5: the compiler has removed the array unread in shared memory", ran.stderr)
        ran = self.run_app("--headless", "app.cu")
        self.assertNotIn("unread in shared memory", ran.stderr)

    @NEEDS_NVCC
    def test_options_stand_on_the_command_line_or_in_the_source(self):
        (self.folder / "sub").mkdir()
        self.write("sub/more.cu", "int twice(int a) { return A * a; }\n")
        self.write("sub/app.cu", "// nvcc: more.cu -DA=2\n#include <cstdio>\nint twice(int);\n"
                   'int main() { std::printf("%d %s\\n", twice(4), TEXT); }\n')
        ran = self.run_app("--headless", "--nvcc", "'-DTEXT=\"two words\"'", "sub/app.cu")
        self.assertEqual(ran.stdout, "8 two words\n", ran.stderr)

    @NEEDS_NVCC
    def test_errors_of_each_compiler_have_their_lines(self):
        for text, line in (("__global__ void k() {\n    x = 1;\n}\nint main() {}\n", 'app.cu:2:5: error: identifier "x" is undefined'),
                           ('int main() {}\n#include "none.h"\n', "app.cu:2:10: error: none.h: No such file or directory"),
                           ("void f();\nint main() {\n    f();\n}\n", "app.cu:3: error: undefined reference to `f()'"),
                           ("__global__ void k() {}\n", "app.cu: error: it has no main(), so that it is no program: run its kernels with --launch")):
            with self.subTest(text=text):
                self.write("app.cu", text)
                ran = self.run_app("--headless", "app.cu")
                self.assertEqual(ran.returncode, 2)
                self.assertEqual(ran.stderr, line + "\n")

    @NEEDS_NVCC
    def test_a_launch_file_beside_the_source_is_what_launch_opens(self):
        self.write("app.cu", RACE)
        self.write("app.launch.json", json.dumps({
            "source": "app.cu", "buffers": {"out": {"count": 1}},
            "launches": [{"kernel": "sum", "grid": 1, "block": 64, "arguments": ["out"]}]}))
        ran = self.run_app("--headless", "--launch", "app.cu")
        self.assertNotIn("app\n", ran.stdout)

    def test_without_nvcc_a_sentence_says_what_to_do(self):
        self.write("app.cu", RACE)
        hidden = self.write("hidden", f'mount -t tmpfs none /usr/local || exit 99\n'
                            f'unset CUDA_HOME CUDA_PATH VIRTUAL_ENV\n'
                            f'export PATH=/usr/bin:/bin XDG_DATA_HOME={self.folder}\n'
                            f'exec {WARPSCOPE} --headless app.cu\n')
        ran = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", hidden], cwd=self.folder,
                             capture_output=True, text=True, timeout=300)
        if ran.returncode == 99 or "unshare" in ran.stderr or Path("/usr/bin/nvcc").exists():
            self.skipTest(f"nvcc can't be hidden: {ran.stderr}")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertEqual(ran.stderr, "warpscope: nvcc, the compiler of programs, is not installed: install the CUDA "
                         "Toolkit, or download nvcc with warpscope --get-nvcc\n")

    def test_options_of_programs_need_one(self):
        for options in (["--confined"], ["--time-limit", "1"], ["--nvcc", "-lx", "--", "true"], ["none.cu"],
                        ["--headless", "not_a_source"], ["--no-such-option", "app.cu"],
                        ["--check", "needed", "app.cu"], ["--launch", "x.wslaunch", "app.cu"]):
            self.assertEqual(self.run_app(*options).returncode, 2, options)


class Confined(Case):
    def confined(self, script, *options):
        return self.run_app("--confined", "--json", "r.json", *options, "--", sys.executable, "-B", "-c", script)

    def refused(self):
        return json.loads((self.folder / "r.json").read_text())["refused"]

    def test_it_writes_only_in_its_scratch_folder(self):
        outside, link = self.folder / "outside", self.folder / "link"
        outside.write_text("before")
        link.symlink_to(outside)
        ran = self.confined(f"""
import os, tempfile
with tempfile.NamedTemporaryFile("w") as file: file.write("x")
os.mkdir(tempfile.gettempdir() + "/folder")
os.symlink("{outside}", tempfile.gettempdir() + "/away")
os.chmod(tempfile.gettempdir() + "/folder", 0o500)
os.fchmod(os.open(tempfile.gettempdir() + "/new", os.O_CREAT), 0o751)
print(oct(os.stat(tempfile.gettempdir() + "/folder").st_mode), oct(os.stat(tempfile.gettempdir() + "/new").st_mode))
open("/dev/null", "w").close()
print(open("{outside}").read())
def refuses(call, *arguments):
    try: call(*arguments)
    except OSError: return
    print("done:", call, arguments)
refuses(open, "{outside}", "w")
refuses(open, "{link}", "a")
refuses(open, tempfile.gettempdir() + "/away", "w")
refuses(open, "new", "w")
refuses(os.unlink, "{outside}")
refuses(os.rename, "{outside}", tempfile.gettempdir() + "/taken")
refuses(os.link, "{outside}", tempfile.gettempdir() + "/linked")
refuses(os.mkdir, "{self.folder}/made")
refuses(os.truncate, "{outside}", 0)
refuses(os.chmod, "{outside}", 0)
refuses(os.chmod, tempfile.gettempdir() + "/away", 0)
refuses(os.fchmod, os.open("{outside}", os.O_RDONLY), 0)
refuses(os.utime, "{outside}")
""")
        self.assertEqual((ran.stdout, ran.returncode), ("0o40500 0o100751\nbefore\n", 0), ran.stderr)
        self.assertEqual(outside.read_text(), "before")
        self.assertEqual(self.refused(), [
            f"writing {outside}", f"writing {self.folder}/new", f"writing {self.folder}/made",
            f"changing the permissions of {outside}", "changing the owner or the times of a file"])
        self.assertIn(f"confinement refused: writing {outside}; writing ", ran.stderr)

    def test_it_reaches_no_network_and_no_other_process(self):
        ran = self.confined(f"""
import os, signal, socket, subprocess
def refused(call, *arguments):
    try: call(*arguments)
    except OSError: return "refused"
    return "done"
print(refused(socket.socket), refused(socket.socket, socket.AF_UNIX), refused(os.kill, {os.getpid()}, 0),
      refused(os.kill, os.getppid(), 0), refused(os.kill, -1, 0))
child = subprocess.Popen(["sleep", "1000"])
child.terminate()
print(child.wait(), flush=True)
os.kill(os.getpid(), signal.SIGUSR1)
""")
        self.assertEqual(ran.stdout, f"refused refused refused refused refused\n-{int(signal.SIGTERM)}\n", ran.stderr)
        self.assertEqual(ran.returncode, 128 + signal.SIGUSR1)
        self.assertEqual(self.refused(), ["connecting to a network", "connecting to a service of this system",
                                          "reaching another process"])

    @NEEDS_NVCC
    def test_a_source_is_compiled_and_checked_as_without_confinement(self):
        self.write("app.cu", RACE)
        ran = self.run_app("--confined", "--check", "race", "--json", "r.json", "--capture", "launches", "app.cu")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("app.cu:6", self.report(ran))
        self.assertEqual(self.refused(), [])
        self.assertTrue((self.folder / "launches/00001-sum.launch.json").exists())

    @NEEDS_NVCC
    def test_the_compiler_is_confined_too(self):
        plugin = self.write("plugin", f"#!/bin/sh\ntouch {self.folder}/written\nexec g++ \"$@\"\n")
        plugin.chmod(0o755)
        (self.folder / "bin").mkdir()
        plugin.rename(self.folder / "bin/g++")
        self.write("app.cu", f"// nvcc: -ccbin {self.folder}/bin\nint main() {{}}\n")
        self.run_app("--confined", "app.cu")
        self.assertFalse((self.folder / "written").exists())


class TimeLimit(Case):
    @NEEDS_NVCC
    def test_a_kernel_that_does_not_end_is_named_with_its_line(self):
        self.write("app.cu", RACE.replace("return 7;", """
    spin<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    std::printf("never\\n");""").replace("int main", """__global__ void spin(volatile float* out) {
    while (*out >= 0) *out = 1;
}
int main"""))
        ran = self.run_app("--time-limit", "2", "--json", "r.json", "app.cu")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertNotIn("never", ran.stdout)
        self.assertIn("No verdict: the time limit ended the program, and the rest of it was not checked: ", self.report(ran))
        self.assertRegex(self.report(ran), r"checked: kernel spin did not end within .* at app\.cu:9 ")
        self.assertTrue(json.loads((self.folder / "r.json").read_text())["timed_out"])
        # What was found before is told, and is an error.
        ran = self.run_app("--check", "race", "--time-limit", "2", "app.cu")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("app.cu:6", self.report(ran))
        self.assertIn("No verdict", self.report(ran))

    @NEEDS_NVCC
    def test_code_of_the_host_that_does_not_end_keeps_the_report(self):
        self.write("app.cu", RACE.replace("return 7;", "while (true) {}"))
        ran = self.run_app("--time-limit", "1", "app.cu")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("sum ", ran.stderr)
        self.assertIn("checked: the host code of the program was running", self.report(ran))

    def test_a_program_without_cuda_ends_too(self):
        ran = self.run_app("--time-limit", "1", "--", "sleep", "1000")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("checked: the program did not end", self.report(ran))
        self.assertEqual(self.run_app("--time-limit", "100", "--", "sh", "-c", "exit 4").returncode, 4)


if __name__ == "__main__":
    WARPSCOPE, FOLDER = (Path(path).resolve() for path in sys.argv[1:3])
    NVCC = sys.argv[3]
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
