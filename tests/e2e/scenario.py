"""The base of all scenarios: a display and a home folder of its own."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from driver import App, Display, wait_for

# Small pictures, so that a sanitizer build is fast enough.
RIPPLE = ["--experiment", "ripple", "--set", "ripple.size=256"]
BODIES = ["--experiment", "nbody", "--set", "nbody.bodies=512"]


class Scenario(unittest.TestCase):
    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warpscope-e2e-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.display = Display()
        self.addCleanup(self.display.close)

    def start(self, *arguments, **options):
        app = App(self.program, self.display, self.home, *arguments, **options)
        self.addCleanup(app.close)
        return app

    def skip_without_nvrtc(self):
        text = self.home / "other.cu"
        text.write_text("not a kernel", encoding="utf-8")
        said = subprocess.run([self.program, "--headless", "--experiment", "ripple",
                               "--kernel-source", text], check=False, capture_output=True,
                              text=True).stderr
        if "NVRTC, the compiler of edits, is not installed" in said:
            self.skipTest(said)

    def saved(self, app, key):
        """Presses a screenshot key and returns the new file."""
        before = set(self.home.glob("*.png"))
        app.key(key)
        new = wait_for("a screenshot", lambda: set(self.home.glob("*.png")) - before)
        path = new.pop()
        app.wait_value("message", lambda value: str(path) in value)
        return path


def main():
    """Ends with 77, which CTest shows as skipped, if every test was skipped."""
    Scenario.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)
