"""A headless Chromium, driven by chromedriver (WebDriver, https://www.w3.org/TR/webdriver2/), and a server of the site."""

import base64
import functools
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Site(http.server.SimpleHTTPRequestHandler):
    """A plain server: the service worker of the page has to add the headers that threads need."""

    extensions_map = {".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".svg": "image/svg+xml"}

    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=folder))
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

    def click(self, name, button=0):
        w = self.widget(name)
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


def missing(site):
    """Why nothing can be tested; empty: it can."""
    if not os.path.exists(os.path.join(site, "warpscope.wasm")):
        return "the site is not built: ./run web"
    return "" if shutil.which("chromedriver") else "chromedriver is not installed (Debian: chromium-driver)"
