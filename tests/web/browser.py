"""A browser driven by the WebDriver protocol: Chromium without a window, and what it complained of."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"tab": "\ue004", "enter": "\ue007", "space": " ", "left": "\ue012", "up": "\ue013", "right": "\ue014",
        "down": "\ue015", "shift": "\ue008", "control": "\ue009", "null": "\ue000"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def found():
    """The driver and the browser of this machine, or None."""
    driver, browser = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    return (driver, browser) if driver and browser else None


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        driver, browser = found()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # The driver says its port; a browser of root needs --no-sandbox.
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.process.stdout:
            if said := re.search(r"started successfully on port (\d+)", line):
                port = said[1]
                break
        self.base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
                     "--host-resolver-rules=MAP rebound.example 127.0.0.1", "--disable-background-networking", "--disable-component-update", "--force-device-scale-factor=1",
                     f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": browser, "args": arguments, "prefs": {
                "download.default_directory": self.folder.name, "download.prompt_for_download": False}},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})["sessionId"]
        self.complaints, self.hosts = [], set()
        self.size(width, height)
        if dark:
            self.emulate("prefers-color-scheme", "dark")

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as failure:
            raise RuntimeError(json.load(failure)["value"]["message"]) from None

    def call(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def emulate(self, feature, value):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": feature, "value": value}])

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *values):
        """What a script returns; a promise is waited for."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(values)})

    def wait(self, condition, seconds=20, what=None):
        """The first true value of an expression."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(f"return {condition}"):
                return value
            time.sleep(0.04)
        raise AssertionError(f"waited {seconds} s for {what or condition}; the page says: "
                             + str(self.run("return document.getElementById('problem')?.textContent")))

    def element(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        # The middle of the window: at its lower end stick the buttons of the form.
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.call("POST", f"/element/{self.element(selector)}/click", {})

    def give(self, selector, path):
        """Chooses a file, as a user does."""
        self.call("POST", f"/element/{self.element(selector)}/value", {"text": str(path)})

    def press(self, *keys):
        """Presses keys one after another; a tuple is pressed together."""
        actions = []
        for key in keys:
            chord = [KEYS.get(one, one) for one in (key if isinstance(key, tuple) else (key,))]
            actions += [{"type": "keyDown", "value": one} for one in chord]
            actions += [{"type": "keyUp", "value": one} for one in reversed(chord)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def drag(self, points):
        """Presses the pointer at the first point, moves it over the others, and releases it."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0} for x, y in points]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def hover(self, x, y):
        move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def drop(self, path, x, y):
        """Drops a file from outside, as the DevTools protocol does."""
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.devtools("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def tab(self, address):
        """Opens an address in another tab, and returns the handles of the old and the new one."""
        old = self.call("GET", "/window")
        new = self.call("POST", "/window/new", {"type": "tab"})["handle"]
        self.switch(new)
        self.open(address)
        return old, new

    def switch(self, handle):
        self.call("POST", "/window", {"handle": handle})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def listen(self):
        """Gathers what the console said and which hosts were asked since the last time."""
        for entry in self.call("POST", "/se/log", {"type": "browser"}):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.complaints.append(entry["message"])
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.hosts.add(re.match(r"(\w+:(?://[^/]*)?)", message["params"]["request"]["url"])[1])

    def close(self):
        try:
            self.ask("DELETE", f"/session/{self.session}")
        finally:
            self.process.terminate()
            self.process.wait()
            self.folder.cleanup()
