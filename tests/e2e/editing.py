"""The user edits the running kernel: with a click on the mark of a barrier, by typing, and in another
editor. Errors of edits are tested too.

usage: editing.py PROGRAM [Editing.NAME]
"""
import shutil

from driver import wait_for
from scenario import RIPPLE, main
from session import BARRIER, SOURCE, WRITE, Session

# The picture does not change with time, so that screenshots can be compared.
STILL = [*RIPPLE, "--set", "ripple.pattern=spheres"]


class Editing(Session):
    def setUp(self):
        super().setUp()
        self.skip_without_nvrtc()

    def edit(self, *arguments):
        """Starts the app and opens the editor, unless the arguments open it."""
        app = self.start(*arguments)
        if app.value("editor.open") == "off":
            app.key("e")
        app.wait_value("editor.state", lambda value: value)
        return app

    def state(self, app, words):
        app.wait_value("editor.state", lambda value: words in value)

    def test_a_click_on_a_barrier_breaks_the_picture_and_another_heals_it(self):
        app = self.edit(*STILL)
        app.settle()
        whole = app.pixels()
        app.wait_value("race", "No race found")

        app.click(f"editor.barrier.{BARRIER}")
        self.state(app, "runs in the emulator")
        app.wait_value("race", "Race: 256 hazards a block")
        app.settle()
        self.assertGreater(app.pixels().share_unlike(whole), 0.05)

        app.click(f"editor.barrier.{BARRIER}")
        self.state(app, "built-in")
        app.wait_value("race", "No race found")
        app.settle()
        self.assertEqual(app.pixels(), whole)

    def test_keys_alone_explain_the_words_of_a_source(self):
        app = self.edit(*STILL)
        app.settle()
        app.key("ctrl+f")
        app.wait_value("editor.find", "")
        app.display.xdotool("type", "--", "__syncthreads")
        app.wait_value("editor.find", "__syncthreads")
        app.key("Escape")  # closes the search, and leaves the cursor at the match
        app.wait_value("editor.text", lambda value: value.startswith(f"{BARRIER}:"))
        app.key("F1")
        app.wait_value("tooltip", lambda value: value.startswith("barrier: ") and "(F2)" in value)
        app.key("F2")
        app.wait_value("words:barrier", "on")
        app.key("F2")
        wait_for("no list of words", lambda: "words:barrier" not in app.widgets())

        app.key("Escape")
        app.catch_up()
        app.key("m")
        app.wait_value("microscope.position", "0")
        app.key("F1")  # the line that runs next
        app.wait_value("tooltip", lambda value: "thread: " in value)
        app.key("Right")
        app.wait_value("microscope.position", "1")
        self.assertNotIn("tooltip", app.widgets())
        app.key("p")
        app.wait_value("ptx", lambda value: True)
        for _ in range(100):
            if app.value("focus") == "word:shared memory":
                break
            now = app.value("focus")
            app.key("Tab")
            wait_for("the next stop", lambda: app.value("focus") not in (None, now))
        app.wait_value("tooltip", lambda value: value.startswith("shared memory: "))

    def test_an_error_stands_at_its_line_and_the_picture_goes_on(self):
        app = self.edit(*RIPPLE, "--set", "ripple.pattern=ripple")
        app.click(f"editor.line.{WRITE}", (0.1, 0.5))
        app.pass_frames()
        app.key("End")
        end = len(app.value(f"editor.line.{WRITE}")) + 1
        app.wait_value("editor.text", f"{WRITE}:{end}")
        app.display.xdotool("type", "--", " int nothing = undeclared;")
        app.wait_value(f"editor.line.{WRITE}", lambda value: value.endswith("undeclared;"))
        words = f'{WRITE}: identifier "undeclared" is undefined'
        app.wait_value("editor.diagnostic.0", lambda value: value.startswith(words))
        self.state(app, "the last good kernel runs")
        frame = app.frame()
        wait_for("further frames", lambda: app.frame() > frame + 3)
        app.click("editor.revert")
        self.state(app, "built-in")
        self.assertNotIn("editor.diagnostic.0", app.widgets())

    def test_a_saved_file_is_on_screen_at_once(self):
        folder = self.home / "kernels"
        folder.mkdir()
        mine = folder / "ripple.cu"
        shutil.copy(SOURCE / "ripple.cu", mine)
        app = self.edit(*STILL, "--kernels", folder)
        app.settle()
        whole = app.pixels()
        text = mine.read_text(encoding="utf-8")
        mine.write_text(text.replace("__syncthreads();", ";", 1), encoding="utf-8")
        app.wait_value("race", lambda value: value.startswith("Race: 256"))
        mine.write_text("not a kernel", encoding="utf-8")
        app.wait_value("editor.diagnostic.0", lambda value: value)
        mine.write_text(text, encoding="utf-8")
        app.wait_value("race", "No race found")
        app.settle()
        self.assertEqual(app.pixels(), whole)

    def test_an_endless_loop_ends_and_the_last_good_kernel_goes_on(self):
        mine = self.home / "mine.cu"
        good = (SOURCE / "ripple.cu").read_text(encoding="utf-8")
        mine.write_text(good, encoding="utf-8")
        app = self.edit(*RIPPLE, "--kernel-source", mine)
        app.wait_value("transport.frame", lambda value: int(value) > 3)
        at = good.index("{", good.index("__global__")) + 1
        loop = good[:at] + "\n    for (volatile int i = 0; i >= 0; i = 1) {}\n" + good[at:]
        mine.write_text(loop, encoding="utf-8")
        app.wait_value("editor.error", lambda value: "mine" in value or "loop" in value)
        frame = app.frame()
        wait_for("further frames", lambda: app.frame() > frame + 3)
        mine.write_text(good, encoding="utf-8")
        app.wait_value("editor.state", lambda value: "built-in" in value)

    def test_the_microscope_steps_the_edited_kernel(self):
        app = self.edit(*RIPPLE)
        app.click(f"editor.barrier.{BARRIER}")
        self.state(app, "runs in the emulator")
        app.key("Escape")
        app.catch_up()
        app.key("m")
        app.wait_value("microscope.position", lambda value: value)
        app.key("End")
        app.wait_value("microscope.ending", "The block has finished.")
        self.assertEqual(app.value("microscope.kernel"), "ripple_txty")
        self.assertEqual(app.value("microscope.epoch"), "0")
        self.assertEqual(self.tile(app), (256, 16, 256, 256))


if __name__ == "__main__":
    main()
