#!/usr/bin/env python3
"""A real vmalert over Halite: it evaluates a recording and an alerting rule by /api/v1/query, writes what
they give by /api/v1/write, and asks for the state of its alerts when it starts. It is built from its Go
module; where that cannot be had, this is skipped."""

import http.client
import json
import subprocess
import time
import urllib.parse

import support
from go_programs import go_program
from wire import remote_write_1, snappy

PACKAGE, VERSION = "github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert", "v1.150.0"
WRITE = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
         "X-Prometheus-Remote-Write-Version": "0.1.0"}
RULES = """
groups:
  - name: rooms
    interval: 1s
    eval_delay: 0s
    rules:
      - record: floor:temperature:avg
        expr: avg by (floor) (temperature)
        labels: {source: vmalert}
      - alert: TooWarm
        expr: temperature > 25
        for: 2s
        labels: {severity: page}
        annotations: {summary: "{{ $labels.room }} has {{ $value }} degrees"}
      - alert: NeverFires
        expr: absent(temperature)
"""


class VmalertTest(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.program = go_program(PACKAGE, VERSION)
        self.halite = self.server("--set", "self_metrics.enabled=false").start()
        self.rules = self.scratch / "rules.yml"
        self.rules.write_text(RULES)

    def write(self, **rooms):
        """Of five seconds ago: vmalert evaluates at whole seconds, and the first must not be before it."""
        at_ms = int(time.time() * 1000) - 5000
        body = remote_write_1([({"__name__": "temperature", "room": room, "floor": "1"}, [(value, at_ms)])
                               for room, value in rooms.items()])
        status, text = self.halite.request("POST", "/api/v1/write", snappy(body), WRITE)
        self.assertEqual(status // 100, 2, text)

    def launch(self, name, *arguments):
        """A vmalert that runs until the test ends: (process, port, what reads its log)."""
        log = (self.scratch / name).open("w")
        port = support.free_port()
        url = f"http://127.0.0.1:{self.halite.port}"
        process = subprocess.Popen(
            [self.program, f"-rule={self.rules}", f"-datasource.url={url}", f"-remoteWrite.url={url}",
             f"-remoteRead.url={url}", "-remoteWrite.flushInterval=200ms", "-notifier.blackhole",
             f"-httpListenAddr=127.0.0.1:{port}", *arguments], stdout=log, stderr=log)
        self.addCleanup(log.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, port, (self.scratch / name).read_text

    def alerts(self, port):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/api/v1/alerts")
            return json.loads(connection.getresponse().read())["data"]["alerts"]
        except OSError:  # it does not listen yet
            return []

    def ask(self, query):
        """{labels: value} of now."""
        found = self.halite.get_json(f"/api/v1/query?query={urllib.parse.quote(query)}")
        return {tuple(sorted(one["metric"].items())): float(one["value"][1])
                for one in found["data"]["result"]}

    def test_rules(self):
        self.write(kitchen=30, cellar=10)
        process, port, log = self.launch("first.log")
        recorded = (("__name__", "floor:temperature:avg"), ("floor", "1"), ("source", "vmalert"))
        self.eventually("the recorded series",
                        lambda: self.ask("floor:temperature:avg").get(recorded) == 20)
        alert = {"alertgroup": "rooms", "alertname": "TooWarm", "floor": "1", "room": "kitchen",
                 "severity": "page"}
        firing = tuple(sorted({"__name__": "ALERTS", "alertstate": "firing", **alert}.items()))
        self.eventually("the alert", lambda: self.ask("ALERTS").get(firing) == 1)
        shown = self.alerts(port)
        self.assertEqual([(one["name"], one["state"], one["labels"]["room"]) for one in shown],
                         [("TooWarm", "firing", "kitchen")])
        self.assertEqual(shown[0]["annotations"], {"summary": "kitchen has 30 degrees"})
        since = self.ask("ALERTS_FOR_STATE")
        self.assertEqual([dict(labels)["room"] for labels in since], ["kitchen"])
        self.assertLess(time.time() - list(since.values())[0], 120)

        # It was pending before: a series of its own, which has ended with a stale marker.
        self.eventually("the end of pending", lambda: list(self.ask("ALERTS")) == [firing])
        self.assertEqual(len(self.ask('count_over_time(ALERTS{alertstate="pending"}[5m])')), 1)

        # It is no more when the cause has gone.
        self.write(kitchen=20)
        self.eventually("the end of the alert", lambda: self.ask("ALERTS") == {})
        self.eventually("the new average",
                        lambda: self.ask("floor:temperature:avg")[recorded] == 15)
        process.terminate()
        process.wait(60)
        self.assertNotIn("\terror\t", log())

    def test_a_restart(self):
        """vmalert asks for the state of its alerts with default_rollup() of MetricsQL."""
        self.write(kitchen=30)
        first, port, _ = self.launch("first.log")
        self.eventually("the alert", lambda: [one["state"] for one in self.alerts(port)] == ["firing"])
        since = self.alerts(port)[0]["activeAt"][:19]  # seconds are what is stored
        first.terminate()
        first.wait(60)
        # It asks after its first evaluation: what that one writes must not come first.
        _, port, log = self.launch("second.log", "-remoteWrite.flushInterval=10s")
        self.eventually("the alert again",
                        lambda: [one["state"] for one in self.alerts(port)] == ["firing"])
        self.assertEqual(self.alerts(port)[0]["activeAt"][:19], since)
        self.assertNotIn("\terror\t", log())


if __name__ == "__main__":
    support.main()
