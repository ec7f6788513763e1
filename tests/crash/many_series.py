"""Many series beside the ledger's, more than Python can keep books of. Points come from point_load, in parts: a step of
some hosts, which is acknowledged as a whole. Counts and sums by step and rack show whether one is missing.

After a start a server reads the series of a metric when that is asked for, which takes longer than all else with
millions of them. So a check asks for one metric, in turn, and a full check for all."""

import collections
import functools
import json
import subprocess
import threading
import urllib.parse

METRICS = tuple("cpu.usage_" + name for name in (
    "user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"))
RACKS = 100  # host % 100
PART_HOSTS = 2_000  # a multiple of RACKS
CONNECTIONS = 4
STEP_S = 60
DAY_S = 86_400
FULL_CHECK_EVERY = 25  # checks


def value_of(series, step):
    """The same as in point_load.cc, which numbers the series of a part from 0."""
    return (series * 37 + step * (1 + series % 7)) % 100


@functools.cache
def sums_of_part(hosts, metric_number, step):
    """{rack: (count, sum)}"""
    found = {}
    for rack in range(min(RACKS, hosts)):
        values = [value_of(host * len(METRICS) + metric_number, step) for host in range(rack, hosts, RACKS)]
        found[str(rack)] = (len(values), sum(values))
    return found


class ManySeries:
    def __init__(self, point_load, series, now_ms):
        self.point_load = point_load
        hosts = series // len(METRICS)
        if series % len(METRICS) or hosts % RACKS:
            raise SystemExit(f"--series {series} is not a multiple of {len(METRICS) * RACKS}")
        self.parts = [min(PART_HOSTS, hosts - first) for first in range(0, hosts, PART_HOSTS)]  # hosts of each
        self.begin_s = now_ms // 1000 // DAY_S * DAY_S - 5 * DAY_S
        self.acknowledged = 0  # parts of steps, in order
        self.sent = 0  # the same; at most one more than acknowledged
        self.thread = None
        self.stopping = False
        self.checks = 0

    @property
    def points(self):
        whole, rest = divmod(self.acknowledged, len(self.parts))
        return len(METRICS) * (whole * sum(self.parts) + sum(self.parts[:rest]))

    def fill(self, port):
        """Sends what the first step lacks, as long as the server takes it: new series take longer than a load."""
        while self.acknowledged < len(self.parts) and self._send(port):
            pass

    def start(self, port):
        """Begins to send part after part, beginning with one that was not acknowledged."""
        self.stopping = False
        self.thread = threading.Thread(target=self._run, args=(port,))
        self.thread.start()

    def _run(self, port):
        while not self.stopping and self._send(port):
            pass

    def _send(self, port):
        """Whether the next part was acknowledged."""
        step, part = divmod(self.acknowledged, len(self.parts))
        self.sent = self.acknowledged + 1
        command = [self.point_load, port, self.parts[part] * len(METRICS), self.begin_s + step * STEP_S, 1, STEP_S,
                   CONNECTIONS, 0, part * PART_HOSTS, "sync"]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0 or int(done.stdout) != self.parts[part] * len(METRICS):
            return False
        self.acknowledged = self.sent
        return True

    def join(self):
        """Waits for the part that is under way, or until its server is gone."""
        self.stopping = True
        self.thread.join()

    # ---- looking ----------------------------------------------------------------------------

    def expected(self, metric, step, parts):
        """{rack: (count, sum)} of so many parts of a step."""
        found = {}
        for hosts, times in collections.Counter(self.parts[:parts]).items():
            one = sums_of_part(hosts, METRICS.index(metric), self.begin_s // STEP_S + step)
            for rack, (count, total) in one.items():
                before = found.get(rack, (0, 0))
                found[rack] = (before[0] + times * count, before[1] + times * total)
        return found

    def stored(self, server, metric):
        """{step: {rack: (count, sum)}}; a step is a downsampling interval."""
        found = {}
        for position, function in enumerate(("count", "sum")):
            question = urllib.parse.quote(f"zimsum:1m-{function}:{metric}{{rack=*}}", safe="")
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

    def check(self, server, full):
        """(points that are right, complaints: [(kind, text)]), as Ledger.check()."""
        self.checks += 1
        full = full or self.checks % FULL_CHECK_EVERY == 0
        right, complaints = 0, []
        for metric in METRICS if full else [METRICS[self.checks % len(METRICS)]]:
            right += self._check_metric(server, metric, complaints)
        return right, complaints

    def _check_metric(self, server, metric, complaints):
        right = 0
        stored = self.stored(server, metric)
        whole, rest = divmod(self.acknowledged, len(self.parts))
        under_way = self.sent > self.acknowledged
        for step in sorted({*stored, *range(whole + (rest > 0))}):
            known = step in range(whole + (rest > 0 or under_way))
            parts = 0 if not known else len(self.parts) if step < whole else rest
            least = self.expected(metric, int(step), parts)
            most = self.expected(metric, int(step), parts + 1) if step == whole and under_way else least
            for rack in {*most, *stored.get(step, {})}:
                found = stored.get(step, {}).get(rack, (0, 0))
                low, high = least.get(rack, (0, 0)), most.get(rack, (0, 0))
                # Of a part that is under way any points may be there.
                if found in (low, high) or (low[0] < found[0] < high[0] and low[1] <= found[1] <= high[1]):
                    right += int(found[0])
                    continue
                lost, invented = low[0] - found[0], found[0] - high[0]
                kind = "lost" if lost > 0 else "invented" if invented > 0 else "changed"
                complaints += [(kind, f"{metric} rack {rack} step {step}: count and sum are {found}, "
                                      f"not from {low} to {high}")] * max(1, int(lost), int(invented))
        return right
