"""What hands expect of every window: drops, menus of the right button, panels that fill the window, a close that asks,
bookmarks, a list of keys that searches.

usage: handling.py PROGRAM [Handling.NAME]
"""
import os
import subprocess

from driver import wait_for
from dropping import FileDrop
from scenario import RIPPLE, main
from session import Session

SOURCE = """__global__ void doubled(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
"""
BODIES = "x y z vx vy vz mass\n" + "".join(f"{i} {i * i % 7} 0 0 0 0 1\n" for i in range(64))


class Handling(Session):
    def own_source(self):
        self.skip_without_nvrtc()
        source = self.home / "doubled.cu"
        source.write_text(SOURCE, encoding="utf-8")
        return source

    def type_line(self, app, words):
        """Types at the end of the last line of the source."""
        app.click("editor.line.4", (0.02, 0.5))
        app.pass_frames()
        app.display.xdotool("type", "--", words)
        app.wait_value("editor.line.4", words)

    def test_a_file_that_a_file_manager_drops_is_opened(self):
        bodies = self.home / "two words.csv"
        bodies.write_text(BODIES, encoding="utf-8")
        app = self.start(*RIPPLE)
        app.settle()
        found = subprocess.run(["xdotool", "search", "--name", "Warpscope"], check=True, capture_output=True, text=True,
                               env=os.environ | app.display.environment).stdout
        taken = FileDrop(app.display.name, int(found.split()[-1])).drop(bodies, 600, 400)
        self.assertTrue(taken)
        app.wait_value("message", "Opened two words.csv: 64 bodies.")
        app.wait_value("tab.nbody", "on")

    def test_save_as_goes_on_in_the_new_file(self):
        source = self.own_source()
        app = self.start("--launch", source)
        app.wait_value("editor.file", "launch/doubled")
        app.wait_value("editor.state", lambda value: "runs" in value)
        app.settle()
        self.type_line(app, "// one")
        app.key("ctrl+shift+s")
        wait_for("the popup", lambda: "editor.path" in app.widgets())
        app.pass_frames()
        app.key("ctrl+a")
        app.display.xdotool("type", "--", str(self.home / "renamed.cu"))
        app.wait_value("editor.path", str(self.home / "renamed.cu"))
        app.key("Return")
        app.wait_value("editor.file", "launch/renamed")
        app.settle()
        self.assertEqual(source.read_text(encoding="utf-8"), SOURCE)
        app.click("editor.line.4", (0.9, 0.5))
        app.pass_frames()
        app.display.xdotool("type", "--", " two")
        app.wait_value("editor.line.4", "// one two")
        app.key("ctrl+s")
        app.wait_value("message", f"Saved {self.home / 'renamed.cu'}.")
        self.assertEqual((self.home / "renamed.cu").read_text(encoding="utf-8"), SOURCE + "// one two")
        self.assertEqual(source.read_text(encoding="utf-8"), SOURCE)
        app.quit()
        # The file of before is there at the next start.
        again = self.start()
        again.wait_value("editor.file", "launch/renamed")

    def test_a_close_with_unsaved_edits_asks(self):
        source = self.own_source()
        app = self.start("--launch", source)
        app.wait_value("editor.state", lambda value: "runs" in value)
        app.settle()
        self.type_line(app, "// kept")
        app.key("ctrl+q")
        app.click("quit.cancel")
        wait_for("the end of the question", lambda: "quit.save" not in app.widgets())
        app.pass_frames()
        app.key("ctrl+q")
        app.click("quit.save")
        self.assertEqual(app.wait_end(), 0)
        self.assertEqual(source.read_text(encoding="utf-8"), SOURCE + "// kept")

    def test_the_list_of_keys_is_searched(self):
        app = self.start(*RIPPLE)
        app.settle()
        app.key("question")
        app.wait_value("keys.search", "")
        app.pass_frames()
        app.display.xdotool("type", "--", "race")  # the keys of its letters do nothing behind the list
        app.wait_value("keys.search", "race")
        self.assertEqual(app.value("editor.open"), "off")
        app.key("Escape")
        wait_for("no list", lambda: "keys.search" not in app.widgets())

    def test_a_right_click_resets_a_parameter_and_a_ctrl_click_types_one(self):
        app = self.start(*RIPPLE)
        app.wait_value("ripple.size", "256")
        app.settle()
        app.click("ripple.size.slider", button=3)
        app.click("ripple.size.menu.reset")
        app.wait_value("ripple.size", lambda value: value != "256")
        app.settle()
        app.display.xdotool("keydown", "Control_L")
        app.click("ripple.size.slider", (0.3, 0.5))
        app.arrive()
        app.display.xdotool("keyup", "Control_L")
        app.pass_frames()
        app.display.xdotool("type", "--", "128")
        app.wait_value("ripple.size", "128")
        app.key("Return")
        app.wait_value("result.wrong_pixels", "0 %")
        app.wait_value("ripple.size.slider", "128")
        app.click("result.wrong_pixels", button=3)
        app.wait_value("result.wrong_pixels.menu.plot", lambda value: int(value or 0) > 1)

    def test_a_second_window_shows_the_picture_alone(self):
        app = self.start(*RIPPLE)
        app.settle()
        app.move(1250, 700)  # without a window manager the keys go to the window below the mouse

        def second():
            return subprocess.run(["xdotool", "search", "--name", "Warpscope: the picture"], capture_output=True,
                                  text=True, env=os.environ | app.display.environment).stdout.split()
        self.assertEqual(second(), [])
        app.key("shift+F11")
        wait_for("the second window", second)
        # It lies over the panels at the left, in which nothing is green.
        wait_for("the picture in it", lambda: app.display.picture().crop(200, 150, 400, 300).share_of(
            lambda r, g, b: g > 120 and r < 40 and b < 40) > 0.1)
        app.key("shift+F11")
        wait_for("its end", lambda: not second())

    def test_a_panel_fills_the_window_until_escape(self):
        app = self.start(*RIPPLE)
        app.settle()
        picture = app.widgets()["picture"]["w"]
        app.move(640, 300)
        app.wait_mouse()
        app.key("ctrl+space")
        wait_for("a larger picture", lambda: app.widgets()["picture"]["w"] > 1.5 * picture)
        self.assertNotIn("ripple.sync", app.widgets())
        app.key("Escape")
        wait_for("the other panels", lambda: "ripple.sync" in app.widgets())
        self.assertEqual(app.widgets()["picture"]["w"], picture)

    def test_bookmarks_bring_back_steps_of_a_block(self):
        app = self.open(*RIPPLE, block="1,1")
        app.settle()
        app.key("Right", "Right", "Right")
        app.wait_value("microscope.position", "3")
        app.key("k")
        wait_for("the bookmark", lambda: "timeline.bookmark.3" in app.widgets())
        app.key("Home")
        app.wait_value("microscope.position", "0")
        app.key("shift+k")
        app.wait_value("microscope.position", "3")
        app.key("k")
        wait_for("no bookmark", lambda: "timeline.bookmark.3" not in app.widgets())

    def test_a_recording_asks_counts_down_and_ends_by_itself(self):
        app = self.start(*RIPPLE)
        app.settle()
        app.click("save")
        app.click("record")
        wait_for("the question", lambda: "record.begin" in app.widgets())
        app.pass_frames()
        app.choose("record.what", "picture")
        app.choose("record.seconds", "5")
        app.click("record.begin")
        app.wait_value("record.countdown", lambda value: value in ("3", "2", "1"))
        app.wait_value("record", "on")
        self.assertNotIn("record.countdown", app.widgets())
        app.wait_value("message", lambda value: value.startswith("Saved") and value.endswith(" MB"))
        self.assertEqual(len(list(self.home.glob("warpscope-*.png"))), 1)


if __name__ == "__main__":
    main()
