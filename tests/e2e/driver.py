"""Drives the window as a user does: starts the app in a virtual display, finds widgets by id, clicks,
types, and reads the pixels of the screen.

Nothing here waits for a fixed time. Every step polls for its condition and fails after PATIENCE
seconds with a sentence. (A sanitizer build on a busy machine draws a few frames a second.)
"""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

PATIENCE = 180
WIDTH, HEIGHT = 1280, 720
# `./run test` downloads the compiler of edits into it, where no CUDA Toolkit brings one.
DATA = os.environ.get("XDG_DATA_HOME") or str(pathlib.Path.home() / ".local/share")

# A shell that starts the tests in the background ignores SIGINT for them, and for what they start.
# The other two would end the tests without removing their folders.
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.default_int_handler)

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def start_process(words, ended_by=signal.SIGTERM, **options):
    """A subprocess.Popen that the kernel ends by this signal when the driver ends, however it ends. (SIGTERM
    lets Xvfb remove its lock, and mpirun end its ranks.)"""
    driver = os.getpid()

    def end_with_driver():
        _LIBC.prctl(_PR_SET_PDEATHSIG, ended_by)
        if os.getppid() != driver:
            os._exit(1)  # the driver has ended before the kernel was asked
    return subprocess.Popen(words, preexec_fn=end_with_driver, **options)


def wait_for(what, condition):
    """Waits for a true value of condition() and returns it. `what` names it in the error."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.02)


class Picture:
    """Rows of pixels. A pixel has `step` bytes; `order` has the positions of red, green and blue."""

    def __init__(self, width, height, rows, step, order=(0, 1, 2)):
        self.width, self.height, self.rows = width, height, rows
        self.step, self.order = step, order

    def crop(self, x, y, w, h):
        rows = [row[x * self.step:(x + w) * self.step] for row in self.rows[y:y + h]]
        return Picture(w, h, rows, self.step, self.order)

    def channel(self, which):
        """All values of one colour, row by row."""
        return b"".join(row[self.order[which]::self.step] for row in self.rows)

    def colours(self):
        """(red, green, blue) as three strings of bytes."""
        return tuple(self.channel(c) for c in range(3))

    def __eq__(self, other):
        return self.colours() == other.colours()

    def share_of(self, holds):
        """Share of the pixels for which holds(red, green, blue) is true."""
        return sum(1 for p in zip(*self.colours()) if holds(*p)) / (self.width * self.height)

    def share_unlike(self, other):
        pairs = zip(zip(*self.colours()), zip(*other.colours()))
        return sum(1 for a, b in pairs if a != b) / (self.width * self.height)


def read_xwd(path):
    """The frame buffer of the X server: X11/XWDFile.h, big-endian header, 32-bit pixels."""
    data = pathlib.Path(path).read_bytes()
    header = struct.unpack(">25I", data[:100])
    width, height, bits, stride, colours = (header[i] for i in (4, 5, 11, 12, 19))
    assert bits == 32, f"a screen of {bits} bits a pixel"
    order = (2, 1, 0) if header[7] == 0 else (1, 2, 3)
    first = header[0] + 12 * colours
    rows = [data[first + y * stride:first + y * stride + 4 * width] for y in range(height)]
    return Picture(width, height, rows, 4, order)


def _unfilter(kind, line, above, step):
    """Removes the filter of a PNG scanline in place (PNG specification, 9.2)."""
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = (line[i] + line[i - step]) & 255
    elif kind == 2:
        for i in range(len(line)):
            line[i] = (line[i] + above[i]) & 255
    elif kind == 3:
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            line[i] = (line[i] + (left + above[i]) // 2) & 255
    elif kind == 4:
        for i in range(len(line)):
            left, corner = (line[i - step], above[i - step]) if i >= step else (0, 0)
            up = above[i]
            p = left + up - corner
            near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))
            line[i] = (line[i] + near[2]) & 255
    return line


def read_png(path):
    """Returns (Picture, {keyword: text}) of a PNG: 8 bits per channel, RGB or RGBA, not interlaced."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    at, packed, texts, header = 8, b"", {}, None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        check = struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        assert zlib.crc32(kind + body) == check, f"{path}: a {kind} chunk is damaged"
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        elif kind == b"tEXt":
            keyword, text = body.split(b"\0", 1)
            texts[keyword.decode()] = text.decode("latin-1")
        elif kind == b"iTXt":
            keyword, rest = body.split(b"\0", 1)
            texts[keyword.decode()] = rest[2:].split(b"\0", 2)[2].decode()
    width, height, depth, colour, _, _, interlaced = header
    assert depth == 8 and colour in (2, 6) and not interlaced, f"{path}: {header}"
    step = 4 if colour == 6 else 3
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        above = _unfilter(raw[start], line, above, step)
        rows.append(bytes(above))
    return Picture(width, height, rows, step), texts


class Display:
    """A virtual screen. Its frame buffer is a file that the tests read."""

    def __init__(self):
        for tool in ("Xvfb", "xdotool"):
            if not shutil.which(tool):
                raise AssertionError(f"{tool} is missing: ./run test installs it")
        self._folder = tempfile.TemporaryDirectory(prefix="warpscope-screen-")
        reading, writing = os.pipe()
        self._server = start_process(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
             "-fbdir", self._folder.name, "-nolisten", "tcp", "-r",  # no key repeats itself
             "-noreset"],  # without it the server resets when the app ends, and the next app finds no display
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as answer:
            number = answer.readline().strip()
        assert number, "Xvfb did not start"
        self.name = f":{number}"
        self.environment = {"DISPLAY": self.name}  # in which an app finds its display

    def picture(self):
        return read_xwd(pathlib.Path(self._folder.name) / "Xvfb_screen0")

    def xdotool(self, *words):
        subprocess.run(["xdotool", *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"DISPLAY": self.name})

    def close(self):
        self._server.terminate()
        self._server.wait()
        self._folder.cleanup()


class App:
    """The app in a window that fills the display. Settings and screenshots are in `home`. The words
    `before` stand before its command: a program that starts it."""

    def __init__(self, program, display, home, *arguments, before=()):
        self.display, self.home = display, pathlib.Path(home)
        self._map = self.home / "widgets.json"
        self._map.unlink(missing_ok=True)
        self._log = open(self.home / "log.txt", "w+", encoding="utf-8")
        environment = os.environ | {"HOME": str(home), "XDG_CONFIG_HOME": str(self.home / "config"),
                                    "XDG_PICTURES_DIR": str(home), "XDG_DATA_HOME": DATA,
                                    "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C.UTF-8"}
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_RUNTIME_DIR",
                     "XDG_SESSION_TYPE"):
            environment.pop(name, None)
        environment |= display.environment
        self._process = start_process(
            [*before, program, "--device", "emulator", "--widget-map", str(self._map),
             "--size", f"{WIDTH}x{HEIGHT}", *arguments],
            ended_by=signal.SIGTERM if before else signal.SIGKILL,  # a process that rests ignores SIGTERM
            stdout=self._log, stderr=subprocess.STDOUT, env=environment, cwd=home)
        self._mouse = (0, 0)
        self.park()
        wait_for("the first frame", self.widgets)

    @property
    def pid(self):
        return self._process.pid

    # --- reading

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def widgets(self):
        """{id: widget} of the newest frame."""
        if self._process.poll() is not None:
            raise AssertionError(f"the app ended with {self._process.returncode}: {self.log()}")
        if not self._map.exists():
            return {}
        return {w["id"]: w for w in json.loads(self._map.read_text(encoding="utf-8"))}

    def value(self, widget):
        found = self.widgets().get(widget)
        return None if found is None else found["value"]

    def wait_value(self, widget, wanted):
        """Waits until a widget's value is `wanted` or wanted(value) is true. Returns the value."""
        holds = wanted if callable(wanted) else lambda value: value == wanted
        seen = [None]

        def there():
            seen[0] = self.value(widget)
            return seen[0] is not None and holds(seen[0])
        try:
            wait_for(widget, there)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {seen[0]!r}, message "
                                 f"{self.value('message')!r}") from None
        return seen[0]

    def number(self, widget):
        """The number at the start of a label: '41.3 %', '25 723 563 606 016', '1.2e-07'."""
        text = wait_for(widget, lambda: self.value(widget))
        digits = ""
        for word in text.split(" "):
            if not word or word.lstrip("-")[:1] not in set("0123456789"):
                break
            digits += word
        return float(digits)

    def frame(self):
        return int(self.value("transport.frame"))

    def pixels(self, widget="picture.pixels"):
        """The pixels of a widget on the screen, without the line about long work that may lie over it."""
        def alone():
            widgets = self.widgets()
            if "work" in widgets:
                return None
            w = widgets[widget]
            x, y = round(w["x"]), round(w["y"])
            picture = self.display.picture().crop(x, y, round(w["x"] + w["w"]) - x,
                                                  round(w["y"] + w["h"]) - y)
            return None if "work" in self.widgets() else picture
        return wait_for(f"{widget} without long work", alone)

    # --- acting

    def move(self, x, y):
        self._mouse = (x, y)
        self.display.xdotool("mousemove", x, y)

    def park(self):
        """Moves the pointer to a place without highlights and tooltips."""
        self.move(2 if self._mouse[0] == 1 else 1, 1)

    def arrive(self):
        """Waits until the window has handled every key and button that was sent: events are handled in
        order, so that a movement of the mouse, by one pixel, shows that those before it were."""
        x, y = self._mouse
        self.move(x + 1 if x % 2 == 0 else x - 1, y)
        self.wait_mouse()

    def wait_mouse(self):
        x, y = self._mouse
        wait_for(f"the mouse at {x},{y}", lambda: self.value("mouse") == f"{x},{y}")

    def catch_up(self):
        """Waits until everything that was sent is handled, computed and on show."""
        self.arrive()
        self.wait_value("settled", "on")

    def settle(self):
        """Moves the pointer away and waits until everything that was sent is on show without it."""
        self.park()
        self.wait_mouse()
        self.wait_value("settled", "on")
        self.pass_frames()

    def click(self, widget, at=(0.5, 0.5), button=1):
        """Clicks at a share of the widget's width and height. The pointer stays there; settle() moves it
        away."""
        self.arrive()

        def target():
            found = self.widgets().get(widget)
            return found if found and found["visible"] and found["enabled"] else None
        w = wait_for(f"{widget} to be there", target)
        self.move(round(w["x"] + w["w"] * at[0]), round(w["y"] + w["h"] * at[1]))
        self.display.xdotool("click", button)

    def choose(self, widget, entry):
        """Chooses an entry of a list or of a row of segments. A list needs some frames after it opens to
        find its place."""
        if f"{widget}:{entry}" not in self.widgets():
            self.click(widget)
            wait_for(f"the list of {widget}", lambda: f"{widget}:{entry}" in self.widgets())
            self.pass_frames()
        self.click(f"{widget}:{entry}")
        self.wait_value(widget, entry)

    def pass_frames(self):
        """Waits for more frames. A window at rest draws some frames after each event."""
        before = int(self.value("frames"))
        self.display.xdotool("mousemove_relative", 1, 0, "mousemove_relative", "--", -1, 0)
        wait_for("further frames", lambda: int(self.value("frames")) > before + 2)

    def type_into(self, widget, text):
        """Types into a field, then presses Enter."""
        self.click(widget)
        self.pass_frames()
        self.display.xdotool("type", "--", text)
        self.wait_value(widget, text)
        self.key("Return")

    def key(self, *names):
        """Presses keys. The app rests meanwhile, because Dear ImGui repeats a key that it sees pressed for
        0.28 s, and a busy machine may take longer to release it."""
        with self._resting():
            self.display.xdotool("key", *names)

    @contextlib.contextmanager
    def _resting(self):
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def resize(self, width, height):
        """Waits until the window has drawn a frame in its new size."""
        def there():
            window = self.widgets()["mouse"]
            return (window["w"], window["h"]) == (width, height)
        self.display.xdotool("search", "--name", "Warpscope", "windowsize", width, height)
        wait_for(f"a frame of {width}x{height}", there)

    def pause(self):
        self.click("transport.pause")
        self.wait_value("transport.pause", "on")
        self.settle()

    # --- ending

    def wait_end(self):
        """Waits until the app ends by itself and returns its exit status."""
        return self._process.wait(PATIENCE)

    def quit(self):
        """Presses Ctrl+Q and returns the exit code."""
        self.key("ctrl+q")
        return self._process.wait(PATIENCE)

    def end(self, number):
        """Sends the app a signal and returns its exit status."""
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._log.close()
