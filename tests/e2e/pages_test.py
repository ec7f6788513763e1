#!/usr/bin/env python3
"""Drives the pages Metrics and Status in a headless Chromium against the real server: see page_support.py."""

import socket
import time
import unittest

from page_support import HOSTS, PageCase, cpu_points


class PagesTest(PageCase):
    STORE = "engine"
    ARGUMENTS = ("--set", 'views=[{"name":"by-dc","metrics":"sys.*","interval":"5m","functions":["sum"],'
                 '"group_by":["dc"],"keep":"2y"},{"name":"none","metrics":"no.such.metric","interval":"1h",'
                 '"functions":["max"]}]', "--set", "storage.views_settle_ms=1000")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.put(cpu_points(cls.end))

    def send_lines(self, *lines):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as link:
            link.sendall("".join(f"{line}\n" for line in lines).encode())
            link.shutdown(socket.SHUT_WR)
            while link.recv(4096):
                pass

    def go(self, page):
        self.open(f"#/{page}")

    def test_metrics_are_found_by_any_part_and_show_their_tags(self):
        self.go("metrics")
        self.browser.wait("the list", lambda: self.browser.count(".metric-item"))
        self.browser.type("#metric-search", "CPU.US")
        self.browser.wait("one", lambda: self.browser.count(".metric-item") == 1)
        self.assertIn("6 series", self.browser.text(".metric-item"))
        self.assertIn("1 metric of", self.browser.text(".metric-summary"))
        self.browser.click(".metric-item")
        self.browser.wait("its tags", lambda: "6 values" in self.browser.text(".tag-keys"))
        self.assertIn("sys.cpu.user", self.fragment())
        self.assertEqual(self.browser.text(".tag-key:nth-child(2) h3"), "dc")
        self.assertIn("3 series", self.browser.text(".tag-key:nth-child(2) .tag-values"))
        self.shot("metrics")
        self.check_contrast()
        self.browser.click(".tag-key:first-child .tag-split")
        self.wait_series(len(HOSTS))
        self.assertIn("{host=*}", self.fragment())
        self.browser.back()
        self.browser.wait("the metric again", lambda: "6 values" in self.browser.text(".tag-keys"))
        self.browser.click(".tag-key:first-child .tag-value")
        self.wait_series(1)
        self.assertIn("host=web0", self.fragment())
        self.go("metrics/no.such.metric")
        self.expected_errors = ["no.such.metric"]
        self.browser.wait("the error", lambda: "no.such.metric" in self.browser.text(".metric-details .warning"))

    def test_few_points_are_seen(self):
        for points, dots in ((1, 1), (2, 2)):
            metric = f"few.points.{points}"
            self.server.put([{"metric": metric, "timestamp": int(time.time()) - 600 * i - 5, "value": 42,
                              "tags": {"host": "a"}} for i in range(points)])
            self.go(f"metrics/{metric}")
            self.browser.wait("the dots", lambda n=dots: self.browser.run(
                "return document.querySelector('.preview .spark-dots')?.getAttribute('d')"
                ".split('M').length - 1") == n)
            self.shot(f"few-points-{points}")
            self.open(f"#start=1h-ago&m=sum:{metric}")
            self.wait_series(1)
            drawn = self.picture()
            self.browser.click(".legend-table tbody tr:first-child .series-name")
            self.assertGreater(self.different_pixels(drawn, self.picture()), 10, metric)

    def test_fifty_thousand_metrics_are_no_burden(self):
        points = [{"metric": f"many.{i % 250:03}.m{i:05}", "timestamp": self.end, "value": 1, "tags": {"host": "a"}}
                  for i in range(50_000)]
        self.server.put(points, batch=5000)
        self.go("metrics")
        self.browser.wait("a part of them", lambda: "the first 300 are listed" in self.browser.text(".metric-summary"), 60)
        self.browser.type("#metric-search", "M4999")
        self.browser.wait("ten", lambda: self.browser.count(".metric-item") == 10)
        self.open("#start=1h-ago&m=sum:")
        self.browser.click(".metric input")
        self.browser.type(".metric input", "m31415")
        self.browser.wait("the completion", lambda: self.browser.text(".metric .option-name") == "many.165.m31415")

    def test_the_status_tells_what_comes_in_and_what_was_refused(self):
        now = int(time.time())
        self.send_lines(f"put sys.cpu.user {now} 12x host=web01", f"put bad metric {now} 1 host=a",
                        f"put <img/src=x/onerror=hacked()> {now} 1 host=a")
        self.go("status")
        self.browser.wait("the light", lambda: self.browser.text(".status-head .light-on") == "Ready")
        self.browser.wait("a rate", lambda: self.browser.text(".big b") != "–")
        self.browser.wait("the refused", lambda: "12x" in self.browser.text(".refused"))
        self.assertIn("value is not a number", self.browser.text(".refused"))
        self.assertIn(f"put <img/src=x/onerror=hacked()> {now} 1 host=a", self.browser.text(".refused"))
        self.assertEqual(self.browser.count("img"), 0)
        self.assertIn("engine", self.browser.text(".status-head"))
        self.assertIn("since start-up: ", self.browser.text(".ingest"))  # beside a rate
        stages = self.browser.text(".stages")
        for stage in ("Log", "Head", "Chunks", "Names"):
            self.assertIn(stage, stages)
        self.browser.wait("the top metrics", lambda: "sys.cpu.user" in self.browser.text(".tops")
                          and "host" in self.browser.text(".tops"))
        self.browser.type(".settings-search", "listen")
        self.browser.wait("settings", lambda: "listen" in self.browser.text(".status-card:last-child table"))

    def test_slots_show_once_points_are_on_disk(self):
        self.assertEqual(self.server.request("POST", "/api/admin/flush")[0], 204)
        self.go("status")
        self.browser.wait("a slot", lambda: self.browser.count(".slot") >= 1)
        told = self.browser.run("return document.querySelector('.slot').getAttribute('aria-label')")
        self.assertRegex(told, r"^\d{4}-\d\d-\d\d: .*B in \d+ files?, (takes points|ended, not sealed yet), expires never$")
        self.browser.click(".slot-table summary")
        self.browser.wait("the same as a table", lambda: "never" in self.browser.text(".slot-table table"))
        overview = self.server.get_json("/api/server")
        slots = overview["cycles"][0]["slots"]
        self.assertTrue(all(slot["bytes"] > 0 and slot["files"] > 0 for slot in slots), slots)
        self.check_contrast()
        height = self.browser.run("return document.scrollingElement.scrollHeight")
        self.addCleanup(self.browser.chrome, "Emulation.clearDeviceMetricsOverride", {})
        for width in (1360, 800):
            self.browser.chrome("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
            self.browser.wait("the width", lambda w=width: self.browser.run("return innerWidth") == w)
            self.assertEqual(self.browser.run("return document.scrollingElement.scrollWidth"), width)
            self.shot(f"status-{width}")
        self.addCleanup(self.use_dark, False)
        self.use_dark(True)
        self.check_contrast()
        self.shot("status-dark")

    def test_views_show_what_they_keep_and_how_much_is_computed(self):
        self.go("status")
        shown = lambda number: self.browser.text(f"[aria-label='Views'] tbody tr:nth-child({number})")  # noqa: E731
        self.browser.wait("the view to be complete", lambda: "complete" in shown(1), 60)
        for text in ("by-dc", "sys.*", "dc", "5m", "730d", "100 %"):
            self.assertIn(text, shown(1))
        self.assertIn("no such metric yet", shown(2))
        self.assertIn("all tags", shown(2))
        self.check_contrast()
        self.shot("views")

    def test_a_running_query_is_seen_and_cancelled(self):
        # What the server does is tested where time stands still; here, that the button asks for it.
        self.fake_fetch("""
            window.stopped = window.stopped || [];
            if (url.startsWith('api/server/queries/')) {
              window.stopped.push(init.method + ' ' + url);
              return new Response(null, { status: 204 });
            }
            if (url === 'api/server/queries') {
              const answer = await (await real(url, init)).json();
              if (!window.stopped.length) answer.running.push({ id: 7, begin: Date.now() - 12000, elapsedMs: 12000,
                remote: '/10.0.0.7:5000', cancelled: false, query: { start: '0', end: '3599999', queries: [
                  { aggregator: 'sum', metric: 'slow.metric', downsample: '1m-avg', filters: [] }] } });
              return new Response(JSON.stringify(answer));
            }""")
        self.go("status")
        self.browser.wait("the query", lambda: "1h of sum:1m-avg:slow.metric" in self.browser.text(".running"))
        self.assertIn("12.0 s", self.browser.text(".running"))
        self.browser.click(".stop-query")
        self.browser.wait("its end", lambda: "None." in self.browser.text(".running"))
        self.assertEqual(self.browser.run("return window.stopped"), ["DELETE api/server/queries/7"])
        self.assertIn("is being stopped", self.browser.text(".toast"))
        self.server.get_json("/api/query?start=1h-ago&m=sum:7m-avg:sys.cpu.user")
        self.browser.wait("an ended one", lambda: "sum:7m-avg:sys.cpu.user" in self.browser.text(".slow"))

    def test_a_slow_query_shows_its_steps(self):
        self.server.get_json("/api/query?start=3h-ago&m=sum:9m-avg:sys.cpu.user%7Bhost=*%7D")
        self.go("status")
        row = None

        def found():
            nonlocal row
            rows = self.browser.run("return [...document.querySelectorAll('.slow tbody tr')].map((r) => r.textContent)")
            row = next((i + 1 for i, text in enumerate(rows) if "9m-avg" in text), None)
            return row
        self.browser.wait("the query", found)
        steps = f".slow tbody tr:nth-child({row}) .steps"
        self.assertRegex(self.browser.text(f"{steps} summary"), r"^\d+ steps$")
        self.browser.click(f"{steps} summary")
        names = self.browser.run(
            "return [...document.querySelectorAll(arguments[0])].map((n) => n.textContent)", f"{steps} .step-name")
        for name in ("parse", "plan", "scan", "merge", "write"):
            self.assertIn(name, names)
        self.assertTrue(any(name.startswith("shard ") for name in names), names)
        track, bars = self.browser.run(
            "const boxes = (s) => [...document.querySelectorAll(s)].map((e) => e.getBoundingClientRect());"
            "const track = boxes(arguments[0] + ' .step-track')[0];"
            "return [[track.left, track.right], boxes(arguments[0] + ' .step-bar').map((b) => [b.left, b.right])]", steps)
        self.assertEqual(len(bars), len(names))
        for left, right in bars:
            self.assertGreater(right, left)
            self.assertGreaterEqual(left, track[0] - 1)
            self.assertLessEqual(right, track[1] + 1)
        self.assertEqual([left for left, _ in bars], sorted(left for left, _ in bars))
        self.assertGreater(bars[names.index("write")][1], track[1] - 2)  # the last one ends where all do
        self.check_contrast()
        self.server.get_json("/api/query?start=3h-ago&m=sum:8m-avg:sys.cpu.user%7Bhost=*%7D")
        self.browser.wait("another one", lambda: "8m-avg" in self.browser.text(".slow"))
        self.assertEqual(self.browser.count(".slow details[open]"), 1)  # the list was made anew
        self.browser.run("document.querySelector('.slow').scrollIntoView()")
        self.shot("steps")

    def test_regions_of_a_cluster_show_what_each_server_has(self):
        # What the server tells is tested where there is a cluster; here, that the page shows it.
        self.expected_errors = ["503"]
        self.fake_fetch("""
            if (url === 'api/server') {
              const answer = await (await real(url, init)).json();
              return new Response(JSON.stringify({ ...answer, store: 'hbase' }));
            }
            if (url === 'api/server/regions') {
              if (window.away) return new Response(
                JSON.stringify({ error: { code: 503, message: 'no master answers' } }), { status: 503 });
              const region = { from: 'salt 1 slot 0', server: 'rs1:16020', reads: 5, writes: 7, files: 2, filesMib: 12,
                memoryMib: 3, hot: false };
              return new Response(JSON.stringify({ table: 'tsdb', regions: [region,
                  { ...region, from: 'salt 2 slot 64', writes: 90000, hot: true }, { ...region, server: '' }],
                servers: [{ server: '', regions: 1, hot: 0, reads: 5, writes: 7, filesMib: 12, memoryMib: 3 },
                  { server: 'rs1:16020', regions: 2, hot: 1, reads: 10, writes: 90007, filesMib: 24, memoryMib: 6 }] }));
            }""")
        self.go("status")
        self.browser.wait("the hot region", lambda: "salt 2 slot 64" in self.browser.text(".hot-regions"))
        self.assertNotIn("salt 1 slot 0", self.browser.text(".hot-regions"))
        self.assertIn("3 regions; 1 region on no server now", self.browser.text("[aria-label=Regions] > p"))
        servers = self.browser.text("[aria-label='Region servers'] tbody")
        for told in ("rs1:16020", "24", "not online"):
            self.assertIn(told, servers)
        self.check_contrast()
        self.shot("regions")
        self.browser.run("window.away = true; window.dateNow = Date.now; Date.now = () => window.dateNow() + 60000")
        self.browser.wait("the reason", lambda: "no master answers" in self.browser.text("[aria-label=Regions] > p"))
        self.assertIn("rs1:16020", self.browser.text("[aria-label='Region servers'] tbody"))

    def test_pages_are_left_and_entered_with_the_back_button(self):
        self.go("status")
        self.browser.wait("the status", lambda: self.browser.count(".status-head .light"))
        self.browser.click("#nav-metrics")
        self.browser.wait("the metrics", lambda: self.browser.count(".metric-item"))
        self.assertEqual(self.browser.text("[aria-current=page]"), "Metrics")
        self.browser.click("#nav-explore")
        self.browser.wait("a graph", lambda: self.browser.count(".plot canvas"))
        link = self.fragment()
        self.browser.click("#nav-status")
        self.browser.wait("the status", lambda: self.browser.count(".status-head .light-on"))
        self.browser.click("#nav-explore")
        self.browser.wait("the same graph", lambda: self.fragment() == link and self.browser.count(".plot canvas"))
        self.browser.back()
        self.browser.back()
        self.browser.wait("the first graph", lambda: self.fragment() == link)
        self.browser.back()
        self.browser.wait("the metrics", lambda: self.browser.count(".metric-item"))

    def test_a_server_that_is_gone_is_told(self):
        self.expected_errors = ["Failed to load resource", "net::ERR"]
        self.fake_fetch("if (window.away) throw new TypeError('gone');")
        self.go("status")
        self.browser.wait("ready", lambda: self.browser.text(".light-on") == "Ready")
        self.browser.run("window.away = true")
        self.browser.wait("the sign", lambda: "No answer from" in self.browser.text(".light-bad"))
        self.browser.run("window.away = false")
        self.browser.wait("ready again", lambda: self.browser.text(".light-on") == "Ready")

    def test_every_control_has_a_name(self):
        for page, ready, controls in (("metrics/sys.cpu.user", ".tag-value", 15), ("status", ".tops .tag-value", 10),
                                      ("start", ".recipe pre", 12)):
            self.go(page)
            self.browser.wait(page, lambda css=ready: self.browser.count(css))
            self.check_names(controls)


if __name__ == "__main__":
    unittest.main(verbosity=2)
