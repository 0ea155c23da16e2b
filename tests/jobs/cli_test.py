"""Runs the program and checks its output, its exit code and the files that it writes.

usage: cli_test.py PROGRAM
"""

import json
import os
import pty
import re
import resource
import selectors
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

PROGRAM = "warpscope"
KERNELS = Path(__file__).resolve().parents[2] / "kernels"
RIPPLE = ["--headless", "--device", "emulator", "--experiment", "ripple"]
NBODY = ["--headless", "--device", "emulator", "--experiment", "nbody"]
DOT = ["--headless", "--device", "emulator", "--experiment", "dot"]
REDUCTION = ["--headless", "--device", "emulator", "--experiment", "reduction"]

# A shell that starts the tests in the background ignores SIGINT for them, and for what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def read_png(path):
    """(raw scanline bytes, {keyword: text}) of a PNG."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, pixels, texts = 8, b"", {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IDAT":
            pixels += body
        elif kind == b"tEXt":
            keyword, text = body.split(b"\0", 1)
            texts[keyword.decode()] = text.decode("latin-1")
        elif kind == b"iTXt":
            keyword, rest = body.split(b"\0", 1)
            texts[keyword.decode()] = rest[2:].split(b"\0", 2)[2].decode()
        at += 12 + length
    return zlib.decompress(pixels), texts


def tipsy(dark, bodies, mass=1.0):
    """A tipsy file whose header promises `dark` particles and that holds `bodies`."""
    header = struct.pack("<diiiiii", 0.0, dark, 3, 0, dark, 0, 0)
    return header + b"".join(struct.pack("<9f", mass, i, 2 * i, 0, 0, 0, 0, 0, 0)
                             for i in range(bodies))


CSV = "x,y,z,vx,vy,vz,mass\n0,0,0,0,0,0,1\n1,0,0,0,1,0,1\n"


def limit(which, amount):
    """The argument of subprocess.run that gives the program a limit of resource.RLIMIT_…"""
    return {"preexec_fn": lambda: resource.setrlimit(which, (amount, amount))}


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *arguments, **options):
        # Mesa would keep compiled shaders in a folder of its own.
        environment = {**os.environ, "HOME": str(self.folder / "home"),
                       "XDG_CONFIG_HOME": str(self.folder / "home"),
                       "MESA_SHADER_CACHE_DISABLE": "true"}
        environment.update(options.pop("environment", {}))
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                              stderr=subprocess.PIPE, env=environment,
                              stdin=subprocess.DEVNULL, **options)

    def files(self):
        return sorted(str(f.relative_to(self.folder)) for f in self.folder.rglob("*"))

    def expect_refusal(self, arguments, code, pattern, **options):
        before = self.files()
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assertRegex(done.stderr, r"\Awarpscope: [^\n]+\n\Z")
        self.assertFalse(done.stdout)
        self.assertEqual(self.files(), before)

    def expect_success(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout


class Refusals(CommandLine):
    def test_arguments(self):
        for arguments, pattern in [
            (["--nonsense"], r"--nonsense.*--help"),
            (["ripple"], r"ripple.*--help"),
            (["--headless"], r"--experiment"),
            (["--headless", "--experiment", "rippel"], r"rippel.*ripple"),
            (["--headless", "--experiment", "ripple", "--frames", "many"], r"--frames many"),
            (["--headless", "--experiment", "ripple", "--size", "big"], r"--size big.*WIDTHxHEIGHT"),
            ([*RIPPLE, "--math", "exact"], r"--math exact.*precise, fast"),
            ([*RIPPLE, "--schedule", "fifo"], r"--schedule fifo.*run-to-barrier"),
            ([*RIPPLE, "--barriers", "pascal"], r"--barriers pascal.*before-volta"),
            (["--headless", "--experiment", "ripple", "--device", "gpu"],
             r"--device gpu.*emulator"),
            (["--headless", "--experiment", "ripple", "--device", "cuda:x"], r"cuda:x"),
            (["--screenshot", "a.png"], r"--screenshot.*--headless"),
            ([*RIPPLE, "--check", "races"], r"--check races.*race, barrier, memory"),
            ([*RIPPLE, "--screenshot", "x.jpg"], r"--screenshot x\.jpg.*\.png"),
            ([*RIPPLE, "--microscope", "999,999@1", "--screenshot", "a.png"],
             r"--microscope 999,999@1: the launch has 64x64x1 blocks, up to 63,63"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern)

    def test_parameters(self):
        for arguments, pattern in [
            ([*RIPPLE, "--set", "ripple.synk=off"], r"synk.*sync"),
            ([*RIPPLE, "--set", "ripple.sync=perhaps"], r"sync.*perhaps.*on\|off"),
            ([*RIPPLE, "--set", "ripple.size=0"], r"size.*0.*\.\."),
            ([*RIPPLE, "--set", "ripple.size=99999999"], r"size.*99999999.*\.\."),
            ([*RIPPLE, "--set", "ripple.size=12.5"], r"size.*12\.5"),
            ([*RIPPLE, "--set", "dot.n=5"], r"dot\.n.*--experiment dot"),
            ([*NBODY, "--set", "nbody.bodies=0"], r"bodies.*0"),
            ([*NBODY, "--set", "nbody.kernel=float5"], r"kernel.*float5.*float3\|float4\|tiled"),
            ([*NBODY, "--set", "nbody.dt=nan"], r"dt.*nan"),
            ([*DOT, "--set", "dot.n=-3"], r"n.*-3"),
            ([*REDUCTION, "--set", "reduction.block=100000"], r"block.*100000"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern)

    def test_missing_devices(self):
        self.expect_refusal(["--headless", "--experiment", "ripple", "--device", "cuda:99"], 1,
                            r"cuda:99|no GPU")

    def test_paths_that_cannot_be_written(self):
        (self.folder / "file").write_text("kept")
        (self.folder / "folder").mkdir()
        for option in ["--screenshot", "--json"]:
            for path in ["missing/a.png", "file/a.png", "folder", "folder/", "n" * 300]:
                with self.subTest(option=option, path=path):
                    self.expect_refusal([*RIPPLE, option, path], 2,
                                        re.escape(f"{option} {path}") + ".*name a file")
        self.expect_refusal(["--list", "--json", "missing/a.json"], 2, r"--json missing/a\.json")
        self.assertEqual((self.folder / "file").read_text(), "kept")

    def test_two_outputs_in_one_file(self):
        self.expect_refusal([*RIPPLE, "--screenshot", "a.png", "--json", "./a.png"], 2,
                            r"--screenshot and --json both name \./a\.png")

    def test_the_limit_of_a_file_is_named(self):
        self.expect_refusal([*RIPPLE, "--json", "a.json"], 1, r"a\.json failed: File too large",
                            **limit(resource.RLIMIT_FSIZE, 512))

    @unittest.skipIf(os.environ.get("WARPSCOPE_SANITIZE"), "sanitizers need files themselves")
    def test_the_limit_of_open_files_is_named(self):
        (self.folder / "k.cu").write_text("__global__ void k() {}")
        self.expect_refusal(["--headless", "--experiment", "ripple", "--kernel-source", "k.cu",
                             "--device", "emulator"], 1, r"Too many open files",
                            **limit(resource.RLIMIT_NOFILE, 8))

    def test_bodies_files(self):
        cases = {
            "missing.bin": (None, r"missing\.bin"),
            "empty.bin": (b"", r"empty\.bin"),
            "truncated.bin": (tipsy(10, 4)[:-5], r"truncated\.bin.*byte"),
            "longer.bin": (tipsy(3, 4), r"longer\.bin.*byte"),
            "nan.bin": (tipsy(5, 5, float("nan")), r"nan\.bin.*byte"),
            "negative.bin": (tipsy(5, 5, -1.0), r"negative\.bin.*byte"),
            "nan.csv": ((CSV + "nan,0,0,0,0,0,1\n").encode(), r"nan\.csv.*(line|:)\s*4"),
            "columns.csv": ((CSV + "1,2,3\n").encode(), r"columns\.csv.*(line|:)\s*4"),
            "words.csv": ((CSV + "a,b,c,d,e,f,g\n").encode(), r"words\.csv.*(line|:)\s*4"),
            "heading.csv": (b"x,y,z,vx,vy,vz,mass\n", r"heading\.csv"),
        }
        for name, (content, pattern) in cases.items():
            with self.subTest(file=name):
                if content is not None:
                    (self.folder / name).write_bytes(content)
                self.expect_refusal([*NBODY, "--bodies", name, "--json", "out.json"], 2, pattern)
        (self.folder / "folder.csv").mkdir()
        self.expect_refusal([*NBODY, "--bodies", "folder.csv"], 2, r"folder\.csv")

    def test_no_escape_sequence_reaches_the_terminal(self):
        (self.folder / "red.csv").write_text(CSV + "1,0,\x1b[31m,0,1,0,1\n")
        for arguments, pattern in [
            (["--headless", "--experiment", "rip\x1b[31mple"], r"rip\\x1b\[31mple"),
            ([*NBODY, "--bodies", "red.csv"], r"line 4: z is \"\\x1b\[31m\""),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern)

    def test_failing_standard_output(self):
        with open("/dev/full", "w") as full:
            for arguments in [["--list"], ["--help"], ["--version"], [*RIPPLE, "--json", "-"]]:
                with self.subTest(arguments=arguments):
                    self.expect_refusal(arguments, 1, r"standard output", stdout=full)

    def test_closed_standard_output(self):
        # The file of the picture must not get the number 1 and receive the printed text.
        before = self.files()
        command = shlex.join([PROGRAM, *RIPPLE, "--set", "ripple.size=32", "--screenshot", "a.png",
                              "--view-only"])
        done = subprocess.run(["sh", "-c", command + " >&-"], cwd=self.folder, text=True,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"standard output")
        self.assertEqual(self.files(), before + ["a.png"])
        read_png(self.folder / "a.png")

    def test_a_full_disk(self):
        self.expect_refusal([*RIPPLE, "--set", "ripple.size=32", "--json", "/dev/full"], 1,
                            r"/dev/full")

    def test_more_than_the_memory(self):
        limits = limit(resource.RLIMIT_AS, 1 << 30)
        if self.run_program("--version", **limits).returncode != 0:
            self.skipTest("a sanitizer's address space is larger")
        for arguments in [[*DOT, "--set", "dot.n=268435456"],
                          [*REDUCTION, "--set", "reduction.n=268435456"]]:
            with self.subTest(arguments=arguments):
                self.expect_refusal([*arguments, "--json", "out.json"], 2, r"smaller", **limits)

    def test_parameters_of_the_window(self):
        for arguments, pattern in [
            (["--set", "ripple.size=x"], r"ripple: size: .x. .*16\.\.4096"),
            (["--experiment", "ripple", "--set", "nbody.bogus=1"], r"nbody: .*bogus.*bodies"),
            (["--microscope", "here"], r"--microscope here: .*12,7@214"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern, environment={"DISPLAY": ""})

    def test_no_display(self):
        self.expect_refusal(["--device", "emulator"], 1, r"(?i)display.*--headless",
                            environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""})


class Answers(CommandLine):
    def test_help_and_version(self):
        text = self.expect_success("--help")
        self.assertIn("Examples:", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertRegex(self.expect_success("--version"), r"\Awarpscope \d+\.\d+\.\d+\n\Z")

    def test_list(self):
        text = self.expect_success("--list")
        listed = json.loads(self.expect_success("--list", "--json", "-"))
        for experiment in listed["experiments"]:
            for parameter in experiment["parameters"]:
                self.assertIn(f"  {parameter['id']} ", text)
        self.assertEqual(self.expect_success("--list", "--json", "l.json"), "")
        self.assertEqual(json.loads((self.folder / "l.json").read_text()), listed)

    def test_defaults_are_legal(self):
        """--set accepts each default that --list prints."""
        listed = json.loads(self.expect_success("--list", "--json", "-"))
        for experiment in listed["experiments"]:
            sets = []
            for parameter in experiment["parameters"]:
                sets += ["--set", f"{parameter['id']}={parameter['default']}"]
            with self.subTest(experiment=experiment["id"]):
                self.expect_success("--headless", "--device", "emulator", "--experiment",
                                    experiment["id"], *sets)

    def test_json_and_summary(self):
        result = json.loads(self.expect_success(*RIPPLE, "--set", "ripple.size=64", "--frames", 3,
                                                "--json", "-"))
        self.assertEqual(result["frames"], 3)
        self.assertEqual(result["parameters"]["ripple.size"], 64)
        text = self.expect_success(*RIPPLE, "--set", "ripple.size=64", "--json", "r.json")
        for reading in json.loads((self.folder / "r.json").read_text())["report"]:
            self.assertIn(reading["label"], text)
        self.assertEqual(self.files(), ["r.json"])

    def test_a_missing_barrier_is_a_finding(self):
        result = json.loads(self.expect_success(*RIPPLE, "--set", "ripple.sync=off", "--set",
                                                "ripple.size=256", "--json", "-"))
        wrong = next(r for r in result["report"] if r["name"] == "wrong_pixels")
        self.assertGreater(wrong["value"], 0)
        self.assertEqual(wrong["verdict"], "finding")

    def test_it_says_why_a_pixel_is_wrong(self):
        broken = [*RIPPLE, "--set", "ripple.sync=off", "--set", "ripple.size=64", "--why"]
        why = json.loads(self.expect_success(*broken, "first", "--json", "-"))["why"]
        x, y = map(int, re.fullmatch(r"pixel \((\d+), (\d+)\)", why["element"]).groups())
        self.assertRegex(why["brief"], rf"expected \d+: thread \({x % 16},{y % 16}\) read before "
                                       r"warp \d wrote")
        self.assertEqual(why["block"][:2], [x // 16, y // 16])
        # The last instruction stores the pixel, in both runs; only the right one has the store of the tile.
        for side in ("slice", "right_slice"):
            self.assertIn("st.global.u32", why[side]["lines"][0])
        self.assertIn("st.shared.f32", "".join(why["right_slice"]["lines"]))
        self.assertNotIn("st.shared", "".join(why["slice"]["lines"]))
        text = self.expect_success(*broken, f"{x},{y}")
        self.assertIn(f"why pixel ({x}, {y}) is wrong\n  {why['brief']}\n", text)
        self.expect_refusal([*broken, "64,0"], 2, r"--why: '64,0' is no element .* X,Y of the picture")

    def test_a_delayed_reader_hides_the_race(self):
        stamped = [*RIPPLE, "--set", "ripple.size=128", "--set", "ripple.layout=stamped", "--set",
                   "ripple.sync=off", "--frames", 4, "--json", "-"]
        late = ["--set", "ripple.delayed=all", "--set", "ripple.delay_before=read", "--set",
                "ripple.delay=2000"]
        def stale_reads(*arguments):
            report = json.loads(self.expect_success(*stamped, *arguments))["report"]
            return next(r for r in report if r["name"] == "stale_reads")
        self.assertLess(stale_reads(*late)["value"], stale_reads()["value"])
        recent = stale_reads(*late)["recent"]
        self.assertEqual(len(recent), 4)
        self.assertEqual(recent[-1], stale_reads(*late)["value"])

    def test_barrier_policies(self):
        divergent = [*DOT, "--set", "dot.kernel=divergent"]
        for policy, words in [("volta", "Under Volta rules"),
                              ("before-volta", "Under the rules before Volta")]:
            result = json.loads(self.expect_success(*divergent, "--barriers", policy, "--json",
                                                    "-"))
            self.assertEqual(result["barriers"], policy)
            sentences = " ".join(r["sentence"] for r in result["report"])
            self.assertIn(words, sentences)
        done = self.run_program(*divergent, "--barriers", "strict")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"dot\.cu:\d+.*must arrive at a barrier together")
        line = int(re.search(r"dot\.cu:(\d+)", done.stderr)[1])
        source = (KERNELS / "dot.cu").read_text().split("\n")
        self.assertIn("__syncthreads();", source[line - 1])
        self.assertIn("+=", source[line - 3])  # the barrier inside the `if`, after its comment

    def test_checks(self):
        ripple = ["--check", "race,barrier,memory", "--experiment", "ripple", "--set",
                  "ripple.size=64"]
        for device in ["emulator", "auto"]:
            text = self.expect_success(*ripple, "--device", device)
            self.assertIn("CHECK SUMMARY (race, barrier, memory): 0 findings", text)
        done = self.run_program(*ripple, "--set", "ripple.sync=off", "--json", "-")
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(done.stdout)["findings"]
        self.assertEqual(sum(f["count"] for f in found if f["kind"] == "race"), 16 * 256)
        self.assertTrue(all("__syncthreads() is missing" in f["sentence"]
                            for f in found if f["kind"] == "race"))

    def test_checks_write_sarif(self):
        ripple = ["--check", "race", "--experiment", "ripple", "--set", "ripple.size=64", "--sarif",
                  "found.sarif"]
        self.expect_success(*ripple)
        log = json.loads((self.folder / "found.sarif").read_text())
        self.assertEqual(log["runs"][0]["results"], [])
        done = self.run_program(*ripple, "--set", "ripple.sync=off")
        self.assertEqual(done.returncode, 1, done.stderr)
        log = json.loads((self.folder / "found.sarif").read_text())
        races = [r for r in log["runs"][0]["results"] if r["ruleId"] == "race"]
        self.assertEqual(sum(r["properties"]["count"] for r in races), 16 * 256)
        for race in races:
            place = race["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], "kernels/ripple.cu")
            self.assertIn(f"kernels/ripple.cu:{place['region']['startLine']}",
                          race["message"]["text"])
        self.expect_refusal(ripple[:-1] + ["/nowhere/a.sarif"], 2, "/nowhere/a.sarif")

    def test_counters(self):
        nbody = ["--counters", "--experiment", "nbody", "--set", "nbody.bodies=256", "--set",
                 "nbody.block=64", "--set", "nbody.kernel=tiled"]
        for device in ["emulator", "auto"]:
            text = self.expect_success(*nbody, "--device", device)
            self.assertRegex(text, r"nbody_tiled: \d+ launch(es)?, \d+ blocks, ")
        counted = json.loads(self.expect_success(*nbody, "--check", "race", "--json", "-"))
        self.assertEqual(counted["findings"], [])
        tiled = next(k for k in counted["counters"] if k["kernel"] == "nbody_tiled")
        # 4 blocks of 2 warps, 4 tiles, 2 barriers a tile; each warp reads all 256 bodies.
        self.assertEqual(tiled["blocks"], 4 * tiled["launches"])
        self.assertEqual(tiled["barriers"], 4 * tiled["blocks"] * 2)
        warps = 2 * tiled["blocks"]
        self.assertEqual(tiled["shared"]["loads"]["requests"], warps * 256)
        self.assertEqual(tiled["global"]["loads"]["sectors"], warps * (1 + 4 + 1) * 16)

    def test_heat(self):
        dot = ["--counters", "--heat", "reads", "--experiment", "dot", "--set", "dot.n=4096"]
        self.assertIn("cache, shared memory, 4096 bytes", self.expect_success(*dot))
        counted = json.loads(self.expect_success(*dot, "--json", "-"))["counters"]
        book = next(k for k in counted if k["kernel"] == "dot_book")
        arrays = {array["name"]: array for array in book["heat"]}
        self.assertEqual(set(arrays), {"cache", "a", "b", "partial"})
        # Every element is read once in each launch.
        self.assertEqual(arrays["a"]["runs"], [{
            "first": 0, "words": 4096, "reads": book["launches"], "writes": 0, "atomics": 0,
            "conflicts": 0}])

    def test_bodies(self):
        (self.folder / "two.csv").write_text(CSV)
        (self.folder / "five.bin").write_bytes(tipsy(5, 5))
        for name in ["two.csv", "five.bin"]:
            result = json.loads(self.expect_success(*NBODY, "--bodies", name, "--json", "-"))
            self.assertEqual(result["parameters"]["nbody.file"], name)
            error = next(r for r in result["report"] if r["name"] == "relative_error")
            self.assertEqual(error["verdict"], "pass")

    def test_the_command_in_a_picture_makes_it_again(self):
        racy = [*RIPPLE, "--set", "ripple.sync=off", "--set", "ripple.size=200", "--frames", 2]
        self.expect_success(*racy, "--seed", 7, "--view-only", "--screenshot", "a.png")
        pixels, texts = read_png(self.folder / "a.png")
        command = shlex.split(texts["command"])
        command[command.index("--screenshot") + 1] = "b.png"
        self.expect_success(*command[1:])
        self.assertTrue(read_png(self.folder / "b.png")[0] == pixels, texts["command"])
        self.expect_success(*racy, "--seed", 8, "--view-only", "--screenshot", "c.png")
        self.assertFalse(read_png(self.folder / "c.png")[0] == pixels, "both seeds drew the same")
        self.assertEqual(self.files(), ["a.png", "b.png", "c.png"])

    def test_a_picture_of_the_open_microscope(self):
        self.expect_success(*RIPPLE, "--set", "ripple.size=64", "--size", "1000x700",
                            "--microscope", "1,2@40", "--screenshot", "a.png")
        pixels, texts = read_png(self.folder / "a.png")
        self.assertIn("--microscope 1,2@40", texts["command"])
        command = shlex.split(texts["command"])
        command[command.index("--screenshot") + 1] = "b.png"
        self.expect_success(*command[1:])
        same, _ = read_png(self.folder / "b.png")
        self.assertEqual(len(same), len(pixels))

    def test_screenshots_with_panels(self):
        for experiment in ["ripple", "nbody", "dot", "reduction"]:
            with self.subTest(experiment=experiment):
                self.expect_success("--headless", "--device", "emulator", "--experiment",
                                    experiment, "--size", "900x600", "--screenshot", "w.png")
                raw, texts = read_png(self.folder / "w.png")
                self.assertEqual(len(raw) % 600, 0)
                self.assertGreater(len(set(raw)), 100)
                self.assertIn("--size 900x600", texts["command"])


class Signals(CommandLine):
    """Runs whose frames would take hours, with standard error on a terminal."""

    LONG = [*NBODY, "--frames", 1000000, "--force", "--size", "320x200", "--view-only",
            "--screenshot", "a.png", "--json", "a.json"]

    def start(self, *arguments, **options):
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=end,
                                   text=True, **options)
        os.close(end)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.shown = ""
        self.terminal = terminal
        return process

    def wait_for(self, pattern):
        """Reads the terminal until it has shown the pattern."""
        while not re.search(pattern, self.shown):
            self.shown += os.read(self.terminal, 4096).decode(errors="replace")

    def test_partial_results_are_written_before_the_end(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(signal=number):
                process = self.start(*self.LONG, "--set", "nbody.bodies=512")
                self.wait_for(r"frame [1-9]\d*/1000000 · \S+ \S+ a frame · about \S+ \w+ left")
                process.send_signal(number)
                text, _ = process.communicate()
                self.assertEqual(process.returncode, -number)
                self.assertRegex(text, r"partial results: .* after frame \d+ of 1000000\n")
                result = json.loads((self.folder / "a.json").read_text())
                self.assertEqual(result["partial"],
                                 {"frames_requested": 1000000, "missing": []})
                self.assertGreater(result["frames"], 0)
                names = [reading["name"] for reading in result["report"]]
                self.assertIn("relative_error", names)
                _, texts = read_png(self.folder / "a.png")
                self.assertEqual(texts["frame"], str(result["frames"]))
                self.assertEqual(texts["partial"],
                                 f"stopped after frame {result['frames']} of 1000000")
                self.assertEqual(self.files(), ["a.json", "a.png"])

    def test_nothing_is_written_before_the_first_frame(self):
        process = self.start(*self.LONG, "--set", "nbody.bodies=1048576")
        self.wait_for(r"on SIMT emulator\r?\n")
        self.wait_for(r"frame 0/1000000 · about .* a frame · about .* in all")
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.wait_for(r"before its first frame; nothing was written")
        self.assertEqual(text, "")
        self.assertEqual(self.files(), [])

    def test_a_signal_that_is_ignored_stays_ignored(self):
        process = self.start(*NBODY, "--frames", 40, "--set", "nbody.bodies=4096", "--json", "-",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        with selectors.DefaultSelector() as ended:
            ended.register(process.stdout, selectors.EVENT_READ)
            while not ended.select(timeout=0):
                process.send_signal(signal.SIGINT)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(text)["frames"], 40)
        self.assertIsNone(json.loads(text)["partial"])

    def test_a_pipe_gets_no_line(self):
        self.expect_success(*NBODY, "--frames", 40, "--set", "nbody.bodies=4096")

    def test_a_run_of_hours_is_refused(self):
        long = [a for a in self.LONG if a != "--force"]
        self.expect_refusal([*long, "--set", "nbody.bodies=1048576"], 2,
                            r"nbody: about .* a frame and .* in all .*--force")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
