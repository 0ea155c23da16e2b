"""mpirun starts the app twice: rank 0 has the window, and both move the bodies.

usage: ranks.py PROGRAM [Ranks.NAME]
"""
import os
import pathlib
import shutil
import signal
import sys

from driver import read_png, wait_for
from scenario import BODIES, Scenario, main
from session import line_of

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from mpirun import ENVIRONMENT, MPIRUN, ranks_of, runs, seconds_of, unlike_rank_0  # noqa: E402

TOGETHER = "2 × SIMT emulator"
ALONE = "SIMT emulator"


class Ranks(Scenario):
    def setUp(self):
        super().setUp()
        library = pathlib.Path(self.program).parent / "libwarpscope_mpi.so"
        if not shutil.which("mpirun") or not library.exists():
            self.skipTest("built without MPI")
        os.environ |= ENVIRONMENT

    def start_ranks(self, *arguments):
        """Rank 1 finds no display."""
        before = [*MPIRUN, "-n", "2", *unlike_rank_0("unset DISPLAY")]
        app = self.start(*arguments, before=before)
        self.ranks = wait_for("two ranks", lambda: len(found := ranks_of(app.pid)) == 2 and found)
        self.addCleanup(self.kill)
        return app

    def kill(self):
        for pid in self.ranks.values():
            if runs(pid):
                os.kill(pid, signal.SIGKILL)

    def expect_end(self):
        wait_for("the end of both ranks", lambda: not any(map(runs, self.ranks.values())))

    def moves(self, app):
        """Waits for further frames of the bodies."""
        before = app.frame()
        wait_for("further frames", lambda: app.frame() > before + 2)

    def test_two_ranks_follow_every_control_until_the_window_is_closed(self):
        app = self.start_ranks(*BODIES)
        app.wait_value("device.name", TOGETHER)
        self.moves(app)
        app.type_into("nbody.softening", "0.1")
        self.moves(app)
        for kernel in ("float3", "fast"):
            app.choose("nbody.kernel", kernel)
            self.moves(app)
        app.type_into("nbody.bodies", "301")
        wait_for("301 bodies", lambda: app.value("result.bodies") == "301")
        self.moves(app)
        app.key("r")
        self.moves(app)
        app.pause()
        picture, texts = read_png(self.saved(app, "F12"))
        self.assertEqual(picture.width, 1280)
        self.assertIn(TOGETHER, " ".join(texts.values()))
        self.assertGreater(app.pixels().share_of(lambda r, g, b: r + g + b > 100), 0.001)
        self.assertEqual(app.value("device.name"), TOGETHER)
        self.assertEqual(app.quit(), 0, app.log())
        self.expect_end()

    def test_other_experiments_run_on_rank_0_while_the_other_rank_waits(self):
        app = self.start_ranks(*BODIES)
        app.wait_value("device.name", TOGETHER)
        app.key("1")
        app.wait_value("device.name", ALONE)
        self.moves(app)
        before = [seconds_of(self.ranks[rank]) for rank in (0, 1)]
        wait_for("a second of rank 0", lambda: seconds_of(self.ranks[0]) > before[0] + 1)
        self.assertLess(seconds_of(self.ranks[1]) - before[1], 0.1)
        app.key("2")
        app.wait_value("device.name", TOGETHER)
        self.moves(app)
        self.assertEqual(app.quit(), 0, app.log())
        self.expect_end()

    def test_the_comparison_shows_the_speed_of_two_ranks_and_of_one(self):
        app = self.start_ranks(*BODIES)
        app.click("compare")
        app.wait_value("compare.scaling", lambda words: words.startswith("tiled: 2 ranks take"))
        self.moves(app)
        self.assertEqual(app.quit(), 0, app.log())

    def test_an_edit_runs_on_rank_0_and_the_built_in_kernel_on_all(self):
        self.skip_without_nvrtc()
        barrier = line_of("nbody.cu", "__syncthreads();")
        app = self.start_ranks(*BODIES)
        app.key("e")
        app.wait_value("editor.state", lambda value: value)
        app.click(f"editor.barrier.{barrier}")
        app.wait_value("device.name", ALONE)
        self.moves(app)
        app.click(f"editor.barrier.{barrier}")
        app.wait_value("device.name", TOGETHER)
        app.wait_value("editor.state", lambda value: "built-in" in value)
        self.moves(app)
        self.assertEqual(app.quit(), 0, app.log())

    def test_a_signal_ends_all_ranks(self):
        app = self.start_ranks(*BODIES)
        self.moves(app)
        os.kill(self.ranks[0], signal.SIGINT)
        self.assertEqual(app.wait_end(), 0, app.log())
        self.expect_end()

    def test_ctrl_c_in_the_terminal_ends_all_ranks(self):
        app = self.start_ranks(*BODIES)
        self.moves(app)
        app.end(signal.SIGINT)  # mpirun's own status says that it was interrupted
        self.expect_end()
        self.assertTrue((self.home / "config/warpscope/settings.json").exists())

    def test_a_killed_rank_ends_the_window_and_rank_0_says_which(self):
        self.expect_fault(signal.SIGKILL, "was killed or has crashed")

    def test_a_stopped_rank_ends_the_window_and_rank_0_says_which(self):
        self.expect_fault(signal.SIGSTOP, "has not answered for")

    def expect_fault(self, sent, why):
        """Sends a signal to rank 1."""
        app = self.start_ranks(*BODIES)
        self.moves(app)
        os.kill(self.ranks[1], sent)
        self.assertNotEqual(app.wait_end(), 0)
        # Open MPI 5 may put a space before what rank 0 writes, and may write it late.
        said = wait_for("a message of rank 0", lambda: [
            line for line in app.log().splitlines() if "warpscope: " in line])
        self.assertEqual(len(said), 1, said)
        self.assertIn(f"rank 1 (process {self.ranks[1]} on ", said[0])
        self.assertIn(why, said[0])
        self.expect_end()


if __name__ == "__main__":
    main()
