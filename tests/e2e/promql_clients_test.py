#!/usr/bin/env python3
"""Prometheus' HTTP API as clients use it: the requests of Grafana 8 to 13, promtool and other users of
client_golang, vmalert, Perses and curl, and what these programs read in the answers."""

import gzip
import json
import re
import time
import urllib.parse
import zlib

import support
from wire import remote_write_1, snappy

STEP_S = 15
SPAN_S = 600
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
WRITE = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
         "X-Prometheus-Remote-Write-Version": "0.1.0"}
GRAFANA = {"User-Agent": "Grafana/13.0.0", "Accept-Encoding": "gzip", "X-Grafana-Org-Id": "1",
           "X-Datasource-Uid": "halite", "FromAlert": "false"}
GO = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
SEMVER = re.compile(r"\d+\.\d+\.\d+([-+].*)?")
INSTANCES, CODES, BOUNDS = ("a:9100", "b:9100"), ("200", "500"), ("0.1", "0.5", "+Inf")


class PromqlClientsTest(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.halite = self.server("--set", "self_metrics.enabled=false", "--set", "web.cors_domains=*").start()
        self.now = int(time.time())
        self.end = self.now // STEP_S * STEP_S
        self.begin = self.end - SPAN_S
        series = []
        for instance in INSTANCES:
            common = {"job": "web", "instance": instance}
            series.append(self.series({"__name__": "up", **common}, lambda i: 1))
            series.append(self.series({"__name__": "temperature", "host.name": "x", **common},
                                      lambda i: 20 + i % 5))
            for code in CODES:
                series.append(self.series({"__name__": "http_requests_total", "code": code, **common},
                                          lambda i: 30 * i))
            for count, bound in enumerate(BOUNDS, start=1):
                series.append(self.series({"__name__": "latency_seconds_bucket", "le": bound, **common},
                                          lambda i, count=count: 10 * i * count))
        status, body = self.halite.request("POST", "/api/v1/write", snappy(remote_write_1(series)),
                                           WRITE)
        self.assertEqual(status // 100, 2, body)

    def series(self, labels, value):
        return labels, [(value(i), (self.begin + i * STEP_S) * 1000)
                        for i in range(SPAN_S // STEP_S + 1)]

    # ---- how clients ask ----------------------------------------------------------------------------

    def fetch(self, method, path, body=None, headers=None):
        """(status, headers, text), decompressed as a client does."""
        connection = self.halite.http()
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            data = answer.read()
            encoding = answer.headers.get("Content-Encoding")
            if encoding == "gzip":
                data = gzip.decompress(data)
            elif encoding == "deflate":
                data = zlib.decompress(data)
            return answer.status, answer.headers, data.decode()
        finally:
            connection.close()

    def data(self, answer):
        """`data` of an answer that has to be a success."""
        status, headers, text = answer
        self.assertEqual(status, 200, text)
        self.assertEqual(headers["Content-Type"], "application/json")
        found = json.loads(text, parse_constant=lambda name: self.fail(f"{name} in {text}"))
        self.assertEqual(found["status"], "success")
        self.assertLessEqual(set(found), {"status", "data", "warnings", "infos"})
        if isinstance(found["data"], dict) and "result" in found["data"]:
            # Grafana reads it as a stream.
            self.assertLess(text.index('"resultType"'), text.index('"result":'))
        return found["data"]

    def get(self, path, headers=None, **parameters):
        return self.fetch("GET", f"{path}?{urllib.parse.urlencode(parameters, True)}", None,
                          headers or GRAFANA)

    def post(self, path, headers=None, **parameters):
        return self.fetch("POST", path, urllib.parse.urlencode(parameters, True),
                          {**(headers or GRAFANA), **FORM})

    # ---- what they read -----------------------------------------------------------------------------

    def vector(self, data, time_s=None):
        """{labels: value}"""
        self.assertEqual(data["resultType"], "vector")
        found = {}
        for one in data["result"]:
            self.assertEqual(set(one), {"metric", "value"})
            at, value = one["value"]
            self.assertIsInstance(value, str)
            if time_s is not None:
                self.assertEqual(at, time_s)
            found[self.labels(one)] = float(value)
        self.assertEqual(len(found), len(data["result"]))
        return found

    def matrix(self, data, begin, end, step):
        """{labels: [value]}, which has to have a value at each step."""
        self.assertEqual(data["resultType"], "matrix")
        found = {}
        for one in data["result"]:
            self.assertEqual(set(one), {"metric", "values"})
            self.assertEqual([at for at, _ in one["values"]], list(range(begin, end + 1, step)))
            found[self.labels(one)] = [round(float(value), 9) for _, value in one["values"]]
        self.assertEqual(len(found), len(data["result"]))
        self.assertEqual(list(found), sorted(found))
        return found

    def labels(self, one):
        self.assertEqual(list(one["metric"]), sorted(one["metric"]))
        return tuple(one["metric"].items())

    def error(self, answer, status, kind, message):
        got, headers, text = answer
        self.assertEqual((got, headers["Content-Type"]), (status, "application/json"), text)
        found = json.loads(text)
        self.assertEqual((found["status"], found["errorType"]), ("error", kind))
        self.assertIn(message, found["error"])

    # ---- Grafana ------------------------------------------------------------------------------------

    def test_grafana_saves_and_tests_a_source(self):
        for prefix in ("", "/prometheus"):
            data = self.data(self.post(f"{prefix}/api/v1/query", query="1+1", time="4", timeout="60s"))
            self.assertEqual(data, {"resultType": "scalar", "result": [4, "2"]})
            for ask in (self.get, self.post):  # some builds of 13 post even this
                info = self.data(ask(f"{prefix}/api/v1/status/buildinfo"))
                self.assertRegex(info["version"], SEMVER)
                self.assertNotIn("features", info)  # else it is taken for Mimir
        # Up to version 8 the browser asks, by GET.
        data = self.data(self.get("/api/v1/query", query="1+1", time=self.now))
        self.assertEqual(data["result"], [self.now, "2"])

    def test_grafana_draws_a_panel(self):
        step = 30
        begin, end = (self.end - 300) // step * step, self.end // step * step
        asked = {"query": 'sum by (code) (rate(http_requests_total{job=~"web|api"}[1m]))',
                 "start": begin, "end": end, "step": step}
        wanted = {(("code", code),): [4.0] * ((end - begin) // step + 1) for code in CODES}
        for ask in (self.post, self.get):
            for path in ("/api/v1/query_range", "/prometheus/api/v1/query_range"):
                self.assertEqual(self.matrix(self.data(ask(path, **asked)), begin, end, step), wanted)
        # Fractions, a timeout, statistics, and parameters of the user's in the URL of a POST.
        answer = self.post("/api/v1/query_range?max_source_resolution=5m", **{
            **asked, "start": f"{begin}.000", "step": "30.0", "timeout": "1m", "stats": "all"})
        data = self.data(answer)
        self.assertIn("timings", data["stats"])
        self.assertEqual(self.matrix(data, begin, end, step), wanted)
        data = self.data(self.post("/api/v1/query_range?step=30", query=asked["query"], start=begin,
                                   end=end))
        self.assertEqual(self.matrix(data, begin, end, step), wanted)

    def test_grafana_asks_for_one_time(self):
        at = self.now + 1
        data = self.data(self.post("/api/v1/query", query="up == 1", time=at))
        self.assertEqual(self.vector(data, at), {
            (("__name__", "up"), ("instance", instance), ("job", "web")): 1 for instance in INSTANCES})
        data = self.data(self.post("/api/v1/query", query=(
            "histogram_quantile(0.5, sum by (le) (rate(latency_seconds_bucket[2m])))"), time=self.end))
        self.assertAlmostEqual(self.vector(data)[()], 0.3)
        data = self.data(self.post("/api/v1/query", query="nothing", time=at))
        self.assertEqual(data, {"resultType": "vector", "result": []})

    def test_grafana_looks_for_exemplars(self):
        # On load, in milliseconds: a year far away. Anything but this hides the switch.
        self.assertEqual(self.data(self.get("/api/v1/query_exemplars", query="test",
                                            start=self.begin * 1000, end=self.end * 1000)), [])
        self.assertEqual(self.data(self.post("/api/v1/query_exemplars", query="up", start=self.begin,
                                             end=self.end)), [])

    def test_grafana_lists_rules_and_metadata(self):
        for prefix in ("", "/prometheus"):
            self.assertEqual(self.data(self.get(f"{prefix}/api/v1/rules")), {"groups": []})
            self.assertEqual(self.data(self.get(f"{prefix}/api/v1/alerts")), {"alerts": []})
            self.assertIsInstance(self.data(self.get(f"{prefix}/api/v1/metadata", limit=40000)), dict)

    def test_grafana_completes(self):
        times = {"start": self.begin, "end": self.end}
        names = self.data(self.get("/api/v1/label/__name__/values", limit=40000, **times))
        self.assertEqual(names, ["http_requests_total", "latency_seconds_bucket", "temperature", "up"])
        self.assertEqual(self.data(self.get("/api/v1/label/__name__/values", **times,
                                            **{"match[]": '{__name__=~".*temp.*"}'})), ["temperature"])
        for ask in (self.post, self.get):
            self.assertEqual(self.data(ask("/api/v1/labels", **times, **{"match[]": "up"})),
                             ["__name__", "instance", "job"])
        self.assertEqual(self.data(self.get("/api/v1/labels", limit=40000, **times)),
                         ["__name__", "code", "host.name", "instance", "job", "le"])
        # A name with a dot, as it is and escaped.
        for name in ("host.name", "U__host_2e_name"):
            self.assertEqual(self.data(self.get(f"/api/v1/label/{name}/values", **times)), ["x"])
        limited = json.loads(self.get("/api/v1/label/code/values", limit=1, **times)[2])
        self.assertEqual((limited["data"], limited["warnings"]),
                         (["200"], ["results truncated due to limit"]))

    def test_grafana_fills_variables(self):
        times = {"start": self.begin, "end": self.end}
        self.assertEqual(self.data(self.get("/api/v1/label/instance/values", **times)),
                         list(INSTANCES))
        self.assertEqual(self.data(self.get("/api/v1/label/code/values", **times,
                                            **{"match[]": 'http_requests_total{code!="200"}'})), ["500"])
        self.assertEqual(self.data(self.get("/api/v1/label/nothing/values", **times)), [])
        found = self.data(self.get("/api/v1/series", **times, **{"match[]": ["up", "temperature"]}))
        self.assertEqual(sorted(tuple(one.items()) for one in found), sorted(
            tuple(sorted({"__name__": name, "instance": instance, "job": "web", **more}.items()))
            for name, more in (("up", {}), ("temperature", {"host.name": "x"}))
            for instance in INSTANCES))
        # query_result(), which Grafana then reads with a regular expression.
        data = self.data(self.post("/api/v1/query", query="topk(1, sum by (code) (http_requests_total))",
                                   time=self.end))
        self.assertEqual(list(self.vector(data, self.end).values()), [30 * SPAN_S / STEP_S * 2])

    def test_grafana_marks_annotations(self):
        step = 60
        begin, end = (self.begin + step) // step * step, self.end // step * step
        data = self.data(self.post("/api/v1/query_range", query="changes(temperature[1m]) > 0", start=begin,
                                   end=end, step=step))
        self.assertEqual(len(self.matrix(data, begin, end, step)), 2)

    def test_grafana_shows_errors(self):
        self.error(self.post("/api/v1/query", query="sum(", time=self.now), 400, "bad_data",
                   'invalid parameter "query": 1:5: parse error: unclosed left parenthesis')
        self.error(self.post("/api/v1/query", query="up + on (job) up", time=self.now), 422, "execution",
                   "many-to-many matching not allowed")
        self.error(self.get("/api/v1/query_range", query="up", start=2, end=1, step=1), 400, "bad_data",
                   "end timestamp must not be before start time")
        self.error(self.get("/api/v1/query_range", query="up", start=0, end=12000, step=1), 400,
                   "bad_data", "exceeded maximum resolution of 11,000 points per timeseries")
        self.error(self.get("/api/v1/series"), 400, "bad_data", "no match[] parameter provided")
        infos = json.loads(self.post("/api/v1/query", query="rate(temperature[1m])", time=self.end)[2])
        self.assertRegex(infos["infos"][0], r'might not be a counter.*"temperature" \(1:6\)')

    # ---- others -------------------------------------------------------------------------------------

    def test_promtool(self):
        """client_golang posts, and repeats by GET after 403, 405 and 501."""
        data = self.data(self.post("/api/v1/query", GO, query="count(up)"))  # now
        self.assertEqual(self.vector(data), {(): 2})
        data = self.data(self.post("/api/v1/query", GO, query="count(up)", time=f"{self.end}.123",
                                   timeout="2m0s"))
        self.assertEqual(self.vector(data, self.end + 0.123), {(): 2})
        data = self.data(self.post("/api/v1/query_range", GO, query="count(up)", start=self.end - 300,
                                   end=self.end, step="1.2"))
        self.assertEqual(len(data["result"][0]["values"]), 251)
        self.assertEqual(len(self.data(self.post("/api/v1/series", GO, **{
            "match[]": ["up", 'http_requests_total{code="200"}'], "start": self.begin,
            "end": self.end}))), 4)
        self.assertEqual(self.data(self.get("/api/v1/label/job/values", GO)), ["web"])
        self.error(self.post("/api/v1/query", GO, query="up{"), 400, "bad_data", "parse error")

    def test_vmalert(self):
        """Posts parameters in the URL, with an empty body that is said to be JSON."""
        headers = {"User-Agent": "vmalert", "Content-Type": "application/json", "Content-Length": "0"}
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.end))
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.end - 60))
        for prefix in ("", "/prometheus"):  # with -datasource.appendTypePrefix
            asked = urllib.parse.urlencode({"query": "sum(up) by (job)", "time": at, "step": "300s"})
            data = self.data(self.fetch("POST", f"{prefix}/api/v1/query?{asked}", b"", headers))
            self.assertEqual(self.vector(data, self.end), {(("job", "web"),): 2})
            asked = urllib.parse.urlencode({"query": "sum(up) by (job)", "start": before, "end": at,
                                            "step": "30s"})
            data = self.data(self.fetch("POST", f"{prefix}/api/v1/query_range?{asked}", b"", headers))
            self.assertEqual(self.matrix(data, self.end - 60, self.end, 30), {(("job", "web"),): [2, 2, 2]})

    def test_perses(self):
        status, _, text = self.get("/-/healthy")
        self.assertEqual(status, 200, text)
        browser = {"Origin": "https://perses.example", "Accept-Encoding": "gzip, deflate, br, zstd"}
        answer = self.post("/api/v1/query", browser, query="sum(up)", time=self.end)
        self.assertEqual(self.vector(self.data(answer), self.end), {(): 2})
        self.assertIn(answer[1]["Access-Control-Allow-Origin"], ("*", browser["Origin"]))
        status, headers, _ = self.fetch("OPTIONS", "/api/v1/query_range", None, {
            **browser, "Access-Control-Request-Method": "POST"})
        self.assertEqual(status // 100, 2)
        self.assertIn("POST", headers["Access-Control-Allow-Methods"])
        self.assertEqual(self.data(self.post("/api/v1/parse_query", browser, query="up"))["type"],
                         "vectorSelector")
        self.assertEqual(self.data(self.post("/api/v1/format_query", browser, query="sum(up)by(job)")),
                         "sum by (job) (up)")
        self.assertEqual(len(self.data(self.post("/api/v1/series", browser, **{"match[]": "up"}))), 2)
        self.assertIn("job", self.data(self.post("/api/v1/labels", browser)))
        self.assertEqual(self.data(self.get("/api/v1/label/job/values", browser)), ["web"])

    def test_curl(self):
        plain = {"User-Agent": "curl/8.0.0", "Accept": "*/*"}
        data = self.data(self.get("/api/v1/query", plain, query="count(up)"))
        self.assertEqual(self.vector(data), {(): 2})
        data = self.data(self.fetch("GET", "/api/v1/query?query=up[1m]&time=" + str(self.end), None, plain))
        self.assertEqual({len(one["values"]) for one in data["result"]}, {60 // STEP_S})
        status, _, text = self.get("/federate", plain, **{"match[]": "up"})
        self.assertEqual(status, 200)
        self.assertEqual(len(re.findall(r"^up\{.*\} 1 \d+$", text, re.M)), 2, text)

    def test_opentsdb_has_the_same_path(self):
        """/api/v1/query is one of OpenTSDB, too."""
        m = urllib.parse.quote("sum:up{job=web}", safe="")
        found = self.halite.get_json(f"/api/v1/query?start={self.begin}&end={self.end}&m={m}")
        self.assertEqual(set(found[0]["dps"].values()), {2})
        body = json.dumps({"start": self.begin, "end": self.end,
                           "queries": [{"aggregator": "sum", "metric": "up"}]})
        for kind in ("application/json", FORM["Content-Type"]):
            status, text = self.halite.request("POST", "/api/v1/query", body, {"Content-Type": kind})
            self.assertEqual(status, 200, text)
            self.assertEqual(json.loads(text)[0]["metric"], "up")


if __name__ == "__main__":
    support.main()
