"""What ten times the series cost: curves of intake, memory, bytes, queries and starts from ten
thousand series to ten million, with default settings, beside VictoriaMetrics if its binary is given.

For each number of series: one point of each (all series are new), then nine more of each in the same
order, then a sum over a tenth of the series, kill -9, and a start. Points come from point_load by
telnet, which VictoriaMetrics takes, too, or by remote_write. Every point is counted back before a
figure counts.
"""

import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.parse

import svg
from scale_bench import CONNECTIONS, METRIC, START_S, anon_bytes, expect, table
from server_bench import Server

STEP_S = 10
ROUNDS = 10
FULL = (10_000, 100_000, 1_000_000, 5_000_000, 10_000_000)
REMOTE_WRITE = (1_000_000, 5_000_000)
QUICK = (10_000, 100_000, 1_000_000)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Halite(Server):
    name = "Halite"

    def __init__(self, binary, data_dir):
        super().__init__(binary, "engine", data_dir)
        self.telnet_port = self.port

    def sum_of_counts(self, metric):
        """Points of one metric: how many there are, counted a minute at a time and summed."""
        expression = urllib.parse.quote(f"sum:1m-count:{metric}", safe="")
        [answer] = json.loads(self.get(f"/api/query?start={START_S}&end={START_S + 3600}&m={expression}"))
        return round(sum(answer["dps"].values()))

    def settle_on_disk(self):
        self.post("/api/admin/flush")
        self.settle()


class VictoriaMetrics(Server):
    name = "VictoriaMetrics"

    def __init__(self, binary, data_dir, *flags):  # pylint: disable=super-init-not-called
        self.data_dir = pathlib.Path(data_dir)
        self.port, self.telnet_port = free_port(), free_port()
        self.process = subprocess.Popen(
            [binary, f"-storageDataPath={data_dir}", f"-httpListenAddr=127.0.0.1:{self.port}",
             f"-opentsdbListenAddr=127.0.0.1:{self.telnet_port}", "-retentionPeriod=100y",
             "-search.maxUniqueTimeseries=20000000", "-search.maxQueryDuration=10m",
             "-http.connTimeout=1h", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.answers():
            if self.process.poll() is not None:
                raise SystemExit("VictoriaMetrics did not start")
            time.sleep(0.05)

    def answers(self):
        try:
            self.get("/health")
            return True
        except OSError:
            return False

    def sum_of_counts(self, metric):
        query = urllib.parse.urlencode({
            "query": f'sum(count_over_time({{__name__="{metric}"}}[60s] offset -59999ms))', "nocache": 1,
            "start": START_S, "end": START_S + ROUNDS * STEP_S, "step": "60s"})
        answers = json.loads(self.get(f"/api/v1/query_range?{query}"))["data"]["result"]
        return round(sum(float(value) for answer in answers for _, value in answer["values"]))

    def settle_on_disk(self):
        self.get("/internal/force_flush")
        self.settle()


def load(server, loader, series, first, steps, remote_write):
    """CPU seconds of the server for so many points of each series."""
    before = server.cpu_seconds()
    port, words = (server.port, (0, 0, "remote_write")) if remote_write else (server.telnet_port, ())
    command = [loader, port, series, START_S + first * STEP_S, steps, STEP_S, CONNECTIONS, *words]
    sent = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout
    expect("points sent", int(sent), series * steps)
    return server.cpu_seconds() - before


def wait_for(server, metric, points):
    """VictoriaMetrics shows points some seconds after it took them."""
    for _ in range(60):
        if server.sum_of_counts(metric) == points:
            return
        time.sleep(1)
    expect("points stored of one metric", server.sum_of_counts(metric), points)


def measure(kind, binary, loader, series, remote_write):
    points_of_metric = series // 10 * ROUNDS
    metric = METRIC.replace(".", "_") if remote_write else METRIC
    with tempfile.TemporaryDirectory(prefix="growth-") as scratch:
        server = kind(binary, scratch + "/data")
        try:
            first = load(server, loader, series, 0, 1, remote_write)
            later = load(server, loader, series, 1, ROUNDS - 1, remote_write)
            wait_for(server, metric, points_of_metric)
            started = time.monotonic()
            expect("points stored of one metric", server.sum_of_counts(metric), points_of_metric)
            query_s = time.monotonic() - started
            anon_mib = anon_bytes(server) / 2**20
            server.kill()
            started = time.monotonic()
            server = kind(binary, scratch + "/data")
            start_s = time.monotonic() - started
            # VictoriaMetrics loses the points that it had only in memory: the table shows their share.
            stored = server.sum_of_counts(metric)
            if kind is Halite:
                expect("points stored after kill -9", stored, points_of_metric)
            server.settle_on_disk()
            bytes_a_point = server.bytes_on_disk() / (series * ROUNDS)
        finally:
            server.kill()
    return {"first": series / first, "later": series * (ROUNDS - 1) / later, "anon": anon_mib,
            "bytes": bytes_a_point, "query": query_s, "start": start_s,
            "lost": 1 - stored / points_of_metric}


FIGURES = (("first", "points a CPU-second, new series"), ("later", "points a CPU-second, known series"),
           ("anon", "RssAnon, MiB"), ("bytes", "bytes a point on disk"),
           ("query", "sum over a tenth of the series, s"), ("start", "start after kill -9, s"),
           ("lost", "share of points lost by kill -9"))


def run(build, quick, victoria_metrics, remote_write, pictures):
    """`pictures`: a folder for the curves; None draws nothing."""
    targets = [(Halite, str(build / "halite"))]
    if victoria_metrics:
        targets.append((VictoriaMetrics, victoria_metrics))
    curves = {key: {} for key, _ in FIGURES}
    for series in QUICK if quick else REMOTE_WRITE if remote_write else FULL:
        found = {kind.name: measure(kind, binary, str(build / "point_load"), series, remote_write)
                 for kind, binary in targets}
        way = "remote_write" if remote_write else "telnet"
        table(f"{series:,} series, {ROUNDS} points each, by {way}", ("", *found),
              [(text, *(one[key] for one in found.values())) for key, text in FIGURES])
        for key, _ in FIGURES:
            for name, figures in found.items():
                curves[key].setdefault(name, []).append((series, figures[key]))
    if pictures is None:
        return
    for key, text in FIGURES[:-1]:
        svg.draw(pictures / f"growth-{key}.svg", f"Growth: {text}", "series", text, curves[key])
