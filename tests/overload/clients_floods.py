"""Clients that send more than can be taken, and ask for more than can be answered."""

import random
import subprocess
import time
import urllib.parse

import crew
import ledger
import wire

BODY_SERIES = 100
FLOOD_METRICS = 10  # of bench/point_load.cc
FLOOD_SERIES = 1000


def _put(notes, connection, name, some, steps):
    """The next points of some series in one body; they are sent again until they are taken."""
    points = []
    for series in some:
        series.sent = series.acknowledged + steps
        points += series.json_points(series.acknowledged, series.sent)
    outcome, _ = connection.ask("POST", "/api/put", ledger.body_of(points))
    notes.saw(name, outcome)
    if outcome == "204":
        for series in some:
            series.acknowledged = series.sent
    return outcome


def bodies(port, number, begin_s):
    """Bodies of a thousand points, the next as soon as there is an answer."""
    some = [ledger.Series("overload.bodies", "name", f"b{number}-{n}", n, begin_s)
            for n in range(BODY_SERIES)]

    def run(notes, stop):
        connection = wire.Connection(port)
        while not stop.is_set():
            if _put(notes, connection, "body of 1000", some, 10) != "204":
                time.sleep(0.05)  # sooner than it was told to
        notes.series += some
        connection.close()

    return run


def large_bodies(port, number, begin_s, megabytes):
    """Bodies of so many MB."""
    some = [ledger.Series("overload.large", "name", f"l{number}-{n}", n, begin_s)
            for n in range(BODY_SERIES)]
    steps = megabytes * 1_000_000 // len(",".join(some[0].json_points(0, 100))) * 100 // BODY_SERIES

    def run(notes, stop):
        connection = wire.Connection(port)
        while not stop.is_set():
            # Then it is known that a connection that is reset was one of those that had a place.
            place, _ = connection.ask("GET", "/api/version")
            if place != "200":
                notes.saw("body of MBs", place)
            elif _put(notes, connection, "body of MBs", some, steps) == "204":
                continue
            time.sleep(0.2)
        notes.series += some
        connection.close()

    return run


def too_large_bodies(port, bytes_max):
    """Never taken: there is no series to send again."""
    body = b"[" + b" " * bytes_max + b"]"

    def run(notes, stop):
        connection = wire.Connection(port)
        while not stop.is_set():
            notes.saw("body over the limit", connection.ask("POST", "/api/put", body)[0])
            stop.wait(1)
        connection.close()

    return run


def heavy_path(metric, begin_s):
    """All series, the whole range, no downsampling."""
    question = urllib.parse.quote(f"none:{metric}", safe="")
    return f"/api/query?start={begin_s}&m={question}"


def heavy_queries(port, paths, seed):
    def run(notes, stop):
        choose = random.Random(seed)
        connection = wire.Connection(port)
        while not stop.is_set():
            outcome, _ = connection.ask("GET", choose.choice(paths))
            notes.saw("heavy query", outcome)
            if outcome != "200":
                time.sleep(0.05)
        connection.close()

    return run


def connection_per_point(port, series, telnet):
    name = f"connection per point, {'telnet' if telnet else 'HTTP'}"

    def run(notes, stop):
        connection = wire.Connection(port)
        while not stop.is_set():
            series.sent = series.acknowledged + 1
            if telnet:
                outcome = wire.telnet_points(port, series.lines(series.acknowledged, series.sent))
            else:
                body = ledger.body_of(series.json_points(series.acknowledged, series.sent))
                outcome, _ = connection.ask("POST", "/api/put", body, close=True)
            notes.saw(name, outcome)
            if outcome in ("204", "synced"):
                series.acknowledged = series.sent
            else:
                time.sleep(0.01)
        notes.series.append(series)

    return run


class TelnetFlood:
    """bench/point_load.cc, round after round: put lines on four connections without waiting.

    A round was taken when the server closed all of them without a word; otherwise it is sent again.
    """

    CONNECTIONS = 4

    def __init__(self, binary, port, begin_s):
        self.command = [str(binary), str(port), str(FLOOD_SERIES)]
        self.begin_s = begin_s
        self.sent = 0  # steps: points of each series
        self.acknowledged = 0

    def round(self, steps):
        """(whether it was taken, points a second)"""
        self.sent = max(self.sent, self.acknowledged + steps)
        began = crew.now()
        # No pipes: clients that are forked meanwhile would keep them open.
        done = subprocess.run(
            [*self.command, str(self.begin_s + self.acknowledged), str(steps), "1",
             str(self.CONNECTIONS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False)
        took = crew.now() - began
        if done.returncode == 0:
            self.acknowledged += steps
        return done.returncode == 0, steps * FLOOD_SERIES / took

    def run(self, notes, stop, steps):
        """The last rounds are for finish(), when there is room for all connections again."""
        while not stop.is_set():
            taken, _ = self.round(steps)
            notes.saw("telnet flood", "taken" if taken else "not taken whole")
            if not taken:
                stop.wait(0.2)

    def finish(self):
        """What may have been stored in part is sent again, so that it is known."""
        if self.sent > self.acknowledged and not self.round(self.sent - self.acknowledged)[0]:
            raise AssertionError("a flood alone was not taken")

    def series(self):
        """As point_load numbers them: 10 x host + metric."""
        return [FloodSeries(f"cpu.usage_{name}", "hostname", f"host_{host}",
                            host * FLOOD_METRICS + metric, self.begin_s, 1, self.sent,
                            self.acknowledged)
                for metric, name in enumerate(("user", "system", "idle", "nice", "iowait", "irq",
                                               "softirq", "steal", "guest", "guest_nice"))
                for host in range(FLOOD_SERIES // FLOOD_METRICS)]


class FloodSeries(ledger.Series):
    def value(self, n):
        return (self.number * 37 + (self.begin_s + n) * (1 + self.number % 7)) % 100
