"""What questions in PromQL cost, beside VictoriaMetrics and Prometheus if their binaries are given: CPU milliseconds of the
server, the median time, and peak memory. All get the same points and the same questions, without caches of results.
Points go to Halite and VictoriaMetrics as JSON lines; to Prometheus by remote_write in the order of time, and only
those of metrics that a question reads. Answers are compared: the number of series, and the sum of all values.

Then dashboards, without caches of results and with them: questions about ten hours, each time a step later, while new
points arrive.
"""

import functools
import http.client
import json
import math
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from growth_bench import Halite, VictoriaMetrics, free_port
from import_bench import FIELDS, walk
from scale_bench import expect
from server_bench import START_S, Server

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
from wire import field, varint  # pylint: disable=wrong-import-position

HOUR = 3600
CONNECTIONS = 4
BODY_BYTES = 1 << 20
SLICE_S = 600  # of points in the order of time
REPEATS, REPEATS_MS = 25, 3000  # a question is asked until either is reached, but at least thrice
# Of ten hours, asked again a step later.
DASHBOARDS = {
    "rack-average": "avg by (rack) (cpu_usage_user)",
    "rack-rate": "sum by (rack) (rate(cpu_usage_user[5m]))",
    "hosts-of-a-rack": 'max_over_time(cpu_usage_user{rack="3"}[2m])',
    "topk-hosts": "topk(5, avg_over_time(cpu_usage_user[10m]))",
}
DASHBOARD_S, DASHBOARD_STEP_S, REFRESHES = 10 * HOUR, 60, 12
ARRIVING = 1000  # points between two refreshes
BUCKETS = ("0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf")

NAMES = ("single-groupby-1-1-1", "single-groupby-1-8-1", "cpu-max-1-8", "double-groupby-1", "sum-rate", "sum-rate-one-job",
         "topk", "histogram-quantile", "instant-sum")


class Data:
    """JSON lines of one metric after the other."""

    def __init__(self, quick):
        part = 20 if quick else 1
        self.hosts, self.hours = 1000 // part, 12
        self.counters = 100_000 // part
        self.histograms = 10_000 // part
        self.points = 0

    def series(self):
        """(labels, values as texts, seconds between them)."""
        yield from self.cpu_series()
        yield from self.counter_series()
        yield from self.histogram_series()

    def lines(self):
        for labels, values, step in self.series():
            self.points += len(values)
            pairs = ",".join(f'"{name}":"{value}"' for name, value in labels)
            yield f'{{"metric":{{{pairs}}},"values":[{joined(values)}],"timestamps":[{times(step, len(values))}]}}\n'

    def cpu_series(self):
        count = self.hours * HOUR // 10
        texts = walk()
        for host in range(self.hosts):
            for number, name in enumerate(FIELDS):
                first = (host * len(FIELDS) + number) * 37 % len(texts)
                values = (texts[first:] + texts * (count // len(texts) + 1))[:count]
                yield (("__name__", f"cpu_usage_{name}"), ("hostname", f"host_{host}"), ("rack", host % 40)), tuple(values), 10

    def counter_series(self):
        kinds = [tuple(str(start + step * (kind % 7 + 3) + step * step % 3) for step in range(HOUR // 15))
                 for kind, start in enumerate(range(0, 5000, 100))]
        for number in range(self.counters):
            yield (("__name__", "requests_total"), ("job", f"job-{number % 10}"), ("code", 200 + number % 5),
                   ("instance", f"10.0.{number // 250}.{number % 250}:9100"),
                   ("path", f"/api/{number % 40}")), kinds[number % len(kinds)], 15

    def histogram_series(self):
        kinds = {}
        for number in range(self.histograms):
            for place, bound in enumerate(BUCKETS):
                speed = (place + 1) * (number % 9 + 1)
                values = kinds.setdefault(speed, tuple(str(speed * step) for step in range(HOUR // 60)))
                yield (("__name__", "latency_seconds_bucket"), ("le", bound), ("pod", f"pod-{number}")), values, 60


# Many series have the same values.
@functools.lru_cache(1000)
def joined(values):
    return ",".join(values)


@functools.lru_cache(10)
def times(step, count):
    return ",".join(str(1000 * (START_S + step * number)) for number in range(count))


@functools.lru_cache(1000)
def samples(values, step, first, end):
    """prometheus.Sample of values[first:end]."""
    return b"".join(field(2, field(1, float(value)) + field(2, 1000 * (START_S + step * number)))
                    for number, value in enumerate(values[first:end], first))


def label_message(labels):
    return b"".join(field(1, field(1, name) + field(2, str(value))) for name, value in sorted(labels))


def stored_block(data):
    """A block of snappy that is not compressed."""
    parts = (data[at:at + 65536] for at in range(0, len(data), 65536))
    return varint(len(data)) + b"".join(bytes([61 << 2]) + struct.pack("<H", len(part) - 1) + part for part in parts)


def remote_writes(data):
    """Messages of the samples of some time after the other."""
    asked = [(label_message(labels), values, step) for labels, values, step in data.series()
             if not dict(labels)["__name__"].startswith("cpu_") or dict(labels)["__name__"] == "cpu_usage_user"]
    for begin in range(0, data.hours * HOUR, SLICE_S):
        some, size = [], 0
        for labels, values, step in asked:
            if begin // step >= len(values):
                continue
            some.append(field(1, labels + samples(values, step, begin // step, (begin + SLICE_S) // step)))
            size += len(some[-1])
            if size >= BODY_BYTES:
                yield stored_block(b"".join(some))
                some, size = [], 0
        if some:
            yield stored_block(b"".join(some))


class Prometheus(Server):
    def __init__(self, binary, data_dir):  # pylint: disable=super-init-not-called
        self.data_dir, self.port = pathlib.Path(data_dir), free_port()
        config = self.data_dir / "prometheus.yml"
        config.write_text("scrape_configs: []\n")
        self.process = subprocess.Popen(
            [binary, f"--config.file={config}", f"--storage.tsdb.path={data_dir}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver",
             "--storage.tsdb.retention.time=100y", "--query.max-samples=1000000000", "--query.timeout=10m"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("Prometheus did not start")
            time.sleep(0.1)

    def answers(self):
        try:
            self.get("/-/ready")
            return True
        except (OSError, SystemExit):
            return False

    def load(self, data):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        for body in remote_writes(data):
            connection.request("POST", "/api/v1/write", body,
                               {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
                                "X-Prometheus-Remote-Write-Version": "0.1.0"})
            answer = connection.getresponse()
            said = answer.read()
            if answer.status // 100 != 2:
                raise SystemExit(f"remote_write: {answer.status} {said[:500]}")
        self.settle()


def bodies(lines):
    """Lines together, about BODY_BYTES."""
    some, size = [], 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= BODY_BYTES:
            yield "".join(some).encode()
            some, size = [], 0
    if some:
        yield "".join(some).encode()


class Shared:
    """An iterator that several threads take from."""

    def __init__(self, of):
        self.of, self.lock = iter(of), threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            return next(self.of)


def load(server, data):
    shared = Shared(bodies(data.lines()))
    refused = []

    def send():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        for body in shared:
            connection.request("POST", "/api/v1/import", body)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status not in (200, 204):
                refused.append((answer.status, said[:500]))
                return
        connection.close()

    senders = [threading.Thread(target=send) for _ in range(CONNECTIONS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    if refused:
        raise SystemExit(f"import: {refused[0]}")
    if isinstance(server, Halite):
        server.post("/api/admin/flush")
        server.post("/api/admin/seal")
        server.settle()
    else:
        time.sleep(6)  # what it keeps in memory at most
        server.settle_on_disk()


def questions(data):
    """Those of TSBS are for one metric: over several, max_over_time() of PromQL removes what tells series apart.
    Of NAMES: (expression, begin, end, step) in seconds; begin is after START_S."""
    eight = "|".join(f"host_{number}" for number in range(0, data.hosts, max(1, data.hosts // 8)))
    return {
        "single-groupby-1-1-1": ('max(max_over_time(cpu_usage_user{hostname="host_7"}[1m])) by (hostname)',
                                 2 * HOUR, 3 * HOUR, 60),
        "single-groupby-1-8-1": (f'max(max_over_time(cpu_usage_user{{hostname=~"{eight}"}}[1m])) by (hostname)',
                                 2 * HOUR, 3 * HOUR, 60),
        "cpu-max-1-8": (f'max(max_over_time(cpu_usage_user{{hostname=~"{eight}"}}[1h])) by (hostname)',
                        3 * HOUR, 11 * HOUR, HOUR),
        "double-groupby-1": ('avg(avg_over_time(cpu_usage_user[1h])) by (__name__, hostname)', HOUR, 12 * HOUR, HOUR),
        "sum-rate": ("sum by (job, code) (rate(requests_total[5m]))", 0, HOUR, 60),
        "sum-rate-one-job": ('sum by (path) (rate(requests_total{job="job-3"}[5m]))', 0, HOUR, 60),
        "topk": ("topk(10, rate(requests_total[5m]))", 0, HOUR, 60),
        "histogram-quantile": ("histogram_quantile(0.9, rate(latency_seconds_bucket[5m]))", 0, HOUR, 300),
        "instant-sum": ("sum(requests_total)", HOUR - 60, HOUR - 60, 60),
    }


def ask(server, prefix, expression, begin, end, step, nocache=1):
    form = urllib.parse.urlencode({"query": expression, "start": START_S + begin, "end": START_S + end, "step": step,
                                   "nocache": nocache})
    begun = time.monotonic()
    answer = server.get(f"{prefix}/api/v1/query_range?{form}")
    return time.monotonic() - begun, answer


def put_points(server, second):
    """Points of a metric that no question reads."""
    lines = "".join(f'{{"metric":{{"__name__":"arriving","instance":"i-{number}"}},"values":[{second}],'
                    f'"timestamps":[{1000 * (START_S + second)}]}}\n' for number in range(ARRIVING))
    server.ask("POST", "/api/v1/import", lines)


def totals(answer):
    series = json.loads(answer)["data"]["result"]
    return len(series), math.fsum(float(value) for one in series for _, value in one["values"])


class Asked:
    """Measured on one server: by name CPU ms, median ms, MiB above the resident memory before; and what came back."""

    def __init__(self, server, prefix, data, wanted):
        self.rows = {}
        for name, (expression, begin, end, step) in questions(data).items():
            if wanted and name not in wanted:
                continue
            ask(server, prefix, expression, begin, end, step)  # fills the caches
            resident = server.forget_peak()
            _, answer = ask(server, prefix, expression, begin, end, step)
            memory = server.peak_mib() - resident
            seconds = []
            cpu = server.cpu_seconds()
            while len(seconds) < 3 or (len(seconds) < REPEATS and 1000 * sum(seconds) < REPEATS_MS):
                seconds.append(ask(server, prefix, expression, begin, end, step)[0])
            cpu = (server.cpu_seconds() - cpu) / len(seconds)
            self.rows[name] = (1000 * cpu, 1000 * statistics.median(seconds), memory, totals(answer))


def refresh(server, prefix, data, wanted):
    """By name: CPU ms and median ms of a question of a dashboard that is asked again a step later, without caches and with."""
    rows = {}
    for name, expression in DASHBOARDS.items():
        if wanted and name not in wanted:
            continue
        rows[name] = [figure for nocache in (1, 0) for figure in refresh_one(server, prefix, data, expression, nocache)]
    return rows


def refresh_one(server, prefix, data, expression, nocache):
    seconds, cpu = [], 0
    for number in range(REFRESHES):
        end = data.hours * HOUR - (REFRESHES - number) * DASHBOARD_STEP_S
        put_points(server, end)
        before = server.cpu_seconds()
        took, _ = ask(server, prefix, expression, end - DASHBOARD_S, end, DASHBOARD_STEP_S, nocache)
        if number > 1:  # the caches are filled
            seconds.append(took)
            cpu += server.cpu_seconds() - before
    return 1000 * cpu / len(seconds), 1000 * statistics.median(seconds)


def measure(server, prefix, data, wanted):
    """Rows of Asked, and of refresh()."""
    try:
        if isinstance(server, Prometheus):
            server.load(data)
            return Asked(server, prefix, data, wanted).rows, {}
        load(server, data)
        return Asked(server, prefix, data, wanted).rows, refresh(server, prefix, data, wanted)
    finally:
        server.kill()


def run(halite, quick, victoria_metrics, prometheus, wanted=None):
    """`wanted`: names of questions; None asks all."""
    data = Data(quick)

    def rows(kind, binary, prefix):
        with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
            return measure(kind(binary, scratch), prefix, data if kind is Halite else Data(quick), wanted)

    ours, refreshed = rows(Halite, halite, "/prometheus")
    both = {kind.__name__: rows(kind, binary, "")
            for kind, binary in ((VictoriaMetrics, victoria_metrics), (Prometheus, prometheus)) if binary}
    others = {name: of[0] for name, of in both.items()}
    print(f"\n{data.points:,} points\n")
    print("| question | series | Halite: CPU ms | median ms | MiB |" +
          "".join(f" {name}: CPU ms | median ms | MiB | CPU ratio |" for name in others))
    print("|---|" + "--:|" * (4 + 4 * len(others)))
    for name, (cpu, median, memory, (series, total)) in ours.items():
        cells = [name, f"{series:,}", f"{cpu:.1f}", f"{median:.1f}", f"{memory:.0f}"]
        for kind, theirs in others.items():
            other_cpu, other_median, other_memory, (other_series, other_total) = theirs[name]
            cells += [f"{other_cpu:.1f}", f"{other_median:.1f}", f"{other_memory:.0f}", f"{cpu / max(other_cpu, 0.1):.2f}"]
            # VictoriaMetrics' rate() does not extrapolate, so that values may differ, but not the series.
            if kind == "Prometheus" or not ("rate" in name or "histogram" in name or "topk" in name):
                expect(f"{name}: series", series, other_series)
                if not math.isclose(total, other_total, rel_tol=1e-9):
                    raise SystemExit(f"{name}: the values add up to {total}, those of {kind} to {other_total}")
        print("| " + " | ".join(cells) + " |", flush=True)

    theirs = both["VictoriaMetrics"][1] if victoria_metrics else {}
    figures = ("evaluated anew: CPU ms", "median ms", "with the cache: CPU ms", "median ms")
    servers = ("Halite", "VictoriaMetrics") if theirs else ("Halite",)
    print("\n| question, asked again a step later | " +
          " | ".join(f"{name} {figure}" for name in servers for figure in figures) + " |")
    print("|---|" + "--:|" * (8 if theirs else 4))
    for name, ours_of in refreshed.items():
        print("| " + " | ".join([name, *(f"{figure:.1f}" for figure in (*ours_of, *theirs.get(name, ())))]) + " |", flush=True)
