"""What becomes of the server when it has much: a million series, a slot that ends, questions while
points come in, a restart after a kill, and curves of cost against series and stored days.

Points come from build/<preset>/point_load. Answers are compared with what was sent before a time
counts. Only the server's own processor time is counted, but for times that somebody waits.
"""

import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import urllib.parse

import svg
from server_bench import Server

DAY_S = 86_400
START_S = 1_767_225_600  # 2026-01-01, where a slot of a day begins
CONNECTIONS = 4
METRICS = 10
METRIC = "cpu.usage_user"


@dataclasses.dataclass
class Size:
    series: int        # "a million"
    last_hosts: int    # whose last points are asked for, one metric
    rate: int          # points a second that come in while questions are asked
    rate_s: int        # for so long
    restart: int       # points stored when the server is killed
    curve_series: tuple
    curve_days: tuple
    day_hosts: int     # of the curve over days


FULL = Size(series=1_000_000, last_hosts=10_000, rate=300_000, rate_s=20, restart=86_000_000,
            curve_series=(10_000, 30_000, 100_000, 300_000, 1_000_000), curve_days=(1, 2, 4, 8, 16),
            day_hosts=100)
QUICK = Size(series=50_000, last_hosts=1000, rate=100_000, rate_s=5, restart=3_000_000,
             curve_series=(1000, 3000, 10_000), curve_days=(1, 2, 4), day_hosts=20)


def value_of(series, step):
    """The same as in point_load.cc."""
    return (series * 37 + step * (1 + series % 7)) % 100


class Bench:
    def __init__(self, build, size):
        self.binary, self.loader, self.size = str(build / "halite"), str(build / "point_load"), size

    def server(self, data_dir, *settings):
        return Server(self.binary, "engine", data_dir, *settings)

    def command(self, server, series, begin_s, steps, step_s, rate=0):
        return [self.loader] + [str(n) for n in
                                (server.port, series, begin_s, steps, step_s, CONNECTIONS, rate)]

    def load(self, server, series, begin_s, steps, step_s=10):
        """CPU seconds of the server for so many points, all of them taken in."""
        before = server.cpu_seconds()
        sent = int(subprocess.run(self.command(server, series, begin_s, steps, step_s), check=True,
                                  stdout=subprocess.PIPE).stdout)
        expect("points sent", sent, series * steps)
        return server.cpu_seconds() - before


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: {found}, wanted {wanted}")


def anon_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) * 1024


def query_path(expression, start_s, end_s):
    return f"/api/query?start={start_s}&end={end_s}&m={urllib.parse.quote(expression, safe='')}"


def count_points(server, start_s, end_s, metrics=METRICS):
    """Points stored in [start, end), counted by the server, of the first metrics that were sent."""
    names = ("usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq",
             "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice")[:metrics]
    total = 0
    for name in names:
        answers = json.loads(server.get(query_path(f"sum:0all-count:cpu.{name}", start_s, end_s - 1)))
        total += round(sum(sum(answer["dps"].values()) for answer in answers))
    return total


def table(title, head, rows):
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print("| " + " | ".join(shown(cell) for cell in row) + " |", flush=True)


def shown(cell):
    if not isinstance(cell, float):
        return f"{cell:,}" if isinstance(cell, int) else str(cell)
    return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"


def million_series(bench):
    """Ten minutes of data of a million series, and what a series then holds in memory."""
    series, steps = bench.size.series, 60
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            empty = anon_bytes(server)
            first = bench.load(server, series, START_S, 1)
            after_first = anon_bytes(server)
            rest = bench.load(server, series, START_S + 10, steps - 1)
            after_all = anon_bytes(server)
            stored = count_points(server, START_S, START_S + steps * 10)
            expect("points stored", stored, series * steps)
            server.stop()
        finally:
            server.kill()
    table(f"{series:,} series, a point every 10 s for 10 min", ("", "points a CPU-second", "heap a series, bytes"),
          (("first round, all series new", series / first, (after_first - empty) / series),
           ("the 59 rounds after it", series * (steps - 1) / rest, (after_all - empty) / series)))


def slot_boundary(bench):
    """The minute before a slot of a day ends, and the minute after."""
    series, midnight = bench.size.series, START_S + DAY_S
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            bench.load(server, series, midnight - 180, 12)  # makes the series, and two minutes more
            before = bench.load(server, series, midnight - 60, 6)
            after = bench.load(server, series, midnight, 6)
            stored = count_points(server, midnight - 180, midnight + 60, 1)
            expect("points stored of one metric", stored, series * 24 // METRICS)
            server.stop()
        finally:
            server.kill()
    table(f"A slot ends under {series:,} series", ("", "server CPU, s"),
          (("the minute before", before), ("the minute after", after), ("ratio", after / before)))


def last_points(bench):
    """The newest point of every series of one metric."""
    hosts, steps = bench.size.last_hosts, 360
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            begin = START_S
            bench.load(server, hosts * METRICS, begin, steps)
            path = f"/api/query/last?timeseries={METRIC}{{}}&resolve=true"
            answers = json.loads(server.get(path))
            expect("last points", len(answers), hosts)
            step = begin // 10 + steps - 1
            for one in answers:
                host = int(one["tags"]["hostname"].removeprefix("host_"))
                expect("a last point", (int(one["timestamp"]), int(one["value"])),
                       ((begin + (steps - 1) * 10) * 1000, value_of(host * METRICS, step)))
            path = path.replace("&resolve=true", "")
            clock, cpu = timed(server, [path] * 20)
            server.stop()
        finally:
            server.kill()
    table(f"Last points of {hosts:,} series (/api/query/last)", ("", "ms"),
          (("server CPU", cpu), ("p50 on the clock", statistics.median(clock))))


def timed(server, paths):
    """Milliseconds on the clock for each, and the server's CPU milliseconds for one."""
    clock, before = [], server.cpu_seconds()
    for path in paths:
        started = time.monotonic()
        server.get(path)
        clock.append((time.monotonic() - started) * 1000)
    return clock, (server.cpu_seconds() - before) * 1000 / len(paths)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def mixed_load(bench):
    """Questions over what is stored, idle and while points come in."""
    size, hours, step_s = bench.size, 6, 10
    series = 10_000
    end = START_S + hours * 3600
    paths = []
    for i in range(60):
        paths.append(query_path(f"max:1m-max:{METRIC}{{hostname=host_{i}}}", end - 3600, end - 1))
        paths.append(query_path(f"max:1h-max:{METRIC}{{hostname=literal_or(host_{i}|host_{i + 60})}}",
                                START_S, end - 1))
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            bench.load(server, series, START_S, hours * 360, step_s)
            wanted = [server.get(path) for path in paths]
            idle, _ = timed(server, paths * 3)
            steps = size.rate * size.rate_s // series
            loading = subprocess.Popen(bench.command(server, series, end, steps, step_s, size.rate),
                                       stdout=subprocess.PIPE)
            busy = []
            while loading.poll() is None:
                busy += timed(server, paths[:20])[0]
            expect("points sent", int(loading.stdout.read()), series * steps)
            for path, answer in zip(paths, wanted):
                expect(f"the answer to {path}", server.get(path), answer)
            server.stop()
        finally:
            server.kill()
    rows = [(name, percentile(times, 0.5), percentile(times, 0.95))
            for name, times in (("idle", idle), (f"{size.rate:,} points a second", busy))]
    rows.append(("ratio", rows[1][1] / rows[0][1], rows[1][2] / rows[0][2]))
    table("Questions while points come in", ("", "p50, ms", "p95, ms"), rows)


def restart(bench):
    """kill -9, then how soon the next process answers, and how fast it reads its log again."""
    series = 10_000
    steps = bench.size.restart // series
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            bench.load(server, series, START_S, steps)
            time.sleep(2)  # the number below is looked at once a second
            unflushed = metric(server, "halite_engine_head_points")
        finally:
            server.kill()
        started = time.monotonic()
        server = bench.server(scratch)
        listening = time.monotonic() - started
        try:
            cpu = server.cpu_seconds()
            server.get(query_path(f"max:1m-max:{METRIC}{{hostname=host_7}}", START_S, START_S + 3600))
            answered = time.monotonic() - started
            stored = count_points(server, START_S, START_S + steps * 10)
            expect("points stored after the kill", stored, series * steps)
            server.stop()
        finally:
            server.kill()
    table(f"Restart after kill -9 with {series * steps:,} points stored", ("", ""),
          (("listening after, s", listening), ("first answer after, s", answered),
           ("CPU until then, s", cpu), ("points of the log, not flushed before", unflushed),
           ("points replayed a CPU-second", unflushed / cpu if unflushed and cpu else "none to replay")))


def metric(server, name):
    found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", server.get("/metrics").decode(), re.M)
    return int(float(found.group(1))) if found else 0


def curves(bench, pictures):
    """Cost against series, and against stored days, as pictures."""
    intake = []
    for series in bench.size.curve_series:
        with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
            server = bench.server(scratch)
            try:
                bench.load(server, series, START_S, 2)
                steps = max(10, 4_000_000 // series)
                cpu = bench.load(server, series, START_S + 20, steps)
                server.stop()
            finally:
                server.kill()
        intake.append((series, cpu * 1e9 / (series * steps)))
    table("Intake by telnet against series", ("series", "CPU ns a point"), intake)
    svg.draw(pictures / "intake-by-series.svg", "Points in by telnet, known series", "series",
             "server CPU, ns a point", {"ns a point": intake})
    days_lines = days_curve(bench)
    svg.draw(pictures / "query-by-days.svg", "Questions over the newest 12 h", "stored days",
             "server CPU, ms", days_lines)


def days_curve(bench):
    hosts, step_s, lines = bench.size.day_hosts, 10, {}
    questions = {"one host, 1 h averages": f"avg:1h-avg:{METRIC}{{hostname=host_7}}",
                 "all hosts, 1 h averages": f"avg:1h-avg:{METRIC}{{hostname=*}}"}
    rows, stored = [], 0
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            for days in bench.size.curve_days:
                bench.load(server, hosts * METRICS, START_S + stored * DAY_S,
                           (days - stored) * DAY_S // step_s, step_s)
                stored = days
                server.post("/api/admin/seal")
                end = START_S + days * DAY_S
                for name, expression in questions.items():
                    path = query_path(expression, end - 12 * 3600, end - 1)
                    answers = json.loads(server.get(path))
                    expect(f"hours answered to {path}", {len(one["dps"]) for one in answers}, {12})
                    _, cpu = timed(server, [path] * 50)
                    lines.setdefault(name, []).append((days, cpu))
                rows.append((days, *(lines[name][-1][1] for name in questions)))
            server.stop()
        finally:
            server.kill()
    table("Questions over the newest 12 h against stored days", ("stored days", *questions), rows)
    return lines


def growth(bench):
    """The same questions over the newest 12 h, of a day's data and of ten times as much."""
    hosts, step_s = bench.size.day_hosts, 10
    questions = {"one host, 1 min maxima": f"max:1m-max:{METRIC}{{hostname=host_7}}",
                 "one host, 1 h averages": f"avg:1h-avg:{METRIC}{{hostname=host_7}}",
                 "all hosts, 1 min maxima": f"max:1m-max:{METRIC}",
                 "all hosts, 1 h averages": f"avg:1h-avg:{METRIC}{{hostname=*}}"}
    costs = {name: [] for name in questions}
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = bench.server(scratch)
        try:
            stored = 0
            for days in (1, 10):
                bench.load(server, hosts * METRICS, START_S + stored * DAY_S,
                           (days - stored) * DAY_S // step_s, step_s)
                stored = days
                server.post("/api/admin/flush")
                server.post("/api/admin/seal")
                end = START_S + days * DAY_S
                for name, expression in questions.items():
                    path = query_path(expression, end - 12 * 3600, end - 1)
                    points = {len(one["dps"]) for one in json.loads(server.get(path))}
                    expect(f"points answered to {path}", points, {12 if "1h" in path else 720})
                    timed(server, [path] * 10)
                    # The least of some runs: others want the processors, too.
                    costs[name].append(min(timed(server, [path] * 500)[1] for _ in range(3)))
            server.stop()
        finally:
            server.kill()
    table("Questions over the newest 12 h", ("server CPU, ms", "a day stored", "ten days", "ratio"),
          [(name, *cost, cost[1] / cost[0]) for name, cost in costs.items()])


PARTS = {"series": million_series, "boundary": slot_boundary, "last": last_points,
         "mixed": mixed_load, "restart": restart, "growth": growth}


def run(build, quick, parts, pictures):
    bench = Bench(build, QUICK if quick else FULL)
    for name, part in PARTS.items():
        if not parts or name in parts:
            part(bench)
    if not parts or "curves" in parts:
        curves(bench, pictures)
