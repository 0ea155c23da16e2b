"""Makes the pictures of the README, of docs/ and of docs/book/ again: ./run pictures.

usage: pictures.py PROGRAM [NAME…]      a name is that of a file without .png

Look at each picture afterwards, and make them on an idle machine: some show times.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import driver
from driver import App, Display, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS, BOOK = ROOT / "assets/pictures", ROOT / "docs/book/pictures"
LESSONS = ROOT / "lessons"

# Pictures that one command makes. Their metadata has it.
COMMANDS = {
    "ripple": "--experiment ripple --set ripple.sync=off --set ripple.view=split --frames 60",
    "nbody": "--experiment nbody --set nbody.bodies=8192 --set nbody.start=collision "
             "--set nbody.distance=1.2 --frames 170",
    "dot": "--experiment dot --frames 10",
    "microscope": "--experiment ripple --set ripple.sync=off --frames 30 --size 1600x900 "
                  "--microscope 12,7@268",
}


def opened(app):
    """The microscope has opened its block, and the checks have ended."""
    app.wait_value("microscope.position", bool)
    app.wait_value("race", lambda value: "Checking" not in value)


def tab(name, shown):
    """Opens a tab at the foot, and waits until it shows a widget whose id begins so."""
    def act(app):
        app.wait_value("race", lambda value: "Checking" not in value)
        app.click(name)
        wait_for(shown, lambda: any(id.startswith(shown) for id in app.widgets()))
    return act


def needed(app):
    opened(app)
    app.click("dock.findings")
    app.click("findings.needed")
    wait_for("the answers", lambda: not {"findings.needed", "findings.examining"} & set(app.widgets()))


def conflict(app):
    """Steps warp 0 to its first read of a column."""
    tab("dock.banks", "banks")(app)
    app.key("b")
    app.catch_up()
    while (app.value("banks.sentence") or "No conflict").startswith("No conflict"):
        app.key("Right")
        app.catch_up()


def policies(app):
    tab("dock.barriers", "policies.")(app)
    wait_for("all policies", lambda: "policies.state" not in app.widgets())


def with_ptx(app):
    opened(app)
    app.key("p")


# Parts of a window of 1280 x 720: x, y, width, height.
DOCK, CANVAS, SOURCE_AND_WARPS = (308, 500, 972, 192), (308, 84, 664, 538), (308, 44, 972, 450)
RIPPLE = ["--experiment", "ripple", "--set", "ripple.size=256"]
TORN = [*RIPPLE, "--set", "ripple.sync=off"]
# The pictures of the book: the arguments, what is done in the window, and the part that is kept.
PAGES = {
    "01-barrier": ([*RIPPLE, "--microscope", "3,2@400"], opened, DOCK),
    "02-race": ([*TORN, "--set", "ripple.view=split"], App.pause, CANVAS),
    "03-warps": ([*TORN, "--microscope", "3,2@268"], opened, SOURCE_AND_WARPS),
    "04-sectors": (["--launch", LESSONS / "tiles.launch.json"], tab("dock.counters", "counter."),
                   (308, 500, 972, 88)),
    "05-banks": (["--launch", "transpose", "--schedule", "run-to-barrier",
                  "--microscope", "0,0"], conflict, DOCK),
    "06-reduction": (["--experiment", "dot"], App.pause, CANVAS),
    "07-divergence": (["--experiment", "dot", "--set", "dot.kernel=divergent", "--microscope", "0,0@1198"],
                      policies, (308, 44, 972, 648)),
    "08-copies": (["--experiment", "pipeline", "--set", "pipeline.copies=bulk", "--microscope", "1@900"],
                  opened, (308, 340, 972, 352)),
    "09-needed": ([*RIPPLE, "--microscope", "3,2@0"], needed, (308, 500, 972, 192)),
    "10-ptx": ([*RIPPLE, "--microscope", "3,2@300"], with_ptx, SOURCE_AND_WARPS),
}


def start(program, home, size, arguments):
    driver.WIDTH, driver.HEIGHT = size
    display = Display()
    app = App(program, display, home, "--math", "fast", *map(str, arguments))
    app.click("offer.decline")
    app.catch_up()
    return display, app


def png(picture):
    """A PNG of the pixels, without alpha."""
    rows = bytearray()
    colours = picture.colours()
    for y in range(picture.height):
        row = bytearray(3 * picture.width)
        for c in range(3):
            row[c::3] = colours[c][y * picture.width:(y + 1) * picture.width]
        # The filter "Sub" (PNG specification, 9.2).
        rows += b"\1" + row[:3] + bytes((a - b) & 255 for a, b in zip(row[3:], row))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"Software\0Warpscope, ./run pictures") +
            chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def make_page(program, home, name):
    arguments, act, part = PAGES[name]
    display, app = start(program, home, (1280, 720), arguments)
    act(app)
    app.settle()
    (BOOK / f"{name}.png").write_bytes(png(display.picture().crop(*part)))
    app.close()
    display.close()


def saved(app, key):
    app.key(key)
    said = app.wait_value("message", lambda value: value.startswith("Saved"))
    return said.removeprefix("Saved ").partition(", ")[0]


def make_editor(program, home):
    """A click on the mark of the barrier has taken it out."""
    display, app = start(program, home, (1600, 900), [*TORN[:2], "--set", "ripple.size=512"])
    app.click("editor.open")
    app.settle()
    app.click(next(id for id in app.widgets() if id.startswith("editor.barrier.")))
    app.wait_value("race", lambda value: value.startswith("Race"))
    app.pause()
    shutil.copy(saved(app, "F12"), ASSETS / "editor.png")
    app.close()
    display.close()


def make_launch(program, home):
    display, app = start(program, home, (1600, 900), ["--launch", "blur"])
    tab("dock.launch", "launch")(app)
    app.pause()
    shutil.copy(saved(app, "F12"), ASSETS / "launch.png")
    app.close()
    display.close()


def make_toggle(program, home):
    """A recording of the window: some frames without the barrier, and some with it."""
    display, app = start(program, home, (1000, 600), [*TORN[:2], "--set", "ripple.size=128", "--set",
                                                      "ripple.sync=off"])
    app.wait_value("race", lambda value: value.startswith("Race"))
    app.pause()
    app.key("ctrl+F12")
    app.settle()
    for _ in range(2):
        for _ in range(6):
            before = app.frame()
            app.key("period")
            wait_for("a frame", lambda: app.frame() > before)
            app.settle()
        app.key("s")
        app.settle()
    shutil.copy(saved(app, "ctrl+F12"), ASSETS / "toggle.png")
    app.close()
    display.close()


WINDOWS = {"editor": make_editor, "launch": make_launch, "toggle": make_toggle}


def main():
    program, *names = sys.argv[1:]
    program = os.path.abspath(program)
    BOOK.mkdir(parents=True, exist_ok=True)
    for name in names or [*COMMANDS, *WINDOWS, *PAGES]:
        with tempfile.TemporaryDirectory() as home:
            if name in COMMANDS:
                subprocess.run([program, "--headless", "--device", "emulator", "--math", "fast", "--emulator",
                                "compiled", *COMMANDS[name].split(), "--screenshot", ASSETS / f"{name}.png"],
                               check=True, stdout=subprocess.DEVNULL)
            elif name in WINDOWS:
                WINDOWS[name](program, home)
            else:
                make_page(program, home, name)
        print(name)


if __name__ == "__main__":
    main()
