"""Points that are loaded into HBase as files, beside a real OpenTSDB on the same tables: it reads them as its own."""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from beside_opentsdb import HOUR, BytesOnCluster, ask, post, settings  # noqa: E402
from cluster import OpenTsdb, Trouble  # noqa: E402

LOADER = None
SALT = {"tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "8"}
HOSTS = 5
SECONDS = 3 * 3600


def times_of(host, step):
    """Seconds; host 4 has milliseconds, host 3 both."""
    times = range(HOUR, HOUR + SECONDS, step)
    if host == 4:
        return [time * 1000 + 250 for time in times]
    if host == 3:
        return [time * 1000 + 1 if time % 90 == 0 else time for time in times]
    return list(times)


def points(step, factor):
    """{(host, time): text of the value}"""
    made = {}
    for host in range(HOSTS):
        for number, time in enumerate(times_of(host, step)):
            value = factor * (number + host)
            made[host, time] = str(value) if host % 2 == 0 else f"{value}.25"
    return made


def lines(these):
    return "".join(f"bulk.m {time} {value} host=h{host} dc=x\n" for (host, time), value in these.items())


def answers(these):
    """As a query for milliseconds gives them."""
    expected = {}
    for (host, time), value in these.items():
        milliseconds = time if time > 1 << 33 else 1000 * time
        expected.setdefault(f"h{host}", {})[str(milliseconds)] = float(value)
    return expected


class BulkLoadTest(BytesOnCluster):
    def load(self, tables, prefix, these, *more):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([LOADER, tables.quorum, prefix, f"file://{folder}/load", "storage.salt_width=1",
                                   "storage.salt_buckets=8", *more], input=lines(these), text=True, check=False,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(f"{folder}/load/t"), [])
        return int(done.stdout.splitlines()[-1].split()[0])

    def expect(self, these, *urls):
        for url in urls:
            found = ask(url, f"start={HOUR}&end={HOUR + SECONDS}&ms=true&m=none:bulk.m{{host=*}}")
            self.assertEqual({one["tags"]["host"]: one["dps"] for one in found}, answers(these), url)

    def test_opentsdb_reads_what_is_loaded(self):
        tables, ours, _ = self.new_tables("bulk")
        these = points(30, 1)
        self.assertEqual(self.load(tables, ours, these), len(these))
        halite = self.halite_on(tables, ours, SALT)
        with OpenTsdb(tables, settings(ours, SALT)) as opentsdb:
            both = halite.url, opentsdb.url
            self.expect(these, *both)
            # A second load wins, at the same times and at others.
            for step, factor in ((30, 2), (60, 3)):
                again = points(step, factor)
                self.load(tables, ours, again)
                these.update(again)
                self.expect(these, *both)
            # So does a later put, and an earlier one loses.
            put = {(0, HOUR + 60): "7"}
            post(opentsdb.url, "/api/put?sync&details", [{"metric": "bulk.m", "timestamp": HOUR + 60, "value": 7,
                                                  "tags": {"host": "h0", "dc": "x"}}])
            these.update(put)
            self.expect(these, *both)
            # Only gaps.
            gaps = points(20, 5)
            self.load(tables, ours, gaps, "fill_gaps=true")
            these = {**gaps, **these}
            self.expect(these, *both)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    parser.add_argument("--loader", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    LOADER = os.path.abspath(options.loader)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
