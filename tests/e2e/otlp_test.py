#!/usr/bin/env python3
"""OpenTelemetry's SDK for Python, as it is, exports by OTLP over HTTP: its counters, gauges and
histograms come back with their values. tests/e2e/clients/python pins it; ./dev e2e installs it."""

import gzip
import json
import time

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality, MetricExportResult, PeriodicExportingMetricReader)
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

NEVER_MS = 3_600_000  # the tests flush


class Exporter(OTLPMetricExporter):
    """The SDK's, which remembers what became of its exports."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.results = []

    def export(self, *args, **kwargs):
        self.results.append(super().export(*args, **kwargs))
        return self.results[-1]


class Otlp(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.halite = self.server("--set", "otlp.resource_attributes=host.name").start()

    def url(self, path="/v1/metrics"):
        return f"http://127.0.0.1:{self.halite.port}{path}"

    def provider(self, exporter, views=()):
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=NEVER_MS)
        provider = MeterProvider(
            metric_readers=[reader], views=views,
            resource=Resource({"service.name": "shop", "service.namespace": "eu",
                               "service.instance.id": "i-1", "host.name": "web01"}))
        self.addCleanup(provider.shutdown)
        return provider

    def newest(self, metric, tags=None):
        """The tags and the value of a series' newest point."""
        now = int(time.time())
        wanted = ",".join(f"{key}={value}" for key, value in (tags or {}).items())
        answers = self.halite.query(f"none:{metric}{{{wanted}}}", now - 600, now + 600)
        self.assertEqual(len(answers), 1, answers)
        dps = answers[0]["dps"]
        return answers[0]["tags"], dps[max(dps, key=int)]

    def test_counters_gauges_and_histograms(self):
        everywhere = {"job": "eu/shop", "instance": "i-1", "host_name": "web01"}
        for path, compression in (("/v1/metrics", Compression.NoCompression),
                                  ("/api/v1/otlp/v1/metrics", Compression.Gzip),
                                  ("/opentelemetry/v1/metrics", Compression.Deflate)):
            exporter = Exporter(endpoint=self.url(path), compression=compression)
            provider = self.provider(exporter, [
                View(instrument_name="http.server.request.duration",
                     aggregation=ExplicitBucketHistogramAggregation([0.1, 1, 10]))])
            meter = provider.get_meter("test", "1.0")
            run = path.split("/")[1]

            requests = meter.create_counter("http.requests", description="Requests")
            requests.add(3, {"http.route": "/login", "run": run})
            requests.add(4, {"http.route": "/login", "run": run})
            queue = meter.create_up_down_counter("queue.length")
            queue.add(5, {"run": run})
            queue.add(-2, {"run": run})
            meter.create_gauge("disk.used", unit="By").set(1.25, {"run": run})
            meter.create_gauge("disk.free", unit="1").set(2**60 + 1, {"run": run})
            duration = meter.create_histogram("http.server.request.duration", unit="s")
            for seconds in (0.05, 0.5, 0.75, 20):
                duration.record(seconds, {"run": run, "ok": True})
            self.assertTrue(provider.force_flush())
            self.assertEqual(exporter.results, [MetricExportResult.SUCCESS])

            self.assertEqual(self.newest("http_requests_total", {"run": run}),
                             ({**everywhere, "http_route": "/login", "run": run}, 7))
            self.assertEqual(self.newest("queue_length", {"run": run})[1], 3)
            self.assertEqual(self.newest("disk_used_bytes", {"run": run})[1], 1.25)
            self.assertEqual(self.newest("disk_free_ratio", {"run": run})[1], 2**60 + 1)
            name = "http_server_request_duration_seconds"
            for bound, below in (("0.1", 1), ("1", 3), ("10", 3), ("+Inf", 4)):
                now = int(time.time())
                # As JSON: the URI has no way to write a '+'.
                status, body = self.halite.request("POST", "/api/query", json.dumps({
                    "start": now - 600, "end": now + 600, "queries": [
                        {"metric": f"{name}_bucket", "aggregator": "none", "filters": [
                            {"type": "literal_or", "tagk": "le", "filter": bound},
                            {"type": "literal_or", "tagk": "run", "filter": run}]}]}))
                self.assertEqual(status, 200, body)
                answer = json.loads(body)
                self.assertEqual([list(one["dps"].values())[-1] for one in answer], [below])
                self.assertEqual(answer[0]["tags"],
                                 {**everywhere, "run": run, "ok": "true", "le": bound})
            self.assertEqual(self.newest(f"{name}_count", {"run": run})[1], 4)
            self.assertEqual(self.newest(f"{name}_sum", {"run": run})[1], 21.3)

    def test_a_counter_goes_on(self):
        exporter = Exporter(endpoint=self.url())
        provider = self.provider(exporter)
        counter = provider.get_meter("test").create_counter("jobs")
        for expected in (1, 2, 3):
            counter.add(1)
            self.assertTrue(provider.force_flush())
            self.assertEqual(self.newest("jobs_total")[1], expected)

    def test_the_sdk_understands_a_partial_success(self):
        exporter = Exporter(endpoint=self.url(),
                            preferred_temporality={Counter: AggregationTemporality.DELTA})
        provider = self.provider(exporter)
        meter = provider.get_meter("test")
        meter.create_counter("deltas").add(1)
        meter.create_gauge("kept").set(2)
        self.assertTrue(provider.force_flush())
        self.assertEqual(exporter.results, [MetricExportResult.SUCCESS])
        self.assertEqual(self.newest("kept")[1], 2)
        self.assertEqual(self.halite.get_json("/api/suggest?type=metrics&q=deltas"), [])

    def test_answers_are_messages_of_the_protocol(self):
        """What OpenTelemetry's own classes read in them."""
        request = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{
            "name": "d", "sum": {"aggregationTemporality": 1, "dataPoints": [
                {"timeUnixNano": str(time.time_ns()), "asInt": "1"}, {}]}}]}]}]}
        status, body = self.halite.request(
            "POST", "/v1/metrics", gzip.compress(json.dumps(request).encode()),
            {"Content-Type": "application/json", "Content-Encoding": "gzip"})
        self.assertEqual(status, 200)
        partial = json.loads(body)["partialSuccess"]
        self.assertEqual(partial["rejectedDataPoints"], "2")
        self.assertIn('data point 1: metric "d": delta', partial["errorMessage"])

        message = metrics_service_pb2.ExportMetricsServiceRequest()
        metric = message.resource_metrics.add().scope_metrics.add().metrics.add()
        metric.name = "\u00e9"
        metric.gauge.data_points.add(time_unix_nano=time.time_ns(), as_int=1)
        status, body = self.halite.request(
            "POST", "/v1/metrics", message.SerializeToString(),
            {"Content-Type": "application/x-protobuf"})
        self.assertEqual(status, 200)
        answer = metrics_service_pb2.ExportMetricsServiceResponse.FromString(body)
        self.assertEqual(answer.partial_success.rejected_data_points, 1)
        self.assertIn('metric "\u00e9"', answer.partial_success.error_message)

        status, body = self.halite.request(
            "POST", "/v1/metrics", b"\xff", {"Content-Type": "application/x-protobuf"})
        self.assertEqual(status, 400)
        self.assertEqual(body[:2], b"\x08\x03")  # INVALID_ARGUMENT


if __name__ == "__main__":
    support.main()
