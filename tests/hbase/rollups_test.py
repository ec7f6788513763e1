"""Rollups, pre-aggregates and histograms of Halite and a real OpenTSDB on one HBase: the same bytes, and each reads the other's."""

import argparse
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from beside_opentsdb import HOUR, BytesOnCluster, ask, post, settings  # noqa: E402
from cluster import OpenTsdb, Trouble  # noqa: E402

RANGE = f"start={HOUR}&end={HOUR + 86400}"


def rollup_settings(prefix):
    """Each daemon's file names its tables."""
    intervals = [{"table": f"{prefix}tsdb", "preAggregationTable": f"{prefix}tsdb-rollup-preagg-1m", "interval": "1m",
                  "rowSpan": "1h", "defaultInterval": True},
                 {"table": f"{prefix}tsdb-rollup-1h", "preAggregationTable": f"{prefix}tsdb-rollup-preagg-1h",
                  "interval": "1h", "rowSpan": "1d"}]
    config = {"aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3}, "intervals": intervals}
    return {"tsd.http.request.max_chunk": "16777216", "tsd.rollups.enable": "true", "tsd.rollups.config": json.dumps(config),
            "tsd.core.histograms.config": json.dumps({"net.opentsdb.core.SimpleHistogramDecoder": 42})}


def rollups(metric):
    """Of two series over a day, integers and floats; and one pre-aggregate."""
    made = []
    for host in ("a", "b"):
        for hour in range(24):
            values = {"sum": hour * 100.5, "count": 60, "min": -hour, "max": 2 ** hour}
            made += [{"metric": metric, "timestamp": HOUR + 3600 * hour, "value": value, "interval": "1h",
                      "aggregator": aggregator, "tags": {"host": host}} for aggregator, value in values.items()]
    return made + [{"metric": metric, "timestamp": HOUR + 3600 * hour, "value": hour, "interval": "1h", "aggregator": "sum",
                    "tags": {"dc": "x"}, "groupByAggregator": "SUM"} for hour in range(24)]


def histograms(metric):
    return [{"metric": metric, "timestamp": HOUR + 600 * i, "underflow": i % 2, "overflow": i % 3,
             "buckets": {"0,1": 90 - i, "1,2": 9 + i, "2,4.5": 1}, "tags": {"host": "a"}} for i in range(12)]


def queries(metric):
    return [f"{RANGE}&m=sum:1h-{aggregator}:{metric}{{host=*}}" for aggregator in ("sum", "min", "max", "avg", "count")] + [
        f"{RANGE}&m=sum:pre-agg:1h-sum:{metric}", f"{RANGE}&m=sum:percentiles[50,99,99.9]:{metric}.h{{host=*}}"]


class RollupsTest(BytesOnCluster):
    TABLES = ("tsdb", "tsdb-uid", "tsdb-rollup-1h", "tsdb-rollup-preagg-1h")

    def write(self, url, metric):
        told = post(url, "/api/rollup?details", rollups(metric))
        self.assertEqual((told["failed"], told["errors"]), (0, []))
        self.assertEqual(post(url, "/api/histogram?details", histograms(metric + ".h"))["failed"], 0)

    def test_same_bytes_and_each_others(self):
        tables, ours, theirs = self.new_tables("rollups")
        halite = self.halite_on(tables, ours, rollup_settings(ours))
        self.write(halite.url, "m")
        expected = {query: ask(halite.url, query) for query in queries("m")}
        self.assertTrue(all(expected.values()), expected)
        with OpenTsdb(tables, settings(theirs, rollup_settings(theirs))) as opentsdb:
            self.write(opentsdb.url, "m")
            self.same_in_the_end(opentsdb.url, expected)
            reading = self.halite_on(tables, theirs, rollup_settings(theirs))
            self.same_in_the_end(reading.url, expected)
            self.assertEqual(*[self.dump(tables, prefix) for prefix in (ours, theirs)])
            # What Halite adds, OpenTSDB reads.
            self.write(reading.url, "n")
            self.same_in_the_end(opentsdb.url, {query: ask(reading.url, query) for query in queries("n")})
        # And another Halite, of regions that have been cut since.
        for table in self.TABLES[2:]:
            [row, *_] = sorted(cell[0] for cell in tables.dump(ours + table))
            tables.tool("split", ours + table, row[:6] + f"{HOUR:08x}" + "0000020000")
        self.same_in_the_end(self.halite_on(tables, ours, rollup_settings(ours)).url, expected)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
