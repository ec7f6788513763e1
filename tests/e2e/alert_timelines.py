"""What a server says of itself, taken at moments, as hours of metrics: for alerts_test.py."""

import bisect
import json
import pathlib
import re
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "deploy/alerts"))
import make  # noqa: E402

MINUTE_MS = 60_000
STEP_MS = 60_000
PAST_MINUTES = 150
BAD_MINUTES = 20  # so long the trouble has lasted; longer than every `for` but those of made_up()

WATCHED = {own: {found for members in make.rules(own).values() for _, expr in members
                 for found in re.findall(r"halite[._][\w.]+", expr)} for own in (False, True)}


def series(name, **labels):
    """The text that stands for a series: its labels as JSON."""
    return json.dumps({"__name__": name, **labels}, sort_keys=True)


def read_page(text):
    """{series: value} of a page of /metrics."""
    page = {}
    for line in text.splitlines():
        if found := re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            page[series(found[1], **labels)] = float(found[3])
    return page


def read_stats(answer):
    """The same of /api/stats, with the names and tags that a server stores of itself."""
    return {series(one["metric"].removeprefix("tsd."), **one["tags"]): float(one["value"])
            for one in answer if one["metric"].startswith("tsd.halite.")}


def grows(name):
    return re.search(r"([._]total|[._]count|[._]sum|_bucket)$", name) is not None


class State:
    """What a server says of itself at one moment."""

    def __init__(self, server, headers=None):
        status, page = server.request("GET", "/metrics", headers=headers)
        if status != 200:
            raise AssertionError(f"/metrics: {status} {page}")
        self.scraped = read_page(page.decode())
        self.own = read_stats(json.loads(server.request("GET", "/api/stats", headers=headers)[1]))
        self.taken_s = time.time()

    def of(self, own):
        return self.own if own else self.scraped

    def with_values(self, **values):
        """A copy in which these metrics, as scraped, have other values."""
        other = object.__new__(State)
        other.taken_s, other.scraped, other.own = self.taken_s, dict(self.scraped), dict(self.own)
        host = json.loads(next(iter(self.own)))["host"]
        for name, value in values.items():
            other.scraped[series(name)] = value
            other.own[series(name.replace("_", ".", 2), host=host)] = value
        return other


class Timeline:
    """States of one server at minutes before now. Between them counters grow evenly, and gauges are those of the
    later state: the trouble begins after the earlier one."""

    def __init__(self, *knots, overrides=None):
        self.minutes = [minute for minute, _ in knots]
        self.states = [state for _, state in knots]
        self.overrides = overrides or {}  # {metric as scraped: function of the time in s}

    def places(self, now_ms):
        """[(time in ms, number of the state before, share of the way to the next)]"""
        found = []
        for at in range(now_ms + self.minutes[0] * MINUTE_MS, now_ms + self.minutes[-1] * MINUTE_MS + 1, STEP_MS):
            minute = (at - now_ms) / MINUTE_MS
            before = max(bisect.bisect_left(self.minutes, minute), 1) - 1
            begin, end = self.minutes[before:before + 2]
            found.append((at, before, (minute - begin) / (end - begin)))
        return found

    @staticmethod
    def value(values, growing, before, share):
        begin, end = values[before:before + 2]
        if begin is None and growing and share > 0:  # it came when it counted first
            begin = 0
        if begin is None or end is None or not growing:
            return end if share > 0 else begin
        # A server that started again counts from 0.
        return end * share if end < begin else begin + (end - begin) * share

    def overridden(self, begin_s, own):
        """{metric: function of the time in s}: what is not as it was when the states were taken."""
        clock = self.states[-1].scraped[series("halite_process_time_seconds")] - self.states[-1].taken_s
        changes = {"halite_process_time_seconds": lambda second: second + clock,
                   "halite_process_uptime_seconds": lambda second: second - begin_s,
                   "halite_engine_maintenance_rounds_total": lambda second: (second - begin_s) // 5, **self.overrides}
        return {name.replace("_", ".", 2) if own else name: change for name, change in changes.items()}

    def lines(self, now_ms, own, **labels):
        """Its points of metrics that rules name, as lines of /api/v1/import."""
        places = self.places(now_ms)
        changes = self.overridden(places[0][0] / 1000, own)
        for one in {one for state in self.states for one in state.of(own)}:
            metric = json.loads(one)
            if metric["__name__"] not in WATCHED[own]:
                continue
            values = [state.of(own).get(one) for state in self.states]
            if set(values) == {0} and metric.get("reason") not in (None, "storage"):
                continue  # of the reasons that never occurred, one is enough
            growing = grows(metric["__name__"])
            if change := changes.get(metric["__name__"]):
                points = [(at, change(at / 1000)) for at, _, _ in places]
            else:
                points = [(at, self.value(values, growing, before, share)) for at, before, share in places]
            points = [point for point in points if point[1] is not None]
            if points:
                times, values = zip(*points)
                yield json.dumps({"metric": {**metric, **labels}, "values": values, "timestamps": times})


def trouble(before, after, overrides=None):
    return Timeline((-PAST_MINUTES, before), (-BAD_MINUTES, before), (0, after), overrides=overrides)
