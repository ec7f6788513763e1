"""How a writer of load.py sends its points: a class for each protocol that the server receives."""

import gzip
import json
import pathlib
import pickle
import re
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from server_process import ServerTrouble  # noqa: E402
from wire import field, fixed64, remote_write_1, remote_write_2, snappy  # noqa: E402

PORT_SECONDS = 10
CUMULATIVE = 2  # an AggregationTemporality of OTLP


def by_series(batch):
    """{(metric, tags): [(ms, value)]}: of equal times the last one stays the last."""
    series = {}
    for metric, tags, moment, value in batch:
        series.setdefault((metric, tags), []).append((moment, value))
    return series


class Sender:
    """A connection of one writer. send(batch) returns the refusal, or None; a connection that ends
    is an error. metric(), value() and more_tags say how a point reads back."""

    answered = True  # send() returns when the points are on disk; False: unknown
    more_tags = ()

    def __init__(self, server, choose):
        self.server = server
        self.choose = choose

    @staticmethod
    def metric(name):
        return name

    @staticmethod
    def value(value):
        return value


class Telnet(Sender):
    name = "telnet"

    def __init__(self, server, choose):
        super().__init__(server, choose)
        self.connection = server.connect()
        self.replies = self.connection.makefile("rb")

    def send(self, batch):
        lines = []
        for metric, tags, moment, value in batch:
            words = " ".join(f"{key}={text}" for key, text in tags)
            lines.append(f"put {metric} {moment} {value!r} {words}\n")
        self.connection.sendall(("".join(lines) + "sync\n").encode())
        said = []
        while (reply := self.replies.readline()) != b"synced\n":
            if not reply:
                raise ConnectionError("the connection ended")
            said.append(reply)
        return f"{said[:3]}" if said else None


class Http(Sender):
    """Of all that are HTTP; this one's own is /api/put."""

    name = "put"

    def __init__(self, server, choose):
        super().__init__(server, choose)
        self.connection = server.http()

    def send(self, batch):
        points = [{"metric": metric, "timestamp": moment, "value": value, "tags": dict(tags)}
                  for metric, tags, moment, value in batch]
        return self.post("/api/put", json.dumps(points))

    def post(self, path, body, headers=None):
        """At times packed. What is no 204 without a word is a refusal."""
        headers = dict(headers or {})
        if "Content-Encoding" not in headers and self.choose.random() < 0.3:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body.encode() if isinstance(body, str) else body, 1)
        self.connection.request("POST", path, body, headers)
        answer = self.connection.getresponse()
        said = answer.read()
        well = (answer.status, said) in ((204, b""), self.also_well)
        return None if well else f"{self.name}: {answer.status} {said[:500]!r}"

    also_well = None


class Doubles(Http):
    """Of the protocols without integers."""

    @staticmethod
    def value(value):
        return float(value)


class RemoteWrite1(Doubles):
    name = "remote_write 1"
    message = staticmethod(remote_write_1)
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
               "X-Prometheus-Remote-Write-Version": "0.1.0"}

    def send(self, batch):
        if self.choose.random() < 0.5:  # a series may come many times
            series = [((metric, tags), [(moment, value)]) for metric, tags, moment, value in batch]
        else:
            series = by_series(batch).items()
        message = self.message([({"__name__": metric, **dict(tags)},
                                 [(value, moment) for moment, value in points])
                                for (metric, tags), points in series])
        return self.post("/api/v1/write", snappy(message), self.headers)


class RemoteWrite2(RemoteWrite1):
    name = "remote_write 2"
    message = staticmethod(remote_write_2)
    headers = {"Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
               "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "2.0.0"}


class OtlpJson(Http):
    name = "OTLP JSON"
    also_well = (200, b"{}")

    @staticmethod
    def metric(name):
        return name.replace(".", "_")

    def metrics(self, batch):
        """[(name, whether it is sent as a sum, [(tags, ms, value)])]"""
        metrics = {}
        for metric, tags, moment, value in batch:
            metrics.setdefault(metric.replace("_", "."), []).append((tags, moment, value))
        return [(name, self.choose.random() < 0.3, points) for name, points in metrics.items()]

    def send(self, batch):
        metrics = []
        for name, is_sum, points in self.metrics(batch):
            data = {"dataPoints": [
                {"attributes": [{"key": key, "value": {"stringValue": text}} for key, text in tags],
                 "timeUnixNano": str(moment * 1_000_000),
                 **({"asDouble": value} if isinstance(value, float) else {"asInt": str(value)})}
                for tags, moment, value in points]}
            if is_sum:
                data["aggregationTemporality"] = CUMULATIVE
            metrics.append({"name": name, "sum" if is_sum else "gauge": data})
        request = {"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]}
        return self.post("/v1/metrics", json.dumps(request), {"Content-Type": "application/json"})


class OtlpProtobuf(OtlpJson):
    name = "OTLP protobuf"
    also_well = (200, b"")

    @staticmethod
    def _data_point(tags, moment, value):
        attributes = b"".join(field(7, field(1, key) + field(2, field(1, text)))
                              for key, text in tags)
        number = field(4, value) if isinstance(value, float) else fixed64(6, value)
        return field(1, attributes + fixed64(3, moment * 1_000_000) + number)

    def send(self, batch):
        metrics = b""
        for name, is_sum, points in self.metrics(batch):
            data = b"".join(self._data_point(*point) for point in points)
            data = field(7, data + field(2, CUMULATIVE)) if is_sum else field(5, data)
            metrics += field(2, field(1, name) + data)
        return self.post("/v1/metrics", field(1, field(2, metrics)),
                         {"Content-Type": "application/x-protobuf"})


class Influx2(Http):
    name = "InfluxDB 2"
    path = "/api/v2/write?org=o&bucket=b&precision="
    precisions = {"ns": 1_000_000, "us": 1000, "ms": 1}

    def send(self, batch):
        precision = self.choose.choice(list(self.precisions))
        scale = self.precisions[precision]
        lines = []
        for metric, tags, moment, value in batch:
            words = "".join(f",{key}={text}" for key, text in tags)
            number = repr(value) if isinstance(value, float) else f"{value}i"
            lines.append(f"{metric}{words} value={number} {moment * scale}\n")
        return self.post(self.path + precision, "".join(lines))


class Influx1(Influx2):
    name = "InfluxDB 1"
    path = "/write?db=crash&precision="
    precisions = {"ns": 1_000_000, "u": 1000, "ms": 1}
    more_tags = (("db", "crash"),)

    def send(self, batch):
        # The parameter gives the tag.
        return super().send([(metric, tuple(tag for tag in tags if tag[0] != "db"), moment, value)
                             for metric, tags, moment, value in batch])


class Influx3(Influx1):
    name = "InfluxDB 3"
    path = "/api/v3/write_lp?db=crash&precision="
    precisions = {"nanosecond": 1_000_000, "microsecond": 1000, "millisecond": 1, "auto": 1}


class PrometheusText(Doubles):
    name = "Prometheus text"
    path = "/api/v1/import/prometheus"

    def send(self, batch):
        open_metrics = self.choose.random() < 0.3
        lines = []
        for metric, tags, moment, value in batch:
            labels = ",".join(f'{key}="{text}"' for key, text in tags)
            at = f"{moment // 1000}.{moment % 1000:03}" if open_metrics else moment
            lines.append(f'{{"{metric}",{labels}}} {value!r} {at}\n')
        if open_metrics:
            return self.post(self.path, "".join(lines) + "# EOF\n",
                             {"Content-Type": "application/openmetrics-text; version=1.0.0"})
        return self.post(self.path, "".join(lines))


class JsonLines(Doubles):
    name = "JSON lines"

    def send(self, batch):
        lines = [json.dumps({"metric": {"__name__": metric, **dict(tags)},
                             "values": [value for _, value in points],
                             "timestamps": [moment for moment, _ in points]})
                 for (metric, tags), points in by_series(batch).items()]
        return self.post("/api/v1/import", "\n".join(lines) + "\n")


class GraphiteLines(Sender):
    name = "Graphite lines"
    answered = False
    port_of = r"for Graphite's lines on \S*:(\d+)"

    @staticmethod
    def value(value):
        return float(value)

    def __init__(self, server, choose):
        super().__init__(server, choose)
        since = time.monotonic()
        while not (found := re.search(self.port_of, server.log_text())):
            if time.monotonic() - since > PORT_SECONDS and server.running():
                raise ServerTrouble(f"no port for {self.name}:\n{server.log_text()}")
            if not server.running():
                raise ConnectionError("it is gone")
            time.sleep(0.01)
        self.connection = server.connect(int(found[1]))

    @staticmethod
    def path(metric, tags):
        return metric + "".join(f";{key}={text}" for key, text in tags)

    def send(self, batch):
        self.connection.sendall("".join(
            f"{self.path(metric, tags)} {value!r} {moment // 1000}.{moment % 1000:03}\n"
            for metric, tags, moment, value in batch).encode())


class GraphitePickles(GraphiteLines):
    name = "Graphite pickles"
    port_of = r"for Graphite's pickles on \S*:(\d+)"

    def send(self, batch):
        entries = [(self.path(metric, tags), (moment / 1000, value))
                   for metric, tags, moment, value in batch]
        data = pickle.dumps(entries, self.choose.randrange(pickle.HIGHEST_PROTOCOL + 1))
        self.connection.sendall(struct.pack("!L", len(data)) + data)


OPENTSDB = (Http, Telnet)
ANSWERED = (RemoteWrite1, RemoteWrite2, OtlpProtobuf, OtlpJson, Influx1, Influx2, Influx3,
            PrometheusText, JsonLines)
ALL = (*ANSWERED, GraphiteLines, GraphitePickles)
