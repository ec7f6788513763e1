"""Increments of counters while region servers are killed with -9 and regions move: what HBase and Halite repeat counts once.

A cluster of its own. Senders without a key never send again what was refused, so a sum is at least what was acknowledged
and at most what was sent; where nothing was refused, it is equal. Senders with a key repeat until it is acknowledged."""

import argparse
import json
import os
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Cluster  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

START = 1356998400
SESSION_MS = 5_000
SENDERS = 4  # of each kind
HOSTS = 8  # counters of each sender
TABLE = "tsdb-counters-1m"
SECONDS_AFTER = 20  # a killed server's regions are open elsewhere by then


class Sender(threading.Thread):
    """Adds 1 to each of its counters, again and again."""

    def __init__(self, halite, number, keyed):
        super().__init__()
        self.halite, self.number, self.keyed = halite, number, keyed
        self.metric = f"kill.{'keyed' if keyed else 'plain'}{number}"
        self.sent = self.acknowledged = 0
        self.refusals = []
        self.ending = threading.Event()

    def run(self):
        body = json.dumps([{"metric": self.metric, "timestamp": START, "value": 1, "tags": {"host": f"h{host}"}}
                           for host in range(HOSTS)])
        while not self.ending.is_set():
            self.sent += 1
            headers = {"Content-Type": "application/json"}
            if self.keyed:
                headers["Idempotency-Key"] = f"{self.metric}-{self.sent}"
            while True:
                status, told = self.halite.request("POST", "/api/incr", body, headers)
                if status == 204:
                    self.acknowledged += 1
                    break
                self.refusals.append((status, told[:200]))
                if not self.keyed:
                    break

    def sums(self):
        status, told = self.halite.request("GET", f"/api/query?start={START}&end={START + 60}&m=sum:{self.metric}%7Bhost=*%7D")
        assert status == 200, told
        return [series["dps"][str(START)] for series in json.loads(told)]


class CountersTest(unittest.TestCase):
    def test_kills_and_moves(self):
        cluster = self.enterContext(Cluster(2, session_ms=SESSION_MS))
        halite = HaliteServer("--hbase-quorum", cluster.quorum, "--set", "self_metrics.enabled=false", "--set",
                              "hbase.timeout_ms=60s", store="hbase")
        self.addCleanup(halite.stop)
        while halite.request("GET", "/-/ready")[0] != 200:
            time.sleep(0.1)
        senders = [Sender(halite, number, keyed) for number in range(SENDERS) for keyed in (True, False)]
        for sender in senders:
            sender.start()
        time.sleep(3)
        for _ in range(3):
            [region] = cluster.tool("regions", TABLE).stdout.splitlines()
            victim = cluster.region_server_of(region.split("\t")[0])
            cluster.kill(victim)
            time.sleep(SECONDS_AFTER)
            cluster.launch(victim)
            time.sleep(5)
            [region] = cluster.tool("regions", TABLE).stdout.splitlines()
            cluster.tool("move", region.split("\t")[1])
        for sender in senders:
            sender.ending.set()
        for sender in senders:
            sender.join()
        for sender in senders:
            with self.subTest(sender=sender.metric):
                sums = sender.sums()
                self.assertEqual(len(sums), HOSTS)
                self.assertGreater(sender.acknowledged, 10)
                if sender.keyed:
                    self.assertEqual(sums, [sender.sent] * HOSTS, sender.refusals)
                    continue
                self.assertGreaterEqual(min(sums), sender.acknowledged, "acknowledged, but lost")
                self.assertLessEqual(max(sums), sender.sent, f"counted twice; refused: {sender.refusals}")
        print(*[f"{sender.metric}: {sender.acknowledged} of {sender.sent}, {len(sender.refusals)} refused"
                for sender in senders], sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    sys.exit(unittest.main(argv=[sys.argv[0], *rest]))
