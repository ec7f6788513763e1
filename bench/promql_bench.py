"""What questions in PromQL cost, beside VictoriaMetrics if its binary is given: CPU milliseconds of the server, the median
time, and peak memory. Both servers get the same points, as JSON lines, and the same questions; VictoriaMetrics' cache of
results is off. Answers are compared: the number of series, and the sum of all values.
"""

import http.client
import json
import math
import statistics
import tempfile
import threading
import time
import urllib.parse

from growth_bench import Halite, VictoriaMetrics
from import_bench import FIELDS, walk
from scale_bench import expect
from server_bench import START_S

HOUR = 3600
CONNECTIONS = 4
BODY_BYTES = 1 << 20
REPEATS, REPEATS_MS = 25, 3000  # a question is asked until either is reached, but at least thrice
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

    @staticmethod
    def line(labels, values, times):
        pairs = ",".join(f'"{name}":"{value}"' for name, value in labels)
        return f'{{"metric":{{{pairs}}},"values":[{values}],"timestamps":[{times}]}}\n'

    def lines(self):
        yield from self.cpu_lines()
        yield from self.counter_lines()
        yield from self.histogram_lines()

    @staticmethod
    def times(step, seconds):
        return ",".join(str(1000 * second) for second in range(START_S, START_S + seconds, step))

    def cpu_lines(self):
        count = self.hours * HOUR // 10
        times = self.times(10, self.hours * HOUR)
        texts = walk()
        for host in range(self.hosts):
            for number, name in enumerate(FIELDS):
                first = (host * len(FIELDS) + number) * 37 % len(texts)
                values = (texts[first:] + texts * (count // len(texts) + 1))[:count]
                self.points += count
                yield self.line((("__name__", f"cpu_usage_{name}"), ("hostname", f"host_{host}"),
                                 ("rack", host % 40)), ",".join(values), times)

    def counter_lines(self):
        count = HOUR // 15
        times = self.times(15, HOUR)
        kinds = [",".join(str(start + step * (kind % 7 + 3) + step * step % 3) for step in range(count))
                 for kind, start in enumerate(range(0, 5000, 100))]
        for number in range(self.counters):
            self.points += count
            yield self.line((("__name__", "requests_total"), ("job", f"job-{number % 10}"), ("code", 200 + number % 5),
                             ("instance", f"10.0.{number // 250}.{number % 250}:9100"), ("path", f"/api/{number % 40}")),
                            kinds[number % len(kinds)], times)

    def histogram_lines(self):
        count = HOUR // 60
        times = self.times(60, HOUR)
        for number in range(self.histograms):
            for place, bound in enumerate(BUCKETS):
                speed = (place + 1) * (number % 9 + 1)
                self.points += count
                yield self.line((("__name__", "latency_seconds_bucket"), ("le", bound), ("pod", f"pod-{number}")),
                                ",".join(str(speed * step) for step in range(count)), times)


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


def ask(server, prefix, expression, begin, end, step):
    form = urllib.parse.urlencode({"query": expression, "start": START_S + begin, "end": START_S + end, "step": step,
                                   "nocache": 1})
    begun = time.monotonic()
    answer = server.get(f"{prefix}/api/v1/query_range?{form}")
    return time.monotonic() - begun, answer


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
            resident = server.forget_peak()
            _, answer = ask(server, prefix, expression, begin, end, step)
            memory = server.peak_mib() - resident
            seconds = []
            cpu = server.cpu_seconds()
            while len(seconds) < 3 or (len(seconds) < REPEATS and 1000 * sum(seconds) < REPEATS_MS):
                seconds.append(ask(server, prefix, expression, begin, end, step)[0])
            cpu = (server.cpu_seconds() - cpu) / len(seconds)
            self.rows[name] = (1000 * cpu, 1000 * statistics.median(seconds), memory, totals(answer))


def measure(server, prefix, data, wanted):
    try:
        load(server, data)
        return Asked(server, prefix, data, wanted).rows
    finally:
        server.kill()


def run(halite, quick, victoria_metrics, wanted=None):
    """`wanted`: names of questions; None asks all."""
    data = Data(quick)
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        ours = measure(Halite(halite, scratch), "/prometheus", data, wanted)
    theirs = {}
    if victoria_metrics:
        with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
            theirs = measure(VictoriaMetrics(victoria_metrics, scratch), "", Data(quick), wanted)
    print(f"\n{data.points:,} points\n")
    print("| question | series | Halite: CPU ms | median ms | MiB | VictoriaMetrics: CPU ms | median ms | MiB | CPU ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, (cpu, median, memory, (series, total)) in ours.items():
        row = [name, f"{series:,}", f"{cpu:.1f}", f"{median:.1f}", f"{memory:.0f}"]
        if name in theirs:
            other_cpu, other_median, other_memory, (other_series, other_total) = theirs[name]
            row += [f"{other_cpu:.1f}", f"{other_median:.1f}", f"{other_memory:.0f}", f"{cpu / max(other_cpu, 0.1):.2f}"]
            # VictoriaMetrics' rate() does not extrapolate, so that values may differ, but not the series.
            if "rate" not in name and "histogram" not in name and "topk" not in name:
                expect(f"{name}: series", series, other_series)
            print(f"<!-- {name}: {series} {total:.6g}, {other_series} {other_total:.6g} -->")
        print("| " + " | ".join(row + ["–"] * (9 - len(row))) + " |", flush=True)
