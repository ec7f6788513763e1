"""`halite hbase create-tables` and `halite hbase regions` on a real HBase, and a server on what they made."""

import argparse
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Tables, Trouble  # noqa: E402
from halite_server import HaliteServer  # noqa: E402


def settings(tables, prefix, more):
    given = {"hbase.quorum": tables.quorum, "hbase.table_prefix": prefix, "hbase.compression": "NONE",
             "hbase.encoding": "NONE", **more}
    return [word for name, value in given.items() for word in ("--set", f"{name}={value}")]


RING = {"storage.layout": "cyclic", "storage.ttl_ms": "90d", "storage.salt_buckets": 4, "hbase.regions_max": 18}


class TablesTest(unittest.TestCase):
    def halite(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HALITE_")}
        return subprocess.run([os.environ["HALITE_BIN"], *arguments], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def told(self, *arguments):
        done = self.halite(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def regions(self, tables, table):
        return sorted(line.split()[1:] for line in tables.tool("regions", table).stdout.splitlines())

    def test_a_ring_has_its_regions_for_ever(self):
        tables = Tables.of_environment()
        given = settings(tables, "ring-", RING)
        told = self.told("hbase", "create-tables", *given)
        for part in ("ring-tsdb     created", "16: 4 salts, 256 slots of 1d each; fixed", "splitting     false",
                     "bloom filter ROW, block cache true", "4 regions at a time, 4 per server of 1"):
            self.assertIn(part, told)
        made = self.regions(tables, "ring-tsdb")
        self.assertEqual(len(made), 16)
        self.assertIn("already exists; not changed", self.told("hbase", "create-tables", *given))
        server = HaliteServer(*given, store="hbase")
        self.addCleanup(server.stop)
        now = int(time.time())
        server.put([{"metric": "m", "timestamp": now - i, "value": i, "tags": {"host": str(i % 7)}} for i in range(700)])
        status, body = server.request("GET", "/api/query?start=1h-ago&m=count:m")
        self.assertEqual(status, 200, body)
        self.assertEqual(self.regions(tables, "ring-tsdb"), made)
        page = server.get_json("/api/server/regions")
        self.assertEqual(page["table"], "ring-tsdb")
        self.assertEqual(sum(region["from"].startswith(("salt ", "the first row")) for region in page["regions"]), 16)
        self.assertEqual(sum(load["regions"] for load in page["servers"]), 16)
        self.assertTrue(all(load["server"] for load in page["servers"]), page["servers"])
        shown = self.told("hbase", "regions", *given)
        self.assertIn("salt 3 slot 768", shown)
        self.assertEqual(sum("slot" in line or "first row" in line for line in shown.splitlines()), 16)

    def test_salted_rows_are_cut_at_their_salts(self):
        tables = Tables.of_environment()
        told = self.told("hbase", "create-tables",
                         *settings(tables, "salty-", {"storage.salt_width": 1, "storage.salt_buckets": 4}))
        self.assertIn("4, split at salts; HBase splits them further as they grow", told)
        self.assertEqual(len(self.regions(tables, "salty-tsdb")), 4)

    def test_a_namespace_is_not_made_but_asked_for(self):
        tables = Tables.of_environment()
        given = settings(tables, "", {"storage.data_table": "halite_later:tsdb"})
        refused = self.halite("hbase", "create-tables", *given)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("create_namespace 'halite_later'", refused.stderr)
        tables.tool("namespace", "halite_later")
        self.assertIn("created", self.told("hbase", "create-tables", *given))
        self.assertEqual(len(self.regions(tables, "halite_later:tsdb")), 1)
        self.assertIn("the first row", self.told("hbase", "regions", *given))

    def test_a_ttl_is_lowered_only_where_that_is_asked_for(self):
        def create(ttl, *more):
            return self.told("hbase", "create-tables", *settings(Tables.of_environment(), "ttl-", {"storage.ttl_ms": ttl}), *more)

        self.assertIn("created", create("90d"))
        kept = create("7d")
        self.assertIn("already exists; not changed", kept)
        self.assertIn("--lower-ttl", kept)
        self.assertIn("its TTL was", create("7d", "--lower-ttl"))

    def test_too_few_regions_are_refused_before_anything_is_made(self):
        tables = Tables.of_environment()
        refused = self.halite("hbase", "create-tables", *settings(tables, "few-", {**RING, "hbase.regions_max": 3}))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("hbase.regions_max", refused.stderr)
        self.assertNotIn("few-", tables.tool("list").stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
