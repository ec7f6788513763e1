"""Traffic for daemons on one HBase: writers who know what was acknowledged, readers who know the answer, and a flood.

A refusal is part of a fault if it says 503 and why; the writer goes on with other points. What is neither
acknowledged nor refused that way is an error of the daemon."""

import http.client
import json
import os
import random
import socket
import sys
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "crash")]
from ledger import Ledger  # noqa: E402

START_MS = 1_356_998_400_000
SPAN_MS = 6 * 3_600_000  # several rows a series
LATE_MS = 5000  # what comes late is this much behind the newest at most
HTTP_WRITERS = 2  # for each daemon
TELNET_WRITERS = 1
SERIES = 12  # of a writer, from the first to the last minute
NEW_SERIES_SECONDS = 2.0  # so often a writer needs new names
COMPLAINTS_SHOWN = 10
SETTLED = {host: {START_MS + 60_000 * i: host * 1000 + i for i in range(200)} for host in range(20)}


class Wrong(Exception):
    """What no fault excuses."""


def value_of(choose):
    return choose.choice((choose.randrange(1000), choose.getrandbits(64) - 2**63, choose.randrange(100_000) / 100 + 0.125))


def put_body(batch):
    return json.dumps([{"metric": metric, "timestamp": moment, "value": value, "tags": dict(tags)}
                       for metric, tags, moment, value in batch])


def stored(daemon, metric):
    """{tags as a sorted tuple: {ms: value}}"""
    question = urllib.parse.quote(f"none:{metric}", safe="")
    answers = daemon.get_json(f"/api/query?start={START_MS}&end={START_MS + 2 * SPAN_MS}&ms=true&m={question}")
    return {tuple(sorted(answer["tags"].items())): {int(at): value for at, value in answer["dps"].items()}
            for answer in answers}


class Writer(threading.Thread):
    """One connection to one daemon, one batch under way, series of its own."""

    def __init__(self, traffic, daemon, number, telnet):
        super().__init__(daemon=True)
        self.traffic = traffic
        self.server = daemon
        self.number = number
        self.telnet = telnet
        self.choose = random.Random(f"{traffic.seed} {number}")
        self.series = []
        self.newest = {}
        self.rounds = 0       # of acknowledged batches
        self.refused = 0
        self.last_refusal = ""
        self.trouble = None
        self.connection = None

    def run(self):
        try:
            next_new = 0.0
            while not self.traffic.stopping:
                if len(self.series) < SERIES or time.monotonic() > next_new:
                    self._new_series()
                    next_new = time.monotonic() + NEW_SERIES_SECONDS
                self._send(self._batch())
                time.sleep(self.choose.random() * 0.1)
        except Exception as trouble:  # pylint: disable=broad-except
            self.trouble = trouble
        finally:
            if self.connection is not None:
                self.connection.close()

    def _new_series(self):
        """Some of a metric of their own; a name is new in one place, two or all three."""
        count = len(self.series)
        metric = f"fault.m{count % 4}" if self.choose.random() < 0.7 else f"fault.new{self.choose.randrange(100)}"
        tags = {"writer": f"w{self.number}", "series": f"s{self.traffic.number}-{count}"}
        if self.choose.random() < 0.3:
            tags[f"key{self.choose.randrange(50)}"] = f"v{self.choose.randrange(500)}"
        series = (metric, tuple(sorted(tags.items())))
        self.traffic.ledger.series(*series)
        self.series.append(series)

    def _batch(self):
        points = {}
        for _ in range(self.choose.choice((1, 5, 30, 100))):
            series = self.choose.choice(self.series)
            newest = self.newest.get(series, START_MS + LATE_MS + self.choose.randrange(SPAN_MS))
            moment = newest - self.choose.randrange(LATE_MS) if self.choose.random() < 0.1 else newest + self.choose.randrange(1, 9000)
            self.newest[series] = max(newest, moment)
            points[series, moment] = (*series, moment, value_of(self.choose))
        return list(points.values())

    def _send(self, batch):
        self.traffic.ledger.send(batch)
        try:
            refusal = self._by_telnet(batch) if self.telnet else self._by_http(batch)
        except (OSError, http.client.HTTPException) as gone:
            raise Wrong(f"writer {self.number}: the connection ended: {gone!r}") from gone
        if refusal is None:
            self.traffic.ledger.acknowledge(batch)
            self.rounds += 1
        else:
            self.refused += 1
            self.last_refusal = refusal

    def _by_http(self, batch):
        if self.connection is None:
            self.connection = self.server.http()
        self.connection.request("POST", "/api/put", put_body(batch))
        answer = self.connection.getresponse()
        body = answer.read().decode(errors="replace")
        if answer.status == 204:
            return None
        if answer.status != 503 or '"message"' not in body:
            raise Wrong(f"put answered {answer.status}: {body[:500]}")
        return body

    def _by_telnet(self, batch):
        if self.connection is None:
            self.connection = self.server.connect()
            self.connection.settimeout(None)
            self.replies = self.connection.makefile("rb")
        lines = [f"put {metric} {moment} {value!r} {' '.join(f'{key}={text}' for key, text in tags)}\n"
                 for metric, tags, moment, value in batch]
        self.connection.sendall(("".join(lines) + "sync\n").encode())
        said = []
        while not (reply := self.replies.readline()).startswith(b"sync"):
            if not reply:
                raise ConnectionError("closed")
            said.append(reply.decode(errors="replace"))
        if reply != b"synced\n":
            said.append(reply.decode(errors="replace"))
        return "".join(said[:3]) if said else None


class Reader(threading.Thread):
    """Asks for points that nobody touches any more: all of them, or a refusal with its reason (424 is OpenTSDB's word for a storage that does not answer)."""

    def __init__(self, traffic, daemon):
        super().__init__(daemon=True)
        self.traffic = traffic
        self.server = daemon
        self.answers = 0
        self.refused = 0
        self.trouble = None

    def run(self):
        question = f"/api/query?start={START_MS}&end={START_MS + SPAN_MS}&ms=true&m=none:settled"
        while not self.traffic.stopping:
            time.sleep(0.1)
            try:
                status, body = self.server.request("GET", question)
            except (OSError, http.client.HTTPException) as gone:
                self.trouble = Wrong(f"a query ended with {gone!r}")
                return
            if status == 200:
                self.answers += 1
                found = {int(answer["tags"]["host"][1:]): {int(at): value for at, value in answer["dps"].items()}
                         for answer in json.loads(body)}
                if found != SETTLED:
                    counts = {host: len(points) for host, points in found.items()}
                    self.trouble = Wrong(f"a wrong answer: points of each series: {counts}")
                    return
            elif status in (424, 503) and b'"message"' in body:
                self.refused += 1
            else:
                self.trouble = Wrong(f"a query answered {status}: {body[:500]!r}")
                return


def put_settled(daemon):
    daemon.put([{"metric": "settled", "timestamp": at, "value": value, "tags": {"host": f"h{host}"}}
                for host, points in SETTLED.items() for at, value in points.items()])


class Traffic:
    """Use: start(), await_progress() as often as wanted, stop(), check()."""

    def __init__(self, daemons, ledger, number, seed):
        self.daemons = daemons
        self.ledger = ledger
        self.number = number
        self.seed = f"{seed} {number}"
        self.stopping = False
        kinds = [False] * HTTP_WRITERS + [True] * TELNET_WRITERS
        # A writer's number is that of no other round: its series are its own.
        self.writers = [Writer(self, daemon, f"{number}.{at}.{i}", telnet)
                        for at, daemon in enumerate(daemons) for i, telnet in enumerate(kinds)]
        self.readers = [Reader(self, daemon) for daemon in daemons]

    def start(self):
        for thread in (*self.writers, *self.readers):
            thread.start()

    def raise_trouble(self):
        for thread in (*self.writers, *self.readers):
            if thread.trouble is not None:
                raise thread.trouble

    def await_progress(self, seconds, batches=5):
        """Every writer has so many more batches acknowledged, every reader an answer more."""
        wanted = {writer: writer.rounds + batches for writer in self.writers}
        answers = {reader: reader.answers + 1 for reader in self.readers}
        end = time.monotonic() + seconds
        while True:
            self.raise_trouble()
            late = [writer for writer in self.writers if writer.rounds < wanted[writer]]
            blind = [reader for reader in self.readers if reader.answers < answers[reader]]
            if not late and not blind:
                return
            if time.monotonic() > end:
                told = [writer.last_refusal for writer in late]
                raise Wrong(f"after {seconds} s {len(late)} writers and {len(blind)} readers have not gone on; "
                            f"last refusals: {told}")
            time.sleep(0.1)

    def stop(self):
        self.stopping = True
        for thread in (*self.writers, *self.readers):
            thread.join()
        self.raise_trouble()

    @property
    def refused(self):
        return sum(thread.refused for thread in (*self.writers, *self.readers))


def check(ledger, daemons):
    """Every daemon has all that was acknowledged, nothing that was never sent. Returns the number of points."""
    right = 0
    for daemon in daemons:
        known = set(daemon.get_json("/api/suggest?type=metrics&max=1000000"))
        for metric in sorted(ledger.metrics):
            # A refused batch may have left nothing at all of a metric.
            found = stored(daemon, metric) if metric in known else {}
            good, complaints = ledger.check(metric, found, 0, 0)
            right += good
            if complaints:
                shown = "\n".join(f"  {kind}: {text}" for kind, text in complaints[:COMPLAINTS_SHOWN])
                raise Wrong(f"{len(complaints)} points of {metric} are wrong at {daemon.url}:\n{shown}")
    return right


class Flood:
    """As much as the daemon takes, and more: large bodies and telnet lines without a pause."""

    POINTS = 5000

    def __init__(self, daemon, senders):
        """`senders` of each kind."""
        self.server = daemon
        self.stopping = False
        self.refused = 0
        self.slowest = 0.0  # seconds until an answer
        self.trouble = None
        points = [("flood", (("host", f"h{i % 100}"),), START_MS + i, i) for i in range(self.POINTS)]
        self.body = put_body(points)
        self.lines = "".join(f"put flood {at} {value} host=h{value % 100}\n" for _, _, at, value in points).encode()
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self._http, self._telnet)
                        for _ in range(senders)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        if self.trouble is not None:
            raise self.trouble

    def _http(self):
        while not self.stopping:
            began = time.monotonic()
            try:
                status, body = self.server.request("POST", "/api/put", self.body)
            except (OSError, http.client.HTTPException) as gone:
                self.trouble = Wrong(f"a put ended with {gone!r}")
                return
            self.slowest = max(self.slowest, time.monotonic() - began)
            if status == 503 and b'"message"' in body:
                self.refused += 1
            elif status != 204:
                self.trouble = Wrong(f"a put of the flood answered {status}: {body[:500]!r}")
                return

    def _telnet(self):
        while not self.stopping:
            try:
                with self.server.connect() as connection:
                    connection.settimeout(1)
                    threading.Thread(target=self._drain, args=(connection,), daemon=True).start()
                    while not self.stopping:
                        self._send_all(connection)
            except OSError:
                time.sleep(0.1)

    def _send_all(self, connection):
        sent = 0
        while sent < len(self.lines) and not self.stopping:
            try:
                sent += connection.send(self.lines[sent:sent + 65536])
            except socket.timeout:
                pass  # it reads no more for now: back-pressure

    @staticmethod
    def _drain(connection):
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass


class Watch(threading.Thread):
    """Of a daemon: the most that was under way to HBase, by its own word, and the memory that it held at once."""

    PAUSE_SECONDS = 0.5

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.server = daemon
        self.stopping = threading.Event()
        self.under_way_bytes = 0
        self.resident_bytes = 0
        self.trouble = None

    def run(self):
        while not self.stopping.wait(self.PAUSE_SECONDS):
            try:
                status, text = self.server.request("GET", "/metrics")
            except (OSError, http.client.HTTPException) as gone:
                self.trouble = Wrong(f"/metrics ended with {gone!r}")
                return
            if status != 200:
                self.trouble = Wrong(f"/metrics answered {status}")
                return
            told = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
            self.under_way_bytes = max(self.under_way_bytes, int(float(told["halite_hbase_operation_bytes"])))
            self.resident_bytes = max(self.resident_bytes, int(float(told["halite_process_resident_bytes"])))

    def stop(self):
        self.stopping.set()
        self.join()
        if self.trouble is not None:
            raise self.trouble
