#!/usr/bin/env python3
"""Drives the explore page in a headless Chromium against the real server: see page_support.py."""

import json
import socket
import subprocess
import time
import tomllib
import unittest

from page_support import CPU, EVIL, HOSTS, PageCase, cpu_points
from wire import remote_write_1, snappy


class FirstStepsTest(PageCase):
    def test_a_fresh_start_leads_to_the_first_steps_and_a_green_light(self):
        self.open()
        self.browser.wait("the first steps", lambda: self.fragment() == "/start"
                          and f"127.0.0.1:{self.server.port}/api/put" in self.browser.text(".recipe"))
        self.assertIn("Waiting", self.browser.text(".light"))
        self.shot("first-steps")
        self.check_contrast()
        for recipe, words in (("telnet", f'Port "{self.server.port}"'), ("prometheus", "/api/v1/write"),
                              ("otlp", f"endpoint: {self.server.url}"), ("influx", "[[outputs.influxdb_v2]]"),
                              ("graphite", "off on this server")):
            self.browser.click(f"#recipe-{recipe}")
            self.assertIn(words, self.browser.text(".recipe"))
            self.assertEqual(self.fragment(), f"/start/{recipe}")
        self.assertEqual(tomllib.loads(self.browser.text(".recipe pre")), {
            "graphite": {"listen": "127.0.0.1:2003", "pickle_listen": "127.0.0.1:2004"}})
        self.shot("graphite-off")
        self.browser.press("RIGHT")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "recipe-http")

        self.browser.click("#nav-explore")
        self.browser.wait("a graph of halite.*", lambda: "halite." in self.fragment()
                          and self.browser.count(".plot canvas"), 60)
        self.browser.back()
        self.browser.wait("the first steps again", lambda: "Waiting" in self.browser.text(".light"))
        self.server.put([{"metric": "my.first.metric", "timestamp": int(time.time()) - 5, "value": 42,
                          "tags": {"host": "here"}}])
        self.browser.wait("the light", lambda: self.browser.text(".light.light-on b") == "my.first.metric")
        self.assertIn("1 point since", self.browser.text(".light.light-on"))
        self.shot("first-point")
        self.browser.click(".light .button-primary")
        self.browser.wait("its graph", lambda: "my.first.metric" in self.legend())
        self.open()
        self.browser.wait("no first steps any more", lambda: "halite." in self.fragment())


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ProtocolsTest(PageCase):
    """The lights of the first steps, each by what the page tells people to type."""

    RECIPES = ("http", "telnet", "prometheus", "otlp", "influx", "graphite")

    @classmethod
    def setUpClass(cls):
        cls.ARGUMENTS = ("--set", f"graphite.listen=127.0.0.1:{free_port()}")
        super().setUpClass()

    def start(self, recipe):
        """Opens a recipe and waits until the page counts."""
        self.open(f"#/start/{recipe}")
        self.browser.wait("its light", lambda: "Waiting" in self.browser.text(".light"))
        self.browser.wait("its settings", lambda: self.browser.count(".recipe pre") > 1)
        self.assertEqual(self.lit(), [])

    def lit(self):
        """The recipes whose lights are green."""
        return [recipe for recipe in self.RECIPES if self.browser.count(f"#recipe-{recipe} .light-on")]

    def test_what_a_recipe_says_turns_its_light_green(self):
        for recipe in self.RECIPES:
            with self.subTest(recipe):
                self.start(recipe)
                command = self.browser.run("return document.querySelector('.recipe pre').textContent")
                subprocess.run(["bash", "-c", command], check=True, capture_output=True, timeout=60)
                self.browser.wait("the light", lambda: "1 point since" in self.browser.text(".light.light-on"))
                self.assertEqual(self.lit(), [recipe])
                self.check_contrast()
                self.shot_of_docs(recipe)

    def shot_of_docs(self, recipe):
        """docs/images/first-steps-*.png: the recipe from the bar to its end."""
        bottom = self.browser.run("return document.querySelector('.start-panel').getBoundingClientRect().bottom")
        self.window(960, round(bottom) + 16)
        self.shot(f"first-steps-{recipe}")
        self.browser.chrome("Emulation.clearDeviceMetricsOverride", {})

    def window(self, width, height):
        self.browser.chrome("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.wait("the width", lambda: self.browser.run("return innerWidth") == width)

    def test_remote_write_is_seen_from_another_tab(self):
        self.start("http")
        body = remote_write_1([({"__name__": "my_first_metric", "host": "a"}, [(42, int(time.time()) * 1000)])])
        status, text = self.server.request("POST", "/api/v1/write", snappy(body), {
            "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"})
        self.assertEqual((status, text), (204, b""))
        self.browser.wait("the light on the tab", lambda: self.lit() == ["prometheus"])
        self.assertIn("Waiting", self.browser.text(".light"))
        self.browser.click("#recipe-prometheus")
        self.assertIn("Points from Prometheus arrive", self.browser.text(".light.light-on"))

    def test_refused_points_lead_to_their_reason(self):
        self.start("telnet")
        with self.server.connect() as link:
            link.sendall(b"put my.first.metric 1 12x host=a\n")
            link.shutdown(socket.SHUT_WR)
            while link.recv(4096):
                pass
        self.browser.wait("the refusal", lambda: "1 refused since" in self.browser.text(".light-bad"))
        self.assertEqual(self.lit(), [])
        self.check_contrast()
        self.browser.click(".light .button-primary")
        self.browser.wait("the reason", lambda: "12x" in self.browser.text(".refused"))

    def test_agents_read_what_they_are_given(self):
        configuration = "return [...document.querySelectorAll('.recipe pre')].map((pre) => pre.textContent)"
        self.start("influx")
        [output] = tomllib.loads(self.browser.run(configuration)[1])["outputs"]["influxdb_v2"]
        self.assertEqual(output["urls"], [self.server.url])
        self.start("otlp")
        self.assertIn(f"endpoint: {self.server.url}\n", self.browser.run(configuration)[1])

    def test_it_fits_a_small_window_and_a_dark_theme(self):
        self.addCleanup(self.browser.chrome, "Emulation.clearDeviceMetricsOverride", {})
        self.window(800, 900)
        self.addCleanup(self.use_dark, False)
        self.use_dark(True)
        for recipe in self.RECIPES:
            self.start(recipe)
            self.assertEqual(self.browser.run("return document.scrollingElement.scrollWidth"), 800)
            self.check_contrast()
        self.shot("first-steps-narrow-dark")


class ExploreTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.put(cpu_points(cls.end))

    def test_a_metric_is_typed_completed_filtered_and_split(self):
        self.open()
        self.browser.wait("the page", lambda: "halite." in self.fragment())
        self.browser.click(".metric input")
        self.browser.run("document.querySelector('.metric input').value = ''")
        self.browser.type(".metric input", "cpu.u")
        self.browser.wait("the completion", lambda: self.browser.text(".metric .options .option-name") == "sys.cpu.user")
        self.assertEqual(self.browser.text(".metric .option-note"), "6 series")
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

    def test_zoom_reset_back_and_reload_keep_the_graph(self):
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

    def test_link_curl_and_json_are_copied(self):
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

    def test_an_address_without_a_metric_has_a_field_for_one(self):
        for address in ("#x", "#metrics", "#start=2h-ago"):
            self.open(address)
            self.browser.wait("the hint", lambda: "into query A" in self.browser.text(".notice-empty"))
            self.assertEqual(self.browser.count(".metric input"), 1)
        self.browser.type(".metric input", "cpu.u")
        self.browser.wait("the completion", lambda: self.browser.text(".metric .option-name") == "sys.cpu.user")

    def test_errors_are_readable_and_leave_a_way_out(self):
        self.expected_errors = ["400 (Bad Request)", "api/series/tags?metric=no.such.metric"]
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

    def test_names_are_text_and_never_markup(self):
        self.fake_fetch(f"""
            const evil = {json.dumps(EVIL)};
            const answer = (value, status = 200) => new Response(JSON.stringify(value), {{ status }});
            if (url.startsWith('api/suggest')) return answer([evil]);
            if (url.startsWith('api/series/metrics'))
              return answer({{ metrics: 1, matching: 1, series: 1, results: [{{ metric: evil, series: 1, grown: 1 }}] }});
            if (url.startsWith('api/series/tags')) return answer({{ metric: evil, series: 1, keys: [
              {{ key: evil, series: 1, values: 1, matching: 1, top: [{{ value: evil, series: 1 }}] }}] }});
            if (url.startsWith('api/aggregators')) return answer(['sum', evil]);
            if (url.startsWith('api/query') && init.body.includes('"fail"'))
              return answer({{ error: {{ message: evil, details: evil + '!' }} }}, 400);
            if (url.startsWith('api/query')) return answer([{{ metric: evil, tags: {{ [evil]: evil }},
              annotations: [{{ startTime: Date.now() - 45000, description: evil, notes: evil, custom: {{ [evil]: evil }} }}],
              aggregateTags: [evil], dps: [[Date.now() - 60000, 1], [Date.now() - 30000, 2]] }}]);""")
        self.open("#start=1h-ago&m=sum:%3Cimg%20src%2525%3Dx%3E%7B" + "k=*%7D")
        self.wait_series(1)
        self.assertIn(EVIL, self.legend())
        left, top, width, height = self.plot_box()
        self.browser.mouse(("move", left + width * 0.98, top + height / 2))
        self.browser.wait("the tooltip", lambda: EVIL in self.browser.text(".tooltip"))
        self.browser.run("document.querySelector('.note-flag').focus()")
        self.browser.wait("the annotation", lambda: EVIL in self.browser.text(".note-card"))
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
        self.open("#/metrics/x")
        self.browser.wait("the metrics", lambda: EVIL in self.browser.text(".metric-list")
                          and EVIL in self.browser.text(".tag-keys"))
        self.assertEqual(self.browser.count("img"), 0)

    def test_a_slow_answer_shows_itself_can_be_cancelled_and_gives_way(self):
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

    def test_views_axes_and_two_queries(self):
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

    def test_lines_hide_on_click_and_the_legend_sorts(self):
        self.open_cpu()
        rows = "return document.querySelectorAll('.legend-table .off').length"
        self.browser.click(".legend-table tbody tr:nth-child(2) .series-name")
        self.assertEqual(self.browser.run(rows), 1)
        self.browser.click(".legend-table tbody tr:nth-child(2) .series-name")
        self.assertEqual(self.browser.run(rows), 0)
        self.browser.click(".legend-table thead th:nth-child(5) button")
        self.browser.wait("by max", lambda: "web06" in self.browser.text(".legend-table tbody tr:first-child"))

    def test_the_keyboard_is_enough(self):
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

    def test_every_control_has_a_name(self):
        self.open_cpu("&m=sum:10s-avg:rate%7Bcounter%7D:sys.cpu.user%7B%7D%7Bdc=lga%7D", len(HOSTS) + 1)
        self.browser.click("#time-range")
        self.check_names(40)

    def test_dark_light_and_narrow(self):
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
        self.browser.chrome("Emulation.setDeviceMetricsOverride",
                            {"width": 800, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        self.open_cpu()
        self.assertEqual(self.browser.run("return document.scrollingElement.scrollWidth"), 800)
        self.shot("half")

    def test_annotations_are_drawn_and_tell_what_they_say(self):
        at = self.end - 5400
        tsuid = self.server.get_json("/api/search/lookup?m=sys.cpu.user%7Bhost=web01%7D")["results"][0]["tsuid"]
        for note in ({"tsuid": tsuid, "startTime": at, "description": "deploy 2.4.1", "notes": "by anna"},
                     {"startTime": at + 1800, "endTime": at + 2700, "description": "backup"}):
            self.assertEqual(self.server.post("/api/annotation", note)[0], 200)
        self.open_cpu()
        self.browser.wait("both marks", lambda: self.browser.count(".note-mark:not([hidden])") == 2)
        left, _, width, _ = self.plot_box()
        place = self.browser.run("return document.querySelector('.note-mark').getBoundingClientRect().left")
        self.assertAlmostEqual(place, left + width / 2, delta=2)
        self.browser.run("document.querySelector('.note-flag').focus()")
        self.browser.wait("its text", lambda: "deploy 2.4.1" in self.browser.text(".note-card"))
        self.assertIn("by anna", self.browser.text(".note-card"))
        self.shot("annotations")
        self.check_contrast()
        self.drag(0.75, 0.95)
        self.browser.wait("only the second, in the zoom", lambda: self.browser.count(".note-mark:not([hidden])") == 0)

    def test_what_it_cost_stands_beneath(self):
        self.open_cpu()
        self.browser.wait("the cost", lambda: "Series read" in self.browser.text(".cost-work"))
        self.assertIn(f"{len(HOSTS)} series", self.browser.text(".cost-work"))
        for stage in ("find series", "read", "aggregate"):
            self.assertIn(stage, self.browser.text(".cost-times"))
        self.check_contrast()

    def test_dragging_with_shift_moves_and_keys_zoom(self):
        self.open_cpu()
        whole = self.fragment()
        left, top, width, height = self.plot_box()
        self.browser.run("""
            const over = document.querySelector('.u-over');
            const [x, y] = [arguments[0], arguments[1]];
            const event = (type, clientX) => new MouseEvent(type,
              { bubbles: true, cancelable: true, clientX, clientY: y, shiftKey: true, button: 0 });
            over.dispatchEvent(event('mousedown', x));
            document.dispatchEvent(event('mousemove', x + arguments[2] / 3));
            document.dispatchEvent(event('mouseup', x + arguments[2] / 3));""", left + width / 2, top + 50, width)
        self.browser.wait("the move", lambda: self.fragment() != whole)
        moved = dict(pair.partition("=")[::2] for pair in self.fragment().split("&"))
        self.assertAlmostEqual(int(moved["start"]) / 1000, self.end - 10800 - 3600, delta=60)
        self.assertAlmostEqual(int(moved["end"]) / 1000, self.end - 3600, delta=60)
        self.browser.back()
        self.browser.wait("the whole again", lambda: self.fragment() == whole)
        self.wait_series(len(HOSTS))
        self.browser.run("document.querySelector('.u-over').focus()")
        self.browser.press("+")
        self.browser.wait("a zoom", lambda: self.fragment() != whole)

    def test_a_zone_chosen_is_in_the_link_and_in_the_table(self):
        self.open_cpu("&tz=Asia/Kolkata&view=table")
        self.browser.wait("the zone", lambda: "Asia/" in self.browser.text(".points thead"))
        newest = time.gmtime(self.end - 60 + 5.5 * 3600)
        self.assertIn(time.strftime("%Y-%m-%d %H:%M", newest), self.browser.text(".points tbody tr:first-child th"))
        self.browser.click("#time-range")
        self.browser.run("const s = [...document.querySelectorAll('.time-panel select')].pop(); s.value = 'utc';"
                         "s.dispatchEvent(new Event('change'))")
        self.browser.wait("UTC", lambda: "tz=UTC" in self.fragment() and "UTC" in self.browser.text(".points thead"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
