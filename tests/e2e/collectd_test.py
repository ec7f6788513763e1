#!/usr/bin/env python3
"""Debian's collectd feeds the server with its write_tsdb plugin, as a real machine would."""

import shutil
import subprocess

import support

CONFIG = """
Hostname "e2e.example"
FQDNLookup false
BaseDir "{scratch}"
PIDFile "{scratch}/collectd.pid"
PluginDir "{plugins}"
TypesDB "/usr/share/collectd/types.db"
Interval 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File STDERR
</Plugin>
LoadPlugin load
LoadPlugin memory
LoadPlugin processes
LoadPlugin write_tsdb
<Plugin write_tsdb>
  <Node "halite">
    Host "127.0.0.1"
    Port "{port}"
    HostTags "status=production dc=e2e"
    StoreRates false
    AlwaysAppendDS false
  </Node>
</Plugin>
"""


class Collectd(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.collectd = shutil.which("collectd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        self.assertIsNotNone(self.collectd, "collectd is missing: ./dev e2e installs it")

    def start_collectd(self, port):
        config = self.scratch / "collectd.conf"
        config.write_text(
            CONFIG.format(scratch=self.scratch, port=port, plugins="/usr/lib/collectd"))
        with open(self.scratch / "collectd.log", "wb") as log:
            process = subprocess.Popen(
                [self.collectd, "-f", "-C", str(config)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_its_metrics_can_be_queried(self):
        server = self.server().start()
        collectd = self.start_collectd(server.port)

        def metrics():
            self.assertIsNone(collectd.poll(), (self.scratch / "collectd.log").read_text())
            found = server.get_json("/api/suggest?type=metrics&q=&max=10000")
            ours = [name for name in found if not name.startswith("halite.")]
            # A plugin's metrics come one by one, so free memory may be later than other memory.
            free = sorted(name for name in ours if "memory" in name and "free" in name)
            others = all(any(w in name for name in ours) for w in ("load", "processes"))
            return free if free and others else None

        memory = self.eventually("metrics of collectd", metrics, seconds=90)[0]

        def points():
            answers = server.get_json(
                f"/api/query?start=10m-ago&m=avg:{memory}{{fqdn=*}}")
            return answers if answers and len(answers[0]["dps"]) >= 3 else None

        answers = self.eventually(f"three points of {memory}", points, seconds=90)
        self.assertEqual(answers[0]["tags"]["fqdn"], "e2e.example")
        self.assertEqual(answers[0]["tags"]["dc"], "e2e")
        self.assertGreater(min(answers[0]["dps"].values()), 0)

        # Grouped, downsampled, and all of it again after a restart.
        collectd.terminate()
        collectd.wait(30)
        ask = f"/api/query?start=10m-ago&m=max:10s-count:{memory}{{status=production}}"
        counts = server.get_json(ask)[0]["dps"]
        self.assertGreaterEqual(sum(counts.values()), 3)
        self.assertEqual(server.terminate(), 0, server.log_text())
        again = self.server(data_dir=server.data_dir).start()
        self.assertGreaterEqual(sum(again.get_json(ask)[0]["dps"].values()), sum(counts.values()))


if __name__ == "__main__":
    support.main()
