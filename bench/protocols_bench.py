"""What a point costs that comes by each protocol, beside VictoriaMetrics if its binary is given: CPU seconds of the
server a million points, until they are acknowledged, and until they are flushed, sealed and merged. Both servers get the
same bytes, four connections, 2,000 points a request. The points are those of ten metrics of each host, step by step, as
agents send them. Bodies of remote_write are blocks of snappy without compression.
"""

import http.client
import json
import socket
import struct
import tempfile
import threading
import time
import urllib.parse

from growth_bench import VictoriaMetrics
from import_bench import FIELDS, WALK, WALK_STRIDE, series_of, walk
from scale_bench import expect
from server_bench import START_S, STEP_S, Server

HOSTS, STEPS, QUICK_STEPS = 1000, 400, 20
HOSTS_A_BODY = 200
CONNECTIONS = 4
VM_FLUSH_S = 6
GRAPHITE_PORT = 5623


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def snappy(raw):
    """One block of literals of at most 65,536 bytes."""
    out = bytearray(varint(len(raw)))
    for at in range(0, len(raw), 65536):
        piece = raw[at:at + 65536]
        out += bytes((61 << 2,)) + struct.pack("<H", len(piece) - 1) + piece
    return bytes(out)


class Load:
    """Bodies of each protocol, of `hosts` at one time after the other."""

    def __init__(self, steps):
        self.steps = steps
        self.values = walk()
        self.series = list(series_of(range(HOSTS)))

    @property
    def points(self):
        return len(self.series) * self.steps

    def groups(self):
        """(time in s, [(value text, position in series)]) of each body."""
        per_body = HOSTS_A_BODY * len(FIELDS)
        for step in range(self.steps):
            for first in range(0, len(self.series), per_body):
                yield START_S + step * STEP_S, [
                    (self.values[(self.series[at][0] * WALK_STRIDE + step) % WALK], at)
                    for at in range(first, first + per_body)]

    def labels(self, at):
        _, metric, tags = self.series[at]
        return sorted({"__name__": metric.replace(".", "_"), **tags}.items())

    def remote_write_1(self):
        series = [b"".join(field(1, field(1, name.encode()) + field(2, value.encode()))
                           for name, value in self.labels(at)) for at in range(len(self.series))]
        for second, points in self.groups():
            tail = b"\x10" + varint(1000 * second)
            yield snappy(b"".join(
                field(1, series[at] + field(2, b"\x09" + struct.pack("<d", float(value)) + tail))
                for value, at in points))

    def remote_write_2(self):
        for second, points in self.groups():
            tail = b"\x10" + varint(1000 * second)
            symbols = {"": 0}
            parts = []
            for value, at in points:
                refs = b"".join(varint(symbols.setdefault(text, len(symbols)))
                                for pair in self.labels(at) for text in pair)
                parts.append(field(5, field(1, refs) + field(
                    2, b"\x09" + struct.pack("<d", float(value)) + tail)))
            yield snappy(b"".join(field(4, text.encode()) for text in symbols) + b"".join(parts))

    def influx(self):
        heads = ["cpu," + ",".join(f"{key}={tag}" for key, tag in self.series[at][2].items()) + " "
                 for at in range(0, len(self.series), len(FIELDS))]
        for second, points in self.groups():
            lines = []
            for at in range(0, len(points), len(FIELDS)):
                values = ",".join(f"usage_{name}={points[at + i][0]}" for i, name in enumerate(FIELDS))
                lines.append(f"{heads[points[at][1] // len(FIELDS)]}{values} {second}000000000\n")
            yield "".join(lines).encode()

    def otlp(self):
        attributes = [b"".join(field(7, field(1, key.encode()) + field(2, field(1, tag.encode())))
                               for key, tag in self.series[at][2].items()) for at in range(len(self.series))]
        for second, points in self.groups():
            stamp = b"\x19" + struct.pack("<Q", second * 10**9)
            metrics = []
            for i, name in enumerate(FIELDS):
                data = b"".join(field(1, attributes[at] + stamp + b"\x21" + struct.pack("<d", float(value)))
                                for value, at in points[i::len(FIELDS)])
                metrics.append(field(2, field(1, b"cpu_usage_" + name.encode()) + field(5, data)))
            yield field(1, field(2, b"".join(metrics)))

    def graphite(self):
        heads = [metric + "".join(f";{key}={tag}" for key, tag in tags.items()) + " "
                 for _, metric, tags in self.series]
        for second, points in self.groups():
            yield "".join([f"{heads[at]}{value} {second}\n" for value, at in points]).encode()

    def text(self):
        heads = [f"{metric.replace('.', '_')}{{" + ",".join(f'{key}="{tag}"' for key, tag in tags.items()) + "} "
                 for _, metric, tags in self.series]
        for second, points in self.groups():
            yield "".join([f"{heads[at]}{value} {second}000\n" for value, at in points]).encode()


RW = {"Content-Encoding": "snappy"}
PROTOCOLS = {  # path of both, headers, whether VictoriaMetrics has it
    "remote_write_1": ("/api/v1/write", {**RW, "Content-Type": "application/x-protobuf"}, True),
    "remote_write_2": ("/api/v1/write", {
        **RW, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}, False),
    "influx": ("/write?db=b", {}, True),
    "otlp": ("/opentelemetry/v1/metrics", {"Content-Type": "application/x-protobuf"}, True),
    "graphite": (None, {}, True),
    "text": ("/api/v1/import/prometheus", {}, True),
}


def post_all(port, path, headers, bodies):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for body in bodies:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status not in (200, 204):
            raise SystemExit(f"{path}: {answer.status} {said[:500]}")
    connection.close()


def send_all(bodies):
    with socket.create_connection(("127.0.0.1", GRAPHITE_PORT)) as connection:
        for body in bodies:
            connection.sendall(body)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # ends when every line was read


def load(server, protocol, bodies):
    path, headers, _ = PROTOCOLS[protocol]
    shares = [bodies[i::CONNECTIONS] for i in range(CONNECTIONS)]
    if path is None:
        senders = [threading.Thread(target=send_all, args=(share,)) for share in shares]
    else:
        senders = [threading.Thread(target=post_all, args=(server.port, path, headers, share)) for share in shares]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()


def count_halite(server, points):
    end = START_S + STEPS * STEP_S
    names = json.loads(server.get("/api/suggest?type=metrics&max=100"))
    stored = 0
    for name in names:
        m = urllib.parse.quote(f"sum:0all-count:{name}", safe="")
        answers = json.loads(server.get(f"/api/query?start={START_S}&end={end}&m={m}"))
        stored += round(sum(sum(answer["dps"].values()) for answer in answers))
    expect("points stored", stored, points)


def measure_halite(halite, protocol, bodies, points):
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        more = ["--set", f"graphite.listen=127.0.0.1:{GRAPHITE_PORT}"] if protocol == "graphite" else []
        server = Server(halite, "engine", scratch, *more)
        try:
            begun = server.cpu_seconds()
            load(server, protocol, bodies)
            taken = server.cpu_seconds() - begun
            server.post("/api/admin/flush")
            server.post("/api/admin/seal")
            server.settle()
            settled = server.cpu_seconds() - begun
            count_halite(server, points)
            return taken, settled
        finally:
            server.kill()


def measure_victoria_metrics(binary, protocol, bodies, points):
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = VictoriaMetrics(binary, scratch, f"-graphiteListenAddr=127.0.0.1:{GRAPHITE_PORT}")
        try:
            begun = server.cpu_seconds()
            load(server, protocol, bodies)
            time.sleep(1 if protocol == "graphite" else 0)
            taken = server.cpu_seconds() - begun
            time.sleep(VM_FLUSH_S)
            server.settle_on_disk()
            settled = server.cpu_seconds() - begun
            query = urllib.parse.urlencode({"query": 'sum(count_over_time({__name__=~"cpu.*"}[2d]))', "nocache": 1,
                                            "time": START_S + 86400})
            [answer] = json.loads(server.get(f"/api/v1/query?{query}"))["data"]["result"]
            expect("points stored", int(answer["value"][1]), points)
            return taken, settled
        finally:
            server.kill()


def run(halite, quick, victoria_metrics, parts=None):
    """`parts`: names of protocols; None measures all."""
    loaded = Load(QUICK_STEPS if quick else STEPS)
    rows = []
    for protocol, (_, _, known) in PROTOCOLS.items():
        if parts is not None and protocol not in parts:
            continue
        bodies = list(getattr(loaded, protocol)())
        size = sum(map(len, bodies)) / loaded.points
        ours = measure_halite(halite, protocol, bodies, loaded.points)
        row = [protocol, f"{size:.0f}", *(f"{1e6 * cpu / loaded.points:.3f}" for cpu in ours)]
        if victoria_metrics and known:
            theirs = measure_victoria_metrics(victoria_metrics, protocol, bodies, loaded.points)
            row += [f"{1e6 * cpu / loaded.points:.3f}" for cpu in theirs]
            row += [f"{other / own:.1f}" for own, other in zip(ours, theirs)]
        rows.append(row)
        print(" | ".join(row), flush=True)
    print(f"\n{loaded.points:,} points of {len(loaded.series):,} series\n")
    print("| protocol | bytes a point | Halite, taken | settled | VictoriaMetrics, taken | settled | ratio | settled |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print("| " + " | ".join(row + ["–"] * (8 - len(row))) + " |")
