"""Halite while HBase is not there: before, and when it goes. It says so with 503, and goes on by itself."""

import argparse
import os
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Cluster  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

PATIENCE_SECONDS = 120
START = 1356998400


def points(count, offset):
    return [{"metric": "away", "timestamp": START + offset + i, "value": i, "tags": {"host": "a"}} for i in range(count)]


class EarlyServer(HaliteServer):
    """Reached as soon as it answers 503."""

    LISTENING = r"(?:listening|answering 503) on \S*:(\d+)"


class AwayTest(unittest.TestCase):
    def await_status(self, path, wanted, text=""):
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, body = self.halite.request("GET", path)
            if status == wanted and text in body.decode():
                return body.decode()
            self.assertLess(time.monotonic(), end, f"{path} answers {status}, not {wanted} {text}: {body[:300]}")
            time.sleep(0.2)

    def await_door(self):
        """Whom the door has not answered yet is cut off when the server takes its port over."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.await_status("/-/ready", 200)
            except OSError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)

    def await_metrics(self, *lines):
        """Those of the alerts HaliteNotReady and HaliteHBaseAway."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            page = self.halite.request("GET", "/metrics")[1].decode()
            if all(f"\n{line}" in page for line in lines):
                return
            self.assertLess(time.monotonic(), end, page)
            time.sleep(0.2)

    def stored(self):
        answer = self.halite.get_json(f"/api/query?start={START}&end={START + 3600}&m=sum:away")
        return len(answer[0]["dps"])

    def test_before_and_in_between(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="halite-hbase-"))
        cluster = Cluster(folder=os.path.realpath(folder))
        cluster.choose_ports()
        self.addCleanup(cluster.stop)
        self.addCleanup(cluster.kill_all)  # there is nothing to keep
        self.halite = EarlyServer("--hbase-quorum", cluster.quorum, "--set", "hbase.timeout_ms=3s",
                                   "--set", "self_metrics.enabled=false", "--set", "self_metrics.interval_ms=200ms",
                                   store="hbase")
        self.addCleanup(self.halite.stop)
        self.await_status("/-/ready", 503, "the store is unavailable")
        self.assertEqual(self.halite.request("GET", "/-/healthy")[0], 200)
        self.assertEqual(self.halite.post("/api/put", points(1, 0))[0], 503)

        cluster.start()
        self.await_door()
        self.halite.put(points(50, 0))
        self.assertEqual(self.stored(), 50)
        self.await_metrics("halite_process_ready 1\n")

        cluster.stop()
        status, body = self.halite.post("/api/put?details", points(50, 50))
        self.assertEqual(status, 503, body)
        self.await_status("/-/ready", 503)
        self.await_metrics("halite_process_ready 0\n", "halite_hbase_requests_total ")

        cluster.start()
        self.await_status("/-/ready", 200)
        self.await_metrics("halite_process_ready 1\n")
        self.halite.put(points(50, 100))
        self.assertGreaterEqual(self.stored(), 100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    sys.exit(unittest.main(argv=sys.argv[:1] + rest))
