"""The user takes the tour, walks each lesson from a wrong solution to its gate, and finds one passed later.

usage: learning.py PROGRAM [Learning.NAME]
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from animation import read_animation
from driver import read_png, wait_for
from scenario import RIPPLE, Scenario, main

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "jobs"))
from lesson_solutions import SOLUTIONS  # pylint: disable=wrong-import-position


class Learning(Scenario):
    def test_a_lesson_is_failed_then_passed_and_remembered(self):
        self.skip_without_nvrtc()
        app = self.start(*RIPPLE)
        app.key("l")
        app.wait_value("lessons.passed", "0 of 13")
        app.settle()
        app.click("lessons:2")
        app.wait_value("lesson", "mend-the-ripple")
        app.wait_value("race", lambda value: value.startswith("Race"))
        app.settle()
        self.assertEqual(self.gate(app), ["yes", "no", "no"])

        # The built-in kernel, which the switch brings back, is no solution.
        app.click("ripple.sync")
        app.wait_value("race", "No race found")
        app.settle()
        self.assertEqual((app.value("lesson.passed"), app.value("lesson.gate.2")), ("no", "no"))
        app.click("lesson.again")
        app.wait_value("race", lambda value: value.startswith("Race"))
        app.settle()

        # A barrier before the tile is written does not order the read after the write.
        self.insert_barrier(app, "unsigned y =")
        app.wait_value("editor.state", lambda value: "runs in the emulator" in value)
        app.wait_value("race", lambda value: value.startswith("Race"))
        app.settle()
        self.assertEqual(app.value("lesson.passed"), "no")
        self.insert_barrier(app, "brightness(pattern, x, y")
        app.wait_value("lesson.passed", "yes")
        self.assertEqual(app.value("race"), "No race found")
        app.settle()
        app.quit()

        app = self.start("--lesson", "mend-the-ripple")
        app.wait_value("lesson.passed", "yes")

    def test_each_lesson_is_failed_by_a_wrong_solution_and_passed_by_a_right_one(self):
        self.skip_without_nvrtc()
        app = self.start(*RIPPLE)
        app.key("l")
        app.wait_value("lessons.passed", "0 of 13")
        app.settle()
        skipped = 0
        for number, (lesson, (source, wrong, right)) in enumerate(SOLUTIONS.items(), 1):
            app.click("lesson.next" if number > 1 else "lessons:1")
            app.wait_value("lesson", lesson)
            app.settle()
            if app.value("editor.open") == "off":
                app.click("editor.open")
            start = source.read_text(encoding="utf-8")
            self.paste(app, wrong(start))
            app.wait_value("editor.state", "runs in the emulator")
            graded = self.graded(lesson, wrong(start))
            if not graded:  # a program, without nvcc or without the library of programs
                skipped += 1
                continue
            wait_for(f"the gate of {lesson}, {graded}", lambda: self.gate(app) == graded)
            self.assertEqual(app.value("lesson.passed"), "no", lesson)
            self.paste(app, right(start))
            app.wait_value("lesson.passed", "yes")
            self.assertEqual(set(self.gate(app)), {"yes"}, lesson)
            app.settle()
        app.click("lesson.leave")
        app.wait_value("lessons.passed", f"{13 - skipped} of 13")

    def test_what_was_on_show_is_back_when_a_lesson_is_left(self):
        self.skip_without_nvrtc()
        app = self.start(*RIPPLE)
        app.click("ripple.sync")
        app.wait_value("ripple.sync", "off")
        app.key("l")
        app.wait_value("lessons.passed", "0 of 13")
        app.settle()
        app.click("lessons:2")
        app.wait_value("ripple.size", "128")
        app.wait_value("race", lambda value: value.startswith("Race"))
        app.settle()
        self.insert_barrier(app, "brightness(pattern, x, y")
        app.wait_value("lesson.passed", "yes")
        app.key("ctrl+j")  # away from the text
        app.click("lesson.leave")
        app.wait_value("ripple.size", "256")
        wait_for("the source of before", lambda: app.value("edited") is None)
        self.assertEqual(app.value("ripple.sync"), "off")
        app.wait_value("editor.open", "off")
        # A window that is closed within a lesson is left as well, and the student's source is kept.
        app.settle()
        app.click("lessons:3")
        app.wait_value("lesson", "the-divergent-barrier")
        app.wait_value("editor.state", "runs in the emulator")
        app.settle()
        app.quit()
        app = self.start()
        app.settle()
        self.assertEqual([app.value(id) for id in ("tab.ripple", "ripple.size", "ripple.sync", "editor.open")],
                         ["on", "256", "off", "off"])
        app.key("l")
        app.settle()
        app.click("lessons:2")
        app.wait_value("race", "No race found")
        app.settle()
        self.assertEqual(self.gate(app), ["yes", "yes", "yes"])

    def paste(self, app, text):
        """Puts the text into the editor, in place of all that is there."""
        subprocess.run(["xclip", "-selection", "clipboard"], check=True, input=text, text=True,
                       stdout=subprocess.DEVNULL, env=os.environ | app.display.environment)
        app.click("editor.text", (0.5, 0.5))
        app.pass_frames()
        app.key("ctrl+a")
        app.key("ctrl+v")
        app.catch_up()

    def gate(self, app):
        """Whether each condition of the lesson on show holds: ["yes", "no"]."""
        widgets = app.widgets()
        return [widget["value"] for id, widget in widgets.items() if id.startswith("lesson.gate.")]

    def graded(self, lesson, text):
        """The conditions of the lesson as they are graded without a window."""
        source = self.home / "handed_in.cu"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([self.program, "--lesson", lesson, "--check", source, "--json", "-"], check=False,
                              capture_output=True, text=True)
        return ["yes" if one["holds"] else "no" for one in json.loads(done.stdout)["conditions"]]

    def insert_barrier(self, app, after):
        """Types the barrier into the editor, below the first line with these words."""
        def line():
            for id, widget in app.widgets().items():
                if id.startswith("editor.line.") and after in widget["value"] and widget["visible"]:
                    return id
            app.click("editor.text", (0.5, 0.5))
            app.key("Next")
            return None
        app.click(wait_for(f"a line with {after}", line), (0.3, 0.5))
        app.key("End")
        app.key("Return")
        app.pass_frames()
        app.display.xdotool("type", "--", "__syncthreads();")
        app.catch_up()

    def test_the_tour_is_offered_once(self):
        app = self.start(*RIPPLE)
        app.click("offer")
        for widget in ("picture", "ripple.sync", "race", "editor.open", "lessons.button"):
            app.wait_value("tour", widget)
            app.settle()
            app.click("tour.next")
        wait_for("the end of the tour", lambda: app.value("tour") is None)
        app.quit()
        app = self.start(*RIPPLE)
        app.catch_up()
        self.assertIsNone(app.value("offer"))

    def test_the_tour_takes_the_keys(self):
        app = self.start(*RIPPLE)
        app.click("offer")
        app.wait_value("tour", "picture")
        app.key("Right")
        app.wait_value("tour", "ripple.sync")
        app.key("s")  # behind the tour, keys change nothing
        app.catch_up()
        self.assertEqual(app.value("ripple.sync"), "on")
        app.key("Left")
        app.wait_value("tour", "picture")
        app.click("tour.next")
        app.wait_value("tour", "ripple.sync")
        app.settle()
        app.click("tour.back")
        app.wait_value("tour", "picture")
        app.key("Escape")
        wait_for("the end of the tour", lambda: app.value("tour") is None)
        app.quit()

    def test_a_recording_of_the_window_has_what_the_screen_has_shown(self):
        app = self.start(*RIPPLE, "--set", "ripple.pattern=ripple")
        app.pause()
        place = app.widgets()["picture"]
        app.key("ctrl+F12")
        app.wait_value("record", "on")
        seen = []
        for _ in range(3):
            before = app.frame()
            app.key("period")
            app.wait_value("transport.frame", lambda value: int(value) > before)
            app.settle()
            seen.append(app.pixels("picture"))
        app.key("ctrl+F12")
        said = app.wait_value("message", lambda value: value.startswith("Saved"))
        path, frames = re.match(r"Saved (.*), (\d+) frames", said).groups()
        pictures, texts = read_animation(path, self.home)
        self.assertEqual(len(pictures), int(frames))
        self.assertEqual((pictures[0].width, pictures[0].height), (1280, 720))
        self.assertEqual(texts["ripple.pattern"], "ripple")
        # The screens in their order, among the frames between them.
        decoded = iter(picture.crop(round(place["x"]), round(place["y"]), seen[0].width, seen[0].height)
                       for picture in pictures)
        if "dropped" not in said:  # as on a busy machine
            for number, screen in enumerate(seen):
                self.assertTrue(any(picture == screen for picture in decoded), f"screen {number} is in no frame")

    def test_a_recording_of_the_picture_has_its_pixels_and_settings(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off")
        app.wait_value("invitation", lambda value: value)  # comes with the verdict
        app.click("invitation.close")
        app.pause()
        shown = app.pixels("picture")
        app.key("ctrl+shift+F12")
        app.wait_value("record", "on")
        app.pass_frames()
        app.key("ctrl+F12")  # either key ends it
        said = app.wait_value("message", lambda value: value.startswith("Saved"))
        picture, texts = read_png(said.removeprefix("Saved ").split(", ")[0])
        self.assertEqual(picture, shown)
        self.assertEqual(texts["ripple.sync"], "off")
        # A recording that is discarded leaves nothing.
        before = sorted(self.home.iterdir())
        app.key("ctrl+F12")
        app.wait_value("record", "on")
        app.key("ctrl+shift+p")
        app.wait_value("palette", "")
        app.display.xdotool("type", "discard it")
        app.wait_value("palette", "discard it")
        app.key("Return")
        app.wait_value("message", "The recording was discarded.")
        self.assertEqual(sorted(self.home.iterdir()), before)

    def test_a_copied_picture_is_that_of_a_screenshot(self):
        app = self.start(*RIPPLE, "--set", "ripple.sync=off")
        app.pause()
        app.key("shift+F12")
        said = app.wait_value("message", lambda value: value.startswith("Saved"))
        app.key("ctrl+shift+c")
        app.wait_value("message", "Copied the picture.")
        copied = self.home / "copied.png"
        with open(copied, "wb") as file:
            subprocess.run(["xclip", "-o", "-selection", "clipboard", "-target", "image/png"], check=True,
                           stdout=file, env=os.environ | app.display.environment)
        self.assertEqual(read_png(copied), read_png(said.removeprefix("Saved ")))

    def test_a_class_is_graded(self):
        self.skip_without_nvrtc()
        folder = self.home / "handed_in"
        folder.mkdir()
        (folder / "a.cu").write_text("not a kernel", encoding="utf-8")
        said = subprocess.run([self.program, "--lesson", "2", "--check", folder], check=False,
                              capture_output=True, text=True)
        self.assertEqual(said.returncode, 1)
        self.assertTrue(said.stdout.startswith("file,passed,reason\na.cu,no,"), said.stdout)


if __name__ == "__main__":
    main()
