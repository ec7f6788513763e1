"""Writers that send points until the server is gone, and one who makes it flush and seal."""

import collections
import http.client
import random
import struct
import threading
import time
import urllib.parse

from senders import Http, Telnet
from views import WHOLE

SENDERS = (Http, Http, Http, Telnet, Telnet)  # of writers, unless others are wanted
SERIES_OLD = 30  # of a writer, over all rounds of a directory
SERIES_NEW = 6  # of a writer, in every round
POINTS_MAX = 8000  # of a writer in a round: all is read back after every round


def any_double(choose):
    while True:
        value = struct.unpack("<d", choose.randbytes(8))[0]
        if value - value == 0:  # finite
            return value


def integer(choose):
    return choose.choice((choose.randrange(100), choose.getrandbits(64) - 2**63))


def small(choose):
    return choose.randrange(-1000, 1000)


def double(choose):
    return choose.choice((choose.randrange(100_000) / 100, -0.0, any_double(choose)))


def either(choose):
    return choose.choice((choose.randrange(2**53), double(choose)))


class Series:
    """Where one series has got to in time, and what kind of values it has."""

    def __init__(self, metric, tags, choose, rewrites):
        self.metric = metric
        self.sent = None if rewrites else set()  # times that may not come again
        self.tags = tags  # a sorted tuple of pairs
        self.value = choose.choice((integer, double, either)) if metric != WHOLE else small
        self.times = []
        self.newest = None

    def next_point(self, choose, clock, profile):
        begin, end = profile.times(clock())
        if self.newest is None or not begin < self.newest < end - profile.step_ms:
            self.newest = choose.randrange(begin, (begin + end) // 2)
        dice = choose.random()
        if dice < 0.08 and self.times:
            moment = choose.choice(self.times)  # once more
        elif dice < 0.2:
            moment = choose.randrange(begin, end)  # late, or early
        else:
            self.newest += choose.randrange(1, profile.step_ms)
            moment = self.newest
        if not begin <= moment < end:
            moment = choose.randrange(begin, end)
        if self.sent is not None:
            while moment in self.sent:
                moment = choose.randrange(begin, end)
            self.sent.add(moment)
        self.times = self.times[-50:] + [moment]
        return (self.metric, self.tags, moment, self.value(choose))


class Load:
    """The writers of one round. Use start(), then kill the server, then join()."""

    def __init__(self, server, ledger, profile, clock, round_number, seed, pace=0.02, backups=None,
                 rewrites=True, increments=None, settle_pause=0.3, senders=SENDERS):
        """senders: the protocol of each writer; pace: seconds at most between two batches of a writer; backups: where they are made;
        rewrites: points are sent again, and deleted; increments: an IncrementLoad beside the points;
        settle_pause: seconds at most between two flushes, seals or backups."""
        self.server = server
        self.ledger = ledger
        self.profile = profile
        self.clock = clock
        self.round = round_number
        self.increments = increments
        self.refusals = increments.refusals if increments else []
        self.pace = pace
        self.backups = backups
        self.settle_pause = settle_pause
        self.rewrites = rewrites
        self.under_way = None  # "flush", "seal" or "backup" while it is asked for
        self.phase = "load"  # what was under way when the server went
        self.flushes = self.seals = 0
        self.stopping = False
        self.lock = threading.Lock()
        self.counts = collections.Counter()  # of points, by what was done and the protocol
        self.unanswered = []  # (protocol, metric, tags, ms) of points that are not answered
        choose = random.Random(seed)
        self.threads = [
            threading.Thread(target=self._write, args=(number, sender, choose.getrandbits(32)))
            for number, sender in enumerate(senders)
        ]
        self.threads.append(threading.Thread(target=self._settle, args=(choose.getrandbits(32),)))

    def start(self):
        if self.increments:
            self.increments.start()
        for thread in self.threads:
            thread.start()

    def writing(self):
        return any(thread.is_alive() for thread in self.threads[:-1])

    def join(self):
        self.stopping = True
        if self.increments:
            self.increments.join()
        for thread in self.threads:
            thread.join()

    # ---- writing ----------------------------------------------------------------------------

    def _series(self, writer, sender, choose):
        # A name belongs to one series of a metric: see _delete().
        suffix = "".join(f"-{key}" for key, _ in sender.more_tags)
        wanted = [(f"crash.m{n % 5}", f"old{writer}-{n}{suffix}") for n in range(SERIES_OLD)]
        wanted += [(choose.choice(("crash.m0", f"crash.round{self.round}")),
                    f"new{self.round}-{writer}-{n}{suffix}") for n in range(SERIES_NEW)]
        series = []
        for metric, name in wanted:
            metric = sender.metric(metric)
            tags = tuple(sorted((("name", name), ("writer", f"w{writer}"), *sender.more_tags)))
            if n_tags := choose.randrange(3):  # a tag key of this round, too, at times
                if name.startswith("new"):
                    tags = tuple(sorted((*tags, (f"key{self.round}", f"v{n_tags}"))))
            self.ledger.series(metric, tags)
            series.append(Series(metric, tags, random.Random(f"{metric}{tags}"), self.rewrites))
        return series

    def _write(self, writer, sender, seed):
        choose = random.Random(seed)
        series = self._series(writer, sender, choose)
        sent = 0
        try:
            connection = sender(self.server, choose)
            while sent < POINTS_MAX and not self.stopping:
                some = choose.sample(series, choose.choice((1, 3, len(series))))
                batch = [choose.choice(some).next_point(choose, self.clock, self.profile)
                         for _ in range(choose.choice((1, 20, 100, 400)))]
                batch = [(metric, tags, moment, sender.value(value))
                         for metric, tags, moment, value in batch]
                self.ledger.send(batch)
                sent += len(batch)
                self._count("sent", sender, batch)
                refusal = connection.send(batch)
                if refusal is not None:
                    with self.lock:
                        self.refusals.append(refusal)
                elif sender.answered:
                    self.ledger.acknowledge(batch)
                    self._count("acknowledged", sender, batch)
                else:
                    with self.lock:
                        self.unanswered += [(sender.name, *point[:3]) for point in batch]
                # One of points under way could come before or after them.
                if sender.answered and self.rewrites and choose.random() < 0.05:
                    self._delete(choose.choice(some), choose)
                time.sleep(choose.random() * self.pace)
        except (OSError, http.client.HTTPException):
            pass  # it is gone: this batch was not acknowledged

    def _count(self, what, sender, batch):
        with self.lock:
            self.counts[f"{sender.name}, {what}"] += len(batch)

    def _delete(self, series, choose):
        """A part of one series; all that was sent to it so far was answered."""
        if not series.times:
            return
        begin = choose.choice(series.times)
        end = begin + choose.randrange(1, 40 * self.profile.step_ms)
        where = (series.metric, series.tags, begin, end)
        name = dict(series.tags)["name"]
        question = urllib.parse.quote(f"none:{series.metric}{{name={name}}}", safe="")
        self.ledger.send_delete(*where)
        status, body = self.server.request(
            "DELETE", f"/api/query?start={begin}&end={end - 1}&ms=true&m={question}")
        if status == 200:
            self.ledger.acknowledge_delete(*where)
        elif b"No such name" in body and not self.ledger.holds(series.metric, series.tags):
            pass  # a full disk refused all of it
        else:
            with self.lock:
                self.refusals.append(f"delete: {status} {body[:500]!r}")

    # ---- flushing and sealing ---------------------------------------------------------------

    def _settle(self, seed):
        choose = random.Random(seed)
        while not self.stopping:
            time.sleep(choose.random() * self.settle_pause)
            what = choose.choice(("flush", "flush", "seal") + ("backup",) * bool(self.backups))
            self.under_way = what
            try:
                if what == "backup":
                    ledgers = [self.ledger] + ([self.increments.ledger] if self.increments else [])
                    refusal = self.backups.make(self.server, ledgers)
                else:
                    status, body = self.server.request("POST", f"/api/admin/{what}")
                    refusal = None if status == 204 else f"{what}: {status} {body[:500]!r}"
            except (OSError, http.client.HTTPException):
                self.phase = what
                return
            self.under_way = None
            if refusal:
                with self.lock:
                    self.refusals.append(refusal)
            elif what == "flush":
                self.flushes += 1
            elif what == "seal":
                self.seals += 1
