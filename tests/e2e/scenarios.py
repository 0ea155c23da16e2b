"""What the user does in the window, and what the screen must show then.

usage: scenarios.py PROGRAM [Scenarios.NAME]
"""
import os
import shlex
import subprocess

from driver import read_png, wait_for
from scenario import BODIES, RIPPLE, Scenario, main
from session import READ, WRITE


def green(red, value, blue):
    return value > 60 and red < value // 2 and blue < value // 2


class Scenarios(Scenario):
    def test_the_ripple_shows(self):
        app = self.start(*RIPPLE)
        app.wait_value("result.wrong_pixels", "0 %")
        share = wait_for("green spheres", lambda: app.pixels().share_of(green))
        self.assertGreater(share, 0.2)
        self.assertLess(share, 0.9)
        self.assertEqual(app.pixels("tab.ripple").share_of(green), 0)

    def test_the_barrier_off_tears_the_picture_and_on_heals_it(self):
        app = self.start(*RIPPLE)
        app.wait_value("result.wrong_pixels", "0 %")
        app.click("invitation.close")
        app.settle()
        wait_for("green spheres", lambda: app.pixels().share_of(green) > 0.2)
        right = app.pixels()

        app.click("ripple.sync")
        app.wait_value("ripple.sync", "off")
        app.wait_value("result.wrong_pixels", lambda value: value != "0 %")
        self.assertGreater(app.number("result.wrong_pixels"), 3)
        self.assertLess(app.number("result.wrong_pixels"), 90)
        self.assertIn("__syncthreads()", app.value("result.wrong_pixels.sentence"))
        wait_for("torn spheres", lambda: app.pixels().share_unlike(right) > 0.03)

        app.click("ripple.sync")
        app.wait_value("ripple.sync", "on")
        app.wait_value("result.wrong_pixels", "0 %")
        app.settle()
        wait_for("the same picture as before", lambda: app.pixels() == right)

    def test_wrong_pixels_are_painted(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off")

        def magenta(red, value, blue):
            return red > 180 and blue > 180 and value < 90
        wait_for("a picture", lambda: "picture.pixels" in app.widgets()
                 and app.pixels().share_of(green) > 0.1)
        self.assertEqual(app.pixels().share_of(magenta), 0)
        app.choose("ripple.view", "wrong")
        wait_for("magenta", lambda: app.pixels().share_of(magenta) > 0.03)

    def test_keys_alone_explain_a_word_and_switch_the_barrier(self):
        app = self.start(*RIPPLE)
        app.wait_value("result.wrong_pixels", "0 %")
        app.settle()

        def tab_to(stop):
            for _ in range(100):
                now = app.value("focus")
                if now == stop:
                    return
                app.key("Tab")
                wait_for("the next stop", lambda: app.value("focus") not in (None, now))
            self.fail(f"Tab does not reach {stop}")
        tab_to("word:barrier")
        app.wait_value("tooltip", lambda value: value.startswith("barrier: ")
                       and "of the book explains it (F2)" in value)
        app.key("F2")
        app.wait_value("words:barrier", "on")
        app.key("F2")
        wait_for("no list of words", lambda: "words:barrier" not in app.widgets())
        app.wait_value("focus", "word:barrier")  # where it was before
        tab_to("ripple.sync")
        app.wait_value("tooltip", lambda value: "barrier: " in value)
        app.key("space")
        app.wait_value("ripple.sync", "off")
        app.wait_value("result.wrong_pixels", lambda value: value != "0 %")
        tab_to("race")
        app.wait_value("tooltip", lambda value: "hazard: " in value)
        app.key("s")
        app.wait_value("ripple.sync", "on")

    def test_patterns_differ(self):
        app = self.start(*RIPPLE)
        app.settle()
        wait_for("green spheres", lambda: app.pixels().share_of(green) > 0.2)
        spheres = app.pixels()
        app.choose("ripple.pattern", "ripple")
        wait_for("rings", lambda: app.pixels().share_unlike(spheres) > 0.3)
        app.choose("ripple.pattern", "spheres")
        app.settle()
        wait_for("the spheres again", lambda: app.pixels() == spheres)

    def test_bodies_keep_moving_with_every_kernel(self):
        app = self.start(*BODIES)
        for kernel in ("float3", "float4", "tiled"):
            app.choose("nbody.kernel", kernel)
            app.wait_value("result.relative_error", lambda value: value)
            self.assertLess(app.number("result.relative_error"), 1e-4)
            wait_for(f"timings of {kernel}", lambda: f"timing.nbody_{kernel}" in app.widgets())
            app.settle()
            picture = app.pixels()
            self.assertGreater(picture.share_of(lambda r, g, b: max(r, g, b) > 40), 0)
            app.pass_frames()
            wait_for("another picture", lambda: app.pixels().share_unlike(picture) > 0)

    def test_sums_show_their_results(self):
        app = self.start(*RIPPLE)
        app.click("tab.dot")
        app.wait_value("result.exact", "25 723 564 731 392")
        app.wait_value("result.relative_error", lambda value: value)
        self.assertLess(app.number("result.relative_error"), 1e-6)
        self.assertAlmostEqual(app.number("result.value") / 25723564731392, 1, 6)
        self.assertIn("dot_book", app.wait_value("tree", lambda value: value))
        self.assertGreater(app.pixels("tree").share_of(lambda r, g, b: max(r, g, b) > 150), 0.001)

        app.click("tab.reduction")
        app.wait_value("result.bandwidth", lambda value: value)
        self.assertLess(app.number("result.relative_error"), 1e-5)
        app.choose("reduction.kernel", "sequential")
        app.wait_value("tree", lambda value: "sequential" in value or "reduce1" in value)

    def test_a_dot_product_without_barriers_is_found_wrong(self):
        app = self.start("--experiment", "dot")
        app.wait_value("result.wrong_launches", "0")
        app.choose("dot.kernel", "no_barriers")
        app.wait_value("result.wrong_launches", lambda value: value != "0")
        self.assertGreater(app.number("result.relative_error"), 1e-6)

    def test_pause_holds_the_picture_and_a_step_moves_it(self):
        app = self.start(*RIPPLE, "--set", "ripple.pattern=ripple")
        wait_for("some frames", lambda: app.frame() > 3)
        app.pause()
        frame, picture = app.frame(), app.pixels()
        app.settle()
        self.assertEqual(app.frame(), frame)
        self.assertTrue(app.pixels() == picture)

        app.click("transport.step")
        app.wait_value("transport.frame", str(frame + 1))
        app.settle()
        wait_for("the next picture", lambda: app.pixels().share_unlike(picture) > 0.1)
        self.assertEqual(app.value("transport.pause"), "on")

        app.click("transport.reset")
        app.wait_value("transport.frame", "0")
        app.click("transport.pause")
        wait_for("frames again", lambda: app.frame() > 3)

    def test_lines_lead_to_the_source_and_stand_beside_it(self):
        app = self.start("--experiment", "ripple", "--set", "ripple.size=128")
        app.click("dock.lines")
        app.wait_value("lines.kernel", "ripple_txty")
        app.click("lines.by.conflicts")
        # 64 blocks of 8 warps: 8 passes where one is enough.
        app.wait_value(f"line.{WRITE}.conflicts", str(64 * 8 * 7))
        app.wait_value(f"line.{READ}.wavefronts", str(64 * 8 * 8))
        app.click(f"line.{READ}")
        app.wait_value(f"editor.figure.{READ}", str(64 * 8 * 7))
        app.choose("ripple.layout", "tytx")  # without conflicts, in another kernel
        app.wait_value("lines.kernel", "ripple_tytx")
        wait_for("the lines of the other file",
                 lambda: f"editor.figure.{READ}" not in app.widgets())

    def test_f12_saves_the_window(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off", "--seed", "7")
        app.wait_value("invitation", lambda value: value)  # comes with the verdict
        app.click("invitation.close")
        wait_for("some frames", lambda: app.frame() > 3)
        app.pause()
        shown, frame, w = app.pixels(), app.frame(), app.widgets()["picture.pixels"]
        picture, texts = read_png(self.saved(app, "F12"))
        self.assertEqual((picture.width, picture.height), (1280, 720))
        area = picture.crop(round(w["x"]), round(w["y"]), shown.width, shown.height)
        self.assertTrue(area == shown, "the file does not hold what the screen showed")
        self.assertEqual(texts["ripple.sync"], "off")
        self.assertEqual(texts["ripple.size"], "256")
        self.assertEqual(texts["frame"], str(frame))
        self.assertEqual(texts["seed"], "7")
        self.assertIn("--set ripple.sync=off", texts["command"])

    def test_a_saved_picture_can_be_made_again(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off", "--set", "ripple.pattern=ripple",
                         "--seed", "11")
        wait_for("some frames", lambda: app.frame() > 3)
        app.pause()
        picture, texts = read_png(self.saved(app, "shift+F12"))
        self.assertEqual((picture.width, picture.height), (256, 256))
        self.assertTrue(texts["reproducible"].startswith("yes"), texts["reproducible"])

        words = shlex.split(texts["command"])
        self.assertEqual(words[0], "warpscope")
        again = self.home / "again.png"
        words[words.index("--screenshot") + 1] = str(again)
        subprocess.run([self.program, *words[1:]], check=True, stdout=subprocess.DEVNULL)
        made, _ = read_png(again)
        self.assertTrue(made == picture, "the command in the file makes another picture")

    def test_a_saved_picture_that_is_opened_brings_its_settings_back(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off", "--seed", "7")
        app.wait_value("picture.pixels", "256x256")
        picture = self.saved(app, "shift+F12")
        app.click("ripple.sync")
        app.wait_value("ripple.sync", "on")
        app.key("3")
        app.wait_value("tab.dot", "on")
        app.key("ctrl+o")
        app.wait_value("open.path", lambda value: True)
        app.type_into("open.path", str(picture))
        app.wait_value("message", lambda value: f"The settings of {picture.name} are back" in value)
        app.wait_value("ripple.sync", "off")
        app.key("ctrl+z")
        app.wait_value("ripple.sync", "on")
        app.key("ctrl+shift+z")
        app.wait_value("ripple.sync", "off")

    def test_settings_are_remembered(self):
        app = self.start("--experiment", "ripple")
        app.type_into("ripple.size", "128")
        app.wait_value("ripple.size", "128")
        app.choose("ripple.pattern", "ripple")
        app.click("tab.dot")
        app.wait_value("tab.dot", "on")
        self.assertEqual(app.quit(), 0)

        app = self.start()
        app.wait_value("tab.dot", "on")
        app.click("tab.ripple")
        app.wait_value("ripple.size", "128")
        self.assertEqual(app.value("ripple.pattern"), "ripple")
        self.assertEqual(app.wait_value("picture.pixels", lambda value: value), "128x128")

    def test_a_bad_value_says_so_and_the_last_good_state_goes_on(self):
        app = self.start(*RIPPLE, "--set", "ripple.pattern=ripple")
        wait_for("some frames", lambda: app.frame() > 3)
        app.type_into("ripple.size", "99999")
        message = app.wait_value("message", lambda value: "99999" in value)
        self.assertIn("4096", message)
        app.wait_value("ripple.size", "256")
        self.assertEqual(app.value("picture.pixels"), "256x256")
        app.settle()
        picture = app.pixels()
        app.pass_frames()
        wait_for("another picture", lambda: app.pixels().share_unlike(picture) > 0)

        app.type_into("ripple.size", "sixty")
        app.wait_value("message", lambda value: "sixty" in value)
        app.type_into("ripple.size", "64")
        app.wait_value("picture.pixels", "64x64")
        app.wait_value("message", lambda value: "sixty" not in value)

    def test_without_a_display_it_says_so(self):
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        ended = subprocess.run([self.program, "--device", "emulator"], env=environment, text=True,
                               capture_output=True, cwd=self.home)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stdout, "")
        lines = ended.stderr.strip().split("\n")
        self.assertEqual(len(lines), 1, ended.stderr)
        self.assertIn("display", lines[0].lower())


if __name__ == "__main__":
    main()
