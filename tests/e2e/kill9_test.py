#!/usr/bin/env python3
"""kill -9 under load, ten times: every point answered with 204, or followed by telnet's `sync` and
its `synced`, is there afterwards, and nothing that was never sent. HALITE_SEED chooses the moments.
"""

import collections
import http.client
import json
import os
import random
import threading
import time
import unittest

import support

T = 1356998400
ROUNDS = 10
HTTP_WRITERS = 3
TELNET_WRITERS = 1
BATCH_POINTS = 50
METRIC = "kill9.load"


class Load:
    """Writers that put batches until the server is gone, and remember what was answered."""

    def __init__(self, server, round_number):
        self.server = server
        self.round = round_number
        self.sent = {}  # (tags, second): value
        self.acknowledged = {}
        self.wrong = []  # other answers
        self.batches = collections.Counter()  # acknowledged, by writer
        self.lock = threading.Lock()
        self.connections = []
        senders = [self._http_sender] * HTTP_WRITERS + [self._telnet_sender] * TELNET_WRITERS
        self.threads = [
            threading.Thread(target=self._write, args=(writer, sender))
            for writer, sender in enumerate(senders)
        ]

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join()
        for connection in self.connections:
            connection.close()

    def _batch(self, writer, number):
        # Every eighth batch brings names that nobody has seen: ids must survive as well.
        series = f"w{writer}-{number // 8}"
        tags = {"round": f"r{self.round}", "series": series}
        first = number * BATCH_POINTS
        return [
            {"metric": METRIC, "timestamp": T + first + i,
             "value": self.round * 1_000_000 + first + i, "tags": tags}
            for i in range(BATCH_POINTS)
        ]

    def _http_sender(self):
        """Sends one batch; returns None when it was acknowledged, else what was said instead."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.connections.append(connection)

        def send(batch):
            connection.request("POST", "/api/put", json.dumps(batch))
            answer = connection.getresponse()
            body = answer.read()
            return None if answer.status == 204 else (answer.status, body)

        return send

    def _telnet_sender(self):
        connection = self.server.connect()
        replies = connection.makefile("rb")
        self.connections += [connection, replies]

        def send(batch):
            lines = []
            for point in batch:
                tags = " ".join(f"{key}={value}" for key, value in point["tags"].items())
                lines.append(f"put {METRIC} {point['timestamp']} {point['value']} {tags}\n")
            connection.sendall(("".join(lines) + "sync\n").encode())
            reply = replies.readline()
            if not reply:
                raise ConnectionError("the connection ended")
            return None if reply == b"synced\n" else reply

        return send

    def _write(self, writer, sender):
        number = 0
        send = None
        while True:
            batch = self._batch(writer, number)
            points = {
                (tuple(sorted(point["tags"].items())), point["timestamp"]): point["value"]
                for point in batch
            }
            with self.lock:
                self.sent.update(points)
            try:
                send = send or sender()
                refusal = send(batch)
            except (OSError, http.client.HTTPException):
                return  # it is gone: this batch was not acknowledged
            with self.lock:
                if refusal is not None:
                    self.wrong.append(refusal)
                    return
                self.acknowledged.update(points)
                self.batches[writer] += 1
            number += 1


def stored(server, round_number):
    """Everything of one round that the server has."""
    known = server.get_json(f"/api/suggest?type=tagv&q=r{round_number}&max=100")
    if f"r{round_number}" not in known:
        return {}
    answers = support.query(server, f"sum:{METRIC}{{round=r{round_number},series=*}}", T, T + 10_000_000)
    return {
        (tags, second): value
        for (_, tags), points in support.points_of(answers).items()
        for second, value in points.items()
    }


def check(test, server, load):
    """Fails the test unless the server has what was acknowledged, and nothing that was not sent."""
    found = stored(server, load.round)
    lost = [key for key, value in load.acknowledged.items() if found.get(key) != value]
    test.assertEqual(lost[:5], [], f"{len(lost)} of {len(load.acknowledged)} points are lost")
    invented = [key for key, value in found.items() if load.sent.get(key) != value]
    test.assertEqual(invented[:5], [], f"{len(invented)} points were never sent")


class Kill9(support.HaliteTest):
    ARGUMENTS = ("--store", "rocksdb")
    ENVIRONMENT = {}

    def start(self):
        return self.server(*self.ARGUMENTS, environment=self.ENVIRONMENT).start()

    def test_ten_times_under_load(self):
        seed = int(os.environ.get("HALITE_SEED", time.time_ns() % 1_000_000))
        print(f"HALITE_SEED={seed}", flush=True)
        moments = random.Random(seed)
        loads = []
        for round_number in range(ROUNDS):
            server = self.start()
            if loads:
                check(self, server, loads[-1])
            load = Load(server, round_number)
            load.start()
            # Some are killed in their first writes, some in the midst of them.
            time.sleep(moments.choice((0.02, 0.2, 1.0)) * moments.random() + 0.05)
            server.kill()
            load.join()
            self.assertEqual(load.wrong, [])
            loads.append(load)
        acknowledged = sum(len(load.acknowledged) for load in loads)
        for writer in range(HTTP_WRITERS + TELNET_WRITERS):
            batches = sum(load.batches[writer] for load in loads)
            self.assertGreater(batches, ROUNDS, f"writer {writer} did not load the server")
        server = self.start()
        for load in loads:
            check(self, server, load)
        print(f"{acknowledged} points acknowledged, all there", flush=True)
        self.assertEqual(server.terminate(), 0, server.log_text())


class Kill9Engine(Kill9):
    ARGUMENTS = ("--store", "engine")
    # So small that it is killed in the midst of flushes, too.
    ENVIRONMENT = {"HALITE_ENGINE_HEAD_FREEZE_BYTES": "1MiB"}


if __name__ == "__main__":
    support.main()
