"""A person looks into a block: what the microscope's panels must say after each step.

usage: microscope.py PROGRAM [Microscope.NAME]
"""
import pathlib
import re
import shlex
import subprocess

from driver import read_png, wait_for
from scenario import Scenario, main

SOURCE = pathlib.Path(__file__).parents[2] / "kernels"
RIPPLE = ["--experiment", "ripple", "--set", "ripple.size=128"]
WARPS = range(8)


def line_of(file, words):
    """The number of the first line that holds these words."""
    lines = (SOURCE / file).read_text(encoding="utf-8").split("\n")
    return next(i for i, line in enumerate(lines, 1) if words in line)


# exchange() of the ripple: the tile is written, the barrier orders, the tile is read.
WRITE = line_of("ripple.cu", "tile[Layout::at(threadIdx.x, threadIdx.y)] = value;")
BARRIER = line_of("ripple.cu", "__syncthreads();")
READ = line_of("ripple.cu", "return tile[Layout::at(side - 1 - threadIdx.x")


class Microscope(Scenario):
    # --- what is on show

    def at(self, app, position):
        """Waits until the microscope stands there; gives what its panels say."""
        app.wait_value("microscope.position", position if callable(position) else str(position))
        app.pass_frames()
        return self.panels(app)

    def panels(self, app):
        """{id: value} of what depends on the step alone."""
        kept = ("microscope.position", "microscope.epoch", "microscope.ending", "warp.", "source.",
                "ptx.", "tile", "timeline", "register", "banks", "picture.block", "picture.thread")
        return {id: (w["value"], w["enabled"]) for id, w in app.widgets().items()
                if id.startswith(kept)}

    def words(self, panels, id):
        return panels[id][0] if id in panels else None

    def moved(self, before, after):
        """The warps that stand at another instruction; the PTX must be on show."""
        return [w for w in WARPS
                if self.words(before, f"ptx.warp.{w}") != self.words(after, f"ptx.warp.{w}")]

    def lines(self, app):
        """What the warps do: ["at line 80", ...]."""
        widgets = app.widgets()
        return [widgets[f"warp.{w}"]["value"] for w in WARPS]

    def tile(self, app):
        """(words, words a row, written, hazards) of the tile."""
        return tuple(map(int, re.findall(r"\d+", app.value("tile"))))

    def click_pixel(self, app, x, y, button):
        """Clicks the middle of a pixel of the picture."""
        width, height = map(int, app.value("picture.pixels").split("x"))
        app.click("picture.pixels", ((x + 0.5) / width, (y + 0.5) / height), button)

    def open(self, *arguments, block="3,2"):
        app = self.start(*arguments, "--microscope", block)
        app.wait_value("microscope.position", lambda value: value)
        return app

    # --- a stepping session

    def test_a_torn_pixel_leads_to_its_thread(self):
        app = self.start(*RIPPLE)
        app.wait_value("race", "no race found")
        app.click("ripple.sync")
        app.wait_value("race", "race: 256 hazards a block")
        self.click_pixel(app, 57, 108, button=3)
        app.wait_value("microscope.block", "3, 6")  # of 16x16 pixels
        app.wait_value("picture.thread", "9, 12")
        app.wait_value("transport.pause", "on")
        self.assertEqual(app.value("microscope.kernel"), "ripple_txty_nosync")
        self.assertEqual(app.value("microscope.frame"), app.value("transport.frame"))
        app.click("dock.registers")
        # Thread 9 + 12 * 16 = 201 of the block.
        app.wait_value("registers", lambda value: value.startswith("warp 6, lane 9, thread (9, 12)"))

        self.click_pixel(app, 16, 31, button=1)
        app.wait_value("microscope.block", "1, 1")
        app.wait_value("picture.thread", "0, 15")
        app.wait_value("registers", lambda value: value.startswith("warp 7, lane 16, "))
        app.click("warp.2.lanes", (5.5 / 32, 0.5))
        app.wait_value("picture.thread", "5, 4")

        app.click("microscope.end")
        app.wait_value("microscope.ending", "The block has ended.")
        app.pass_frames()
        self.assertEqual(self.lines(app), ["has ended"] * 8)
        self.assertEqual(self.tile(app), (256, 16, 256, 256))
        app.wait_value("register.%f" + str(self.newest_float(app)), lambda value: value)

        frame = app.frame()
        app.key("Escape")
        wait_for("the closed microscope", lambda: "microscope.position" not in app.widgets())
        app.click("transport.pause")
        wait_for("further frames", lambda: app.frame() > frame + 3)
        app.wait_value("result.wrong_pixels", lambda value: value != "0 %")

    def newest_float(self, app):
        return next(id[len("register.%f"):] for id in app.widgets() if id.startswith("register.%f"))

    def test_steps_go_forth_and_back(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off")
        app.key("p")
        app.wait_value("ptx", lambda value: True)
        start = self.at(app, 0)
        self.assertEqual({self.words(start, f"warp.{w}") for w in WARPS},
                         {self.words(start, "warp.0")})
        self.assertFalse(app.widgets()["microscope.back"]["enabled"])

        # Single instructions, by button and by key; each moves the warp whose turn it is.
        seen = [start]
        for position in range(1, 5):
            turn = int(self.words(seen[-1], "warp.next"))
            app.click("microscope.step") if position % 2 else app.key("Right")
            seen.append(self.at(app, position))
            self.assertEqual(self.moved(seen[-2], seen[-1]), [turn])
        for position in range(3, -1, -1):
            app.click("microscope.back") if position % 2 else app.key("Left")
            self.assertEqual(self.at(app, position), seen[position])

        # A source line, and back to where it began.
        turn = int(self.words(start, "warp.next"))
        app.key("Down")
        line = self.at(app, lambda value: value != "0")
        self.assertNotEqual(self.words(line, f"source.warp.{turn}"),
                            self.words(start, f"source.warp.{turn}"))
        app.key("Up")
        self.assertEqual(self.at(app, 0), start)

        # Without a barrier the next one is the end; then nothing goes on.
        app.key("b")
        end = self.at(app, lambda value: value != "0")
        self.assertEqual(self.lines(app), ["has ended"] * 8)
        self.assertEqual(self.words(end, "microscope.epoch"), "0")
        self.assertEqual(self.tile(app), (256, 16, 256, 256))
        widgets = app.widgets()
        for button in ("step", "line", "barrier", "end"):
            self.assertFalse(widgets["microscope." + button]["enabled"])
        app.key("Right", "Down", "b", "End")
        app.pass_frames()
        self.assertEqual(self.panels(app), end)
        last = int(self.words(end, "microscope.position"))
        app.key("Left")
        self.at(app, last - 1)
        app.click("microscope.restart")
        self.assertEqual(self.at(app, 0), start)
        app.key("End")
        self.assertEqual(self.at(app, last), end)

        # Playing starts over by itself, and stands still where it is told to.
        app.key("space")
        app.wait_value("microscope.position", lambda value: 0 < int(value) < last)
        app.key("space")
        app.wait_value("microscope.play", "off")
        held = self.panels(app)
        app.pass_frames()
        self.assertEqual(self.panels(app), held)
        app.click("timeline", (0.7, 0.5))
        self.at(app, lambda value: int(value) > last / 2)
        app.click("microscope.play")
        app.wait_value("microscope.play", "on")
        app.wait_value("microscope.position", lambda value: int(value) == last)
        app.wait_value("microscope.play", "off")
        self.assertEqual(self.at(app, last), end)

    def test_a_barrier_holds_the_warps(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off")
        app.key("End")
        app.wait_value("microscope.ending", lambda value: value)
        app.click("ripple.sync")
        app.wait_value("ripple.sync", "on")
        app.wait_value("microscope.kernel", "ripple_txty")  # a new copy, at its beginning
        self.at(app, 0)
        self.assertEqual(app.value("microscope.block"), "3, 2")

        app.key("b")
        after = self.at(app, lambda value: value != "0")
        self.assertEqual(self.words(after, "microscope.epoch"), "1")
        self.assertEqual(self.tile(app), (256, 16, 256, 0))
        for words in self.lines(app):
            line = int(re.fullmatch(r"at line (\d+)", words)[1])
            self.assertIn(line, range(BARRIER, READ + 1))

        # One step before, seven warps wait there and the eighth is about to come.
        app.key("Left")
        before = self.at(app, int(self.words(after, "microscope.position")) - 1)
        self.assertEqual(self.words(before, "microscope.epoch"), "0")
        waits = f"waits at the barrier, line {BARRIER}"
        self.assertEqual(self.lines(app).count(waits), 7)
        last = self.words(before, "warp.next")
        self.assertEqual(self.words(before, f"warp.{last}"), f"at line {BARRIER}")
        for w in WARPS:
            self.assertEqual(self.words(before, f"source.warp.{w}"), str(BARRIER))
            self.assertEqual(app.widgets()[f"warp.{w}.step"]["enabled"], str(w) == last)

        app.key("Right")
        self.assertEqual(self.at(app, int(self.words(after, "microscope.position"))), after)
        app.key("shift+b")
        self.at(app, 0)
        app.key("b", "b")
        end = self.at(app, lambda value: int(value) > int(self.words(after, "microscope.position")))
        self.assertEqual(self.words(end, "microscope.epoch"), "1")
        self.assertEqual(self.lines(app), ["has ended"] * 8)
        self.assertEqual(self.tile(app), (256, 16, 256, 0))

    def test_a_person_picks_the_warps(self):
        app = self.open(*RIPPLE)
        app.key("p")
        app.choose("microscope.turns", "by-hand")
        app.click("warp.5")
        app.wait_value("warp.next", "5")
        start = self.at(app, 0)
        app.key("Right")
        one = self.at(app, 1)
        self.assertEqual(self.moved(start, one), [5])
        app.click("warp.2.step")
        two = self.at(app, 2)
        self.assertEqual(self.moved(one, two), [2])
        app.key("Left")
        self.assertEqual(self.at(app, 1), one)

        # Up to the barrier, and no further: the others have not come.
        for _ in range(60):
            if "waits" in app.value("warp.5"):
                break
            before = app.value("microscope.position")
            app.key("Down")
            self.at(app, lambda value: value != before)
        self.assertEqual(app.value("warp.5"), f"waits at the barrier, line {BARRIER}")
        stopped = self.panels(app)
        app.key("Right")
        message = app.wait_value("message", lambda value: value.startswith("Warp 5 "))
        self.assertIn(f"waits at the barrier, line {BARRIER}", message)
        self.assertEqual(self.panels(app), stopped)
        self.assertEqual(self.tile(app)[2:], (32, 0))  # its own words

    def test_schedule_and_seed_change_the_order(self):
        app = self.open(*RIPPLE)
        order = {}
        for turns in ("run-to-barrier", "reverse", "random"):
            if app.value("microscope.turns") != turns:
                app.choose("microscope.turns", turns)
            self.at(app, 0)
            app.click("microscope.barrier")
            self.at(app, lambda value: value != "0")
            app.key("Left")
            order[turns] = self.panels(app)
            self.assertEqual(self.words(self.at(app, lambda value: value != "0"),
                                        "microscope.epoch"), "0")
            order[turns] = app.value("warp.next")
            app.key("Home")
            order[turns] = (app.value("warp.next"), order[turns])
        self.assertEqual(order["run-to-barrier"][1], "7")
        self.assertEqual(order["reverse"][1], "0")

        def lines_after_some_steps():
            self.at(app, 0)
            for position in range(1, 4):
                before = app.value("microscope.position")
                app.key("Down")
                self.at(app, lambda value: value != before)
            return self.panels(app)
        first = lines_after_some_steps()
        app.type_into("microscope.seed", "12345")
        self.assertNotEqual(lines_after_some_steps(), first)
        app.type_into("microscope.seed", "1")
        self.assertEqual(lines_after_some_steps(), first)
        app.type_into("microscope.seed", "x")
        app.wait_value("message", lambda value: "'x'" in value)
        app.wait_value("microscope.seed", "1")
        self.assertEqual(self.panels(app), first)

    # --- the panels below

    def test_findings_lead_to_their_thread(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off")
        app.wait_value("race", "race: 256 hazards a block")
        app.click("race")
        app.wait_value("dock.findings", "on")
        finding = app.wait_value("finding.0", lambda value: value)
        for line in (WRITE, READ):
            self.assertIn(f"kernels/ripple.cu:{line}", finding)
        self.assertIn("__syncthreads() is missing", finding)
        app.click("finding.1")
        self.at(app, lambda value: value != "0")
        sentence = app.value("finding.1")
        block = re.search(r"of block \((\d+),(\d+),", sentence)
        self.assertEqual(app.value("microscope.block"), f"{block[1]}, {block[2]}")
        second = re.search(r"Thread \((\d+),(\d+),0\) of block \S+ \(warp (\d+)\) (\w+) at \S+:(\d+)",
                           sentence)
        self.assertEqual(app.value("picture.thread"), f"{second[1]}, {second[2]}")
        self.assertEqual(app.value(f"warp.{second[3]}"), f"at line {second[5]}")
        self.assertEqual(second[5], str(READ))
        hazards = self.tile(app)[3]
        app.key("Right")
        app.pass_frames()
        self.assertGreaterEqual(self.tile(app)[3], hazards)

    def test_banks_counters_and_registers_tell_the_layout(self):
        app = self.open(*RIPPLE)
        for layout, degree, sentence in (("txty", "8", "8-way conflict"), ("padded17", "2", "2-way"),
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
        app.click("timeline", (0.5, 0.1))
        self.assertEqual(self.at(app, int(self.words(half, "microscope.position"))), half)
        colours = len(set(zip(*app.pixels("timeline").colours())))
        self.assertGreater(colours, 4)  # computing, writing, waiting, reading, nothing

    def test_barriers_of_every_generation(self):
        app = self.open("--experiment", "dot", "--set", "dot.kernel=divergent", block="1")
        app.click("dock.barriers")
        app.wait_value("policy.volta", "ends")
        app.wait_value("policy.before_volta", lambda value: value)
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
        app.wait_value("microscope.ending", "The block has ended.")

    # --- what changes beneath it

    def test_it_follows_what_changes(self):
        app = self.open(*RIPPLE)
        app.key("End")
        end = self.at(app, lambda value: value != "0")

        # The live picture goes on; the microscope stays with its frame until it is told not to.
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
                self.assertRegex(message, "There is no block|is no block")
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

        # Everything at once while it plays: the last wish holds.
        app.key("space")
        app.choose("microscope.turns", "reverse")
        app.key("space", "Right", "Left", "space", "b", "shift+b", "Down", "Up", "space", "End")
        app.choose("microscope.turns", "random")
        app.key("m", "m", "2", "4", "3", "1", "space", "Escape", "Escape", "m")
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
        """(exit code, one line of complaint)."""
        ended = subprocess.run([self.program, "--headless", *arguments], cwd=self.home, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return ended.returncode, ended.stderr.strip()

    def test_a_saved_window_can_be_made_again(self):
        app = self.open(*RIPPLE, "--set", "ripple.sync=off", "--seed", "5", block="3,2@100")
        app.wait_value("microscope.position", "100")
        app.wait_value("race", "race: 256 hazards a block")
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
        # The source may be scrolled otherwise, and a window's edges of letters and lines be
        # rounded otherwise than a file's.
        made, _ = read_png(one)
        parts = ("picture", "warp.0", "warp.4", "tile", "timeline", "microscope.position")
        for part in parts:
            share = self.part(app, made, part).share_unlike(self.part(app, window, part))
            self.assertLess(share, 0.01, part)

        words[words.index("3,2@101")] = "3,2@140"
        self.assertEqual(self.headless(*words[2:]), (0, ""))
        other, _ = read_png(two)
        for part in ("timeline", "microscope.position"):
            self.assertFalse(self.part(app, other, part) == self.part(app, made, part), part)

    def part(self, app, picture, widget):
        """What a saved window shows where a widget is."""
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
