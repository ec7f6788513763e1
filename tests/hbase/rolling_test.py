"""A rolling change of two Halites on one HBase from the last released version to this one, and back: senders never
stop, old and new run side by side, every acknowledged point is there, and both give the same answers at each step.

    HALITE_OLD_BIN=BINARY rolling_test.py --halite BINARY"""

import argparse
import collections
import http.client
import json
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Tables, Trouble  # noqa: E402
from server_process import ServerProcess  # noqa: E402

PREFIX = "rolling-"
START = 1356998400
SENDERS = 3
STEP_SECONDS = 4  # with the same servers
RETRY_SECONDS = 120


class Sender(threading.Thread):
    """Sends one batch after the other, each until a server acknowledges it; new names in every tenth."""

    def __init__(self, test, number):
        super().__init__()
        self.test = test
        self.number = number
        self.stop = threading.Event()
        self.acknowledged = []
        self.trouble = None

    def batch(self, count):
        return [{"metric": f"rolling.{count % 3}", "timestamp": START + count, "value": 1000 * self.number + i,
                 "tags": {"host": f"h{i}", "name": f"n{self.number}-{count // 10}"}} for i in range(5)]

    def run(self):
        try:
            count = 0
            while not self.stop.is_set():
                self.send(self.batch(count), count)
                count += 1
        except Exception as trouble:  # pylint: disable=broad-except
            self.trouble = trouble

    def send(self, points, count):
        """As behind a load balancer: to the next server when one is away."""
        deadline = time.monotonic() + RETRY_SECONDS
        turn = count + self.number
        while time.monotonic() < deadline:
            server = self.test.servers[turn % len(self.test.servers)]
            turn += 1
            try:
                status, answer = server.request("POST", "/api/put", json.dumps(points))
            except (OSError, http.client.HTTPException):
                continue
            if status == 204:
                self.acknowledged += points
                return
            if status != 503:
                raise AssertionError(f"{status} {answer}")
            time.sleep(0.05)
        raise AssertionError(f"no server took a batch for {RETRY_SECONDS} s")


class RollingTest(unittest.TestCase):
    def setUp(self):
        self.tables = Tables.of_environment()
        self.scratch = tempfile.TemporaryDirectory(prefix="halite-rolling-")
        self.addCleanup(self.scratch.cleanup)
        self.old, self.new = os.environ["HALITE_OLD_BIN"], os.environ["HALITE_BIN"]
        self.servers = [self.started(self.old) for _ in range(2)]

    def started(self, binary):
        server = ServerProcess(binary, tempfile.mkdtemp(dir=self.scratch.name), "--store", "hbase",
                               "--hbase-quorum", self.tables.quorum, "--set", f"hbase.table_prefix={PREFIX}",
                               "--set", "self_metrics.enabled=false")
        server.launch()
        self.addCleanup(server.kill)
        self.assertTrue(server.listens(), server.log_text())
        for _ in range(600):
            try:
                if server.request("GET", "/-/ready")[0] == 200:
                    return server
            except OSError:
                pass  # between its door's end and the server's beginning
            time.sleep(0.1)
        self.fail("not ready: " + server.log_text())
        return None

    def change(self, at, binary):
        """Ends one server and puts another in its place."""
        self.assertEqual(self.servers[at].terminate(signal.SIGTERM), 0, self.servers[at].log_text())
        self.servers[at] = self.started(binary)

    @staticmethod
    def stored(server):
        found = {}
        for metric in range(3):
            m = urllib.parse.quote(f"none:rolling.{metric}{{name=*}}", safe="")
            for answer in server.get_json(f"/api/query?start={START}&end={START + 1_000_000}&m={m}"):
                found[answer["metric"], tuple(sorted(answer["tags"].items()))] = answer["dps"]
        return found

    def test_to_this_version_and_back(self):
        senders = [Sender(self, number) for number in range(SENDERS)]
        for sender in senders:
            sender.start()
        try:
            for step in ((0, self.new), (1, self.new), (0, self.old), (1, self.old), None):
                time.sleep(STEP_SECONDS)
                self.check_both(senders)
                if step:
                    self.change(*step)
        finally:
            for sender in senders:
                sender.stop.set()
            for sender in senders:
                sender.join()
        expected = self.check_both(senders)
        for server in self.servers:
            self.assertEqual(self.stored(server), expected, server.log_text())

    def check_both(self, senders):
        """Both servers return every point that was acknowledged before the query."""
        self.assertEqual([str(sender.trouble) for sender in senders if sender.trouble], [])
        expected = collections.defaultdict(dict)
        for sender in senders:
            for point in list(sender.acknowledged):
                tags = tuple(sorted(point["tags"].items()))
                expected[point["metric"], tags][str(point["timestamp"])] = point["value"]
        self.assertGreater(len(expected), 0)
        for server in self.servers:
            found = self.stored(server)
            lost = [(series, second) for series, dps in expected.items() for second, value in dps.items()
                    if found.get(series, {}).get(second) != value]
            self.assertEqual(lost[:5], [], f"{len(lost)} points are missing\n{server.log_text()}")
        return expected


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    if "HALITE_OLD_BIN" not in os.environ:
        sys.exit("HALITE_OLD_BIN is not set: ./dev test-hbase --long builds the last released version and sets it")
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
