#!/usr/bin/env python3
"""Prometheus' remote_write against the real binary: by a sender of ours, in both versions, over a
kill -9; and by a real Prometheus and a real vmagent, where they are installed (Debian's packages
prometheus and victoria-metrics), which scrape the server that they write to, are refused while that
is stopped, and repeat."""

import hashlib
import json
import re
import shutil
import subprocess
import time
import unittest

import support
from wire import field, remote_write_1, remote_write_2, snappy

T = 1700000000000
V1 = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
      "X-Prometheus-Remote-Write-Version": "0.1.0"}
V2 = {"Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
      "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "2.0.0"}
WRITTEN = "X-Prometheus-Remote-Write-{}-Written"


class RemoteWriteTest(support.HaliteTest):
    def send(self, halite, headers, body):
        """The status, the text, and the headers of an answer."""
        connection = halite.http()
        try:
            connection.request("POST", "/api/v1/write", snappy(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def test_both_versions_are_durable(self):
        halite = self.server().start()
        labels = [{"__name__": "requests_total", "job": "web", "code": str(code)}
                  for code in range(500)]
        body = remote_write_1([(one, [(i, T)]) for i, one in enumerate(labels)])
        self.assertEqual(self.send(halite, V1, body)[:2], (204, ""))
        body = remote_write_2([(one, [(i + 0.5, T + 15000)]) for i, one in enumerate(labels)])
        status, text, headers = self.send(halite, V2, body)
        self.assertEqual((status, text), (204, ""))
        self.assertEqual([headers[WRITTEN.format(what)]
                          for what in ("Samples", "Histograms", "Exemplars")], ["500", "0", "0"])
        halite.kill()
        again = self.server().start()
        found = again.query("none:requests_total{job=web}", T // 1000, T // 1000 + 60)
        self.assertEqual({one["tags"]["code"]: list(one["dps"].values()) for one in found},
                         {str(i): [i, i + 0.5] for i in range(500)})

    def test_a_bad_series_costs_no_other(self):
        halite = self.server().start()
        body = (remote_write_1([({"__name__": "a", "": "x"}, [(1, T)]),
                                ({"__name__": "b", "x": "y"}, [(2, T), (3, -1)])]) +
                field(1, field(1, field(1, "__name__") + field(2, "h")) + field(4, field(1, 3))))
        self.assertEqual(self.send(halite, V1, body)[:2],
                         (400, "1 of 3 samples stored, none of 1 native histograms: "
                               "series 1: a tag key is empty; "
                               'series 2: b{x="y"}: the time -1 is before 1970; '
                               "series 3: h: native histograms are not stored, send classic ones\n"))
        self.assertEqual(halite.query("sum:b{x=y}", T // 1000, T // 1000 + 1)[0]["dps"],
                         {str(T // 1000): 2.0})
        self.assertEqual(self.send(halite, V1, body[:-1])[0], 400)

    @unittest.skipUnless(shutil.which("prometheus"), "no prometheus is installed")
    def test_a_real_prometheus(self):
        halite = self.server().start()
        port = halite.port
        config = self.scratch / "prometheus.yml"
        config.write_text(f"""
global: {{scrape_interval: 500ms}}
scrape_configs:
  - job_name: halite
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
remote_write:
  - url: http://127.0.0.1:{port}/api/v1/write
    queue_config: {{batch_send_deadline: 500ms, max_backoff: 500ms}}
    metadata_config: {{send_interval: 1s}}
""")
        self.launch("prometheus", f"--config.file={config}", "--web.listen-address=127.0.0.1:0",
                    f"--storage.tsdb.path={self.scratch}/prometheus")
        began = int(time.time())
        self.eventually("samples", lambda: self.ups(halite, began) >= 5)
        halite.terminate()
        stopped = int(time.time())
        time.sleep(2)
        again = self.server(listen=f"127.0.0.1:{port}").start()
        # Among them what was scraped, with "up 0", while the server was gone.
        self.eventually("samples again", lambda: self.ups(again, stopped) >= 8)
        found = again.query("none:up{job=halite}", began, began + 3600)
        self.assertEqual(found[0]["tags"], {"job": "halite", "instance": f"127.0.0.1:{port}"})
        self.assertIn(0, found[0]["dps"].values())
        metrics = again.request("GET", "/metrics")[1].decode().splitlines()
        self.assertEqual([line for line in metrics if "points_refused" in line
                          and "remote_write" in line and not line.endswith(" 0")], [])
        self.assertNotIn("non-recoverable", (self.scratch / "prometheus.log").read_text())

    @unittest.skipUnless(shutil.which("vmagent"), "no vmagent is installed")
    def test_a_real_vmagent(self):
        accounts = self.scratch / "accounts.toml"
        digest = hashlib.sha256(b"halite_vmagent").hexdigest()
        accounts.write_text(f'[tokens.vmagent]\nsha256 = "{digest}"\nroles = "write"\n')
        accounts.chmod(0o600)
        settings = ("--set", f"auth.file={accounts}", "--set", "auth.anonymous=read")
        halite = self.server(*settings).start()
        port = halite.port
        config = self.scratch / "scrape.yml"
        config.write_text(f"""
global: {{scrape_interval: 500ms}}
scrape_configs:
  - job_name: halite
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
""")
        self.launch("vmagent", f"-promscrape.config={config}", "-httpListenAddr=127.0.0.1:0",
                    f"-remoteWrite.url=http://127.0.0.1:{port}/api/v1/write",
                    "-remoteWrite.bearerToken=halite_vmagent",
                    f"-remoteWrite.tmpDataPath={self.scratch}/vmagent")
        began = int(time.time())
        self.eventually("samples", lambda: self.ups(halite, began) >= 5)
        halite.terminate()
        stopped = int(time.time())
        time.sleep(2)
        again = self.server(*settings, listen=f"127.0.0.1:{port}").start()
        self.eventually("samples again", lambda: self.ups(again, stopped) >= 8)
        found = again.query("none:up{job=halite}", began, began + 3600)
        self.assertEqual(found[0]["tags"], {"job": "halite", "instance": f"127.0.0.1:{port}"})
        self.assertIn(0, found[0]["dps"].values())
        log = (self.scratch / "vmagent.log").read_text()
        self.assertNotIn("rejected", log)
        # 503 while the store is opened; vmagent repeats.
        self.assertLessEqual(set(re.findall(r"during retry #\d+: (\d+)", log)), {"503"})

    def launch(self, program, *arguments):
        """Runs it until the end of the test; its log is PROGRAM.log."""
        log = (self.scratch / f"{program}.log").open("w")
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        self.addCleanup(log.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def ups(self, halite, begin):
        status, body = halite.request("GET", f"/api/query?start={begin}&ms=true&m=none:up%7Bjob=halite%7D")
        answers = json.loads(body) if status == 200 else []
        return len(answers[0]["dps"]) if answers else 0


if __name__ == "__main__":
    support.main()
