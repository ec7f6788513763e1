#!/usr/bin/env python3
"""Drives the page at / in a headless Chromium against the real server.

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


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = HaliteServer()
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

    # ---- in this order: the first needs a server without data ---------------------------------------

    def test_01_a_fresh_start_shows_its_own_metrics_and_the_first_steps(self):
        self.open()
        self.browser.wait("a graph of halite.*", lambda: "halite." in self.fragment()
                          and self.browser.count(".plot canvas"), 60)
        self.browser.wait("the first steps", lambda: f"127.0.0.1:{self.server.port}/api/put"
                          in self.browser.text(".first-steps"))
        self.shot("first-steps")
        self.check_contrast()
        self.server.put([{"metric": "my.first.metric", "timestamp": int(time.time()) - 5, "value": 42,
                          "tags": {"host": "here"}}])
        self.browser.wait("the light", lambda: self.browser.text(".light-on") == "my.first.metric")
        self.browser.click(".first-steps .button-primary")
        self.browser.wait("its graph", lambda: "my.first.metric" in self.legend())
        self.assertEqual(self.browser.run("return document.querySelector('.first-steps').hidden"), True)

    def test_02_a_metric_is_typed_completed_filtered_and_split(self):
        self.server.put(cpu_points(self.end))
        self.open()
        self.browser.wait("the page", lambda: "halite." in self.fragment())
        self.browser.click(".metric input")
        self.browser.run("document.querySelector('.metric input').value = ''")
        self.browser.type(".metric input", "cpu.u")
        self.browser.wait("the completion", lambda: self.browser.text(".metric .options") == "sys.cpu.user")
        self.shot("completion")
        self.browser.press("DOWN", "ENTER")
        self.browser.wait("its graph", lambda: "sys.cpu.user" in self.legend())
        self.assertIn("m=sum:auto-avg:sys.cpu.user", self.fragment())  # neither rate nor filter of the metric before

        self.browser.click(".add-filter")
        self.browser.type(".filter .field:nth-child(1) input", "ho")
        self.browser.wait("tag keys", lambda: "6 values" in self.browser.text(".filter .options:not([hidden])"))
        self.browser.press("DOWN", "ENTER")
        self.browser.type(".filter .field:nth-child(3) input", "3")
        self.browser.wait("tag values", lambda: self.browser.text(".filter .options:not([hidden]) .option-name")
                          == "web03")
        self.browser.press("DOWN", "ENTER")
        self.browser.wait("the filter", lambda: "host=web03" in self.legend())
        self.assertIn("{}{host=web03}", self.fragment())

        self.browser.click(".filter .icon-button")
        self.browser.wait("no filter", lambda: "host=" not in self.fragment())
        self.browser.click(".chip[title*=host]")
        self.wait_series(len(HOSTS))
        self.assertIn("{host=*}", self.fragment())
        for host in HOSTS:
            self.assertIn(f"host={host}", self.legend().replace("\n", ""))

    def test_03_zoom_reset_back_and_reload_keep_the_graph(self):
        self.open_cpu()
        whole = self.fragment()
        self.drag(0.5, 0.75)
        self.browser.wait("the zoom", lambda: self.fragment() != whole)
        zoomed = dict(pair.partition("=")[::2] for pair in self.fragment().split("&"))
        start, end = int(zoomed["start"]) / 1000, int(zoomed["end"]) / 1000
        self.assertAlmostEqual(start, self.end - 5400, delta=60)
        self.assertAlmostEqual(end, self.end - 2700, delta=60)
        self.wait_series(len(HOSTS))
        self.shot("zoomed")

        left, top, width, height = self.plot_box()
        self.browser.mouse(("move", left + width / 2, top + height / 2), ("double",))
        self.browser.wait("the reset", lambda: self.fragment() == whole)
        self.browser.back()
        self.browser.wait("the zoom again", lambda: f"start={zoomed['start']}" in self.fragment())
        self.browser.back()
        self.browser.wait("the whole again", lambda: self.fragment() == whole)
        self.browser.forward()
        self.wait_series(len(HOSTS))

        self.browser.mouse(("move", 5, 5))
        before, picture = (self.legend(), self.browser.url()), self.picture()
        self.browser.reload()
        self.wait_series(len(HOSTS))
        self.assertEqual((self.legend(), self.browser.url()), before)
        self.assertLess(self.different_pixels(picture, self.picture()), 50)  # a few may round otherwise

    def test_04_link_curl_and_json_are_copied(self):
        self.open_cpu()
        self.browser.chrome("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": self.server.url})
        copied = "return navigator.clipboard.readText()"
        for item in ("copy-link", "copy-curl", "copy-json"):
            self.browser.click("#share")
            self.browser.click(f"#{item}")
            self.browser.wait("the message", lambda: "copied" in self.browser.text(".toast"))
            text = self.browser.run(copied)
            if item == "copy-link":
                self.assertEqual(text, self.browser.url())
            elif item == "copy-curl":
                self.assertTrue(text.startswith(f"curl -sS -X POST '{self.server.url}/api/query'"), text)
            else:
                status, body = self.server.post("/api/query", json.loads(text))
                self.assertEqual(status, 200)
                self.assertEqual(len(json.loads(body)), len(HOSTS))

    def test_05_errors_are_readable_and_leave_a_way_out(self):
        self.expected_errors = ["400 (Bad Request)", "lookup?m=no.such.metric"]
        self.open_cpu()
        self.browser.run("const i = document.querySelector('.expression input'); i.value = 'sum:no.such.metric';"
                         "i.dispatchEvent(new Event('change'))")
        self.browser.wait("the error", lambda: "No such name for 'metrics': 'no.such.metric'"
                          in self.browser.text(".notice-error"))
        self.assertIn("Choose one from the list", self.browser.text(".notice-error"))
        self.shot("error")
        self.check_contrast()
        self.browser.run("const i = document.querySelector('.expression input'); i.value = 'nonsense';"
                         "i.dispatchEvent(new Event('change'))")
        self.assertIn("at least aggregator:metric", self.browser.text(".problem"))
        self.open("#start=2h-ago&end=3h-ago&m=sum:sys.cpu.user")
        self.browser.wait("the range error", lambda: "must come after" in self.browser.text(".notice-error"))
        self.open("#start=1356998400&end=1356999000&m=sum:sys.cpu.user")
        self.browser.wait("no data", lambda: "No points in this time range" in self.browser.text(".notice-empty"))
        self.shot("no-data")

    def test_06_names_are_text_and_never_markup(self):
        self.fake_fetch(f"""
            const evil = {json.dumps(EVIL)};
            const answer = (value, status = 200) => new Response(JSON.stringify(value), {{ status }});
            if (url.startsWith('api/suggest')) return answer([evil]);
            if (url.startsWith('api/search')) return answer({{ results: [{{ tags: {{ [evil]: evil }} }}] }});
            if (url.startsWith('api/aggregators')) return answer(['sum', evil]);
            if (url.startsWith('api/query') && init.body.includes('"fail"'))
              return answer({{ error: {{ message: evil, details: evil + '!' }} }}, 400);
            if (url.startsWith('api/query')) return answer([{{ metric: evil, tags: {{ [evil]: evil }},
              aggregateTags: [evil], dps: [[Date.now() - 60000, 1], [Date.now() - 30000, 2]] }}]);""")
        self.open("#start=1h-ago&m=sum:%3Cimg%20src%2525%3Dx%3E%7B" + "k=*%7D")
        self.wait_series(1)
        self.assertIn(EVIL, self.legend())
        left, top, width, height = self.plot_box()
        self.browser.mouse(("move", left + width * 0.98, top + height / 2))
        self.browser.wait("the tooltip", lambda: EVIL in self.browser.text(".tooltip"))
        self.browser.click(".metric input")
        self.browser.wait("the list", lambda: EVIL in self.browser.text(".metric .options"))
        self.shot("markup-in-names")
        self.browser.press("ESCAPE", "ESCAPE")
        self.browser.click("#tab-table")
        self.browser.wait("the table", lambda: EVIL in self.browser.text(".points thead"))
        self.browser.click("#tab-json")
        self.browser.wait("the text", lambda: EVIL in self.browser.text(".json-view"))
        self.open("#start=1h-ago&m=sum:fail")
        self.browser.wait("the error", lambda: EVIL in self.browser.text(".notice-error"))
        self.assertEqual(self.browser.count("img"), 0)

    def test_07_a_slow_answer_shows_itself_can_be_cancelled_and_gives_way(self):
        self.fake_fetch("""
            if (url.startsWith('api/query')) await new Promise((done, fail) => {
              window.gaveUp = window.gaveUp || 0;
              const timer = setTimeout(done, init.body.includes('"max"') ? 100 : 60000);
              init.signal.addEventListener('abort', () => {
                clearTimeout(timer); window.gaveUp += 1; fail(new DOMException('', 'AbortError')); });
            });""")
        self.open(CPU.format(start=(self.end - 10800) * 1000, end=self.end * 1000))
        self.browser.wait("the sign", lambda: self.browser.text(".status") == "Loading…")
        self.shot("loading")
        self.browser.click(".cancel")
        self.browser.wait("the end of it", lambda: self.browser.text(".status") == "Cancelled")
        self.assertEqual(self.browser.run("return window.gaveUp"), 1)
        self.browser.click("[aria-label='Refresh now']")
        self.browser.wait("the sign", lambda: self.browser.text(".status") == "Loading…")
        self.browser.run("const s = document.querySelectorAll('.card select')[0]; s.value = 'max';"
                         "s.dispatchEvent(new Event('change'))")
        self.wait_series(len(HOSTS))
        self.assertEqual(self.browser.run("return window.gaveUp"), 2)

    def test_08_views_axes_and_two_queries(self):
        self.open_cpu("&m=sum:1m-sum:rate:sys.cpu.user&o=&o=axis%20x1y2", len(HOSTS) + 1)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.u-axis').length"), 3)
        self.browser.click("#tab-table")
        self.browser.wait("rows", lambda: self.browser.count(".points tbody tr") > 170)
        self.shot("table")
        self.check_contrast()
        self.browser.click("#tab-json")
        self.browser.wait("the answer", lambda: self.browser.text(".json-view section:nth-child(2) pre").startswith("[{"))
        self.assertIn("view=json", self.fragment())
        self.shot("json")
        self.browser.back()
        self.browser.wait("the table", lambda: self.browser.count(".points"))
        self.browser.click("#tab-graph")
        self.browser.click(".graph-options label:nth-child(2)")
        self.browser.wait("log scale", lambda: "ylog" in self.fragment())
        self.wait_series(len(HOSTS) + 1)

    def test_09_lines_hide_on_click_and_the_legend_sorts(self):
        self.open_cpu()
        rows = "return document.querySelectorAll('.legend-table .off').length"
        self.browser.click(".legend-table tbody tr:nth-child(2) .series-name")
        self.assertEqual(self.browser.run(rows), 1)
        self.browser.click(".legend-table tbody tr:nth-child(2) .series-name")
        self.assertEqual(self.browser.run(rows), 0)
        self.browser.click(".legend-table thead th:nth-child(5) button")
        self.browser.wait("by max", lambda: "web06" in self.browser.text(".legend-table tbody tr:first-child"))

    def test_10_the_keyboard_is_enough(self):
        self.open_cpu()
        self.browser.run("document.querySelector('.u-over').focus()")
        self.browser.press("RIGHT", "RIGHT")
        self.browser.wait("values under the crosshair", lambda: self.browser.text(".legend-table .now"))
        self.browser.run("document.querySelector('#time-range').focus()")
        self.browser.press("ENTER")
        self.browser.wait("the time panel", lambda: self.browser.text(".time-panel"))
        self.shot("time-range")
        self.check_contrast()
        self.browser.press("ESCAPE")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "time-range")
        self.browser.run("document.querySelector('#tab-graph').focus()")
        self.browser.press("RIGHT")
        self.browser.wait("the table", lambda: self.browser.count(".points"))
        self.assertEqual(self.browser.run("return document.activeElement.id"), "tab-table")

    def test_11_every_control_has_a_name(self):
        self.open_cpu("&m=sum:10s-avg:rate%7Bcounter%7D:sys.cpu.user%7B%7D%7Bdc=lga%7D", len(HOSTS) + 1)
        self.browser.click("#time-range")
        self.browser.chrome("Accessibility.enable", {})
        nodes = self.browser.chrome("Accessibility.getFullAXTree", {})["nodes"]
        roles = {"button", "textbox", "combobox", "checkbox", "tab", "link", "menuitem", "searchbox", "dialog"}
        controls = [node for node in nodes if not node["ignored"] and node["role"]["value"] in roles]
        nameless = [node for node in controls if not node.get("name", {}).get("value", "").strip()]
        self.assertGreater(len(controls), 40)
        self.assertEqual(nameless, [])

    def test_12_dark_light_and_narrow(self):
        self.addCleanup(self.use_dark, False)
        for dark in (False, True):
            self.use_dark(dark)
            self.open_cpu()
            theme = self.browser.run("return document.documentElement.dataset.theme")
            self.assertEqual(theme, "dark" if dark else "light")
            left, top, width, height = self.plot_box()
            self.browser.mouse(("move", left + width * 0.62, top + height * 0.45))
            self.browser.wait("the tooltip", lambda: self.browser.text(".tooltip"))
            self.shot(f"page-{theme}")
            self.check_contrast()
        self.browser.click("#theme")
        self.browser.wait("light by choice", lambda: self.browser.run(
            "return document.documentElement.dataset.theme") == "light")
        self.browser.reload()
        self.wait_series(len(HOSTS))
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme"), "light")
        self.browser.run("localStorage.clear()")

        self.use_dark(False)
        self.addCleanup(self.browser.chrome, "Emulation.clearDeviceMetricsOverride", {})
        self.browser.chrome("Emulation.setDeviceMetricsOverride",
                            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False})
        self.open_cpu()
        self.assertEqual(self.browser.run("return document.scrollingElement.scrollWidth"), 390)
        self.shot("narrow")


if __name__ == "__main__":
    unittest.main(verbosity=2)
