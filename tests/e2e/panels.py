"""The panels of the microscope, changes of the experiment while it is open, and its command line.

usage: panels.py PROGRAM [Panels.NAME]
"""
import pathlib
import re
import shlex
import subprocess
import tempfile

from driver import read_png, wait_for
from scenario import main
from session import BARRIER, READ, RIPPLE, WARPS, WRITE, Session


class Panels(Session):
    def test_findings_lead_to_their_thread(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off")
        app.wait_value("race", "Race: 256 hazards a block")
        app.click("race")
        app.wait_value("dock.findings", "on")
        finding = app.wait_value("finding.0", lambda value: value)
        for line in (WRITE, READ):
            self.assertIn(f"kernels/ripple.cu:{line}", finding)
        self.assertIn("__syncthreads() is missing", finding)
        # The row below: a race that the barrier also repairs, whose read got a wrong value.
        sentence = app.value("finding.0.0")
        app.click("finding.0.0")
        self.at(app, lambda value: value != "0")
        block = re.search(r"of block \((\d+),(\d+),", sentence)
        self.assertEqual(app.value("microscope.block"), f"{block[1]}, {block[2]}")
        x, y, warp, line = re.search(
            r"Thread \((\d+),(\d+),0\) of block \S+ \(warp (\d+)\) read byte \d+ of "
            r"shared memory at \S+:(\d+) before thread",
            sentence).groups()
        self.assertEqual(app.value("picture.thread"), f"{x}, {y}")
        self.assertEqual(app.value(f"warp.{warp}"), f"at line {line}")
        self.assertEqual(line, str(READ))
        hazards = self.tile(app)[3]
        app.key("Right")
        app.pass_frames()
        self.assertGreaterEqual(self.tile(app)[3], hazards)

    def test_banks_counters_and_registers_tell_the_layout(self):
        app = self.open(*RIPPLE)
        for layout, degree, sentence in (("txty", "8", "8-way conflict"),
                                         ("padded17", "2", "2-way conflict"),
                                         ("tytx", "1", "No conflict")):
            if app.value("ripple.layout") != layout:
                app.choose("ripple.layout", layout)
            kernel = app.wait_value("microscope.kernel", f"ripple_{layout}")
            app.click("dock.counters")
            app.wait_value(f"counter.{kernel}.conflict", degree)
            app.wait_value(f"counter.{kernel}.barriers", "64")  # one a block
            app.wait_value(f"counter.{kernel}.sectors", str(128 * 128 * 4 // 32))
            app.click("dock.banks")
            app.wait_value("banks.none", lambda value: "has not accessed" in value)
            app.key("b")
            app.wait_value("banks.sentence", lambda value: value.startswith(sentence))

        app.click("dock.registers")
        before = app.wait_value("registers", lambda value: value)
        app.click("warp.3.lanes", (20.5 / 32, 0.5))
        app.wait_value("registers", lambda value: value != before and
                       value.startswith("warp 3, lane 20, thread (4, 7)"))

    def test_what_depends_on_a_barrier_is_painted(self):
        app = self.start("--experiment", "ripple", "--set", "ripple.size=128")
        app.wait_value("race", lambda value: "No race" in value)
        app.pause()
        app.click("race")
        plain = app.pixels()
        app.click("findings.needed")
        share = app.wait_value("finding.0", lambda value: "depend on it" in value).split(" ")[0]
        app.settle()

        def painted(red, green, blue):  # magenta over a picture whose pixels are green or blue
            return red > 150 and red > green + 60

        def grey(red, green, blue):
            return abs(red - green) < 60 and 60 < red < 150
        self.assertEqual(app.pixels().share_of(painted), 0)
        app.click("finding.0")
        said = app.wait_value("picture.needed", lambda value: value)
        self.assertIn(f"kernels/ripple.cu:{BARRIER}: {share} % depend on it", said)
        self.assertIn("another input may", said)
        app.settle()
        # The words about the colours and the marks of the block lie over a part of the picture.
        self.assertGreater(app.pixels().share_of(painted), 0.4)
        self.assertGreater(app.pixels().share_of(grey), 0)
        self.assertEqual(app.value(f"source.needed.{BARRIER}"), f"{share} % depend on it")
        # A second click ends the painting; the mark in the source paints while the pointer is on it.
        app.click("dock.findings")
        app.click("finding.0")
        app.settle()
        wait_for("the picture alone", lambda: "picture.needed" not in app.widgets())
        at = app.widgets()[f"source.needed.{BARRIER}"]
        app.move(round(at["x"] + at["w"] / 2), round(at["y"] + at["h"] / 2))
        self.assertEqual(app.wait_value("picture.needed", lambda value: value), said)
        app.settle()
        wait_for("the picture alone", lambda: "picture.needed" not in app.widgets())
        self.assertFalse(plain == app.pixels())  # the microscope leaves less room

    def test_the_turns_of_a_schedule_file_are_listed_in_words(self):
        with tempfile.TemporaryDirectory() as folder:
            order = pathlib.Path(folder) / "mine.schedule"
            order.write_text("kernel ripple_txty_nosync\nblock 3 2 0\n"
                             f"warp 5 until kernels/ripple.cu:{WRITE}\nwarp 2\n")
            app = self.open(*RIPPLE, "--set", "ripple.sync=off", "--schedule", str(order))
            app.wait_value("dock.order", "on")
            first, second = (app.wait_value(f"order.{row}", lambda value: value) for row in (0, 1))
            self.assertEqual(first, f"warp 5 runs until it is before kernels/ripple.cu:{WRITE}")
            self.assertEqual(second, "warp 2 runs until it waits or ends")
            app.wait_value("order.current", first)
            self.assertEqual(app.value("warp.next"), "5")
            app.click("order.1")
            app.wait_value("order.current", second)
            self.assertEqual(app.value("warp.next"), "2")
            self.assertEqual(app.value("warp.5"), f"at line {WRITE}")
            app.key("Left")
            app.wait_value("order.current", first)
            app.key("End")
            app.wait_value("order.current", lambda value: value.startswith("then the next warps"))

    def test_the_timeline_is_a_slider(self):
        app = self.open(*RIPPLE)
        app.click("dock.timeline")
        app.click("microscope.end")
        end = self.at(app, lambda value: value != "0")
        last = int(self.words(end, "microscope.position"))
        app.click("timeline", (0.5, 0.5))
        half = self.at(app, lambda value: value != str(last))
        self.assertAlmostEqual(int(self.words(half, "microscope.position")), last / 2, delta=2)
        app.click("timeline", (0.25, 0.9))
        self.at(app, lambda value: abs(int(value) - last / 4) <= 2)
        self.assertEqual(app.value("timeline"), app.value("microscope.position"))
        # The wheel zooms where the pointer is, and a double click shows all again.
        whole = app.value("timeline.zoom")
        app.click("timeline", (0.25, 0.5), button=4)
        part = app.wait_value("timeline.zoom", lambda value: value != whole)
        first, count = map(int, part.split("+"))
        steps = int(whole.split("+")[1])
        self.assertAlmostEqual(count, 0.8 * steps, delta=2)
        self.assertAlmostEqual(first, 0.25 * 0.2 * steps, delta=2)
        app.display.xdotool("click", "--repeat", 2, "--delay", 60, 1)
        app.wait_value("timeline.zoom", whole)
        app.click("timeline", (0.5, 0.1))
        self.assertEqual(self.at(app, int(self.words(half, "microscope.position"))), half)
        colours = len(set(zip(*app.pixels("timeline").colours())))
        self.assertGreater(colours, 4)  # computing, writing, waiting, reading, nothing

    def test_barriers_of_every_generation(self):
        app = self.open("--experiment", "dot", "--set", "dot.kernel=divergent", block="1")
        app.click("dock.barriers")
        app.wait_value("policy.volta", "finishes")
        app.wait_value("policy.before-volta", lambda value: value)
        app.wait_value("policy.strict", "can't go on")
        sentence = app.value("policy.strict.sentence")
        self.assertIn("lanes", sentence)
        self.assertRegex(sentence, r"dot\.cu:\d+")

        app.choose("microscope.barriers", "strict")
        self.at(app, 0)
        app.key("End")
        ending = app.wait_value("microscope.ending", lambda value: value)
        self.assertIn("dot.cu", ending)
        app.choose("microscope.barriers", "volta")
        self.at(app, 0)
        app.key("End")
        app.wait_value("microscope.ending", "The block has finished.")

    def test_a_finding_opens_the_thread_that_it_names_while_the_picture_runs(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off")
        app.wait_value("race", lambda value: value.startswith("Race"))
        for row in ("finding.0", "finding.0.0"):
            app.click("race")
            named = app.wait_value(row, lambda value: value)
            x, y, block_x, block_y = re.match(
                r"Thread \((\d+),(\d+),\d+\) of block \((\d+),(\d+),", named).groups()
            before = app.frame()
            wait_for("further frames", lambda: app.frame() > before + 2)
            app.click(row)
            app.wait_value("microscope.position", lambda value: value)
            app.wait_value("picture.block", f"{block_x}, {block_y}")
            app.wait_value("picture.thread", f"{x}, {y}")
            app.key("Escape")
            wait_for("the microscope to close",
                     lambda: "microscope.position" not in app.widgets())
            app.click("transport.pause")
            app.wait_value("transport.pause", "off")

    # --- changes of the experiment

    def test_it_follows_what_changes(self):
        app = self.open(*RIPPLE)
        app.key("End")
        end = self.at(app, lambda value: value != "0")

        # The live picture continues; the microscope keeps its frame until the user takes a new one.
        frame = app.value("microscope.frame")
        app.click("transport.pause")
        wait_for("further frames", lambda: app.frame() > int(frame) + 3)
        self.assertEqual(app.value("microscope.frame"), frame)
        self.assertEqual(self.panels(app), end)
        app.click("microscope.renew")
        app.wait_value("microscope.frame", lambda value: value != frame)
        self.at(app, 0)
        app.click("transport.pause")
        app.wait_value("transport.pause", "on")

        app.choose("ripple.pattern", "ripple")
        self.at(app, 0)
        app.type_into("ripple.size", "40")  # block 3, 2 is gone; the corner is the nearest
        app.wait_value("microscope.block", "2, 2")
        app.wait_value("picture.pixels", "40x40")

        for tab, kernel in (("dot", "dot_book"), ("nbody", "nbody_tiled"),
                            ("reduction", "sum_within_block")):
            app.click("tab." + tab)
            app.wait_value("microscope.kernel", kernel)
            app.key("Right")
            app.wait_value("microscope.position", lambda value: value == "1")
        app.click("tab.ripple")
        app.wait_value("microscope.kernel", "ripple_txty")
        app.key("m")
        wait_for("the closed microscope", lambda: "microscope.position" not in app.widgets())

    def test_a_block_that_is_not_there_is_said(self):
        app = self.open(*RIPPLE)
        for typed in ("8, 0", "99999999", "seven", "-1, 0"):
            with self.subTest(typed):
                app.type_into("microscope.block", typed)
                message = app.wait_value("message", lambda value: typed in value)
                self.assertRegex(message, "There is no block|is not the index of a block")
                app.wait_value("microscope.block", "3, 2")
        app.type_into("microscope.block", "7, 7")
        app.wait_value("picture.block", "7, 7")
        app.wait_value("message", lambda value: "no block" not in value)

    def test_rough_handling_does_no_harm(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off")
        app.click("transport.pause")
        wait_for("some frames", lambda: app.frame() > 3)  # results of several launches
        app.click("transport.pause")
        app.wait_value("transport.pause", "on")
        start = self.at(app, 0)
        tabs = [id for id in app.widgets() if id.startswith("dock.")]
        self.assertIn("dock.barriers", tabs)
        for size in ((640, 400), (300, 700), (90, 40), (1, 1)):
            app.resize(*size)
            outside = [id for id, w in app.widgets().items() if w["visible"] and
                       (w["x"] + w["w"] > size[0] or w["y"] + w["h"] > size[1])]
            self.assertEqual(outside, [])
            app.key("p", "End", "Left", "Home", "Right")
            app.pass_frames()
            app.key("m")  # the results, and back
            app.pass_frames()
            app.key("m")
            app.pass_frames()
        app.resize(1280, 720)
        app.type_into("microscope.block", "3, 2")
        app.key("Home")
        self.at(app, 0)

        # Many changes while it plays: the last one applies.
        app.key("space")
        app.choose("microscope.turns", "reverse")
        app.key("space", "Right", "Left", "space", "b", "shift+b", "Down", "Up", "space", "End")
        app.choose("microscope.turns", "random")
        app.key("m", "m", "2", "4", "3", "1", "space")
        app.catch_up()  # while an experiment computes, Escape cancels instead of closing the microscope
        app.key("Escape", "Escape", "m")
        app.catch_up()
        app.wait_value("microscope.kernel", "ripple_txty_nosync")
        for tab in tabs:
            app.click(tab)
            app.wait_value(tab, "on")
        app.click("dock.timeline")
        app.type_into("microscope.block", "3, 2")
        app.choose("microscope.turns", "random")
        app.key("Home")
        again = self.at(app, 0)
        for w in WARPS:
            self.assertEqual(again[f"warp.{w}"], start[f"warp.{w}"])
        self.assertEqual(again["warp.next"], start["warp.next"])
        self.assertEqual(app.quit(), 0)

    # --- from the command line

    def headless(self, *arguments):
        """Returns (exit code, the one line of the error message)."""
        ended = subprocess.run([self.program, "--headless", *arguments], cwd=self.home, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return ended.returncode, ended.stderr.strip()

    def test_a_saved_window_can_be_made_again(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off", "--seed", "5", block="3,2@100")
        app.wait_value("microscope.position", "100")
        app.wait_value("race", "Race: 256 hazards a block")
        app.key("Right")
        app.wait_value("microscope.position", "101")
        app.settle()
        window, texts = read_png(self.saved(app, "F12"))
        self.assertIn("--microscope 3,2@101", texts["command"])
        words = shlex.split(texts["command"])
        self.assertEqual(words[:2], ["warpscope", "--headless"])
        place = words.index("--screenshot") + 1
        for name in ("one.png", "two.png"):
            words[place] = name
            self.assertEqual(self.headless(*words[2:]), (0, ""))
        one, two = self.home / "one.png", self.home / "two.png"
        self.assertEqual(one.read_bytes(), two.read_bytes())
        # The scroll position of the source may differ, and so may the antialiasing of letters and
        # lines in the window and in the file.
        made, _ = read_png(one)
        parts = ("picture", "warp.0", "warp.4", "tile", "timeline", "microscope.position")
        for part in parts:
            share = self.part(app, made, part).share_unlike(self.part(app, window, part))
            self.assertLess(share, 0.01, part)

        words[words.index("3,2@101")] = "3,2@140"
        self.assertEqual(self.headless(*words[2:]), (0, ""))
        other, _ = read_png(two)
        self.assertFalse(self.part(app, other, "timeline") == self.part(app, made, "timeline"))

    def part(self, app, picture, widget):
        """The pixels of a widget in a saved screenshot."""
        w = app.widgets()[widget]
        return picture.crop(round(w["x"]), round(w["y"]), round(w["w"]), round(w["h"]))

    def test_a_place_that_cannot_be_is_said(self):
        for place in ("here", "3,2@", "3,2@-1", "1,2,3,4"):
            code, words = self.headless(*RIPPLE, "--microscope", place, "--screenshot", "no.png")
            self.assertEqual(code, 2, words)
            self.assertIn(place, words)
        self.assertFalse((self.home / "no.png").exists())


if __name__ == "__main__":
    main()
