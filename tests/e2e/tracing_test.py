#!/usr/bin/env python3
"""Traces of queries. OpenTelemetry's SDK for Python asks, with its traceparent; a collector takes what Halite
sends, reads it with OpenTelemetry's own protobuf classes, and answers as the test says."""

import http.server
import json
import os
import threading
import time
import urllib.parse

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
from opentelemetry import propagate
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SERVER, INTERNAL = 2, 1
SLACK_NS = 200_000_000  # a client may have read an answer before its server knows


class Collector:
    """Keeps spans by trace."""

    def __init__(self, statuses=()):
        self.statuses = list(statuses)  # of the first answers
        self.headers = []
        self.requests = []  # decoded
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.headers.append((self.path, dict(self.headers)))
                status = outer.statuses.pop(0) if outer.statuses else 200
                if status == 200:
                    outer.requests.append(ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(status)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def spans(self, trace_id=None):
        return [span for request in list(self.requests) for resource in request.resource_spans
                for scope in resource.scope_spans for span in scope.spans
                if trace_id is None or span.trace_id == trace_id]

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def attributes(carrier):
    values = {}
    for one in carrier.attributes:
        kind = one.value.WhichOneof("value")
        values[one.key] = getattr(one.value, kind)
    return values


class Tracing(support.HaliteTest):
    def begin(self, *arguments, statuses=()):
        self.collector = Collector(statuses)
        self.addCleanup(self.collector.close)
        self.halite = self.server("--set", f"tracing.endpoint={self.collector.url}",
                                  "--set", "tracing.interval_ms=20", *arguments).start()
        self.now = int(time.time()) // 60 * 60
        self.halite.put([{"metric": "sys.load", "timestamp": self.now - 600 + i, "value": i % 7,
                          "tags": {"host": f"web{i % 20:02}"}} for i in range(600)])
        self.provider = TracerProvider()
        self.addCleanup(self.provider.shutdown)
        self.client_spans = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self.client_spans))
        self.tracer = self.provider.get_tracer("test")

    def ask(self, path, method="GET", body=None, status=200, headers=None):
        """One request in a span of the client. The span, and those of the server."""
        headers = dict(headers or {})
        with self.tracer.start_as_current_span("ask") as span:
            propagate.inject(headers)
            answer = self.halite.request(method, path, body, headers)
        self.assertEqual(answer[0], status, answer)
        trace_id = span.get_span_context().trace_id.to_bytes(16, "big")
        self.eventually("the trace", lambda: self.collector.spans(trace_id))
        return self.client_spans.get_finished_spans()[-1], self.collector.spans(trace_id)

    def check_nesting(self, client, spans):
        """Parents, times, and the flags that all spans of a sampled trace have. Returns the spans by name."""
        by_id = {span.span_id: span for span in spans}
        self.assertEqual(len(by_id), len(spans))
        root = next(span for span in spans if span.kind == SERVER)
        self.assertEqual(root.parent_span_id, client.get_span_context().span_id.to_bytes(8, "big"))
        self.assertGreaterEqual(root.start_time_unix_nano, client.start_time - 1000)  # it counts in us
        self.assertLessEqual(root.end_time_unix_nano, client.end_time + SLACK_NS)
        for span in spans:
            self.assertEqual(span.flags & 0x1, 1)
            self.assertLessEqual(span.start_time_unix_nano, span.end_time_unix_nano)
            if span is root:
                self.assertEqual(span.flags & 0x300, 0x300)  # its parent is remote
                continue
            self.assertEqual(span.kind, INTERNAL)
            self.assertEqual(span.flags & 0x300, 0x100)
            parent = by_id[span.parent_span_id]
            self.assertEqual(parent.name, "scan" if span.name == "shard" else root.name)
            self.assertGreaterEqual(span.start_time_unix_nano, parent.start_time_unix_nano)
            self.assertLessEqual(span.end_time_unix_nano, parent.end_time_unix_nano)
        return {span.name: span for span in spans}, root

    def check_query(self, path, names, text, method="GET", body=None, headers=None):
        client, spans = self.ask(path, method, body, headers=headers)
        named, root = self.check_nesting(client, spans)
        missing = set(names.split()) - set(named)
        self.assertEqual(missing, set(), sorted(named))
        said = attributes(root)
        self.assertEqual(root.name, f"{method} {said['http.route']}")
        self.assertEqual(said["http.request.method"], method)
        self.assertEqual(said["http.response.status_code"], 200)
        self.assertEqual(said["url.path"], path.partition("?")[0])
        self.assertEqual(said["server.address"], "127.0.0.1")
        self.assertEqual(said["server.port"], self.halite.port)
        self.assertEqual(said["db.system.name"], "halite")
        self.assertIn(text, said["db.query.text"])
        return named, root

    def test_all_ways_to_ask(self):
        self.begin()
        sub = "sum:1m-avg:sys.load"
        start = f"start={self.now - 600}&end={self.now}"
        _, root = self.check_query(f"/api/query?{start}&m={sub}", "parse plan scan shard merge write", "sys.load")
        self.assertEqual(attributes(root)["halite.series"], 20)
        self.assertEqual(attributes(root)["halite.points_read"], 600)
        body = {"start": self.now - 600, "end": self.now,
                "queries": [{"aggregator": "sum", "metric": "sys.load", "tags": {"host": "web01"}}]}
        self.check_query("/api/query", "parse plan scan merge write", "sys.load", "POST", json.dumps(body))
        self.check_query(f"/api/query/gexp?{start}&exp=scale({sub},2)", "parse plan scan merge write", "scale(")
        self.check_query(f"/q?{start}&m={sub}&ascii", "parse plan scan merge write", sub)
        expression = {"time": {"start": self.now - 600, "end": self.now, "aggregator": "sum"},
                      "metrics": [{"id": "a", "metric": "sys.load"}],
                      "expressions": [{"id": "e", "expr": "a + 1"}]}
        self.check_query("/api/query/exp", "parse plan scan merge write", "a + 1", "POST", json.dumps(expression))
        promql = urllib.parse.quote("sum by (host) (rate({__name__=\"sys.load\"}[5m]))")
        steps = f"start={self.now - 600}&end={self.now}&step=60"
        named, _ = self.check_query(f"/api/v1/query?query={promql}&time={self.now}",
                                    "parse queue plan scan shard merge write", "sum by (host)")
        points = sum(attributes(span)["halite.points_read"] for span in self.collector.spans(named["scan"].trace_id)
                     if span.name == "shard")
        self.assertGreater(points, 0)
        self.check_query(f"/prometheus/api/v1/query_range?query={promql}&{steps}",
                         "parse queue plan scan shard merge write", "sum by (host)")
        self.check_query(f"/api/v1/export?match[]=%7B__name__%3D%22sys.load%22%7D", "queue scan write", "sys.load")
        resource = attributes(self.collector.requests[0].resource_spans[0].resource)
        self.assertEqual(resource["service.name"], "halite")
        self.assertTrue(resource["service.instance.id"].endswith(f":{self.halite.port}"), resource)
        self.assertEqual(self.collector.headers[0][0], "/v1/traces")

    def test_only_what_is_sampled(self):
        self.begin()
        path = f"/api/query?start={self.now - 600}&m=sum:sys.load"
        not_sampled = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}
        self.assertEqual(self.halite.request("GET", path)[0], 200)
        self.assertEqual(self.halite.request("GET", path, None, not_sampled)[0], 200)
        self.ask(path)
        self.assertEqual(len({span.trace_id for span in self.collector.spans()}), 1)

    def test_a_part_of_the_others_is_sampled(self):
        self.begin("--set", "tracing.sample_ratio=1", "--set", "tracing.service_name=eu-metrics")
        for _ in range(3):
            self.halite.request("GET", f"/api/query?start={self.now - 600}&m=sum:sys.load")
        self.eventually("three traces", lambda: len({s.trace_id for s in self.collector.spans()}) == 3)
        for span in self.collector.spans():
            self.assertEqual(span.parent_span_id == b"", span.kind == SERVER)
        resource = attributes(self.collector.requests[0].resource_spans[0].resource)
        self.assertEqual(resource["service.name"], "eu-metrics")

    def test_a_collector_with_a_token_that_is_busy(self):
        headers = os.path.join(self.scratch, "headers")
        with open(headers, "w", encoding="utf-8") as file:
            file.write("Authorization: Bearer secret\n")
        self.begin("--set", f"tracing.headers_file={headers}", statuses=[503, 429])
        self.ask(f"/api/query?start={self.now - 600}&m=sum:sys.load")
        self.assertEqual([seen["Authorization"] for _, seen in self.collector.headers], ["Bearer secret"] * 3)
        self.assertNotIn("secret", json.dumps(self.halite.get_json("/api/config")))
        self.assertIn("traces are not sent", self.halite.log_text())
        self.assertNotIn("Bearer", self.halite.log_text())

    def test_a_stop_sends_what_waits(self):
        self.begin("--set", "tracing.interval_ms=3600000")
        with self.tracer.start_as_current_span("ask"):
            headers = {}
            propagate.inject(headers)
            self.halite.request("GET", f"/api/query?start={self.now - 600}&m=sum:sys.load", None, headers)
        self.assertEqual(self.collector.spans(), [])
        self.halite.terminate()
        self.assertIn("GET /api/query", [span.name for span in self.collector.spans()])

    def test_no_collector_delays_nothing(self):
        self.begin("--set", "tracing.sample_ratio=1", "--set", "tracing.queue_spans_max=256")
        self.collector.close()
        begin = time.monotonic()
        for _ in range(100):
            self.assertEqual(
                self.halite.request("GET", f"/api/query?start={self.now - 600}&m=sum:sys.load")[0], 200)
        self.assertLess(time.monotonic() - begin, 30)
        metrics = self.halite.request("GET", "/metrics")[1].decode()
        dropped = next(line for line in metrics.splitlines() if line.startswith("halite_tracing_dropped_spans_total "))
        self.assertGreater(float(dropped.split()[1]), 0)
        begin = time.monotonic()
        self.halite.terminate()
        self.assertLess(time.monotonic() - begin, 30)

    def test_the_list_of_queries_has_steps_and_the_id(self):
        self.begin()
        client, _ = self.ask(f"/api/query?start={self.now - 600}&m=sum:sys.load")
        done = self.halite.get_json("/api/server/queries")["completed"][0]
        self.assertEqual(done["traceId"], f"{client.get_span_context().trace_id:032x}")
        for name in ("parse", "plan", "scan", "merge", "write"):
            self.assertIn(name, [span["name"] for span in done["spans"]])
        self.assertEqual([span["beginMs"] for span in done["spans"]],
                         sorted(span["beginMs"] for span in done["spans"]))


if __name__ == "__main__":
    support.main()
