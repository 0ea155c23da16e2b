"""Decodes what --record writes and compares it frame by frame with screenshots.

usage: record_test.py PROGRAM
"""
import base64
import html.parser
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
from driver import Picture, read_png  # noqa: E402

PROGRAM = (sys.argv + ["warpscope"])[1]
FRAMES = 5
KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def read_animation(path, folder):
    """The frames of an animated PNG as whole pictures, and the texts of the file."""
    data = Path(path).read_bytes()
    at, frames, announced = 8, [], None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"acTL":
            announced = struct.unpack(">II", body)[0]
        elif kind == b"fcTL":
            frames.append([struct.unpack(">IIII", body[4:20]), b""])
        elif kind in (b"IDAT", b"fdAT"):
            frames[-1][1] += body[4:] if kind == b"fdAT" else body
    assert announced == len(frames), announced
    pictures = []
    for (width, height, x, y), packed in frames:
        part = folder / "part.png"
        part.write_bytes(data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
                         chunk(b"IDAT", packed) + chunk(b"IEND", b""))
        picture = read_png(part)[0]
        if pictures:
            rows = [bytearray(row) for row in pictures[-1].rows]
            for i, row in enumerate(picture.rows):
                rows[y + i][4 * x:4 * (x + width)] = row
            picture = Picture(pictures[-1].width, pictures[-1].height, [bytes(r) for r in rows], 4)
        pictures.append(picture)
    return pictures, read_png(path)[1]


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
