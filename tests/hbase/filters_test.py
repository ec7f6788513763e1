"""Tag filters that region servers apply: the answers of a store that keeps all in its own memory, out of fewer rows."""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Tables, Trouble  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

START = 1356998400
HOSTS = 200
HOURS = 2
DCS = ("x", "y", "z")


def series():
    """[tags]: every host has a data centre, some a rack, too; the keys' ids come in another order than their names."""
    made = []
    for host in range(HOSTS):
        tags = {"host": f"web{host:03}", "dc": DCS[host % len(DCS)]}
        if host % 4 == 0:
            tags["rack"] = f"r{host % 7}"
        made.append(tags)
    return made + [{"rack": "r1"}, {"host": "web001"}]


FILTERS = ["", "{host=web007}", "{host=web001|web002|web100}", "{host=*}", "{host=web00*}", "{dc=x,host=*}", "{dc=x,rack=r1}",
           "{rack=*}", "{rack=r3,host=*,dc=*}", "{host=nobody|web003}", "{}{host=literal_or(web001|web005)}",
           "{}{host=not_literal_or(web001),dc=literal_or(y)}", "{host=regexp(web0[0-4].)}", "{dc=iliteral_or(X)}",
           "{}{rack=not_key(),host=literal_or(web001|web004|web005)}", "{host=literal_or(web001)}{dc=wildcard(*)}"]


def queries():
    lines = []
    for tags in FILTERS:
        for start, end in ((START, START + 3600 * HOURS), (START + 1800, START + 1900), (START + 3500, START + 3700)):
            for explicit in ("", "explicit_tags:"):
                expression = urllib.parse.quote(f"sum:{explicit}filters.m{tags}", safe="")
                lines.append(f"start={start}&end={end}&m={expression}")
                lines.append(f"start={start}&end={end}&m={urllib.parse.quote(f'none:{explicit}filters.m{tags}', safe='')}")
    return lines


class FiltersTest(unittest.TestCase):
    def halite(self, *arguments, store):
        server = HaliteServer("--set", "self_metrics.enabled=false", *arguments, store=store)
        self.addCleanup(server.stop)
        for _ in range(600):
            try:
                if server.request("GET", "/-/ready")[0] == 200:
                    return server
            except OSError:
                pass
            self.assertTrue(server.running(), server.log_text())
        return server

    def rows_received(self):
        text = self.hbase.request("GET", "/metrics")[1].decode()
        return int(float(re.search(r"^halite_hbase_scanned_rows_total (\S+)$", text, re.M).group(1)))

    def rows_of(self, tags):
        question = urllib.parse.quote(f"sum:filters.m{tags}", safe="")
        target = f"/api/query?start={START}&end={START + 3600 * HOURS}&m={question}"
        self.hbase.get_json(target)  # names and series are known afterwards
        before = self.rows_received()
        self.hbase.get_json(target)
        return self.rows_received() - before

    def scans_are_told(self, tags, row_filter):
        question = urllib.parse.quote(f"sum:filters.m{tags}", safe="")
        [told] = self.hbase.get_json(f"/api/query/explain?start={START}&end={START + 3600}&m={question}")["queries"]
        self.assertEqual([scan["shard"] for scan in told["scans"]], list(range(told["shards"])))
        for scan in told["scans"]:
            self.assertIn(f"{START:08X}", scan["start"])
            self.assertLess(scan["start"], scan["stop"])
            self.assertRegex(scan["filter"], rf"^{row_filter}\(")

    def same_answers(self, prefix, *more):
        quorum = Tables.of_environment().quorum
        memory = self.halite("--set", "storage.layout=opentsdb", store="memory")
        self.hbase = self.halite("--hbase-quorum", quorum, "--set", f"hbase.table_prefix={prefix}", *more, store="hbase")
        choose = random.Random(1)
        points = [{"metric": metric, "timestamp": START + 60 * i, "value": choose.randrange(1000), "tags": tags}
                  for metric in ("filters.m", "filters.other") for tags in series() for i in range(60 * HOURS)]
        for server in (memory, self.hbase):
            server.put(points, batch=5000)
        with tempfile.NamedTemporaryFile("w", suffix=".queries") as file:
            file.write("\n".join(queries()))
            file.flush()
            done = subprocess.run([os.environ["HALITE_BIN"], "compare", "--opentsdb", memory.url, "--halite", self.hbase.url,
                                   "--queries", file.name], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[:3000])
        same = int(re.search(r"(\d+) match", done.stdout).group(1))
        self.assertGreater(same, len(queries()) * 3 // 4, done.stdout)

        def told(tags, wanted):
            # A row that is cut between two answers of a salt counts twice.
            self.assertIn(self.rows_of(tags), range(HOURS * wanted, HOURS * wanted + 5), tags)

        self.scans_are_told("{host=web007}", "FuzzyRowFilter")  # few: servers jump
        self.scans_are_told("{dc=x,host=*}", "RowFilter")
        told("", len(series()))
        told("{host=web007}", 1)
        told("{dc=x,rack=r1}", sum(tags.get("dc") == "x" and tags.get("rack") == "r1" for tags in series()))
        told("{rack=*}", sum("rack" in tags for tags in series()))
        told("{dc=*,host=web009}", 1)

    def test_plain_rows(self):
        self.same_answers("filters-")

    def test_salted_rows_and_other_widths(self):
        self.same_answers("filters-salted-", "--set", "storage.salt_width=1", "--set", "storage.salt_buckets=4",
                          "--set", "storage.uid_width_metric=2", "--set", "storage.uid_width_tag_value=4")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
