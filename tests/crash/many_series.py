"""Many series beside the ledger's, more than Python can keep books of: each step of all of them is sent at once,
and acknowledged at once. Points come from point_load; counts and sums by rack show whether one is missing."""

import json
import subprocess
import threading
import urllib.parse

METRICS = tuple("cpu.usage_" + name for name in (
    "user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"))
RACKS = 100  # host % 100
CONNECTIONS = 4
STEP_S = 60
DAY_S = 86_400


def value_of(series, step):
    """The same as in point_load.cc."""
    return (series * 37 + step * (1 + series % 7)) % 100


class ManySeries:
    def __init__(self, point_load, series, now_ms):
        self.point_load = point_load
        self.series = series
        self.begin_s = now_ms // 1000 // DAY_S * DAY_S - 5 * DAY_S
        self.acknowledged = 0  # steps
        self.sent = 0  # steps; at most one more than acknowledged
        self.process = None
        self.thread = None

    @property
    def points(self):
        return self.series * self.acknowledged

    def start(self, port):
        """Begins to send a step; after a failure the same one again."""
        self.sent = self.acknowledged + 1
        command = [self.point_load, port, self.series, self.begin_s + self.acknowledged * STEP_S, 1, STEP_S,
                   CONNECTIONS, 0, 0, "sync"]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()

    def _wait(self):
        said, _ = self.process.communicate()
        if self.process.returncode == 0 and int(said) == self.series:
            self.acknowledged = self.sent

    def join(self):
        """Waits until it has sent all, or its server is gone."""
        self.thread.join()

    # ---- looking ----------------------------------------------------------------------------

    def expected(self, metric, step):
        """{rack: (count, sum)}"""
        number = METRICS.index(metric)
        absolute = self.begin_s // STEP_S + step
        found = {}
        for rack in range(RACKS):
            series = range(rack * len(METRICS) + number, self.series, RACKS * len(METRICS))
            if series:
                # 700 series have all values there are: 100 remainders by 7.
                cycle = [value_of(one, absolute) for one in series[:700]]
                whole, rest = divmod(len(series), 700)
                found[str(rack)] = (len(series), whole * sum(cycle) + sum(cycle[:rest]))
        return found

    def stored(self, server, metric):
        """{step: {rack: (count, sum)}}; a step is a downsampling interval."""
        found = {}
        for position, function in enumerate(("count", "sum")):
            question = urllib.parse.quote(f"sum:1m-{function}:{metric}{{rack=*}}", safe="")
            status, body = server.request("GET", f"/api/query?start={self.begin_s - DAY_S}"
                                                 f"&end={self.begin_s + 2 * DAY_S}&m={question}")
            if status == 400 and b"No such name" in body:
                return {}
            if status != 200:
                raise AssertionError(f"{metric}: {status} {body[:500]!r}")
            for answer in json.loads(body):
                for time, value in answer["dps"].items():
                    step = found.setdefault((int(time) - self.begin_s) / STEP_S, {})
                    step.setdefault(answer["tags"]["rack"], [0, 0])[position] = value
        return {step: {rack: tuple(both) for rack, both in racks.items()} for step, racks in found.items()}

    def check(self, server):
        """(points that are right, complaints: [(kind, text)]), as Ledger.check()."""
        right, complaints = 0, []
        for metric in METRICS:
            stored = self.stored(server, metric)
            for step in sorted({*stored, *range(self.acknowledged)}):
                expected = self.expected(metric, int(step)) if step in range(self.sent) else {}
                for rack in {*expected, *stored.get(step, {})}:
                    wanted = expected.get(rack, (0, 0))
                    found = stored.get(step, {}).get(rack, (0, 0))
                    if found == wanted or (step == self.acknowledged and found[0] < wanted[0]):
                        right += int(found[0])
                        continue
                    difference = wanted[0] - found[0]
                    kind = "lost" if difference > 0 else "invented" if difference < 0 else "changed"
                    complaints += [(kind, f"{metric} rack {rack} step {step}: count and sum are {found}, "
                                          f"not {wanted}")] * max(1, abs(int(difference)))
        return right, complaints
