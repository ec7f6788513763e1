#!/usr/bin/env python3
"""Two OpenTSDB clients from PyPI, as they are: pyopentsdb asks and puts by HTTP, opentsdb-py pushes
by gzipped HTTP and by telnet. tests/e2e/clients/python pins them; ./dev e2e installs them."""

import datetime
import time

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
import opentsdb
import opentsdb.protocols
import pyopentsdb.errors
import pyopentsdb.tsdb

T = 1356998400
# Its own two seconds are too few for a busy machine: what it then sends last it never sends again.
opentsdb.protocols.HttpTSDBConnect.SEND_TIMEOUT = 60


def at(second):
    """A time as pyopentsdb wants it."""
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc)


class Pyopentsdb(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.halite = self.server().start()
        self.client = pyopentsdb.tsdb.TsdbConnector(f"http://127.0.0.1:{self.halite.port}/")

    def put_some(self):
        """Ten points of each of two hosts, 10 s apart: 1, 2, ... and 1001.5, 1002.5, ..."""
        for host, first in (("web01", 1), ("web02", 1001.5)):
            self.assertIsNone(self.client.put([
                {"metric": "sys.cpu.user", "timestamp": T + 10 * i, "value": first + i,
                 "tags": {"host": host, "dc": "lga"}}
                for i in range(10)]))

    def query(self, **sub):
        return self.client.query(start=at(T), end=at(T + 99),
                                 metrics=[{"metric": "sys.cpu.user", **sub}])

    def test_points_come_back(self):
        self.put_some()
        answers = self.query(aggregator="none")
        self.assertEqual(
            {answer["tags"]["host"]: answer["dps"] for answer in answers},
            {"web01": {str(T + 10 * i): 1 + i for i in range(10)},
             "web02": {str(T + 10 * i): 1001.5 + i for i in range(10)}})

    def test_filters_downsampling_and_rates(self):
        self.put_some()
        grouped = self.query(
            aggregator="max", downsample="30s-avg-zero",
            filters=[{"type": "wildcard", "tagk": "host", "filter": "web*", "groupBy": True}])
        self.assertEqual([answer["tags"] for answer in grouped],
                         [{"dc": "lga", "host": "web01"}, {"dc": "lga", "host": "web02"}])
        self.assertEqual([grouped[0]["dps"][str(T + at)] for at in (0, 30, 60, 90)], [2, 5, 8, 10])
        summed = self.query(aggregator="sum", tags={"dc": "lga"}, rate=True,
                            rateOptions={"counter": True, "counterMax": 5000})
        self.assertEqual(summed[0]["aggregateTags"], ["host"])
        self.assertEqual(summed[0]["dps"], {str(T + 10 * i): 0.2 for i in range(1, 10)})

    def test_many_questions_at_once(self):
        self.put_some()
        one = {"start": at(T), "end": at(T + 99),
               "metrics": [{"metric": "sys.cpu.user", "aggregator": "count"}]}
        answers = self.client.multiquery([one] * 30, max_tsdb_concurrency=10)
        self.assertEqual([answer["dps"] for answer in answers],
                         [{str(T + 10 * i): 2 for i in range(10)}] * 30)

    def test_every_page_that_it_knows(self):
        self.put_some()
        self.assertEqual(self.client.metrics(q="sys"), ["sys.cpu.user"])
        self.assertEqual(self.client.metrics(q="", regexp="^sys.*user$"), ["sys.cpu.user"])
        self.assertEqual(self.client.suggest(type="tagv", q="web0", max=1), ["web01"])
        self.assertIn("zimsum", self.client.aggregators())
        self.assertIn("literal_or", self.client.filters())
        self.assertIn("version", self.client.version())
        self.assertTrue(self.client.config())
        self.assertEqual(self.client.dropcaches(), {"status": "200", "message": "Caches dropped"})
        self.assertTrue(all(point["metric"].startswith("tsd.") for point in self.client.stats()))
        self.query(aggregator="sum")
        asked = self.client.query_stats()["completed"]
        self.assertEqual(asked[0]["query"]["queries"][0]["metric"], "sys.cpu.user")
        self.assertIn("runtime", self.client.jvm_stats())
        self.assertTrue(self.client.threads())
        self.assertEqual(self.client.region_clients(), [])
        # OpenTSDB 2.4 answers 404 here, and so do we.
        with self.assertRaisesRegex(pyopentsdb.errors.UncaughtError, "Endpoint not found"):
            self.client.serializers()

    def test_it_understands_our_refusals(self):
        self.put_some()
        with self.assertRaisesRegex(pyopentsdb.errors.ArgumentError, "No such name for 'metrics'"):
            self.client.query(start=at(T), metrics=[{"metric": "no.such", "aggregator": "sum"}])
        with self.assertRaisesRegex(pyopentsdb.errors.ArgumentError,
                                    "No such aggregation function: nope"):
            self.query(aggregator="nope")
        with self.assertRaisesRegex(pyopentsdb.errors.ArgumentError, "data points had errors"):
            self.client.put({"metric": "a", "timestamp": T, "value": "x1", "tags": {"h": "a"}})


class OpentsdbPy(support.HaliteTest):
    def push(self, server, protocol):
        """600 counts and gauges a second apart; returns when the client says that all are sent."""
        client = opentsdb.TSDBClient(
            "127.0.0.1", server.port, protocol=protocol, static_tags={"protocol": protocol},
            host_tag=False, send_metrics_limit=100_000)
        client.requests = opentsdb.Counter("app.requests", ["path"])
        client.load = opentsdb.Gauge("app.load", ["core"])
        self.eventually("the client to see the server", client.is_alive)
        for i in range(600):
            client.send("app.clock", i, timestamp=T + i)
        client.requests.tags("/login").inc()
        client.requests.tags("/login").inc(2)
        client.load.tags("0").set(0.25)
        client.close()
        client.wait()
        self.assertEqual(client.statuses, {"success": 603, "failed": 0, "queued": 603})

    def expect(self, server, protocol):
        def stored():
            answers = server.query(f"sum:app.clock{{protocol={protocol}}}", T, T + 600)
            dps = answers[0]["dps"] if answers else {}
            return dps if len(dps) == 600 else None

        metrics = ("app.clock", "app.load", "app.requests")
        self.eventually("the metrics", lambda: set(metrics) <= set(
            server.get_json("/api/suggest?type=metrics&q=app&max=100")))
        dps = self.eventually("600 points", stored)
        self.assertEqual(dps, {str(T + i): i for i in range(600)})
        now = int(time.time())
        requests = server.query(f"max:0all-max:app.requests{{path=*,protocol={protocol}}}",
                                now - 3600, now + 3600)
        self.assertEqual([list(one["dps"].values()) for one in requests], [[3]])
        self.assertEqual(requests[0]["tags"], {"path": "/login", "protocol": protocol})
        load = server.query(f"max:0all-max:app.load{{core=0,protocol={protocol}}}",
                            now - 3600, now + 3600)
        self.assertEqual(list(load[0]["dps"].values()), [0.25])

    def test_gzipped_http(self):
        server = self.server().start()
        self.push(server, opentsdb.protocols.TSDBConnectProtocols.HTTP)
        self.expect(server, "HTTP")

    def test_telnet(self):
        server = self.server().start()
        self.push(server, opentsdb.protocols.TSDBConnectProtocols.TELNET)
        self.expect(server, "TELNET")


if __name__ == "__main__":
    support.main()
