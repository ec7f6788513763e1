"""What was sent and what was acknowledged, point by point, and whether a server has it.

Of each point the values it may have are kept: the last acknowledged (None: no such point) and all
sent since. Each series has one writer with one batch under way, so their order is known.
"""

import struct
import threading
from time import time as now


def same(sent, stored):
    """Bit for bit; a whole number may come back as 5.0 where its series has both kinds."""
    if sent is None or stored is None:
        return sent is stored
    if isinstance(sent, float) or isinstance(stored, float):
        return struct.pack("<d", sent) == struct.pack("<d", stored)
    return sent == stored


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.metrics = {}  # metric: {tags: {ms: [values]}}
        self.sent = 0
        self.acknowledged = 0
        self.deleted = 0
        self.followers = []

    def follow(self):
        """A ledger of what a copy of the store may show that is made from now on: what is
        acknowledged now, or was sent later, until leave()."""
        with self.lock:
            follower = Ledger()
            follower.metrics = {
                metric: {tags: {time: list(values) for time, values in points.items()}
                         for tags, points in series.items()}
                for metric, series in self.metrics.items()}
            self.followers.append(follower)
            return follower

    def leave(self, follower):
        with self.lock:
            self.followers.remove(follower)

    def claim_unsent(self):
        """An acknowledged point that nobody sent: whoever looks must miss it."""
        points = self.series("crash.m0", (("name", "canary"),))
        points[int(now()) * 1000] = [1]

    def series(self, metric, tags):
        with self.lock:
            return self.metrics.setdefault(metric, {}).setdefault(tags, {})

    def send(self, batch):
        """batch: [(metric, tags, ms, value)]; to be called before it is sent."""
        with self.lock:
            for metric, tags, time, value in batch:
                for ledger in (self, *self.followers):
                    points = ledger.metrics.setdefault(metric, {}).setdefault(tags, {})
                    points.setdefault(time, [None]).append(value)
            self.sent += len(batch)

    def acknowledge(self, batch):
        with self.lock:
            for metric, tags, time, _ in batch:
                values = self.metrics[metric][tags][time]
                del values[:-1]
            self.acknowledged += len(batch)

    def send_delete(self, metric, tags, begin, end):
        """Points in [begin, end) may be gone from now on."""
        with self.lock:
            for ledger in (self, *self.followers):
                for time, values in ledger.metrics.get(metric, {}).get(tags, {}).items():
                    if begin <= time < end:
                        values.append(None)

    def acknowledge_delete(self, metric, tags, begin, end):
        with self.lock:
            for time, values in self.metrics[metric][tags].items():
                if begin <= time < end:
                    self.deleted += len(values) > 1 and values[0] is not None
                    del values[:-1]

    def holds(self, metric, tags):
        """Whether a point of that series has to be there."""
        with self.lock:
            return any(None not in values for values in self.metrics[metric][tags].values())

    def check(self, metric, stored, oldest_before, oldest_after):
        """Compares with stored (see Server.stored) and takes it for what must stay.

        Older than oldest_before (ms) must be gone, from oldest_after on must be there; between
        the two both is right. Returns (points that are right, complaints: [(kind, text)]).
        """
        complaints = []
        right = 0
        known = self.metrics[metric]
        for tags, points in stored.items():
            for time, value in points.items():
                if time < oldest_before:
                    complaints.append(("expired", f"{metric} {tags} {time} is answered: {value}"))
                elif tags not in known or time not in known[tags]:
                    complaints.append(("invented", f"{metric} {tags} {time}={value}: never sent"))
        for tags, points in known.items():
            found = stored.get(tags, {})
            for time in list(points):
                if time < oldest_after:
                    del points[time]
                    continue
                value = found.get(time)
                if any(same(allowed, value) for allowed in points[time]):
                    right += value is not None
                else:
                    kind = "lost" if value is None else "changed"
                    allowed = ", ".join(map(repr, points[time]))
                    complaints.append((kind, f"{metric} {tags} {time}: {value!r}, not {allowed}"))
                points[time] = [value]
        return right, complaints
