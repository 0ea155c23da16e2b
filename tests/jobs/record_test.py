"""Decodes what --record writes and compares it frame by frame with screenshots.

usage: record_test.py PROGRAM
"""
import base64
import html.parser
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
from animation import read_animation  # noqa: E402
from driver import read_png  # noqa: E402

PROGRAM = (sys.argv + ["warpscope"])[1]
FRAMES = 5
KERNELS = Path(__file__).resolve().parents[2] / "kernels"


class Page(html.parser.HTMLParser):
    """What a page of HTML holds. Its elements must be closed in their order."""

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.marked, self.png = [], [], [], b""

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.png = base64.b64decode(dict(attrs)["src"].split(",")[1])
        if tag not in ("img", "meta"):
            self.open.append(tag)
        if tag in ("h1", "h2"):
            self.headings.append("")
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings[-1] += data
        if self.open and self.open[-1] == "mark":
            self.marked[-1] += data


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True,
                              cwd=self.folder, timeout=300)

    def test_every_frame_is_that_of_a_screenshot(self):
        for words in (["ripple", "--set", "ripple.size=96", "--set", "ripple.sync=off"],
                      ["ripple", "--set", "ripple.size=96", "--set", "ripple.pattern=ripple"],
                      ["nbody", "--set", "nbody.bodies=256", "--size", "200x120"]):
            run = ["--headless", "--device", "emulator", "--experiment", *words]
            done = self.run_program(*run, "--frames", FRAMES, "--record", "r.png")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("saved r.png", done.stdout)
            pictures, texts = read_animation(self.folder / "r.png", self.folder)
            self.assertEqual(len(pictures), FRAMES)
            self.assertEqual(texts["experiment"], words[0])
            self.assertEqual(texts[words[2].split("=")[0]], words[2].split("=")[1])
            for number, picture in enumerate(pictures, 1):
                done = self.run_program(*run, "--frames", number, "--view-only", "--screenshot",
                                        "s.png")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(picture, read_png(self.folder / "s.png")[0], (words, number))
            self.assertNotEqual(pictures[0], pictures[-1], words)

    @unittest.skipUnless(shutil.which("ffmpeg"), "ffmpeg is not installed")
    def test_an_mp4_has_the_frames_of_the_animated_png(self):
        run = ["--headless", "--device", "emulator", "--experiment", "ripple", "--set", "ripple.size=96",
               "--set", "ripple.pattern=ripple", "--frames", FRAMES]
        for name in ("r.png", "r.mp4"):
            done = self.run_program(*run, "--record", name)
            self.assertEqual(done.returncode, 0, done.stderr)
        exact = read_animation(self.folder / "r.png", self.folder)[0]
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", "r.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                             cwd=self.folder, check=True, capture_output=True).stdout
        size = 3 * exact[0].width * exact[0].height
        self.assertEqual(len(raw), FRAMES * size)

        def difference(frame, picture):
            return sum(abs(a - b) for channel, c in enumerate(picture.colours())
                       for a, b in zip(frame[channel::3], c)) / size
        for number, picture in enumerate(exact):
            # H.264 loses colours; every other frame of these rings is further away.
            frame = raw[number * size:(number + 1) * size]
            nearest = min(range(FRAMES), key=lambda other: difference(frame, exact[other]))
            self.assertEqual(nearest, number)
            self.assertLess(difference(frame, picture), 12)

    def test_a_recording_goes_with_a_screenshot_of_the_window(self):
        done = self.run_program("--headless", "--device", "emulator", "--experiment", "ripple", "--set",
                                "ripple.size=64", "--frames", 3, "--record", "r.apng",
                                "--screenshot", "w.png", "--size", "900x600")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(read_animation(self.folder / "r.apng", self.folder)[0]), 3)
        self.assertEqual(read_png(self.folder / "w.png")[0].width, 900)

    def test_a_page_holds_the_picture_the_findings_and_their_lines(self):
        run = ["--device", "emulator", "--experiment", "ripple", "--set", "ripple.size=64", "--set",
               "ripple.sync=off"]
        done = self.run_program("--check", "race", "--counters", *run, "--html", "p.html")
        self.assertEqual(done.returncode, 1, done.stderr)
        page = Page()
        page.feed((self.folder / "p.html").read_text(encoding="utf-8"))
        page.close()
        self.assertEqual(page.open, [])
        self.assertEqual(page.headings, ["ripple, frame 1", "Findings", "Results",
                                         "Counters of a block", "Timings"])
        lines = (KERNELS / "ripple.cu").read_text(encoding="utf-8").split("\n")
        self.assertEqual(page.marked, [f"{n:5}  {lines[n - 1]}" for n in (50, 54)])
        (self.folder / "p.png").write_bytes(page.png)
        self.run_program("--headless", *run, "--view-only", "--screenshot", "s.png")
        self.assertEqual(read_png(self.folder / "p.png")[0], read_png(self.folder / "s.png")[0])

    def test_what_cannot_be_recorded_is_said(self):
        dot = ["--headless", "--device", "emulator", "--experiment", "dot"]
        for words, said in [([*dot, "--record", "r.gif"], "name a .png, .apng or .mp4 file"),
                            ([*dot, "--record", "r.png"], "draws a tree and no picture"),
                            (["--list", "--record", "r.png"], "only the window and --headless"),
                            ([*dot, "--record", "/nowhere/r.png"], "--record")]:
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
