"""Views: CPU of a query over 30 days from a view and from points, points that the builder reads a
CPU-second, and CPU of intake with views.

Most of the 30 days is flushed and sealed; the last hours came later and are in memory, as on a server
that runs. The answers from the view and from points must be equal before a figure counts. Settings
have their defaults, except that the builder may use a whole core.
"""

import json
import multiprocessing
import re
import socket
import statistics
import tempfile
import time

from scale_bench import expect, query_path, table
from server_bench import Server

METRIC = "disk.used"
HOUR_S = 3600
DAYS = 30
STEP_S = 300
LIVE_HOURS = 6
DATACENTERS = 10
SENDERS = 2
PATTERNS = 32  # of values; a point has one by its time
VIEWS = 10
QUESTIONS = ("zimsum:1h-sum", "zimsum:5m-sum")


def rule(name, metrics, interval="5m", tags=("dc",)):
    return {"name": name, "metrics": metrics, "interval": interval, "group_by": list(tags),
            "functions": ["sum", "count", "min", "max"]}


class ViewServer(Server):
    def __init__(self, binary, data_dir, rules, settle="60s"):
        super().__init__(binary, "engine", data_dir, "--set", "views=" + json.dumps(rules),
                         "--set", "storage.views_cpu_percent=100", "--set", f"storage.views_settle_ms={settle}")

    def cpu_seconds(self):
        """By the clock of the process, which is finer than /proc."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def points_computed(self):
        """That the builder has read."""
        text = self.get("/metrics").decode()
        return float(re.search(r"^halite_views_points_total (\S+)$", text, re.M).group(1))

    def wait_until_built(self, views, units_min):
        while True:
            status = json.loads(self.get("/api/views"))
            expect("views", len(status), views)
            expect("errors of views", [view["error"] for view in status if view["error"]], [])
            if all(view["existing"] and not view["unitsWaiting"] and view["unitsBuilt"] >= units_min
                   for view in status):
                return
            time.sleep(0.5)


def tails(series):
    """What follows the time in the lines of some series, for each pattern."""
    return [[f"{(n * 37 + pattern * (1 + n % 7) * 13) % 1000} host=h{n} dc=dc{n % DATACENTERS}\n" for n in series]
            for pattern in range(PATTERNS)]


def send(port, metric, series, begin_s, steps, step_s):
    lines = tails(series)
    with socket.create_connection(("127.0.0.1", port)) as link:
        for step in range(steps):
            head = f"put {metric} {begin_s + step * step_s} "
            link.sendall((head + head.join(lines[step * 7 % PATTERNS])).encode())
        link.sendall(b"sync\n")
        expect("the end of a load", link.recv(64), b"synced\n")


def load(server, metric, series, begin_s, steps, step_s):
    senders = [multiprocessing.Process(target=send, args=(server.port, metric, range(i, series, SENDERS),
                                                          begin_s, steps, step_s)) for i in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
        expect("exit code of a load", sender.exitcode, 0)


def cost(server, path, cpu_s_min):
    """CPU milliseconds of one query. Repeats it for so much CPU time, at least three times."""
    before, count = server.cpu_seconds(), 0
    while count < 3 or (server.cpu_seconds() - before < cpu_s_min and count < 2000):
        server.get(path)
        count += 1
    return (server.cpu_seconds() - before) * 1000 / count


def answered_by(server, path):
    """The answer without its summary, and the view that gave it."""
    *answers, summary = json.loads(server.get(path + "&show_summary"))
    return answers, summary["statsSummary"]["queryIdx_00"].get("view")


def measure_questions(binary, series):
    now = int(time.time()) // STEP_S * STEP_S
    begin, live = now - DAYS * 24 * HOUR_S, now - LIVE_HOURS * HOUR_S
    with tempfile.TemporaryDirectory(prefix="views-") as scratch:
        server = ViewServer(binary, scratch + "/data", [])
        try:
            load(server, METRIC, series, begin, (live - begin) // STEP_S, STEP_S)
            server.post("/api/admin/flush")
            server.post("/api/admin/seal")
            server.settle()
            server.stop()
            server = ViewServer(binary, scratch + "/data", [rule("by-dc", METRIC)])
            load(server, METRIC, series, live, (now - live) // STEP_S, STEP_S)
            server.wait_until_built(1, DAYS * 24)
            server.settle()
            read, builder = server.points_computed(), server.cpu_seconds()
            server.post("/api/views/by-dc/rebuild")
            server.wait_until_built(1, DAYS * 24)
            read, builder = server.points_computed() - read, server.cpu_seconds() - builder
            rows = []
            for hours, name in ((DAYS * 24, "30 days"), (24, "24 h")):
                for question in QUESTIONS:
                    path = query_path(f"{question}:{METRIC}{{dc=*}}", now - hours * HOUR_S, now - 1)
                    by_view, named = answered_by(server, path)
                    by_points, none = answered_by(server, path + "&no_views")
                    expect("the view that answered", (named, none), ("by-dc", None))
                    expect("groups", len(by_view), DATACENTERS)
                    if by_view != by_points:
                        raise SystemExit(f"{path}: the answer from the view is not that from points")
                    view, points = cost(server, path, 2), cost(server, path + "&no_views", 2)
                    rows.append((f"{question} by dc, {name}", view, points, points / view))
            server.stop()
        finally:
            server.kill()
    table(f"Questions over {series:,} series, a point every {STEP_S // 60} min, server CPU",
          ("", "from the view, ms", "from points, ms", "ratio"), rows)
    table("The view computed anew", ("", ""), (("points read", int(read)), ("server CPU, s", builder),
                                    ("points a CPU-second", read / builder)))


def views_of(metrics):
    """A view for each metric, all different."""
    intervals = ("1m", "2m", "5m", "10m", "15m", "20m", "30m", "1h", "2h", "1d")
    return [rule(f"by-dc-{interval}", metric, interval)
            for metric, interval in zip(metrics, intervals, strict=True)]


def measure_intake(binary, series, steps, rounds):
    others = [f"other.{i}" for i in range(VIEWS)]
    now = int(time.time())
    cases = {"no view": [], "ten views of other metrics": views_of(others),
             "ten views of this metric": views_of([METRIC] * VIEWS)}
    live = {name: [] for name in cases}
    late = {name: [] for name in cases}
    servers = {}
    with tempfile.TemporaryDirectory(prefix="views-") as scratch:
        try:
            for i, (name, rules) in enumerate(cases.items()):
                server = servers[name] = ViewServer(binary, f"{scratch}/{i}", [])
                for other in others:
                    load(server, other, 20, now - 72 * HOUR_S, 72, HOUR_S)
                load(server, METRIC, series, now - 72 * HOUR_S, 72, HOUR_S)
                server.stop()
                server = servers[name] = ViewServer(binary, f"{scratch}/{i}", rules)
                server.wait_until_built(len(rules), 2)
                server.stop()
                # The builder rests: only what writers do is measured.
                server = servers[name] = ViewServer(binary, f"{scratch}/{i}", rules, "1d")
                load(server, METRIC, series, now, 1, 1)
            for server in servers.values():
                server.settle()
            now = int(time.time())
            for number in range(rounds):
                order = list(servers.items())
                for name, server in order[number % 3:] + order[:number % 3]:
                    for begin, costs in ((now + number * steps, live), (now - (5 + number) * HOUR_S, late)):
                        before = server.cpu_seconds()
                        load(server, METRIC, series, begin, steps, 1)
                        costs[name].append((server.cpu_seconds() - before) * 1e9 / (series * steps))
            for server in servers.values():
                server.stop()
        finally:
            for server in servers.values():
                server.kill()
    rows = []
    for kind, costs in (("live points", live), ("points of a built hour", late)):
        base = min(costs["no view"])
        for name in cases:
            least = min(costs[name])  # others want the processors, too
            rows.append((f"{kind}, {name}", statistics.median(costs[name]), least,
                         f"{(least / base - 1) * 100:+.1f} %"))
    table(f"Intake by telnet of {series * steps:,} points, {rounds} times, while nothing is computed",
          ("", "CPU ns a point, median", "least", "least, more than without views"), rows)


def run(build, quick):
    binary = str(build / "halite")
    measure_intake(binary, 20_000, 25 if quick else 100, 3 if quick else 9)
    measure_questions(binary, 2000 if quick else 20_000)
