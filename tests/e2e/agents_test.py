#!/usr/bin/env python3
"""Real Telegraf and OpenTelemetry Collector, built from their Go modules, send what they measure by each protocol that
they have. The server is killed meanwhile: they send again what was not acknowledged, and no interval is missing."""

import itertools
import json
import subprocess
import time
import urllib.parse

import support
from go_programs import collector, go_program

TELEGRAF = "github.com/influxdata/telegraf/cmd/telegraf"
TELEGRAF_VERSION = "v1.37.2"
TELEGRAF_PLUGINS = ("inputs.mem", "outputs.graphite", "outputs.http", "outputs.influxdb", "outputs.influxdb_v2",
                    "outputs.opentelemetry", "outputs.opentsdb", "serializers.prometheusremotewrite")

COLLECTOR_VERSION = "v0.165.0"
CONTRIB = "github.com/open-telemetry/opentelemetry-collector-contrib"
COLLECTOR_MODULES = {
    "receivers": [f"{CONTRIB}/receiver/hostmetricsreceiver"],
    "exporters": ["go.opentelemetry.io/collector/exporter/otlphttpexporter",
                  f"{CONTRIB}/exporter/prometheusremotewriteexporter"]}

SECONDS = 4  # of measuring, before and after the kill
REPEAT_SECONDS = 30


class AgentsTest(support.HaliteTest):
    def start_agent(self, name, *command):
        log = (self.scratch / f"{name}.log").open("w")
        process = subprocess.Popen(command, cwd=self.scratch, stdout=log, stderr=log)
        self.addCleanup(log.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.agent_log = self.scratch / f"{name}.log"
        return process

    def times(self, halite, selector):
        """Those of all points of the one series that PromQL's selector names, in seconds."""
        form = urllib.parse.urlencode({"query": f"{selector}[300s]"})
        answer = halite.get_json(f"/api/v1/query?{form}")["data"]["result"]
        self.assertLessEqual(len(answer), 1, answer)
        return [second for second, _ in answer[0]["values"]] if answer else []

    def send_and_kill(self, halite, agent, selectors):
        """With an agent that measures each second: what each selector names has a point of each second, over a kill."""
        began = int(time.time())
        port = halite.port

        def everywhere(server, since):
            return all(sum(second >= since for second in self.times(server, selector)) >= SECONDS for selector in selectors)

        self.eventually("points", lambda: everywhere(halite, began))
        halite.kill()
        time.sleep(2.5)
        again = self.server(*self.arguments, listen=f"127.0.0.1:{port}").start()
        killed = int(time.time())
        self.eventually("points again", lambda: everywhere(again, killed))

        def longest_gaps():
            times = {selector: self.times(again, selector) for selector in selectors}
            return {selector: max(after - before for before, after in itertools.pairwise(some)) for selector, some in times.items()}

        # They repeat as late as the answer 503 of a server that starts asks for. An agent may itself miss a second where
        # the machine is busy.
        deadline = time.monotonic() + REPEAT_SECONDS
        while max(longest_gaps().values()) >= 2.5 and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertLess(max(longest_gaps().values()), 2.5, f"{longest_gaps()}\n{self.agent_log.read_text()}")
        agent.terminate()
        agent.wait(60)
        metrics = again.request("GET", "/metrics")[1].decode().splitlines()
        self.assertEqual([line for line in metrics if "points_refused" in line and not line.endswith(" 0")
                          and not line.startswith("#")], [])

    def test_telegraf(self):
        program = go_program(TELEGRAF, TELEGRAF_VERSION, ("custom", *TELEGRAF_PLUGINS))
        graphite = support.free_port()
        self.arguments = ("--set", "self_metrics.enabled=false", "--set", f"graphite.listen=127.0.0.1:{graphite}")
        halite = self.server(*self.arguments).start()
        url = f"http://127.0.0.1:{halite.port}"
        config = self.scratch / "telegraf.conf"
        config.write_text(f"""
[agent]
  interval = "1s"
  flush_interval = "1s"
  precision = "1s"
  hostname = "web01"
[[inputs.mem]]
  fieldinclude = ["used", "used_percent"]
[[outputs.influxdb_v2]]
  urls = ["{url}"]
  token = "any"
  organization = "any"
  bucket = "any"
  name_prefix = "v2_"
[[outputs.influxdb]]
  urls = ["{url}"]
  name_prefix = "v1_"
[[outputs.opentsdb]]
  host = "http://127.0.0.1"
  port = {halite.port}
  http_batch_size = 1000
  separator = "_"
  name_prefix = "json_"
[[outputs.graphite]]
  servers = ["127.0.0.1:{graphite}"]
  graphite_tag_support = true
  name_prefix = "graphite_"
[[outputs.http]]
  url = "{url}/api/v1/write"
  data_format = "prometheusremotewrite"
  use_batch_format = false  # in a batch it keeps only the last point of a series
  name_prefix = "prometheus_"
  [outputs.http.headers]
    Content-Type = "application/x-protobuf"
    Content-Encoding = "snappy"
    X-Prometheus-Remote-Write-Version = "0.1.0"
""")
        agent = self.start_agent("telegraf", program, "--config", str(config))
        self.send_and_kill(halite, agent, [
            'v2_mem_used{host="web01"}', 'v1_mem_used_percent{db="telegraf",host="web01"}', 'json_mem_used{host="web01"}',
            'prometheus_mem_used{host="web01"}'])
        now = int(time.time())
        again = self.servers[-1]
        # A line that was in the buffer of a TCP connection is lost with it: Graphite acknowledges nothing.
        found = again.query("none:graphite_mem.used{host=web01}", now - 300, now)
        self.assertGreaterEqual(len(found[0]["dps"]), 2 * SECONDS - 2)
        # Integers are integers.
        found = again.query("none:v2_mem_used{host=web01}", now - 300, now)
        self.assertTrue(all(isinstance(value, int) for value in found[0]["dps"].values()), found)

    def test_collector(self):
        program = collector(COLLECTOR_VERSION, COLLECTOR_MODULES)
        self.arguments = ("--set", "self_metrics.enabled=false")
        halite = self.server(*self.arguments).start()
        url = f"http://127.0.0.1:{halite.port}"
        config = self.scratch / "collector.yaml"
        retry = "retry_on_failure: {initial_interval: 200ms, max_interval: 500ms}"
        config.write_text(f"""
receivers:
  host_metrics:
    collection_interval: 1s
    scrapers: {{memory: {{}}, load: {{}}}}
exporters:
  otlp_http:
    endpoint: {url}
    {retry}
  prometheusremotewrite:
    endpoint: {url}/api/v1/write
    namespace: written
    {retry}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    metrics:
      receivers: [host_metrics]
      exporters: [otlp_http, prometheusremotewrite]
""")
        agent = self.start_agent("collector", program, f"--config={config}")
        self.send_and_kill(halite, agent, [
            'system_memory_usage_bytes{state="used"}', "system_cpu_load_average_1m",
            'written_system_memory_usage_bytes{state="used"}'])
        metadata = self.servers[-1].get_json("/api/v1/metadata?metric=system_memory_usage_bytes")["data"]
        self.assertEqual(json.dumps(metadata).count('"unit": "By"'), 1, metadata)


if __name__ == "__main__":
    support.main()
