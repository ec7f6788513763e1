"""A browser under the test's command: headless Chromium through chromedriver, spoken to in plain HTTP.

The WebDriver protocol is JSON over HTTP, so Python's standard library is all it takes. One Browser is one
chromedriver, one Chromium and one empty profile; close() ends all three and removes the profile.
"""

import base64
import http.client
import json
import shutil
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

KEYS = {
    "ENTER": "\ue007", "TAB": "\ue004", "ESCAPE": "\ue00c", "BACKSPACE": "\ue003", "SHIFT": "\ue008",
    "CONTROL": "\ue009", "LEFT": "\ue012", "UP": "\ue013", "RIGHT": "\ue014", "DOWN": "\ue015",
}


class WebDriverError(Exception):
    pass


class Browser:
    def __init__(self, width=1360, height=900, dark=False, start_seconds=60):
        self.profile = tempfile.mkdtemp(prefix="halite-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session = None
        try:
            self.port = self._read_port(time.monotonic() + start_seconds)
            arguments = [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--force-device-scale-factor=1", "--hide-scrollbars",
                f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
            if dark:
                arguments.append("--blink-settings=preferredColorScheme=0")
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL"}}}}, prefix="")
            self.session = answer["sessionId"]
        except Exception:
            self.close()
            raise

    def _read_port(self, deadline):
        for line in self.driver.stdout:
            if "successfully on port " in line:
                return int(line.rsplit("on port ", 1)[1].strip().rstrip("."))
            if time.monotonic() > deadline:
                break
        raise WebDriverError("chromedriver did not say on which port it listens")

    def _call(self, method, path, body=None, prefix=None):
        if prefix is None:
            prefix = f"/session/{self.session}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, prefix + path, text, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(answer, dict) and "error" in answer and "message" in answer:
            raise WebDriverError(f"{method} {path}: {answer['error']}: {answer['message'].splitlines()[0]}")
        return answer

    def close(self):
        try:
            if self.session:
                self._call("DELETE", "")
        except (OSError, WebDriverError):
            pass  # the browser may be what broke; the processes end below anyway
        self.driver.terminate()
        self.driver.wait(10)
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def reload(self):
        self._call("POST", "/refresh", {})

    def back(self):
        self._call("POST", "/back", {})

    def forward(self):
        self._call("POST", "/forward", {})

    def url(self):
        return self._call("GET", "/url")

    def resize(self, width, height):
        self._call("POST", "/window/rect", {"width": width, "height": height})

    def run(self, script, *arguments):
        """Runs a function body in the page; `arguments` are its arguments, the value of return comes back."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def chrome(self, command, parameters):
        """A command of Chromium's own protocol, such as emulating a dark system."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, css):
        return self._call("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def count(self, css):
        return len(self._call("POST", "/elements", {"using": "css selector", "value": css}))

    def _element(self, css, method, action, body=None):
        """A call on the element. The page may draw it anew between finding it and the call: it is looked for again."""
        for last_try in (False, False, True):
            try:
                return self._call(method, f"/element/{self.find(css)}/{action}", body)
            except WebDriverError as error:
                if last_try or "stale element" not in str(error):
                    raise

    def text(self, css):
        return self._element(css, "GET", "text")

    def click(self, css):
        self._element(css, "POST", "click", {})

    def type(self, css, text):
        self._element(css, "POST", "value", {"text": text})

    def press(self, *keys):
        """Presses keys where the focus is."""
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": KEYS.get(key, key)}, {"type": "keyUp", "value": KEYS.get(key, key)}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def mouse(self, *steps):
        """Steps in viewport pixels: ("move", x, y), ("down",), ("up",), ("double",)."""
        actions = []
        for step in steps:
            if step[0] == "move":
                actions.append({"type": "pointerMove", "duration": 80, "x": round(step[1]), "y": round(step[2])})
            names = {"down": ["pointerDown"], "up": ["pointerUp"], "double": ["pointerDown", "pointerUp"] * 2}
            actions += [{"type": name, "button": 0} for name in names.get(step[0], [])]
        self._call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def log(self):
        """What the console said since the last call: a list of {level, message, source}."""
        return self._call("POST", "/se/log", {"type": "browser"})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", "/screenshot")))

    def wait(self, what, condition, seconds=15):
        """Waits until condition() is true and returns it; errors on the way count as not yet."""
        deadline = time.monotonic() + seconds
        last = None
        while True:
            try:
                value = condition()
                if value:
                    return value
            except WebDriverError as error:
                last = error
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {seconds} s in vain: {what}" + (f" ({last})" if last else ""))
            time.sleep(0.05)
