"""Runs n-body in several processes that mpirun starts, on the emulator: their number changes no
bit of the results, and a process that fails ends all of them.

usage: ranks_test.py WARPSCOPE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from mpirun import ENVIRONMENT, MPIRUN, ranks_of, runs, seconds_of, unlike_rank_0  # noqa: E402

WARPSCOPE = ""
IN_ORDER = ["float3", "float4", "tiled", "rsqrt", "unrolled", "several"]


def command(ranks, *arguments):
    program = [WARPSCOPE, "--headless", "--experiment", "nbody", "--device", "emulator"]
    return [*MPIRUN, "-n", str(ranks), *program, *arguments]


def start_command(words):
    return subprocess.Popen(words, env={**os.environ, **ENVIRONMENT}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def start(ranks, *arguments):
    return start_command(command(ranks, *arguments))


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(Path(self.folder.name) / name)

    def run_ranks(self, ranks, *arguments):
        """The results as JSON, and the picture."""
        picture = self.path("picture.png")
        done = start(ranks, "--json", "-", "--screenshot", picture, "--view-only", "--size",
                     "160x90", *arguments)
        out, err = done.communicate()
        self.assertEqual(done.returncode, 0, err)
        return json.loads(out), pixels(Path(picture).read_bytes())

    def assert_equal_results(self, one, many):
        for name in ("bodies", "relative_error", "energy_drift", "momentum_drift"):
            self.assertEqual(value(one, name), value(many, name), name)

    def test_the_number_of_ranks_changes_no_bit(self):
        # 1001 bodies: with 2 and 3 ranks the shares are uneven.
        for kernel in IN_ORDER:
            chosen = ["--set", f"nbody.kernel={kernel}", "--set", "nbody.bodies=1001",
                      "--frames", "3"]
            one, picture = self.run_ranks(1, *chosen)
            for ranks in (2, 3):
                with self.subTest(kernel=kernel, ranks=ranks):
                    many, picture_of_many = self.run_ranks(ranks, *chosen)
                    self.assertEqual(many["device"]["name"], f"{ranks} × SIMT emulator")
                    self.assertRegex(many["device"]["reason"], r"; Open MPI \d+\.\d+")
                    parts = reading(many, f"rank_{ranks - 1}")["parts_ms"]
                    self.assertGreater(parts["computes"], 0)
                    self.assert_equal_results(one, many)
                    self.assertTrue(picture == picture_of_many, "another picture")

    def test_more_ranks_than_bodies(self):
        for bodies in ("1", "2"):
            chosen = ["--set", f"nbody.bodies={bodies}", "--frames", "2"]
            one, picture = self.run_ranks(1, *chosen)
            many, picture_of_many = self.run_ranks(3, *chosen)
            self.assert_equal_results(one, many)
            self.assertTrue(picture == picture_of_many)

    def test_every_kernel_is_compared(self):
        many, _ = self.run_ranks(2, "--set", "nbody.bodies=300", "--compare")
        rows = many["comparison"]["rows"]
        self.assertEqual([row["id"] for row in rows],
                         [*IN_ORDER, "fast", "async", "bulk", "tiled_on_one"])
        self.assertEqual({row["verdict"] for row in rows}, {"pass"})
        self.assertRegex(many["comparison"]["scaling"],
                         r"^tiled: 2 ranks take .+ ms a step, one of them alone .+x as fast\.$")
        # The counts of a rank are divided by its own interactions.
        instructions = {row["id"]: row["counts"]["instructions_per_element"] for row in rows}
        self.assertAlmostEqual(instructions["tiled"] / instructions["tiled_on_one"], 1, delta=0.1)

    def test_a_checkpoint_of_3_ranks_goes_on_with_2(self):
        chosen = ["--set", "nbody.bodies=1001", "--set", "nbody.kernel=unrolled"]
        saved = self.path("bodies.checkpoint")
        whole, picture = self.run_ranks(1, *chosen, "--frames", "5")
        # Frames 2 and 4 are saved; the file holds frame 4.
        self.run_ranks(3, *chosen, "--frames", "4", "--checkpoint", saved, "--every", "2")
        self.assertEqual(os.listdir(self.folder.name).count("bodies.checkpoint"), 1)
        rest, picture_of_rest = self.run_ranks(2, "--resume", saved, "--frames", "5")
        self.assertEqual(rest["frames"], 5)
        self.assertEqual(rest["parameters"], whole["parameters"])
        self.assert_equal_results(whole, rest)
        self.assertTrue(picture == picture_of_rest, "another picture")

    def test_a_wrong_argument_is_one_line(self):
        done = start(3, "--set", "nbody.bodies=none")
        lines = [line for line in done.communicate()[1].splitlines()
                 if line.startswith("warpscope:")]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("bodies", lines[0])

    def test_what_only_one_process_can_do_is_refused_in_one_line(self):
        done = start(2, "--check", "race")
        err = done.communicate()[1]
        said = [line for line in err.splitlines() if line.startswith("warpscope:")]
        self.assertEqual(len(said), 1, err)
        self.assertIn("mpirun has started several processes", said[0])

    def test_other_experiments_run_on_rank_0_alone(self):
        words = [WARPSCOPE, "--headless", "--experiment", "ripple", "--device", "emulator"]
        done = start_command([*MPIRUN, "-n", "2", *words, "--json", "-"])
        out, err = done.communicate()
        self.assertEqual(done.returncode, 0, err)
        self.assertEqual(json.loads(out)["device"]["name"], "SIMT emulator")

    def test_a_killed_rank_ends_all_and_rank_0_says_which(self):
        self.expect_end(signal.SIGKILL, "was killed or has crashed$")

    def test_a_stopped_rank_ends_all_and_rank_0_says_which(self):
        self.expect_end(signal.SIGSTOP, r"has not answered for \d+ s$")

    def expect_end(self, sent, why):
        """Sends a signal to rank 2 while it computes: all end."""
        running = start(3, "--set", "nbody.bodies=5000", "--frames", "5000")
        try:
            self.wait_until(lambda: len(ranks_of(running.pid)) == 3)
            ranks = ranks_of(running.pid)
            self.wait_until(lambda: seconds_of(ranks[2]) > 1)
            os.kill(ranks[2], sent)
            err = running.communicate()[1]
        finally:
            running.kill()
        self.assertNotEqual(running.returncode, 0)
        said = [line for line in err.splitlines() if "warpscope: " in line]  # the rest: mpirun
        self.assertEqual(len(said), 1, err)
        self.assertRegex(said[0], rf"rank 2 \(process {ranks[2]} on .+\) {why}")
        self.wait_until(lambda: not any(map(runs, ranks.values())))

    def test_a_rank_that_fails_ends_all_and_rank_0_says_why(self):
        words = command(2)
        other = unlike_rank_0('exec "$0" --headless --experiment nbody --device cuda:99')
        program = words.index(WARPSCOPE)
        words[program:program] = other
        done = subprocess.run(words, env={**os.environ, **ENVIRONMENT}, text=True,
                              capture_output=True)
        said = [line for line in done.stderr.splitlines() if "warpscope: " in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], r"rank 1 \(process \d+ on .+\): .*GPU|cuda:99")
        self.assertNotEqual(done.returncode, 0)

    def wait_until(self, condition):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("this took longer than a minute")


def reading(results, name):
    return next(r for r in results["report"] if r["name"] == name)


def value(results, name):
    return reading(results, name)["value"]


def pixels(png):
    """The image data of a PNG file, without its texts, which name the device."""
    at, data = 8, b""
    while at < len(png):
        size = int.from_bytes(png[at:at + 4], "big")
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += 12 + size
    return data


if __name__ == "__main__":
    WARPSCOPE = sys.argv.pop(1)
    unittest.main()
