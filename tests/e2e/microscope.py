"""The user steps the warps of a block: what the microscope must show after each step.

usage: microscope.py PROGRAM [Microscope.NAME]
"""
import re

from driver import wait_for
from scenario import main
from session import BARRIER, READ, RIPPLE, WARPS, WRITE, Session


class Microscope(Session):
    def test_a_torn_pixel_leads_to_its_thread(self):
        app = self.start(*RIPPLE)
        app.wait_value("race", "No race found")
        app.click("invitation.close")
        app.click("ripple.sync")
        app.wait_value("race", "Race: 256 hazards a block")
        self.click_pixel(app, 57, 108, button=3)
        app.wait_value("microscope.block", "3, 6")  # of 16x16 pixels
        app.wait_value("picture.thread", "9, 12")
        app.wait_value("transport.pause", "on")
        app.catch_up()
        self.assertEqual(app.value("microscope.kernel"), "ripple_txty_nosync")
        self.assertEqual(app.value("microscope.frame"), app.value("transport.frame"))
        app.click("dock.registers")
        # Thread 9 + 12 * 16 = 201 of its block.
        thread = "warp 6, lane 9, thread (9, 12)"
        app.wait_value("registers", lambda value: value.startswith(thread))

        self.click_pixel(app, 16, 31, button=1)
        app.wait_value("microscope.block", "1, 1")
        app.wait_value("picture.thread", "0, 15")
        app.wait_value("registers", lambda value: value.startswith("warp 7, lane 16, "))
        app.click("warp.2.lanes", (5.5 / 32, 0.5))
        app.wait_value("picture.thread", "5, 4")

        app.click("microscope.end")
        app.wait_value("microscope.ending", "The block has finished.")
        app.pass_frames()
        self.assertEqual(self.lines(app), ["has ended"] * 8)
        self.assertEqual(self.tile(app), (256, 16, 256, 256))
        app.wait_value("register.%f" + str(self.newest_float(app)), lambda value: value)

        app.catch_up()  # while an experiment computes, Escape cancels instead of closing the microscope
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

        # Single instructions, by button and by key; each moves the warp that the schedule chooses.
        seen = [start]
        for position in range(1, 5):
            turn = int(self.words(seen[-1], "warp.next"))
            app.click("microscope.step") if position % 2 else app.key("Right")
            seen.append(self.at(app, position))
            self.assertEqual(self.moved(seen[-2], seen[-1]), [turn])
        for position in range(3, -1, -1):
            app.click("microscope.back") if position % 2 else app.key("Left")
            self.assertEqual(self.at(app, position), seen[position])

        # One source line forward, and back.
        turn = int(self.words(start, "warp.next"))
        app.key("Down")
        line = self.at(app, lambda value: value != "0")
        self.assertNotEqual(self.words(line, f"source.warp.{turn}"),
                            self.words(start, f"source.warp.{turn}"))
        app.key("Up")
        self.assertEqual(self.at(app, 0), start)

        # Without a barrier, "next barrier" runs to the end. Later steps do nothing.
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

        # Playing starts again at the end, and it can be paused.
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

        # One step before, seven warps wait there and the eighth is about to arrive.
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

        # The warp runs up to the barrier and waits: the other warps have not arrived.
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

    def test_breakpoints_stop_the_block_in_both_directions(self):
        app = self.open(*RIPPLE)
        app.click("dock.breaks")
        app.click(f"source.line.{READ}")
        app.wait_value("breakpoint.0", f"kernels/ripple.cu:{READ}")
        self.assertEqual(app.value(f"source.line.{READ}"), "breakpoint")
        stops = []
        for _ in range(2 * len(WARPS)):  # the compiler has moved the load of the line behind a branch
            app.key("F5")
            panels = self.at(app, lambda value: value != (stops[-1] if stops else "0"))
            stops.append(self.words(panels, "microscope.position"))
            warp = self.words(panels, "warp.next")
            app.wait_value("breaks.stop", f"Warp {warp} reaches kernels/ripple.cu:{READ}.")
            self.assertEqual(self.words(panels, "microscope.epoch"), "1")
        app.click("breaks.run")
        app.wait_value("message", "No breakpoint or watchpoint was ahead: the block ran to its end.")
        for stop in reversed(stops):
            app.key("shift+F5")
            self.at(app, stop)

        # One warp, with a condition that is wrong at first: thread (9, 12) is lane 9 of warp 6.
        app.key("Home")
        self.at(app, 0)
        app.type_into("breakpoint.0.condition", "%r1 = 9")
        app.wait_value("breakpoint.0.condition.error",
                       "\"%r1 = 9\": an operator is missing")
        app.type_into("breakpoint.0.condition", "%r1 == 9")
        wait_for("a good condition", lambda: "breakpoint.0.condition.error" not in app.widgets())
        app.type_into("breakpoint.0.warp", "6")
        app.click("microscope.break")
        app.wait_value("message",
                       f"Warp 6, lane 9, reaches kernels/ripple.cu:{READ} with %r1 == 9.")
        app.wait_value("picture.thread", "9, 12")

        # A word: thread (9, 12) writes row 9, column 12 of the tile, 16 words a row.
        app.click("breakpoint.0.enabled")
        app.wait_value(f"source.line.{READ}", "disabled")
        app.click("tile", (12.5 / 16, 9.5 / 16), button=3)
        app.wait_value("watchpoint.0", "shared word 156")
        app.click("microscope.break_back")
        app.wait_value("message", f"Warp 6 writes word 156, kernels/ripple.cu:{WRITE}.")
        app.wait_value("picture.thread", "9, 12")
        app.type_into("microscope.block", "1, 1")
        self.at(app, 0)
        app.key("F5")
        app.wait_value("message", f"Warp 6 writes word 156, kernels/ripple.cu:{WRITE}.")

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

    def test_a_wrong_pixel_says_why_and_opens_the_access_that_got_the_wrong_value(self):
        app = self.start(*RIPPLE)
        app.wait_value("transport.frame", lambda value: int(value) > 1)
        app.click("ripple.sync")
        app.wait_value("result.wrong_pixels", lambda value: value != "0 %")
        app.pause()
        # The pointer asks about pixels of one column until one of them is wrong.
        width, height = map(int, app.value("picture.pixels").split("x"))
        at = app.widgets()["picture.pixels"]

        def why(x, y):
            app.move(round(at["x"] + at["w"] * (x + 0.5) / width),
                     round(at["y"] + at["h"] * (y + 0.5) / height))
            wait_for("the pixel", lambda: f"x {x}  y {y} " in (app.value("picture.hover") or ""))
            app.catch_up()
            return app.value("picture.hover.hint") or ""
        y = next(y for y in range(1, height, 2) if "expected" in why(35, y))
        said = re.match(r"green (\d+), expected (\d+): thread \((\d+),(\d+)\) read before "
                        r"warp (\d) wrote", why(35, y))
        self.assertTrue(said, why(35, y))
        found, expected, x_of, y_of, writer = map(int, said.groups())
        self.assertNotEqual(found, expected)
        self.assertEqual((x_of, y_of), (35 % 16, y % 16))  # a thread computes its own pixel

        app.display.xdotool("click", 3)
        app.wait_value("why", lambda value: value)
        self.assertEqual(app.value("microscope.block"), f"{35 // 16}, {y // 16}")
        self.assertEqual(app.value("picture.thread"), f"{x_of}, {y_of}")
        warp = (y_of * 16 + x_of) // 32
        self.assertEqual(app.value("warp.next"), str(warp))
        self.assertEqual(app.value(f"warp.{warp}"), f"at line {READ}")
        # It reads the element of the opposite thread, which is in the warp that writes too late.
        word = (15 - x_of) * 16 + 15 - y_of
        self.assertEqual(app.value("tile.wrong"), str(word))
        self.assertEqual(((15 - y_of) * 16 + 15 - x_of) // 32, writer)
        self.assertIn(f"before thread ({15 - x_of},{15 - y_of}) of warp {writer} wrote it "
                      f"(kernels/ripple.cu:{WRITE})", app.value("why"))
        self.assertTrue(app.value(f"source.why.{READ}").startswith(f"warp {warp} got the wrong"))
        self.assertTrue(app.value(f"source.why.{WRITE}").startswith(f"warp {writer} writes here"))
        # In the right run the store of the writer is among the instructions behind the value.
        self.assertLess(int(app.value("why.run")), int(app.value("why.right")))
        # After the next step the race of these two lines is not there yet: the writer comes later.
        app.key("End")
        app.wait_value("microscope.ending", lambda value: value)
        app.click("dock.findings")
        app.wait_value("finding.0", lambda value: f"line {WRITE}" in value or
                       f":{WRITE}" in value)


if __name__ == "__main__":
    main()
