"""Runs CUDA programs in the emulator and compares what they and the app print with programs.tsv.

usage: programs_test.py WARPSCOPE DRIVER_PROGRAM FOLDER NVCC
FOLDER keeps the compiled programs, for the next time. Without nvcc (""), programs in CUDA C++ are
skipped.
"""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WARPSCOPE, DRIVER_PROGRAM, FOLDER, NVCC = "warpscope", "driver_program", Path("."), "nvcc"


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
    source, *flags = program.partition(" -- ")[0].split()
    to = FOLDER / ("_".join([Path(source).stem, *(Path(flag).name.strip("-") for flag in flags)]))
    newest = max(file.stat().st_mtime for file in (HERE / source, HERE / "book.h"))
    if not to.exists() or to.stat().st_mtime < newest:
        subprocess.run([NVCC, "-std=c++17", "-lineinfo", *flags, "-o", to, source], cwd=HERE,
                       check=True)
    return to


def run(*arguments, **options):
    return subprocess.run([WARPSCOPE, *arguments], capture_output=True, text=True, timeout=300,
                          **options)


def line_of(text):
    lines = (HERE / "driver_program.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def report_of(ran):
    return " ".join(line.removeprefix("=========").strip() for line in ran.stderr.splitlines())


def state_of(process):
    """The letter of a process's state; empty: it is no more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def has_handler(process):
    """Whether a process handles SIGTERM."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1


@contextlib.contextmanager
def running_for_ever():
    """The app, and its program in a kernel that does not end: it handles signals meanwhile."""
    program = compiled("endless.cu")
    app = subprocess.Popen([WARPSCOPE, "--check", "race", "--", program, "for_ever"],
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)

    def in_kernel():  # a child that has not become the program yet has the handlers of the app
        return [int(child) for child in
                Path(f"/proc/{app.pid}/task/{app.pid}/children").read_text().split()
                if Path(f"/proc/{child}/exe").resolve() == program and has_handler(child)]

    while not (programs := in_kernel()):
        time.sleep(0.01)
    try:
        yield app, programs[0]
    finally:
        if app.poll() is None:
            app.kill()
            app.communicate()


class Programs(unittest.TestCase):
    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_programs_end_as_the_table_says(self):
        for number, program, options, status, output, report in rows():
            with self.subTest(row=number, program=program, options=options):
                arguments = program.partition(" -- ")[2].split()
                ran = run(*options.split(), "--", compiled(program), *arguments, cwd=HERE)
                self.assertEqual(ran.returncode, int(status), ran.stdout + ran.stderr)
                said = report_of(ran)
                for line in parts(output):
                    self.assertIn(line, ran.stdout.splitlines(), ran.stderr)
                for words in parts(report):
                    self.assertIn(words, said)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_libraries_that_have_a_runtime_of_their_own(self):
        library = compiled("library.cu -shared -Xcompiler=-fPIC")
        loaded = run("--", sys.executable, "-c",
                     f"import ctypes\nprint(ctypes.CDLL('{library}').twice_of(21))")
        self.assertEqual(loaded.stdout, "42\n", loaded.stderr)
        user = compiled(f"user.cu -Xlinker={library}")
        self.assertEqual(run("--", user).stdout, "8 42\n")

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_captured_launches_run_with_equal_results(self):
        with tempfile.TemporaryDirectory() as folder:
            for program, options, names in [
                    ("nbody.cu", ["--launches", "2,4"],
                     ["00002-step.launch.json", "00004-step.launch.json"]),
                    ("arguments.cu", [], ["00001-fill.launch.json", "00002-count_32_.launch.json"]),
                    ("api.cu", ["--kernel", "scale", "--launches", "1"], ["00001-scale.launch.json"]),
                    ("cooperative.cu", ["--launches", "1"], ["00001-rounds.launch.json"]),
                    ("graph_launches.cu", ["--launches", "3,4"],
                     ["00003-add.launch.json", "00004-scale.launch.json"]),
                    ("dot.cu", ["--kernel", "another"], [])]:
                to = Path(folder, program)
                run("--capture", to, *options, "--", compiled(program), cwd=HERE)
                self.assertEqual(sorted(file.name for file in to.glob("*.launch.json")), names)
                for name in names:
                    ran = run("--headless", "--launch", to / name, "--json", to / "result")
                    self.assertEqual(ran.returncode, 0, ran.stderr + ran.stdout)
                    verdicts = [reading["verdict"]
                                for reading in json.loads((to / "result").read_text())["report"]]
                    self.assertIn("pass", verdicts, name)
                    self.assertNotIn("fail", verdicts, name)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_captured_race_has_a_witness_needed_barriers_and_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            run("--capture", folder, "--", compiled("dot.cu -DNO_BARRIER"), cwd=HERE)
            launch = Path(folder, "00001-dot.launch.json")
            result = Path(folder, "result.json")
            orders = Path(folder, "orders")
            orders.mkdir()
            ran = run("--check", "race,needed", "--witness", orders, "--launch", launch, "--json", result)
            self.assertEqual(ran.returncode, 1, ran.stderr)
            race, needed = json.loads(result.read_text())["findings"]
            # Some warp adds before another one has stored its products.
            self.assertEqual(race["witness"]["preemptions"], 0)
            self.assertIn("dot.cu:24 before warp", race["witness"]["sentence"])
            # What the racy program has computed is nothing to compare with.
            self.assertNotIn("expected", race["witness"]["sentence"])
            again = run("--headless", "--launch", launch, "--schedule", orders / "1.schedule")
            self.assertNotEqual(again.returncode, 2, again.stderr)
            # The barrier of the loop.
            self.assertEqual((needed["kind"], needed["first"]["line"]), ("needed", 25))
            self.assertIn("written by all 32 blocks", needed["sentence"])
            why = run("--headless", "--launch", launch, "--schedule", "reverse", "--why", "first")
            self.assertIn(", the program's launch left ", why.stdout)
            self.assertIn("The capture does not say which of the two is right", why.stdout)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_capture_has_its_sources_and_their_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            sources, capture = Path(folder, "sources"), Path(folder, "capture")
            shutil.copytree(HERE / "captured", sources / "captured")
            shutil.copy(HERE / "book.h", sources)
            subprocess.run([NVCC, "-std=c++17", "-lineinfo", "-Iinclude", "-o", "app", "main.cu",
                            "a/kern.cu", "b/kern.cu"], cwd=sources / "captured", check=True)
            ran = run("--capture", capture, "--", sources / "captured" / "app")
            # 1: (2 * 62 + 100) * 10; 63: (2 * 0 + 100) * 10
            self.assertEqual(ran.stdout, "2240 1000\n", ran.stderr)
            shutil.rmtree(sources)  # another machine has none of it
            for file in ("00001-ka", "00002-kb"):
                launch = capture / f"{file}.launch.json"
                self.assertNotIn(folder, launch.read_text())
                ran = run("--check", "race,memory", "--launch", launch)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertIn("All 64 numbers are as expected, bit for bit.", ran.stdout)
                self.assertNotIn("changed after the capture", ran.stderr)

            # What a person changes is compiled.
            kernel = capture / json.loads((capture / "00001-ka.launch.json").read_text())["source"]
            self.assertEqual(kernel.name, "kern.cu")
            text = kernel.read_text()
            kernel.write_text(text.replace("__syncthreads();", ""))
            ran = run("--check", "race", "--launch", capture / "00001-ka.launch.json")
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn("RAW race", ran.stdout)
            self.assertEqual(ran.stderr.count("it was changed after the capture"), 1, ran.stderr)
            kernel.write_text(text)
            header = next(capture.glob("sources/*/**/factor.h"))
            header.write_text("constexpr float factor = 11;\n")
            ran = run("--headless", "--launch", capture / "00002-kb.launch.json")
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn("it was changed after the capture", ran.stderr)

            archive = Path(folder, "a.wslaunch")
            with zipfile.ZipFile(archive, "w") as packed:
                for file in sorted(capture.rglob("*")):
                    packed.write(file, file.relative_to(capture))
            ran = run("--headless", "--launch", archive, env={**os.environ, "XDG_CACHE_HOME": folder})
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def history(self, element, *options):
        """The links of --why of steps.cu: (depth, numbers, values, launch, line, block, thread), or
        who else has written it in the place of the launch."""
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder, "result.json")
            ran = run("--why", element, *options, "--json", result, "--", compiled("steps.cu"), cwd=HERE)
            self.assertEqual((ran.stdout, ran.returncode), ("12480\n", 0), ran.stderr)
            why = json.loads(result.read_text())["why"]
            self.assertIn(f"why {element}, after launch {why['launch']}, ", ran.stderr)
            for link in why["history"]:
                self.assertIn(f"{link['numbers']} = {link['values']}: {link['writer']}\n", ran.stderr)
            return [(link["depth"], link["numbers"], link["values"],
                     *((link["launch"], int(link["place"].removeprefix("steps.cu:")), link["block"][0],
                        link["thread"][0]) if link["launch"] else (link["writer"],)))
                    for link in why["history"]]

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_why_goes_on_in_the_launches_before(self):
        lines = (HERE / "steps.cu").read_text().splitlines()
        fill, grow, scale, total, add = (
            next(number for number, line in enumerate(lines, 1) if text in line)
            for text in ("= step * i", "+= 1;", "* *factor", "*total = ", "atomicAdd"))
        before = "no captured launch; it was there before launch {}, the first that got this memory".format
        # Of two launches of fill, the second one wrote last. grow reads what it writes.
        inputs = [(2, "values[{}]", "{}", 4, grow), (3, "values[{}]", "{}", 3, grow), (4, "values[{}]", "{}", 2, fill)]
        constants = [(2, "factor[0]", "3", "the host, between launch 5 and launch 6"), (2, "shift[0]", "0", before(5))]
        self.assertEqual(self.history("total[0]"), [
            (0, "total[0]", "12480", 7, total, 0, 0),
            (1, "scaled[0] to scaled[63]", "6, 12, 18, …", 6, scale, 0, 0),
            *((depth, numbers.format(0), str(value), *writer, 0, 0)
              for (depth, numbers, _, *writer), value in zip(inputs, (2, 1, 0))),
            *constants])
        # The last launch with an argument of this name only reads it. 40: thread 8 of block 1.
        self.assertEqual(self.history("scaled[40]"), [
            (0, "scaled[40]", "246", 6, scale, 1, 8),
            *((depth - 1, numbers.format(40), str(value), *writer, 1, 8)
              for (depth, numbers, _, *writer), value in zip(inputs, (82, 81, 80))),
            *((depth - 1, *link) for depth, *link in constants)])
        self.assertEqual(self.history("values[3]", "--launches", "1"),
                         [(0, "values[3]", "3", 1, fill, 0, 3)])
        self.assertEqual(self.history("values[3]", "--kernel", "fill"),
                         [(0, "values[3]", "6", 2, fill, 0, 3)])
        # Blocks of one launch, the one after the other.
        self.assertEqual(self.history("counts[0]"), [
            (0, "counts[0]", "6", 8, add, 2, 0), (1, "counts[0]", "3", 8, add, 1, 0),
            (2, "counts[0]", "1", 8, add, 0, 0), (3, "counts[0]", "0", before(8))])
        for element, sentence in (("all[0]", "no captured launch has an argument all"),
                                  ("values[64]", "'values[64]' is no element of a result")):
            ran = run("--why", element, "--", compiled("steps.cu"))
            self.assertEqual(ran.returncode, 2)
            self.assertIn(sentence, ran.stderr)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_why_of_a_capture_names_launches_that_were_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder, "steps.wslaunch")
            run("--capture", archive, "--launches", "2,4-7", "--", compiled("steps.cu"), cwd=HERE)
            why = run("--headless", "--launch", archive, "--why", "scaled[1]", "--kernel", "scale",
                      env={**os.environ, "XDG_CACHE_HOME": folder})
            self.assertEqual(why.returncode, 0, why.stderr)
            self.assertIn("why scaled[1], after launch 6, scale\n"
                          "  scaled[1] is 12, as the program's launch left it. No right value is known.\n", why.stdout)
            self.assertIn("values[1] = 3: the host or a launch that was not captured, between launch 2 and launch 4\n",
                          why.stdout)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_equal_memory_is_written_once(self):
        with tempfile.TemporaryDirectory() as folder:
            run("--capture", folder, "--", compiled("nbody.cu"), cwd=HERE)
            # 4 launches: positions 0 to 4 and velocities 0 to 4, and the zeros of the second array
            # of positions, which are those of the velocities. One PTX.
            self.assertEqual(len(list(Path(folder, "memory").glob("*.bin"))), 10)
            self.assertEqual(len(list(Path(folder, "memory").glob("*.ptx"))), 1)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_program_waits_behind_a_launch(self):
        def control(**values):
            part = Path(folder, "control.part")
            part.write_text(json.dumps({"kernel": "", "process": os.getpid(), **values}))
            part.rename(Path(folder, "control.json"))

        def launches_when(count):
            deadline = time.monotonic() + 200
            while time.monotonic() < deadline:
                if Path(folder, "program.json").exists():
                    listed = json.loads(Path(folder, "program.json").read_text())
                    if len(listed["launches"]) == count:
                        return listed
                time.sleep(0.01)
            self.fail(f"{count} launches never came")

        with tempfile.TemporaryDirectory() as folder:
            control(until=2, kernel="step")
            program = subprocess.Popen([WARPSCOPE, "--capture", folder, "--", compiled("nbody.cu")],
                                       cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            paused = launches_when(2)
            self.assertIsNone(program.poll())
            os.kill(paused["process"], 0)
            control(until=3)
            launches_when(3)
            self.assertIsNone(program.poll())
            control(until=1 << 62)
            program.communicate(timeout=300)
            self.assertNotIn("process", launches_when(4))
            # A window that has ended lets the program go on.
            ended = subprocess.Popen(["true"])
            ended.wait()
            control(until=1, process=ended.pid)
            run("--capture", folder, "--", compiled("nbody.cu"), cwd=HERE)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_variable_says_how_many_gpus_there_are(self):
        ran = run("--", compiled("memory.cu"), cwd=HERE, env={**os.environ, "WARPSCOPE_GPUS": "2"})
        self.assertIn("2 GPUs, the second cudaSuccess, current 1, access 1", ran.stdout)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_the_gpu_has_the_compute_capability_that_the_program_was_compiled_for(self):
        for flags, said in (("", "7.5, the kernel is for 750, clusters 0, L2 0"),
                            ("-arch=sm_80", "8.0, the kernel is for 800, clusters 0, L2 1"),
                            ("-arch=sm_90", "9.0, the kernel is for 900, clusters 1, L2 1"),
                            ("-arch=sm_120", "12.0, the kernel is for 1200, clusters 1, L2 1"),
                            ("-arch=sm_121", "12.0, the kernel is for 1210, clusters 1, L2 1"),
                            ("-arch=sm_90 -rdc=true", "9.0, the kernel is for 900, clusters 1, L2 1"),
                            ("-gencode=arch=compute_75,code=compute_75 -gencode=arch=compute_80,code=compute_80",
                             "8.0, the kernel is for 800, clusters 0, L2 1")):
            with self.subTest(flags=flags):
                self.assertEqual(run("--", compiled(f"capability.cu {flags}"), cwd=HERE).stdout, said + "\n")
        chosen = run("--", compiled("capability.cu"), cwd=HERE, env={**os.environ, "WARPSCOPE_COMPUTE_CAPABILITY": "8.0"})
        self.assertEqual(chosen.stdout, "8.0, the kernel is for 750, clusters 0, L2 1\n")

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_why_machine_code_does_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            machine_code = Path(folder, "library.cubin")  # without -lineinfo it does not hold its PTX
            subprocess.run([NVCC, "-cubin", "-arch=sm_75", "-o", machine_code, HERE / "library.cu"], check=True)
            loaded = run("--", sys.executable, "-c",
                         "import ctypes\ndriver, module = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
                         f"print(driver.cuInit(0), driver.cuModuleLoad(ctypes.byref(module), b'{machine_code}'))")
        self.assertEqual(loaded.stdout, "0 209\n")  # CUDA_ERROR_NO_BINARY_FOR_GPU
        self.assertIn("it holds machine code only, and the emulator runs PTX", loaded.stderr)

    def test_a_program_finds_the_driver_by_the_name_of_a_file(self):
        done = run("--", sys.executable, "-c",
                   "import ctypes, os\n"
                   "folder = os.environ['LD_LIBRARY_PATH'].split(':')[0]\n"
                   "for name in ['libcuda.so', 'libcuda.so.1']:\n"
                   "    assert os.path.isfile(folder + '/' + name)\n"
                   "    driver, count = ctypes.CDLL(folder + '/' + name), ctypes.c_int()\n"
                   "    print(driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count)), count.value)\n"
                   "print(os.environ['LD_LIBRARY_PATH'].endswith(':/mine'))",
                   env={**os.environ, "LD_LIBRARY_PATH": "/mine"})
        self.assertEqual(done.stdout, "0 0 1\n0 0 1\nTrue\n", done.stderr)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_library_whose_runtime_cannot_be_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder, "libstripped.so")
            subprocess.run(["strip", "-s", "-o", stripped, compiled("library.cu -shared -Xcompiler=-fPIC")],
                           check=True)
            loaded = run("--", sys.executable, "-c",
                         f"import ctypes\nprint(ctypes.CDLL('{stripped}').twice_of(21))")
        self.assertEqual(loaded.stdout, "-1\n")
        self.assertIn(f"{stripped} is stripped, so the CUDA runtime in it cannot be replaced", loaded.stderr)

    def test_findings_of_a_script_name_its_lines(self):
        for library in ("CDLL", "PyDLL"):  # the first one gives up the lock of Python for each call
            with self.subTest(library=library), tempfile.TemporaryDirectory() as folder:
                script = Path(folder, "copies.py")
                script.write_text(
                    f"import ctypes\ndriver = ctypes.{library}('libcuda.so.1')\n"
                    "address, values = ctypes.c_uint64(), (ctypes.c_char * 32)()\n"
                    "driver.cuInit(0)\n"
                    "def copy(bytes):\n"
                    "    driver.cuMemcpyHtoD_v2(address, values, ctypes.c_size_t(bytes))\n"
                    "driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(16))\n"
                    "copy(16)\n"
                    "copy(32)\n")
                ran = run("--check", "memory", "--", sys.executable, script, cwd=folder)
                self.assertEqual(ran.returncode, 1, ran.stderr)
                self.assertIn("wrong call at copies.py:6 (called at copies.py:9)", report_of(ran))
                self.assertIn("allocated at copies.py:7", report_of(ran))

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_library_that_is_loaded_later_does_not_change_the_compute_capability(self):
        library = compiled("library.cu -shared -Xcompiler=-fPIC -arch=sm_90")
        script = ("import ctypes\ndriver = ctypes.CDLL('libcuda.so.1')\ndef major():\n    value = ctypes.c_int()\n"
                  "    assert driver.cuInit(0) == driver.cuDeviceGetAttribute(ctypes.byref(value), 75, 0) == 0\n"
                  f"    return value.value\nprint(major(), ctypes.CDLL('{library}').twice_of(21), major())")
        self.assertEqual(run("--", sys.executable, "-c", script).stdout, "7 42 7\n")

    def test_a_captured_launch_without_a_source_has_its_ptx(self):
        with tempfile.TemporaryDirectory() as folder:
            run("--capture", folder, "--", DRIVER_PROGRAM)
            file = Path(folder, "00001-add_one.launch.json")
            launch = json.loads(file.read_text())
            self.assertIn(".entry add_one(", Path(folder, launch["source"]).read_text())
            ran = run("--headless", "--launch", file)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            # 1 2 3 4: three threads add one each.
            self.assertRegex(ran.stdout, r"Smallest number of data +2\n")

    def test_the_recorder_writes_what_a_driver_does(self):
        with tempfile.TemporaryDirectory() as folder:
            # The emulator is the driver here.
            Path(folder, "libcuda.so.1").symlink_to(WARPSCOPE.parent / "libwarpscope_cuda.so")
            to = Path(folder, "capture")
            to.mkdir()
            ran = subprocess.run([DRIVER_PROGRAM], capture_output=True, text=True, timeout=300, env={
                **os.environ, "LD_LIBRARY_PATH": folder, "WARPSCOPE_CAPTURE": str(to),
                "LD_PRELOAD": str(WARPSCOPE.parent / "libwarpscope_recorder.so")})
            self.assertIn("copy back 0: 2 3 4 4 ", ran.stdout.splitlines())
            self.assertIn("a launch of not_known is not captured", ran.stderr)
            # The second launch has too many threads.
            self.assertEqual([file.name for file in to.glob("*.launch.json")],
                             ["00001-add_one.launch.json"])
            before, after = (tuple(struct.unpack("4i", Path(to, name).read_bytes())) for name in (
                self.memory_of(to, "buffers"), self.memory_of(to, "expect")))
            self.assertEqual((before, after), ((1, 2, 3, 4), (2, 3, 4, 4)))

    def memory_of(self, folder, what):
        launch = json.loads(Path(folder, "00001-add_one.launch.json").read_text())
        if what == "expect":
            return launch["expect"][0]["equals"]["file"]
        return next(iter(launch["buffers"].values()))["fill"]["file"]

    def test_a_capture_is_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "add.wslaunch")
            run("--capture", file, "--", DRIVER_PROGRAM)
            with zipfile.ZipFile(file) as archive:
                self.assertIn("00001-add_one.launch.json", archive.namelist())
            ran = run("--headless", "--launch", file, env={**os.environ, "XDG_CACHE_HOME": folder})
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("All 4 numbers are as expected, bit for bit.", ran.stdout)
            none = Path(folder, "none.wslaunch")
            self.assertIn("no launch was captured", run("--capture", none, "--", "true").stderr)
            self.assertFalse(none.exists())

    def test_a_program_that_loads_the_driver_gets_the_documented_statuses(self):
        ran = run("--", DRIVER_PROGRAM)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.splitlines(), [
            "init 0, count 0: 1, context 0",
            "module 0, kernel 0, missing 500, unknown 0",
            "memory 0, copy 0, too long 1",
            "launch 0, too large 1, unknown 801",
            "copy back 0: 2 3 4 4 ",
            "free 0, again 1",
            "a function that is missing: 801"])
        self.assertIn("not_known is not launched", ran.stderr)
        self.assertIn("cuThisIsNoFunction() is not supported", ran.stderr)

    def test_wrong_calls_are_errors_of_the_memory_check(self):
        ran = run("--check", "memory", "--", DRIVER_PROGRAM)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("cuMemcpyHtoD_v2() failed: a copy to the device: 17 bytes from byte 0 of an "
                      "allocation of 16 bytes, allocated at ", report_of(ran))

    def test_json_and_sarif_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            json_file, sarif_file = Path(folder, "r.json"), Path(folder, "r.sarif")
            run("--check", "memory", "--json", json_file, "--sarif", sarif_file, "--",
                DRIVER_PROGRAM)
            result = json.loads(json_file.read_text())
            self.assertEqual(result["command"], [str(DRIVER_PROGRAM)])
            self.assertEqual(result["exit_status"], 0)
            kernels = result["processes"][0]["kernels"]
            self.assertEqual([(k["name"], k["launches"]) for k in kernels], [("add_one", 1)])
            self.assertEqual(result["processes"][0]["missing"], ["cuThisIsNoFunction"])
            findings = {f["sentence"].partition("(")[0]: f for f in result["findings"]}
            freed_twice = findings["cuMemFree_v2"]
            self.assertEqual((freed_twice["kind"], freed_twice["count"]), ("call", 1))
            source, wrapper = str(HERE / "driver_program.cpp"), line_of("return function ?")
            self.assertEqual(str(Path(freed_twice["first"]["file"]).resolve()), source)
            self.assertEqual(freed_twice["first"]["line"], line_of("again %d"))
            self.assertEqual([(str(Path(header["file"]).resolve()), header["line"])
                              for header in freed_twice["first"]["inlined"]], [(source, wrapper)])
            self.assertIsNone(freed_twice["first"]["thread"])
            sarif = json.loads(sarif_file.read_text())
            self.assertIn({"startLine": wrapper},
                          [r["locations"][0]["physicalLocation"]["region"]
                           for r in sarif["runs"][0]["results"]])
            self.assertFalse(sarif["runs"][0]["invocations"][0]["executionSuccessful"])

    def test_other_programs_keep_their_input_output_and_status(self):
        ran = run("--check", "race", "--", "sh", "-c", "cat; exit 7", input="through")
        self.assertEqual((ran.stdout, ran.returncode), ("through", 7))
        self.assertIn("has not used CUDA", ran.stderr)
        self.assertEqual(run("--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)

    def test_a_program_that_is_not_there_is_an_error_of_the_caller(self):
        ran = run("--", "./no_such_program")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("./no_such_program: cannot be started: No such file or directory", ran.stderr)
        for options in (["--launch", "x", "--", "true"], ["--"], ["--error-exitcode", "3", "--", "true"],
                        ["--json", "-", "--headless", "--", "true"], ["--capture", "x"],
                        ["--capture", "x", "--launches", "0", "--", "true"],
                        ["--capture", "x", "--launches", "3-1", "--", "true"],
                        ["--kernel", "k", "--", "true"]):
            self.assertEqual(run(*options).returncode, 2, options)

    def test_the_processes_that_a_program_starts_are_reported(self):
        ran = run("--", "sh", "-c", f"{DRIVER_PROGRAM} >/dev/null; {DRIVER_PROGRAM} >/dev/null")
        self.assertEqual(ran.stderr.count("add_one"), 2, ran.stderr)

    def test_the_printed_environment_checks_programs_without_the_app(self):
        printed = run("--print-environment", "--check", "memory")
        ran = subprocess.run(["sh", "-c", f"{printed.stdout}\nexec {DRIVER_PROGRAM}"],
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("CHECK SUMMARY (memory)", ran.stderr)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_program_without_the_app_never_ends_with_0_where_something_was_found(self):
        printed = run("--print-environment", "--check", "race").stdout
        for ending, status in (("_exit", 1), ("execv", 1), ("execl", 1), ("handler", 0), ("abort", -6)):
            with self.subTest(ending=ending):
                ran = subprocess.run(["sh", "-c", f"{printed}\nexec {compiled('endings.cu')} {ending}"],
                                     capture_output=True, text=True, timeout=300)
                self.assertEqual(ran.returncode, status, ran.stderr)
                # A handler of a signal may have interrupted anything, so that nothing can be printed.
                self.assertEqual("RAW race" in ran.stderr, ending != "handler")

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_kernel_that_fails_is_a_result_in_json_and_sarif(self):
        with tempfile.TemporaryDirectory() as folder:
            json_file, sarif_file = Path(folder, "r.json"), Path(folder, "r.sarif")
            for how, kinds in (("trap", ["failure"]), ("none", [])):
                run("--check", "race", "--json", json_file, "--sarif", sarif_file, "--",
                    compiled("failures.cu"), how, cwd=HERE)
                findings = json.loads(json_file.read_text())["findings"]
                self.assertEqual([(f["kind"], f["severity"]) for f in findings],
                                 [(kind, "error") for kind in kinds])
                results = json.loads(sarif_file.read_text())["runs"][0]["results"]
                self.assertEqual([(r["ruleId"], r["level"]) for r in results],
                                 [(kind, "error") for kind in kinds])

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_signal_that_comes_while_a_kernel_runs_leaves_its_line_and_what_was_found(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number), running_for_ever() as (app, program):
                # The app sends SIGTERM on; a terminal sends SIGINT to both.
                os.kill(app.pid if number == signal.SIGTERM else program, number)
                said = app.communicate(timeout=300)[1]
                self.assertEqual(app.returncode, 128 + number, said)
                self.assertEqual("count was stopped: block (0,0,0), " in said, number != signal.SIGKILL, said)
                self.assertIn("0 findings", said)
                self.assertIn("the process did not come to its end", said)

    @unittest.skipUnless(sys.argv[4:] != [""], "nvcc is not here")
    def test_a_program_ends_with_the_app(self):
        with running_for_ever() as (app, program):
            app.kill()
            app.communicate(timeout=300)
            while state_of(program) not in ("Z", "X", ""):
                time.sleep(0.01)

    def test_a_report_that_cannot_be_read_is_an_error_and_hides_no_other(self):
        # The program leaves half a report beside its own.
        spoil = "import os; open(os.environ['WARPSCOPE_REPORTS'] + '/a.json', 'w').write('{')"
        ran = run("--check", "race", "--", "sh", "-c",
                  f"{DRIVER_PROGRAM} >/dev/null; {sys.executable} -c \"{spoil}\"")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("a.json: no report of a program", ran.stderr)
        self.assertIn("add_one", ran.stderr)

    def test_values_of_the_printed_environment_are_words_of_the_shell(self):
        flags = "-DNAME=a'b $HOME"
        printed = run("--print-environment", env={**os.environ, "NVCC_APPEND_FLAGS": flags}).stdout
        ran = subprocess.run(["sh", "-c", f'{printed}\necho "$NVCC_APPEND_FLAGS"'],
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.stdout, f"{flags} -lineinfo\n", ran.stderr)

    def test_a_signal_that_comes_while_the_program_starts_is_for_the_program(self):
        for _ in range(5):
            app = subprocess.Popen([WARPSCOPE, "--", "sleep", "1000"], stderr=subprocess.PIPE)
            while not has_handler(app.pid):  # from then on SIGTERM does not end the app
                time.sleep(0)
            app.terminate()
            app.communicate(timeout=300)
            self.assertEqual(app.returncode, 128 + signal.SIGTERM)


if __name__ == "__main__":
    WARPSCOPE, DRIVER_PROGRAM = (Path(path).resolve() for path in sys.argv[1:3])
    FOLDER, NVCC = Path(sys.argv[3]).resolve(), sys.argv[4]
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
