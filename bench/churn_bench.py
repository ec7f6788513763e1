"""Series that come and go: rounds of new series, of which each gets three points and then no more,
as containers that replace each other. How much memory the last round needs, compared with the first,
and what a query over the newest and over the oldest round costs; beside VictoriaMetrics if its binary
is given.

A day is a few seconds here, so what Halite does after hours without points it does after seconds:
engine.head_age_max_ms and engine.series_idle_ms are set; everything else has its default.
"""

import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.parse

from growth_bench import VictoriaMetrics
from scale_bench import METRIC, CONNECTIONS, anon_bytes, expect, table
from server_bench import Server

POINTS = 3
STEP_S = 1
PAUSE_S = 20  # after a round, so that its series are idle for long


class Halite(Server):
    name = "Halite"

    def __init__(self, binary, data_dir):
        super().__init__(binary, "engine", data_dir, "--set", "engine.head_age_max_ms=5s",
                         "--set", "engine.series_idle_ms=5s")
        self.telnet_port = self.port

    def points_between(self, start_s, end_s):
        expression = urllib.parse.quote(f"sum:0all-count:{METRIC}", safe="")
        answers = json.loads(self.get(f"/api/query?start={start_s}&end={end_s}&m={expression}"))
        return round(sum(value for answer in answers for value in answer["dps"].values()))


class ChurnedVictoriaMetrics(VictoriaMetrics):
    def points_between(self, start_s, end_s):
        query = urllib.parse.urlencode({
            "query": f'sum(count_over_time({{__name__="{METRIC}"}}[{end_s - start_s + 1}s]))', "nocache": 1,
            "time": end_s})
        answers = json.loads(self.get(f"/api/v1/query?{query}"))["data"]["result"]
        return round(sum(float(answer["value"][1]) for answer in answers))


def ask(server, begin_s, points):
    """Seconds for the points of a round; VictoriaMetrics shows them some seconds later."""
    for _ in range(60):
        started = time.monotonic()
        found = server.points_between(begin_s, begin_s + POINTS * STEP_S)
        if found == points:
            return time.monotonic() - started
        time.sleep(1)
    expect("points of a round", found, points)


def measure(kind, binary, loader, series, rounds):
    points_of_metric = series // 10 * POINTS
    anon, begins, cpu = [], [], []
    with tempfile.TemporaryDirectory(prefix="churn-") as scratch:
        server = kind(binary, scratch + "/data")
        try:
            for number in range(rounds):
                begins.append(int(time.time()))
                before = server.cpu_seconds()
                command = [loader, server.telnet_port, series, begins[-1], POINTS, STEP_S, CONNECTIONS, 0,
                           number * series // 10]
                sent = subprocess.run([str(part) for part in command], check=True,
                                      stdout=subprocess.PIPE).stdout
                expect("points sent", int(sent), series * POINTS)
                time.sleep(PAUSE_S)
                cpu.append(server.cpu_seconds() - before)
                anon.append(anon_bytes(server) / 2**20)
                print(f"{kind.name} round {number}: {anon[-1]:,.0f} MiB, {cpu[-1]:.1f} CPU-s", flush=True)
            newest_s = ask(server, begins[-1], points_of_metric)
            oldest_s = ask(server, begins[0], points_of_metric)
            # All points are there.
            for begin_s in begins:
                ask(server, begin_s, points_of_metric)
        finally:
            server.kill()
    return {"first": anon[0], "last": statistics.median(anon[-3:]), "ratio": statistics.median(anon[-3:]) / anon[0],
            "cpu": statistics.median(cpu), "newest": newest_s, "oldest": oldest_s}


FIGURES = (("first", "RssAnon after the first round, MiB"), ("last", "RssAnon after the last rounds, MiB"),
           ("ratio", "last / first"), ("cpu", "CPU seconds a round"),
           ("newest", "sum over the newest round, s"), ("oldest", "sum over the oldest round, s"))


def run(build, quick, victoria_metrics):
    series, rounds = (100_000, 8) if quick else (500_000, 20)
    targets = [(Halite, str(build / "halite"))]
    if victoria_metrics:
        targets.append((ChurnedVictoriaMetrics, victoria_metrics))
    found = {kind.name: measure(kind, binary, str(build / "point_load"), series, rounds)
             for kind, binary in targets}
    table(f"{rounds} rounds of {series:,} new series, {POINTS} points each", ("", *found),
          [(text, *(one[key] for one in found.values())) for key, text in FIGURES])
