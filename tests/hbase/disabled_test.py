"""Tables that somebody disables under a Halite that serves: it says so, and goes on once they are enabled again."""

import argparse
import json
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Tables, Trouble  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

PATIENCE_SECONDS = 60
START = 1356998400
PREFIX = "disabled-"


def points(count, offset, host="a"):
    return [{"metric": "disabled", "timestamp": START + offset + i, "value": i, "tags": {"host": host}} for i in range(count)]


class DisabledTest(unittest.TestCase):
    def setUp(self):
        self.tables = Tables.of_environment()
        self.halite = HaliteServer("--hbase-quorum", self.tables.quorum, "--set", f"hbase.table_prefix={PREFIX}",
                                   "--set", "self_metrics.enabled=false", store="hbase")
        self.addCleanup(self.halite.stop)
        self.answered(200, lambda: self.halite.request("GET", "/-/ready"))

    def answered(self, wanted, ask):
        """The body of the first such answer."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                status, body = ask()
            except OSError as gone:
                status, body = None, str(gone)
            if status == wanted:
                return body
            self.assertLess(time.monotonic(), end, f"{status}, not {wanted}: {body[:300]}")
            time.sleep(0.1)

    def question(self, offset):
        target = f"/api/query?start={START + offset}&end={START + offset + 99}&m=sum:disabled%7Bhost=a%7D"
        return self.halite.request("GET", target)

    def refused(self, answer, wanted, table):
        status, body = answer
        self.assertEqual(status, wanted, body)
        self.assertIn(f'table \\"{PREFIX}{table}\\" is disabled', body.decode())

    def test_points(self):
        self.halite.put(points(50, 0))
        self.tables.tool("disable", PREFIX + "tsdb")
        began = time.monotonic()
        for options in ("", "?details", "?summary"):
            status, body = self.halite.post("/api/put" + options, points(5, 50))
            self.assertEqual(status, 503, body)
        self.refused(self.halite.post("/api/put", points(5, 50)), 503, "tsdb")
        self.refused(self.question(0), 424, "tsdb")  # as of any question that the store does not answer
        self.assertLess(time.monotonic() - began, 20)  # at once, not after all retries
        self.assertEqual(self.halite.request("GET", "/-/healthy")[0], 200)
        self.tables.tool("enable", PREFIX + "tsdb")
        self.answered(204, lambda: self.halite.post("/api/put", points(50, 50)))
        [told] = json.loads(self.answered(200, lambda: self.question(0)))
        self.assertEqual(len(told["dps"]), 100)

    def test_names(self):
        """Known ones are in memory; new ones wait for their table."""
        self.halite.put(points(50, 1000))
        self.tables.tool("disable", PREFIX + "tsdb-uid")
        self.halite.put(points(50, 1050))
        status, body = self.halite.post("/api/put?details", points(1, 1000, "new"))
        self.assertEqual(status, 503, body)
        self.tables.tool("enable", PREFIX + "tsdb-uid")
        self.answered(204, lambda: self.halite.post("/api/put", points(1, 1000, "new")))
        [told] = json.loads(self.answered(200, lambda: self.question(1000)))
        self.assertEqual(len(told["dps"]), 100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
