"""Views on a real HBase: one of two Halites computes them as OpenTSDB's rollups, the other takes over when it is killed, changes of
any process are found, and OpenTSDB answers from them."""

import argparse
import json
import os
import sys
import time
import unittest
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from beside_opentsdb import BytesOnCluster, answer_of, ask, post, settings  # noqa: E402
from cluster import OpenTsdb, Trouble  # noqa: E402

DAY = int(time.time()) // 86400 * 86400 - 2 * 86400  # not long ago, as each hour since is computed
RANGE = f"start={DAY}&end={DAY + 86400 - 1}"
TAKEOVER_SECONDS = 60
CHANGE_SECONDS = 150  # two minutes, and a slow machine
HOSTS = {"a": "x", "b": "x", "c": "y"}
VIEWS = [{"name": "series", "metrics": "m*", "interval": "1h", "functions": ["sum", "min", "max"]},
         {"name": "by-dc", "metrics": "m*", "interval": "1h", "functions": ["sum", "min", "max"], "group_by": ["dc"]}]


def rollup_settings(prefix):
    intervals = [{"table": f"{prefix}tsdb", "preAggregationTable": f"{prefix}tsdb-rollup-preagg-1m", "interval": "1m",
                  "rowSpan": "1h", "defaultInterval": True},
                 {"table": f"{prefix}tsdb-rollup-1h", "preAggregationTable": f"{prefix}tsdb-rollup-preagg-1h",
                  "interval": "1h", "rowSpan": "1d"}]
    config = {"aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3}, "intervals": intervals}
    return {"tsd.http.request.max_chunk": "16777216", "tsd.rollups.enable": "true", "tsd.rollups.config": json.dumps(config)}


def points(metric, hours=range(24)):
    return [{"metric": metric, "timestamp": DAY + 3600 * hour + 600 * i, "value": hour * i + len(host) + ord(host) * 0.5,
             "tags": {"host": host, "dc": dc}} for hour in hours for i in range(6) for host, dc in HOSTS.items()]


def from_rollups(metric):
    return [f"{RANGE}&m=sum:1h-{function}:{metric}{{host=*}}" for function in ("sum", "min", "max", "avg", "count")]


def groups(metric):
    """Each query over pre-aggregates with the one over points that has equal numbers."""
    return {f"{RANGE}&m={aggregator}:pre-agg:1h-{function}:{metric}{{_aggregate={tag},dc=*}}":
            f"{RANGE}&m={aggregator}:1h-{function}:rollup_raw:{metric}{{dc=*}}"
            for aggregator, function, tag in (("sum", "sum", "SUM"), ("mimmin", "min", "MIN"), ("mimmax", "max", "MAX"))}


def delete(url, query):
    return answer_of(urllib.request.Request(url + "/api/query?" + urllib.parse.quote(query, safe="=&"), method="DELETE"))


def numbers(answers, *tags):
    return [([one["tags"].get(tag) for tag in tags], one["dps"]) for one in answers]


class ViewsTest(BytesOnCluster):
    def daemon(self, tables, prefix, *arguments):
        server = self.halite_on(tables, prefix, rollup_settings(prefix), "--set", "storage.views_settle_ms=1s",
                                "--set", "storage.views_cpu_percent=100", "--set", "self_metrics.enabled=false", *arguments)
        self.servers.append(server)
        return server

    def setUp(self):
        self.servers = []

    def computing(self, tables, prefix):
        return self.daemon(tables, prefix, "--set", f"views={json.dumps(VIEWS)}")

    def within(self, seconds, what, holds):
        begun = time.monotonic()
        while not holds():
            if time.monotonic() - begun > seconds:
                self.fail(f"{what}: not within {seconds} s\n" + "\n".join(
                    server.log_text() + str(server.running() and self.status(server)) for server in self.servers))
            time.sleep(0.5)
        taken = time.monotonic() - begun
        print(f"views: {what} after {taken:.1f} s", file=sys.stderr)
        return taken

    @staticmethod
    def status(server):
        status, body = server.request("GET", "/api/views")
        return {view["name"]: view for view in json.loads(body)} if status == 200 else {}

    def is_built(self, server):
        views = self.status(server).values()
        return all(view["computedHere"] and view["existing"] > 0 and view["unitsWaiting"] == 0 for view in views)

    def differences(self, server, metric="m"):
        """[(query, its answer, that of the points)] where rollups answer otherwise than points."""
        pairs = {query: query.replace("m=sum:1h-", "m=sum:rollup_raw:1h-") for query in from_rollups(metric)}
        answers = [(rolled, numbers(ask(server.url, rolled), "host", "dc"), numbers(ask(server.url, raw), "host", "dc"))
                   for rolled, raw in pairs.items()]
        answers += [(rolled, numbers(ask(server.url, rolled), "dc"), numbers(ask(server.url, raw), "dc"))
                    for rolled, raw in groups(metric).items()]
        self.assertTrue(all(raw for _, _, raw in answers), answers)
        return [answer for answer in answers if answer[1] != answer[2]]

    def equals_points(self, server, metric="m"):
        return self.differences(server, metric) == []

    def test_takeover_changes_and_opentsdb(self):
        tables, ours, _ = self.new_tables("views")
        first = self.computing(tables, ours)
        first.put(points("m"))
        # A look at a metric that is new and has no points yet finds nothing to compute: the next one finds the points.
        self.within(CHANGE_SECONDS, "computed", lambda: self.is_built(first) and self.equals_points(first))
        second = self.computing(tables, ours)
        serving = self.daemon(tables, ours)  # has no views, and serves them all the same
        self.assertEqual(self.differences(serving), [])
        by_first = self.status(first)["series"]["computedBy"]
        self.within(20, "the second knows who computes",
                    lambda: self.status(second)["series"]["computedBy"] == by_first)
        self.assertFalse(self.status(second)["series"]["computedHere"])
        self.assertEqual(self.status(second)["series"]["unitsBuilt"], self.status(first)["series"]["unitsBuilt"])
        self.assertEqual(second.request("POST", "/api/views/series/rebuild")[0], 409)

        # Late, overwritten and new points of a server without views.
        serving.put([{"metric": "m", "timestamp": DAY + 3600 * 5 + 7, "value": 1000, "tags": {"host": "a", "dc": "x"}},
                     {"metric": "m", "timestamp": DAY + 3600 * 6, "value": -0.25, "tags": {"host": "b", "dc": "x"}},
                     {"metric": "m", "timestamp": DAY + 3600 * 7, "value": 3, "tags": {"host": "d", "dc": "z"}}])
        self.assertFalse(self.equals_points(serving))
        self.within(CHANGE_SECONDS, "changes are found", lambda: self.equals_points(serving))

        # Deletes leave markers only.
        appending = self.daemon(tables, ours, "--set", "hbase.appends=true")
        appending.put(points("m3", range(3)))
        self.within(CHANGE_SECONDS, "append columns are computed",
                    lambda: self.is_built(first) and self.equals_points(serving, "m3"))
        self.assertTrue(delete(serving.url, f"start={DAY + 3600 * 9}&end={DAY + 3600 * 11}&m=none:rollup_raw:m{{host=c}}"))
        # Columns with several points keep their times.
        self.assertTrue(delete(serving.url, f"start={DAY}&end={DAY + 1200}&m=none:rollup_raw:m3{{host=a}}"))
        self.assertFalse(self.equals_points(serving))
        self.assertFalse(self.equals_points(serving, "m3"))
        self.within(CHANGE_SECONDS, "deletes are found",
                    lambda: self.equals_points(serving) and self.equals_points(serving, "m3"))

        first.kill()
        serving.put(points("m2", range(4)))
        self.within(TAKEOVER_SECONDS, "another takes over", lambda: self.status(second)["series"]["computedHere"])
        self.within(CHANGE_SECONDS, "it has computed the rest",
                    lambda: self.is_built(second) and self.equals_points(second, "m2"))
        self.assertEqual(self.differences(serving, "m"), [])

        expected = {query: ask(serving.url, query) for query in from_rollups("m") + list(groups("m"))}
        with OpenTsdb(tables, settings(ours, rollup_settings(ours))) as opentsdb:
            self.same_in_the_end(opentsdb.url, expected)
            # The same again from OpenTSDB, which then replaces no cell by another.
            before = self.rollups(tables, ours)
            told = post(opentsdb.url, "/api/rollup?details", [
                {"metric": "m2", "timestamp": DAY, "value": int(total), "interval": "1h", "aggregator": "count",
                 "tags": {"host": "a", "dc": "x"}} for total in (6,)])
            self.assertEqual((told["failed"], told["errors"]), (0, []))
            # What OpenTSDB writes is found, too.
            told = post(opentsdb.url, "/api/put?details", [{"metric": "m", "timestamp": DAY + 3600 * 12 + 11, "value": 77,
                                                  "tags": {"host": "a", "dc": "x"}}])
            self.assertEqual((told["failed"], told["errors"]), (0, []))
            self.within(CHANGE_SECONDS, "a point of OpenTSDB is stored", lambda: not self.equals_points(serving))
            self.within(CHANGE_SECONDS, "a point of OpenTSDB is found",
                        lambda: self.equals_points(serving))
        self.assertEqual(set(self.rollups(tables, ours)), set(before))

    @staticmethod
    def rollups(tables, prefix):
        return tables.dump(prefix + "tsdb-rollup-1h")

    def test_a_view_without_a_table_is_refused(self):
        tables, ours, _ = self.new_tables("noviews")
        rules = [{**VIEWS[0], "interval": "5m"}]
        with self.assertRaises(Exception) as refused:
            self.daemon(tables, ours, "--set", f"views={json.dumps(rules)}")
        self.assertIn("no table for an interval of 300 s", str(refused.exception))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
