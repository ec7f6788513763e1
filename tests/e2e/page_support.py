"""What tests of the page share: a server with a browser before it, and what must hold whatever a test does.

HALITE_BIN     the halite binary
HALITE_SHOTS   a directory for screenshots; without it none are taken
"""

import json
import math
import os
import sys
import time
import unittest
from urllib.parse import unquote

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from halite_server import HaliteServer  # noqa: E402
from webdriver import Browser  # noqa: E402

HOSTS = ["web01", "web02", "web03", "web04", "web05", "web06"]
EVIL = "<img src=x onerror=window.hacked=1>"
CPU = "#start={start}&end={end}&m=avg:1m-avg:sys.cpu.user%7Bhost=*%7D"


def cpu_points(end, hours=3, step=10):
    """Hosts that differ, breathe over the minutes and wobble by the second; web04 is silent for a while."""
    points = []
    for i, host in enumerate(HOSTS):
        for t in range(end - hours * 3600, end, step):
            if host == "web04" and end - 5400 < t < end - 4200:
                continue
            value = (14 + 9 * i + 7 * math.sin(t / 1700 + i) + 3 * math.sin(t / 310 + 2 * i)
                     + 1.5 * math.sin(t * 12.9898 + i * 78.233))
            tags = {"host": host, "dc": "lga" if i % 2 == 0 else "sjc"}
            points.append({"metric": "sys.cpu.user", "timestamp": t, "value": round(value, 2), "tags": tags})
    return points


class PageCase(unittest.TestCase):
    STORE = "memory"
    ARGUMENTS = ()  # of the server

    @classmethod
    def setUpClass(cls):
        cls.server = HaliteServer(*cls.ARGUMENTS, store=cls.STORE)
        cls.addClassCleanup(cls.server.stop)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.end = int(time.time()) // 60 * 60

    def setUp(self):
        self.expected_errors = []

    def tearDown(self):
        """Whatever a test does: nothing in the console, nothing from outside, no script from data."""
        complaints = [entry for entry in self.browser.log() if entry["level"] in ("SEVERE", "WARNING")
                      and not any(text in entry["message"] for text in self.expected_errors)]
        self.assertEqual(complaints, [])
        outside = self.browser.run(
            "return performance.getEntriesByType('resource').map((entry) => entry.name)"
            ".filter((name) => !name.startsWith(location.origin))")
        self.assertEqual(outside, [])
        self.assertIsNone(self.browser.run("return window.hacked ?? null"))

    # ---- helpers --------------------------------------------------------------------------------

    def open(self, fragment=""):
        self.browser.open("about:blank")  # else a change of fragment alone would not load the page anew
        self.browser.open(f"{self.server.url}/{fragment}")

    def open_cpu(self, more="", series=len(HOSTS)):
        self.open(CPU.format(start=(self.end - 10800) * 1000, end=self.end * 1000) + more)
        self.wait_series(series)

    def fragment(self):
        return unquote(self.browser.url().partition("#")[2])

    def wait_series(self, n):
        self.browser.wait(f"{n} series", lambda: self.browser.text(".status").startswith(f"{n} series"))

    def legend(self):
        return self.browser.text(".legend-table tbody")

    def shot(self, name):
        directory = os.environ.get("HALITE_SHOTS")
        if directory:
            os.makedirs(directory, exist_ok=True)
            self.browser.screenshot(os.path.join(directory, f"{name}.png"))

    def plot_box(self):
        return self.browser.run(
            "const r = document.querySelector('.u-over').getBoundingClientRect();"
            "return [r.left, r.top, r.width, r.height]")

    def drag(self, begin, end):
        left, top, width, height = self.plot_box()
        y = top + height / 2
        self.browser.mouse(("move", left + width * begin, y), ("down",), ("move", left + width * end, y), ("up",))

    def picture(self):
        time.sleep(0.3)  # what has been told to the page must also have been painted
        return self.browser.run("return document.querySelector('.plot canvas').toDataURL()")

    def different_pixels(self, one, other):
        """Of two pictures as data: URLs; leaves the page, whose policy lets no such picture in."""
        self.browser.open("about:blank")
        return self.browser.run("""
            const pixels = (source) => new Promise((done) => {
              const image = new Image();
              image.onload = () => {
                const canvas = document.createElement('canvas');
                canvas.width = image.width;
                canvas.height = image.height;
                const context = canvas.getContext('2d');
                context.drawImage(image, 0, 0);
                done(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer));
              };
              image.src = source;
            });
            return Promise.all([pixels(arguments[0]), pixels(arguments[1])]).then(([a, b]) =>
              a.length === b.length ? a.filter((pixel, i) => pixel !== b[i]).length : 1e9);""", one, other)

    def fake_fetch(self, script):
        """`script` is the body of async (url, init, real) => Response, in place of fetch, until the end."""
        made = self.browser.chrome("Page.addScriptToEvaluateOnNewDocument", {
            "source": "{ const real = window.fetch.bind(window);"
                      f"window.fetch = async (url, init) => {{ {script} return real(url, init); }}; }}"})
        self.addCleanup(self.browser.chrome, "Page.removeScriptToEvaluateOnNewDocument", made)

    def use_dark(self, dark):
        value = "dark" if dark else "light"
        self.browser.chrome("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": value}]})

    def check_contrast(self):
        with open(os.path.join(ROOT, "tests", "support", "page_checks.js"), encoding="utf-8") as file:
            self.assertEqual(self.browser.run(file.read()), [])

    def check_names(self, controls_min):
        """Every control says what it is to those who do not see it."""
        self.browser.chrome("Accessibility.enable", {})
        nodes = self.browser.chrome("Accessibility.getFullAXTree", {})["nodes"]
        roles = {"button", "textbox", "combobox", "checkbox", "tab", "link", "menuitem", "searchbox", "dialog"}
        controls = [node for node in nodes if not node["ignored"] and node["role"]["value"] in roles]
        nameless = [node for node in controls if not node.get("name", {}).get("value", "").strip()]
        self.assertGreaterEqual(len(controls), controls_min)
        self.assertEqual(nameless, [])
