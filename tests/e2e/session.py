"""A block in the microscope: the values of its panels, and the lines of its kernel."""
import pathlib
import re

from scenario import Scenario

SOURCE = pathlib.Path(__file__).parents[2] / "kernels"
RIPPLE = ["--experiment", "ripple", "--set", "ripple.size=128"]
WARPS = range(8)


def line_of(file, words):
    """The number of the first line that contains these words."""
    lines = (SOURCE / file).read_text(encoding="utf-8").split("\n")
    return next(i for i, line in enumerate(lines, 1) if words in line)


# draw() of the ripple: the tile is written, the barrier orders, the tile is read.
WRITE = line_of("ripple.cu", "tile[threadIdx.x][threadIdx.y] = ")
BARRIER = line_of("ripple.cu", "__syncthreads();")
READ = line_of("ripple.cu", "= tile[side - 1 - threadIdx.x]")


class Session(Scenario):
    def at(self, app, position):
        """Waits until the microscope is at this step. Returns the values of its panels."""
        app.catch_up()
        app.wait_value("microscope.position", position if callable(position) else str(position))
        return self.panels(app)

    def panels(self, app):
        """{id: value} of the widgets that depend only on the step."""
        kept = ("microscope.position", "microscope.epoch", "microscope.ending", "warp.", "source.",
                "ptx.", "tile", "timeline", "register", "banks", "picture.block", "picture.thread")
        # Which lines of the texts are in sight depends on the steps before, too.
        scrolled = ("ptx.line.", "source.line.")
        return {id: (w["value"], w["enabled"]) for id, w in app.widgets().items()
                if id.startswith(kept) and not id.startswith(scrolled)}

    def words(self, panels, id):
        return panels[id][0] if id in panels else None

    def moved(self, before, after):
        """The warps that are at another instruction. The PTX must be visible."""
        return [w for w in WARPS
                if self.words(before, f"ptx.warp.{w}") != self.words(after, f"ptx.warp.{w}")]

    def lines(self, app):
        """The states of the warps: ["at line 80", ...]."""
        widgets = app.widgets()
        return [widgets[f"warp.{w}"]["value"] for w in WARPS]

    def tile(self, app):
        """(words, words in a row, written, hazards) of the tile."""
        return tuple(map(int, re.findall(r"\d+", app.value("tile"))))

    def click_pixel(self, app, x, y, button):
        """Clicks the centre of a pixel of the picture."""
        width, height = map(int, app.value("picture.pixels").split("x"))
        app.click("picture.pixels", ((x + 0.5) / width, (y + 0.5) / height), button)

    def open(self, *arguments, block="3,2"):
        app = self.start(*arguments, "--microscope", block)
        app.wait_value("microscope.position", lambda value: value)
        return app
