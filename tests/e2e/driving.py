"""The driver of the other scenarios.

usage: driving.py PROGRAM [Driving.NAME]
"""
import pathlib
import signal
import subprocess
import sys

from driver import wait_for
from scenario import RIPPLE, Scenario, main

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from mpirun import children_of, runs  # noqa: E402

# Starts a display and the app, and stays.
STAYS = """
import sys
sys.path.insert(0, sys.argv[1])
from driver import App, Display
app = App(sys.argv[2], Display(), *sys.argv[3:])
print("ready", flush=True)
sys.stdin.read()
"""


def descendants(pid):
    """{process: its name} of the children of a process, and of theirs."""
    found = {}
    for child in children_of(pid):
        found[child] = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        found |= descendants(child)
    return found


class Driving(Scenario):
    def test_a_driver_that_is_killed_leaves_no_process(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            driver = subprocess.Popen(
                [sys.executable, "-B", "-c", STAYS, pathlib.Path(__file__).parent, self.program,
                 self.home, *RIPPLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
            with driver:
                self.assertEqual(driver.stdout.readline(), "ready\n")
                started = descendants(driver.pid)
                driver.send_signal(number)
            self.assertLessEqual({"Xvfb", "warpscope"}, set(started.values()))
            wait_for("the end of all processes", lambda: not any(map(runs, started)))


if __name__ == "__main__":
    main()
