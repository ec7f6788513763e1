#!/usr/bin/env python3
"""The dashboards of grafana/ that ask in PromQL, asked as Grafana's data source Prometheus asks, of a real
server: every panel must show something. See grafana_model.py."""

import json
import math
import re
import time
import urllib.parse

import support
from grafana_model import PromqlSource, Refused, choose, panels
from grafana_test import DASHBOARDS, OF_OTHER_STORES, PROMQL, provisioned_source

HOSTS = ["db01:9100", "web01:9100"]
STEP_S = 15


def labelled(text, **labels):
    """A page of metrics as a scraper hands it on: with labels of its own."""
    more = ",".join(f'{name}="{value}"' for name, value in labels.items())
    lines = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            line = re.sub(r"^(\w+)\{", rf"\1{{{more},", line) if re.match(r"^\w+\{", line) else \
                re.sub(r"^(\w+)", rf"\1{{{more}}}", line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def node_exporter(second):
    """What a node_exporter shows: the metrics that the dashboard of hosts asks for."""
    lines = ["# TYPE node_cpu_seconds_total counter"]
    for cpu in (0, 1):
        for mode, share in (("idle", 0.8), ("user", 0.1), ("system", 0.06), ("iowait", 0.04)):
            lines.append(f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} {second % 1e6 * share:.2f}')
    for device in ("eth0", "lo"):
        lines += [f'node_network_receive_bytes_total{{device="{device}"}} {second % 1e6 * 1000}',
                  f'node_network_transmit_bytes_total{{device="{device}"}} {second % 1e6 * 500}']
    lines += [f'node_disk_{name}_total{{device="vda"}} {second % 1e6 * by}' for name, by in
              (("read_bytes", 4096), ("written_bytes", 8192), ("io_time_seconds", 0.2))]
    for fstype, at in (("ext4", "/"), ("tmpfs", "/run")):
        lines += [f'node_filesystem_{name}_bytes{{device="d",fstype="{fstype}",mountpoint="{at}"}} {size}'
                  for name, size in (("avail", 4e10 - second % 1e6), ("size", 8e10))]
    lines += [f"node_memory_{name}_bytes {size}" for name, size in
              (("MemTotal", 8e9), ("MemFree", 1e9), ("MemAvailable", 5e9), ("Buffers", 5e8), ("Cached", 3e9),
               ("SwapTotal", 2e9), ("SwapFree", 1.5e9))]
    lines += [f"{name} {value}" for name, value in
              (("node_load1", 0.7), ("node_boot_time_seconds", second - 86400), ("node_procs_running", 2),
               ("node_procs_blocked", 0), ("node_forks_total", second % 1e6 * 3),
               ("node_vmstat_pswpin", 10), ("node_vmstat_pswpout", 20))]
    return "\n".join(lines) + "\n"


class Answers(support.HaliteTest):
    def send(self, server, text, second):
        path = f"/api/v1/import/prometheus?timestamp={second * 1000}"
        status, body = server.request("POST", path, text)
        self.assertEqual((status, body), (204, b""))

    def feed(self):
        server = self.server("--store", "engine", "--set", f"engine.backup_dir={self.scratch}/backups").start()
        end = int(time.time()) // STEP_S * STEP_S
        for second in range(end - 600, end + 1, STEP_S):
            for host in HOSTS:
                self.send(server, labelled(node_exporter(second), instance=host, job="node"), second)
        server.telnet_lines([f"put bad.value {end} 12x host=a"])
        pages = []
        for _ in range(2):  # so that counters have grown between them
            for count in range(3):
                server.get_json("/api/query?start=5m-ago&m=sum:node_load1")
                self.send(server, labelled(f"between_pages {count}\n", instance="none"), end)
            status, page = server.request("GET", "/metrics")
            self.assertEqual(status, 200)
            other = "".join(f"{name.replace('.', '_')} {len(pages)}\n" for name in OF_OTHER_STORES)
            pages.append(labelled(page.decode() + other, instance="db01:4242", job="halite"))
        for second in range(end - 600, end + 1, STEP_S):
            self.send(server, pages[second >= end - 60], second)
        return server, end

    def check_panel(self, name, panel, scope, source, begin, end):
        for target in panel["targets"]:
            where = (name, panel["title"], target["expr"])
            try:
                found = source.ask(target, scope, begin, end)
            except Refused as error:
                self.fail(f"{where}: {error}")
            self.assertTrue(found, where)
            self.assertTrue(any(math.isfinite(value) for one in found for _, value in one["points"]), where)
            for one in found:
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    self.assertIn(label, one["labels"], where)

    def test_every_panel_and_variable_has_an_answer(self):
        server, end = self.feed()
        prefix = urllib.parse.urlsplit(provisioned_source("HalitePromQL", "url")).path
        asked = 0
        for method in ("POST", "GET"):
            source = PromqlSource(server, method, prefix, STEP_S)
            source.check_health()
            for name in sorted(PROMQL):
                scope = choose(DASHBOARDS[name], source)
                wanted = HOSTS if name == "hosts_promql" else ["db01:4242"]
                self.assertEqual(scope.values["instance"], wanted)
                some = scope.with_value("instance", wanted[0])
                for panel, own in panels(DASHBOARDS[name], scope):
                    self.check_panel(name, panel, own, source, end - 300, end)
                    self.check_panel(name, panel, some, source, end - 300, end)
                    asked += 1
        self.assertGreater(asked, 70)

    def test_an_expression_that_is_wrong_is_refused(self):
        """The check itself."""
        server = self.server("--store", "memory").start()
        source = PromqlSource(server, "POST", "/prometheus", STEP_S)
        scope = choose({"templating": {"list": []}}, source)
        now = int(time.time())
        self.assertEqual(source.ask({"expr": "no_such_metric"}, scope, now - 60, now), [])
        with self.assertRaises(Refused):
            source.ask({"expr": "rate(no_such_metric"}, scope, now - 60, now)


if __name__ == "__main__":
    support.main()
