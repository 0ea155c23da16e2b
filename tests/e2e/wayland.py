"""The window under Wayland: in weston, which is itself a window of the virtual screen.

usage: wayland.py PROGRAM [Wayland.NAME]
"""
import ctypes
import os
import shutil
import signal
import socket

from driver import HEIGHT, WIDTH, read_png, start_process, wait_for
from scenario import RIPPLE, Scenario, main


def green(red, value, blue):
    return value > 60 and red < value // 2 and blue < value // 2


class Wayland(Scenario):
    def setUp(self):
        if not shutil.which("weston"):
            self.skipTest("weston is not installed")
        glfw = ctypes.CDLL("libglfw.so.3")
        glfw.glfwGetVersionString.restype = ctypes.c_char_p
        version = glfw.glfwGetVersionString().decode()
        if "Wayland" not in version:
            self.skipTest(f"GLFW is built without Wayland: {version}")
        super().setUp()

    def compositor(self, backend):
        """Starts weston. Its apps fill its window, which fills the screen, so that both have the same
        coordinates. Returns the environment of the apps."""
        runtime = self.home / "runtime"
        runtime.mkdir(0o700)
        environment = {"XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": "wayland-test"}
        log = self.home / "weston.txt"
        with open(log, "wb") as file:
            weston = start_process(
                ["weston", "--no-config", f"--backend={backend}", "--renderer=pixman",
                 "--shell=kiosk", "--socket=wayland-test", "--idle-time=0", f"--width={WIDTH}",
                 f"--height={HEIGHT}"],
                stdout=file, stderr=file,
                env=os.environ | self.display.environment | {"XDG_RUNTIME_DIR": str(runtime)})
        self.addCleanup(weston.wait)
        self.addCleanup(weston.terminate)

        def listens():
            if weston.poll() is not None:
                raise AssertionError(f"weston ended: {log.read_text(encoding='utf-8')}")
            with socket.socket(socket.AF_UNIX) as client:
                return client.connect_ex(str(runtime / "wayland-test")) == 0
        wait_for("weston", listens)
        return environment

    def test_clicks_keys_and_screenshots_work_under_weston(self):
        self.display.environment = self.compositor("x11")
        app = self.start(*RIPPLE)
        app.wait_value("result.wrong_pixels", "0 %")
        app.settle()
        wait_for("green spheres", lambda: app.pixels().share_of(green) > 0.2)

        app.click("ripple.sync")
        app.wait_value("ripple.sync", "off")
        app.wait_value("result.wrong_pixels", lambda value: value != "0 %")
        app.key("space")
        app.wait_value("transport.pause", "on")

        picture, texts = read_png(self.saved(app, "F12"))
        self.assertEqual((picture.width, picture.height), (WIDTH, HEIGHT))
        self.assertGreater(picture.share_of(green), 0.05)
        self.assertEqual(texts["ripple.sync"], "off")
        self.assertEqual(app.end(signal.SIGTERM), -signal.SIGTERM)

    def test_a_compositor_without_a_seat_is_left_for_x11_or_named(self):
        wayland, x11 = self.compositor("headless"), self.display.environment
        self.display.environment = wayland
        with self.assertRaisesRegex(AssertionError, "ended with 1: .*wl_seat.*DISPLAY"):
            self.start(*RIPPLE)
        self.display.environment = wayland | x11
        app = self.start(*RIPPLE)
        app.settle()
        wait_for("green spheres", lambda: app.pixels().share_of(green) > 0.2)


if __name__ == "__main__":
    main()
