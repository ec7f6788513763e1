"""Writers that add to counters until the server is gone: by telnet, by HTTP, and by HTTP with keys. Requests with
keys are repeated when their answer is lost, at times when it is not, and after a restart."""

import http.client
import json
import random
import threading
import time

from increments import MINUTE_MS, PREFIX, RULED

INCREMENTS_MAX = 3000  # of a writer in a round: all sums are read back after every round
SERIES = 5  # of a metric, which all writers share
KEYED_UNIT = 1_000_000  # what keys add cannot be taken for what others add
KEY_MS = 600_000  # so long the server knows a key
KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABC0123456789-_.:/+= "


class KeyedRequest:
    def __init__(self, increments, key, sent_ms):
        self.increments = increments
        self.key = key
        self.sent_ms = sent_ms  # at first


class Unanswered:
    """The requests with keys of one data directory that may be repeated."""

    def __init__(self, clock):
        self.clock = clock
        self.lock = threading.Lock()
        self.requests = []

    def add(self, request):
        with self.lock:
            self.requests.append(request)

    def take(self):
        """Those that no writer repeats now; too old ones are left for ever as they are."""
        with self.lock:
            taken, self.requests = self.requests, []
        return [one for one in taken if self.clock() - one.sent_ms < KEY_MS / 2]

    def lasting(self):
        with self.lock:
            return frozenset(self.requests)


class IncrementLoad:
    def __init__(self, server, ledger, unanswered, clock, round_number, seed, pace, canary=None):
        self.server = server
        self.ledger = ledger
        self.unanswered = unanswered
        self.clock = clock
        self.round = round_number
        self.pace = pace
        self.canary = canary
        self.refusals = []
        self.stopping = False
        self.repeated = self.answers_dropped = 0
        choose = random.Random(seed)
        self.threads = [threading.Thread(target=self._write, args=(writer, choose.getrandbits(32)))
                        for writer in (self._http, self._http_keyed, self._http_keyed, self._telnet)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()

    def _write(self, writer, seed):
        choose = random.Random(seed)
        sent = 0
        try:
            send = writer(choose)
            while sent < INCREMENTS_MAX and not self.stopping:
                increments = self._some(choose)
                if writer == self._http_keyed:
                    increments = [(*rest, delta * KEYED_UNIT) for *rest, delta in increments]
                sent += len(increments)
                if refusal := send(increments):
                    self.refusals.append(refusal)
                time.sleep(choose.random() * self.pace)
        except (OSError, http.client.HTTPException):
            pass  # it is gone

    def _some(self, choose):
        """[(metric, tags, ms, delta)]; no time is near the end of what is kept."""
        names = [RULED, RULED, PREFIX + "plain", f"{RULED}.round{self.round}", f"{PREFIX}plain.round{self.round}"]
        now = int(self.clock())
        increments = []
        for _ in range(choose.choice((1, 1, 5, 60))):
            metric = choose.choice(names)
            ago = choose.randrange(4 * MINUTE_MS)
            if metric.startswith(RULED) and choose.random() < 0.2:
                ago += 45 * MINUTE_MS  # only the longer buckets are kept
            tags = (("name", f"s{choose.randrange(SERIES)}"),)
            if choose.random() < 0.05:
                tags = (("name", f"new{self.round}-{choose.randrange(10)}"), (f"key{self.round}", "v"))
                tags = tuple(sorted(tags))
            delta = choose.choice((1, 1, choose.randrange(1, 10), -choose.randrange(1, 5)))
            increments.append((metric, tags, now - ago, delta))
        return increments

    # ---- senders: each returns the refusal, or nothing -----------------------------------------

    @staticmethod
    def _body(increments):
        return json.dumps([{"metric": metric, "timestamp": moment, "value": delta, "tags": dict(tags)}
                           for metric, tags, moment, delta in increments])

    def _post(self, connection, increments, key=None):
        connection.request("POST", "/api/incr", self._body(increments), {"Idempotency-Key": key} if key else {})
        answer = connection.getresponse()
        body = answer.read()
        return None if answer.status == 204 else f"incr: {answer.status} {body[:500]!r}"

    def _http(self, _):
        connection = self.server.http()

        def send(increments):
            request = object()
            self.ledger.send(request, increments, self.clock(), keyed=False)
            refusal = self._post(connection, increments)
            if refusal is None:
                self.ledger.acknowledge(request, increments)
            return refusal

        return send

    def _telnet(self, _):
        connection = self.server.connect()
        replies = connection.makefile("rb")

        def send(increments):
            request = object()
            self.ledger.send(request, increments, self.clock(), keyed=False)
            lines = [f"incr {metric} {moment} {delta} {' '.join(f'{key}={text}' for key, text in tags)}\n"
                     for metric, tags, moment, delta in increments]
            connection.sendall(("".join(lines) + "sync\n").encode())
            said = []
            while (reply := replies.readline()) != b"synced\n":
                if not reply:
                    raise ConnectionError("the connection ended")
                said.append(reply)
            if said:
                return f"incr: {said[:3]}"
            self.ledger.acknowledge(request, increments)
            return None

        return send

    def _http_keyed(self, choose):
        connection = self.server.http()
        for request in self.unanswered.take():  # of earlier rounds
            if choose.random() < 0.7:
                self._repeat(connection, request)
            else:
                self.unanswered.add(request)

        def send(increments):
            key = "".join(choose.choices(KEY_CHARACTERS[:-1], k=choose.choice((12, 40, 128))))
            request = KeyedRequest(increments, key, self.clock())
            self.ledger.send(request, increments, request.sent_ms, keyed=True)
            if choose.random() < 0.2:
                self._drop_answer(request, choose)
            elif choose.random() < 0.1 and (refusal := self._repeat(connection, request, done=False)):
                return refusal
            return self._repeat(connection, request)

        return send

    def _drop_answer(self, request, choose):
        """Sends it and does not wait for the answer, at times not even for the server to read it."""
        connection = self.server.http()
        try:
            self.answers_dropped += 1
            connection.request("POST", "/api/incr", self._body(request.increments), {"Idempotency-Key": request.key})
            time.sleep(choose.choice((0, 0.001, 0.01)) * choose.random())
        except OSError:
            pass
        finally:
            connection.close()

    def _repeat(self, connection, request, done=True):
        """Sends it, again where it was sent before; the refusal."""
        key = request.key
        if self.canary == "repeat":
            key = f"{key[:100]} {self.repeated}"
        self.repeated += 1
        try:
            refusal = self._post(connection, request.increments, key)
        except (OSError, http.client.HTTPException):
            self.unanswered.add(request)
            raise
        if self.clock() - request.sent_ms > KEY_MS * 0.9:
            return None  # held up for so long that it may count twice: the sum stays open
        if refusal:
            self.unanswered.add(request)
        elif done:
            self.ledger.acknowledge(request, request.increments)
        return refusal
