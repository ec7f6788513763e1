"""Old points that arrive now, as migrations send them: what a point costs until it is acknowledged,
flushed and sealed, and how often its bytes are written; beside VictoriaMetrics if its binary is given.

Case "years": a year of each series, a point a minute, all of one series before the next. Case "day":
an hourly point of each of a million series, in order of time, for one day 60 days ago. Settings have
their defaults. Every point is counted back before a figure counts.
"""

import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.parse

from growth_bench import VictoriaMetrics
from scale_bench import CONNECTIONS, DAY_S, anon_bytes, expect, query_path, table
from server_bench import Server

NAMES = tuple("cpu.usage_" + name for name in (
    "user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"))
FLUSH_S = 10  # VictoriaMetrics writes what it has in memory after 5 s
TODAY_S = int(time.time()) // DAY_S * DAY_S


class Case:
    def __init__(self, title, series, days, days_ago, step_s, order):
        self.title, self.series, self.step_s, self.order = title, series, step_s, order
        self.begin_s = TODAY_S - days_ago * DAY_S
        self.end_s = self.begin_s + days * DAY_S
        self.steps = days * DAY_S // step_s

    @property
    def points(self):
        return self.series * self.steps


def cases(quick):
    years, day = (40, 100_000) if quick else (200, 1_000_000)
    return (Case(f"a year of {years} series, a point a minute, series after series", years, 365, 366, 60, ("series",)),
            Case(f"24 points of {day:,} series, one day 60 days ago", day, 1, 60, 3600, ()))


class Halite(Server):
    name = "Halite"

    def __init__(self, binary, data_dir):
        super().__init__(binary, "engine", data_dir)
        self.telnet_port = self.port

    def points_of(self, metric, begin_s, end_s):
        answers = json.loads(self.get(query_path(f"sum:0all-count:{metric}", begin_s, end_s - 1)))
        return round(sum(value for answer in answers for value in answer["dps"].values()))

    def counters(self):
        found = re.findall(r"^(halite_(?:engine|log|storage)_\w+)(?:\{[^}]*\})? (\S+)$", self.get("/metrics").decode(), re.M)
        return {name: float(value) for name, value in found}

    def flush(self):
        self.post("/api/admin/flush")

    def seal(self):
        self.post("/api/admin/seal")
        self.settle()


class OldPointsVictoriaMetrics(VictoriaMetrics):
    def points_of(self, metric, begin_s, end_s):
        query = urllib.parse.urlencode({
            "query": f'sum(count_over_time({{__name__="{metric}"}}[{end_s - begin_s}s]))', "nocache": 1,
            "time": end_s - 1})
        answers = json.loads(self.get(f"/api/v1/query?{query}"))
        return round(sum(float(answer["value"][1]) for answer in answers["data"]["result"]))

    def counters(self):
        return {}

    def flush(self):
        self.get("/internal/force_flush")

    def seal(self):
        time.sleep(FLUSH_S)
        self.settle()


class Watch:
    """The most memory and files that a server had, looked at five times a second."""

    def __init__(self, server):
        self.server, self.anon, self.files, self.ends = server, 0, 0, threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        while not self.ends.wait(0.2):
            self.anon = max(self.anon, anon_bytes(self.server))
            self.files = max(self.files, files_of(self.server))

    def end(self):
        self.ends.set()
        self.thread.join()


def files_of(server):
    return sum(1 for file in server.data_dir.rglob("*") if file.is_file())


def bytes_written(server):
    """To the disk, by all files: of what was removed before the kernel wrote it, nothing."""
    text = pathlib.Path(f"/proc/{server.process.pid}/io").read_text()
    read = lambda name: int(re.search(rf"^{name}: (\d+)", text, re.M).group(1))
    return read("write_bytes") - read("cancelled_write_bytes")


def count_back(server, case):
    """Waits for VictoriaMetrics, which shows points some seconds after it took them."""
    for _ in range(60):
        found = sum(server.points_of(metric, case.begin_s, case.end_s) for metric in NAMES)
        if found == case.points:
            return
        time.sleep(1)
    expect("points stored", found, case.points)


SOURCES = {"log": "halite_log_bytes_total", "flushed_bytes": "halite_engine_flushed_file_bytes_total",
           "sealed_bytes": "halite_engine_sealed_bytes_total", "merged_bytes": "halite_engine_merged_bytes_total",
           "state": "halite_engine_state_bytes_total", "names": "halite_storage_commit_bytes_total"}


def measure(kind, binary, loader, case):
    with tempfile.TemporaryDirectory(prefix="history-", ignore_cleanup_errors=True) as scratch:
        server = kind(binary, scratch + "/data")
        watch = Watch(server)
        try:
            before = server.cpu_seconds()
            command = [loader, server.telnet_port, case.series, case.begin_s, case.steps, case.step_s,
                       CONNECTIONS, 0, 0, "random", *case.order]
            sent = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout
            expect("points sent", int(sent), case.points)
            acknowledged = server.cpu_seconds() - before
            loaded = server.counters()
            server.flush()
            flushed = server.cpu_seconds() - before
            server.seal()
            sealed = server.cpu_seconds() - before
            counters = server.counters()
            size, written, files = server.bytes_on_disk(), bytes_written(server), files_of(server)
            count_back(server, case)
        finally:
            watch.end()
            server.kill()
    shown = lambda name, of=counters: of.get(name, "")
    a_point = lambda name: counters[name] / case.points if counters else ""
    return {"acknowledged": case.points / acknowledged, "flushed": case.points / flushed,
            "sealed": case.points / sealed, "bytes": size / case.points, "written": written / case.points,
            "amplification": written / size, "chunks": shown("halite_engine_write_amplification"),
            **{key: a_point(name) for key, name in SOURCES.items()},
            "rest": written / case.points - sum(map(a_point, SOURCES.values())) if counters else "",
            "early": shown("halite_engine_flushes_total", loaded), "flushes": shown("halite_engine_flushes_total"),
            "files": files, "files_max": watch.files, "anon": watch.anon / 2**20}


FIGURES = (("acknowledged", "points a CPU-second, acknowledged"), ("flushed", "the same, flushed"),
           ("sealed", "the same, flushed and sealed"), ("bytes", "bytes a point on disk, all files"),
           ("written", "bytes a point written, all files"), ("log", "of these, bytes of the log"),
           ("flushed_bytes", "of files by flushes"), ("sealed_bytes", "of files by sealing"),
           ("merged_bytes", "of files by compactions"), ("state", "of files with the state of slots"),
           ("names", "of names and series, as cells"),
           ("rest", "the rest: names and series again as logs and tables of RocksDB, manifests, half pages"),
           ("amplification", "bytes written / bytes on disk, all files"),
           ("chunks", "write amplification of chunk files, without the log"),
           ("early", "flushes until acknowledged"), ("flushes", "flushes in all"),
           ("files", "files at the end"), ("files_max", "files at most"), ("anon", "RssAnon at most, MiB"))


def run(build, quick, victoria_metrics):
    targets = [(Halite, str(build / "halite"))]
    if victoria_metrics:
        targets.append((OldPointsVictoriaMetrics, victoria_metrics))
    for case in cases(quick):
        found = {kind.name: measure(kind, binary, str(build / "point_load"), case) for kind, binary in targets}
        table(f"{case.title}: {case.points:,} points", ("", *found),
              [(text, *(one[key] for one in found.values())) for key, text in FIGURES])
