"""Which increments of counters were sent and acknowledged, and which sums a server may show.

Of each sum those values are kept that it may have without its open increments: those that were sent and not
acknowledged. An open increment may be in the sum or not. One with a key stays open until its request is repeated
and acknowledged: then it is in the sum once."""

import collections
import threading

PREFIX = "count."
RULED = PREFIX + "ruled"  # has a rule
MINUTE_MS = 60_000
DAY_MS = 86_400_000
SUBSETS_MAX = 4096  # of open increments; beyond that only the smallest and the largest sum are compared

Bucket = collections.namedtuple("Bucket", "name length_ms keep_ms downsample")  # keep_ms 0: for ever
RULED_BUCKETS = (Bucket("1m", MINUTE_MS, 20 * MINUTE_MS, ""), Bucket("1h", 60 * MINUTE_MS, 0, "1h-sum:"),
                 Bucket("all", 0, 0, "0all-sum:"))
RULES = (f'[{{"metrics":"{RULED}*","buckets":["1m","1h","all"],"keep":["20m","0","0"]}}]')


def buckets_of(metric, ttl_ms):
    """ttl_ms: of points."""
    return RULED_BUCKETS if metric.startswith(RULED) else (Bucket("1m", MINUTE_MS, ttl_ms, ""),)


def sums_with(sums, deltas):
    """All sums with some of these added; None: too many to tell."""
    for delta in deltas:
        sums = sums | {one + delta for one in sums}
        if len(sums) > SUBSETS_MAX:
            return None
    return sums


def parts_of(open_requests):
    return [delta for deltas in open_requests.values() for delta in deltas]


class Sum:
    """settled: the values it may have without the open requests, {request: [deltas]}."""

    def __init__(self):
        self.settled = {0}
        self.open = {}

    def copy(self):
        one = Sum()
        one.settled = set(self.settled)
        one.open = {request: list(deltas) for request, deltas in self.open.items()}
        return one

    def acknowledge(self, request):
        delta = sum(self.open.pop(request))
        self.settled = {one + delta for one in self.settled}

    def least(self):
        return min(self.settled) + sum(delta for delta in parts_of(self.open) if delta < 0)

    def most(self):
        return max(self.settled) + sum(delta for delta in parts_of(self.open) if delta > 0)

    def take(self, value, lasting):
        """Whether it may be value; if so, it was, and only requests in `lasting` stay open."""
        kept = {request: deltas for request, deltas in self.open.items() if request in lasting}
        ended = parts_of({request: deltas for request, deltas in self.open.items() if request not in lasting})
        before = sums_with(self.settled, ended)
        rest = sums_with({0}, parts_of(kept))
        if before is None or rest is None:
            if not self.least() <= value <= self.most():
                return False
            before, rest = {value}, {0}
            kept = {}
        self.settled = {one for one in before if value - one in rest}
        self.open = kept
        return bool(self.settled)


class IncrementLedger:
    """All of one data directory. A request is any object that is equal to itself alone."""

    def __init__(self, profile):
        self.ttl_ms = profile.ttl_ms("")
        self.lock = threading.Lock()
        self.sums = {}  # (metric, bucket): {tags: {begin: Sum}}
        self.followers = []
        self.sent = 0
        self.acknowledged = 0

    def follow(self):
        """As Ledger.follow()."""
        with self.lock:
            follower = IncrementLedger.__new__(IncrementLedger)
            follower.__dict__ = self.__dict__ | {"lock": threading.Lock(), "followers": [], "sums": {
                where: {tags: {begin: one.copy() for begin, one in sums.items()} for tags, sums in series.items()}
                for where, series in self.sums.items()}}
            self.followers.append(follower)
            return follower

    def leave(self, follower):
        with self.lock:
            self.followers.remove(follower)

    def claim_unsent(self):
        increments = [(RULED, (("name", "canary"),), 1000, 1)]
        self.send("canary", increments, 1001, False)
        self.acknowledge("canary", increments)

    def _sums_of(self, increments, now):
        """The sums that each of them adds to: [(Sum, delta)]."""
        for metric, tags, moment, delta in increments:
            for bucket in buckets_of(metric, self.ttl_ms):
                begin = moment - moment % bucket.length_ms if bucket.length_ms else 0
                if now is not None and bucket.keep_ms and begin + bucket.length_ms + bucket.keep_ms <= now:
                    continue
                series = self.sums.setdefault((metric, bucket), {}).setdefault(tags, {})
                yield series.setdefault(begin, Sum()), delta

    def send(self, request, increments, now, keyed):
        """To be called before they are sent, at `now`. With a key, those of one sum are added together or not."""
        with self.lock:
            for ledger in (self, *self.followers):
                for one, delta in ledger._sums_of(increments, now):
                    deltas = one.open.setdefault(request, [])
                    if keyed and deltas:
                        deltas[0] += delta
                    else:
                        deltas.append(delta)
            self.sent += len(increments)

    def acknowledge(self, request, increments):
        with self.lock:
            for one, _ in self._sums_of(increments, None):
                if request in one.open:
                    one.acknowledge(request)
            self.acknowledged += len(increments)

    # ---- looking ----------------------------------------------------------------------------

    def check(self, server, clock, known, lasting):
        """Compares with what a server shows, and takes it for what must stay. known: the server's metrics;
        lasting: requests that may still be repeated. Returns (sums that are right, complaints: [(kind, text)])."""
        complaints = []
        right = 0
        wanted = {*self.sums, *((metric, bucket) for metric in known if metric.startswith(PREFIX)
                                for bucket in buckets_of(metric, self.ttl_ms))}
        for metric, bucket in sorted(wanted):
            before = clock()
            stored = server.stored(metric, 1, before * 2, bucket.downsample) if metric in known else {}
            ours = self.sums.setdefault((metric, bucket), {})
            times = {(tags, begin) for tags, sums in (*stored.items(), *ours.items()) for begin in sums}
            if bucket.length_ms == 0:  # it appears at the start of the query
                stored = {tags: {0: sum(sums.values())} for tags, sums in stored.items()}
                times = {(tags, 0) for tags, _ in times}
            for tags, begin in sorted(times):
                end = begin + bucket.length_ms + bucket.keep_ms
                value = stored.get(tags, {}).get(begin)
                what = f"{metric} {bucket.name} {tags} {begin}"
                if bucket.keep_ms and end <= clock():
                    ours.get(tags, {}).pop(begin, None)
                    if end <= before and value is not None:
                        complaints.append(("expired", f"{what} is answered: {value}"))
                    continue
                expected = ours.setdefault(tags, {}).setdefault(begin, Sum())
                least, most = expected.least(), expected.most()
                if expected.take(value or 0, lasting):
                    right += value is not None
                    continue
                # As increments may be negative, a sum does not tell whether one is lost or was added twice.
                complaints.append(("sums wrong", f"{what}: {value}, not what was sent, from {least} to {most}"))
        return right, complaints
