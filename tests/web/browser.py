"""A headless Chromium, driven by chromedriver (WebDriver, https://www.w3.org/TR/webdriver2/), or Firefox, driven by its Marionette,
which takes the commands of WebDriver by a socket; and a server of the site."""

import base64
import functools
import http.server
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Site(http.server.SimpleHTTPRequestHandler):
    """A plain server: the service worker of the page has to add the headers that threads need."""

    extensions_map = {".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".svg": "image/svg+xml"}

    shared = False  # with pages of other servers

    def end_headers(self):
        if self.shared:
            self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        pass


class SharedSite(Site):
    shared = True


def serve(folder, shared=False):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(SharedSite if shared else Site, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


class Browser:
    def __init__(self, size=(1280, 800)):
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "successfully on port " in line:
                self.address = f"http://127.0.0.1:{line.split('on port ')[1].strip().rstrip('.')}/session"
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader",
                            "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", f"--window-size={size[0]},{size[1]}",
                            f"--user-data-dir={self.profile}"]}
        wishes = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.address += "/" + self.ask("", {"capabilities": {"alwaysMatch": wishes}})["sessionId"]

    def ask(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"},
                                         method=method or ("POST" if data else "GET"))
        return json.load(urllib.request.urlopen(request, timeout=240))["value"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("", method="DELETE")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, url):
        self.ask("/url", {"url": url})

    def run(self, script):
        return self.ask("/execute/sync", {"script": "return " + script, "args": []})

    def wait_for(self, what, condition, seconds=100):
        end = time.time() + seconds
        while time.time() < end:
            try:
                value = condition()
            except Exception:  # the page is being loaded again
                value = None
            if value:
                return value
            time.sleep(0.2)
        raise AssertionError(f"{what} did not come; the page says: {self.run('document.body.innerText')}; log: {self.log()}")

    def widgets(self):
        return {w["id"]: w for w in json.loads(self.run("page.frames ? Module.ccall('warpscope_widgets', 'string') : '[]'"))}

    def widget(self, name, value=None):
        """The widget, once it is there with this value."""

        def find():
            found = self.widgets().get(name)
            return found if found and (value is None or found["value"] == value) else None

        return self.wait_for(f"{name} {value or ''}", find)

    def still(self, name):
        """The widget, once it is in sight and does not move."""

        def find():
            found = self.widget(name)
            time.sleep(0.3)
            return found if found["visible"] and found == self.widgets().get(name) else None

        return self.wait_for(f"{name} in sight", find)

    def click(self, name, button=0):
        w = self.still(name)
        x, y = round(w["x"] + w["w"] / 2), round(w["y"] + w["h"] / 2)
        pause = {"type": "pause", "duration": 100}
        move = {"type": "pointerMove", "x": x, "y": y}
        actions = [move, pause, {"type": "pointerDown", "button": button}, pause, {"type": "pointerUp", "button": button}]
        self.ask("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def press(self, key):
        keys = [{"type": "keyDown", "value": key}, {"type": "pause", "duration": 50}, {"type": "keyUp", "value": key}]
        self.ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def screenshot(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.ask("/screenshot")))

    def log(self):
        """Errors of the console."""
        return [e["message"] for e in self.ask("/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]


class Firefox(Browser):
    """On a display of Xvfb: without a display it has no WebGL."""

    COMMANDS = {"": "NewSession", "/url": "Navigate", "/execute/sync": "ExecuteScript", "/actions": "PerformActions",
                "/screenshot": "TakeScreenshot", "/window/rect": "SetWindowRect"}

    def __init__(self, size=(1280, 800)):
        self.profile = tempfile.mkdtemp()
        with open(os.path.join(self.profile, "user.js"), "w") as prefs:
            prefs.write('user_pref("marionette.port", 0); user_pref("webgl.force-enabled", true);')
        reading, writing = os.pipe()
        self.display = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size[0]}x{size[1]}x24"], pass_fds=[writing],
                                        stderr=subprocess.DEVNULL)
        os.close(writing)
        with open(reading) as number:
            display = ":" + number.readline().strip()
        environment = os.environ | {"DISPLAY": display, "MOZ_CRASHREPORTER_DISABLE": "1"}
        self.driver = subprocess.Popen(["firefox-esr", "--marionette", "--no-remote", f"--width={size[0]}", f"--height={size[1]}",
                                        "--profile", self.profile], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = os.path.join(self.profile, "MarionetteActivePort")
        while not os.path.exists(port) or not os.path.getsize(port):
            assert self.driver.poll() is None, "Firefox has ended"
            time.sleep(0.1)
        with open(port) as file:
            self.socket = socket.create_connection(("127.0.0.1", int(file.read())), timeout=240)
        self.packet()  # its greeting
        self.ask("", {"capabilities": {}})

    def packet(self):
        """A message: its length, a colon, JSON."""
        length = b""
        while (byte := self.socket.recv(1)) != b":":
            length += byte
        data = b""
        while len(data) < int(length):
            data += self.socket.recv(int(length) - len(data))
        return json.loads(data)

    def ask(self, path, body=None, method=None):
        command = "DeleteSession" if method == "DELETE" else self.COMMANDS[path]
        message = json.dumps([0, 1, "WebDriver:" + command, body or {}]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.packet()
        assert not error, error
        return result["value"] if result and "value" in result else result

    def __exit__(self, *what):
        super().__exit__(*what)
        self.display.terminate()
        self.display.wait()

    def log(self):
        """Marionette does not tell the errors of the console."""
        return []


def missing(site, programs):
    """Why nothing can be tested; empty: it can."""
    if not os.path.exists(os.path.join(site, "warpscope.wasm")):
        return "the site is not built: ./run web"
    return "".join(f"{program} is not installed; " for program in programs if not shutil.which(program))
