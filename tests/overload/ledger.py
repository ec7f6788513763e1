"""What was sent and acknowledged, by counting, and whether a server has it.

Each series has one writer, who sends point after point, a step apart, and sends again what was not
acknowledged before it goes on. So a series is two numbers: so many points were sent, so many
acknowledged; and what is stored has to be its first points, between the one and the other.
"""

import dataclasses
import json
import urllib.parse

PERIOD = 100  # after so many points a series has the same values again


@dataclasses.dataclass
class Series:
    metric: str
    tag: str
    name: str  # the value of the tag: no other series has it
    number: int
    begin_s: int
    step_s: int = 1
    sent: int = 0
    acknowledged: int = 0

    def value(self, n):
        return (self.number * 37 + n * (1 + self.number % 7)) % 100

    def period(self):
        return [self.value(n) for n in range(PERIOD)]

    def sum_of(self, count):
        """Of its first points."""
        period = self.period()
        return count // PERIOD * sum(period) + sum(period[:count % PERIOD])

    def json_points(self, begin, end):
        point = (f'{{"metric":"{self.metric}","tags":{{"{self.tag}":"{self.name}"}},'
                 '"timestamp":%d,"value":%d}')
        values = self.period()
        return [point % (self.begin_s + n * self.step_s, values[n % PERIOD])
                for n in range(begin, end)]

    def lines(self, begin, end):
        return "".join(f"put {self.metric} {self.begin_s + n * self.step_s} {self.value(n)} "
                       f"{self.tag}={self.name}\n" for n in range(begin, end)).encode()


def body_of(points):
    return f"[{','.join(points)}]".encode()


def _ask(server, function, metric, tag, begin, end):
    """{value of the tag: the one number that is answered}"""
    question = urllib.parse.quote(f"sum:0all-{function}:{metric}{{{tag}=*}}", safe="")
    status, body = server.request("GET", f"/api/query?start={begin}&end={end}&m={question}")
    if status == 400 and b"No such name" in body:
        return {}
    if status != 200:
        raise AssertionError(f"reading {metric} back: {status} {body[:500]!r}")
    return {series["tags"][tag]: sum(series["dps"].values()) for series in json.loads(body)}


def check(server, all_series, end_s):
    """(points that are stored, complaints). Everything from the beginning of time to end_s counts."""
    complaints = []
    stored_points = 0
    for metric, tag in sorted({(series.metric, series.tag) for series in all_series}):
        known = {s.name: s for s in all_series if s.metric == metric}
        counts = _ask(server, "count", metric, tag, 1, end_s)
        sums = _ask(server, "sum", metric, tag, 1, end_s)
        for name in sorted(counts.keys() - known.keys()):
            complaints.append(f"invented: {metric} {name}: {counts[name]:.0f} points, never sent")
        for name, series in known.items():
            count = int(counts.get(name, 0))
            stored_points += count
            if count < series.acknowledged:
                complaints.append(f"lost: {metric} {name}: {count} points are stored, "
                                  f"{series.acknowledged} were acknowledged")
            elif count > series.sent:
                complaints.append(f"invented: {metric} {name}: {count} points are stored, "
                                  f"{series.sent} were sent")
            elif count and sums[name] != series.sum_of(count):
                complaints.append(f"changed: {metric} {name}: its {count} points have the sum "
                                  f"{sums[name]:.0f}, not {series.sum_of(count)}")
    return stored_points, complaints
