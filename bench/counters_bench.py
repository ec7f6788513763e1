"""Increments of counters by telnet from sixteen connections: how many a second of the server's
processor takes, over ten thousand counters in random order and over a single one. Each run ends with
`sync`, and the sums are compared with what was sent before a figure counts.

On HBase: python3 tests/hbase/run.py -- python3 bench/counters_bench.py build/release
"""

import json
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

from scale_bench import expect, table
from server_bench import Server

CONNECTIONS = 16
COUNTERS = 10_000
METRIC = "web.hits"
START_S = int(time.time()) // 3600 * 3600 - 3600  # senders send what happens now
RULES = '[{"metrics":"web.*","buckets":["1h","1d","all"],"keep":["14d","400d","0"]}]'


def lines(metric, counters, count, seed):
    choose = random.Random(seed)
    hosts = [f" 1 domain=com.example{n}\n" for n in range(counters)]
    return "".join(f"incr {metric} {START_S + choose.randrange(60)}{choose.choice(hosts)}"
                   for _ in range(count)).encode()


def send(port, text, rounds):
    with socket.create_connection(("127.0.0.1", port)) as link:
        for _ in range(rounds):
            link.sendall(text)
        link.sendall(b"sync\nexit\n")
        answer = b""
        while piece := link.recv(65536):
            answer += piece
    expect("reply of a connection", answer, b"synced\n")


def measure(binary, counters, rules, rounds, store=("engine",), metric=METRIC):
    settings = (*store[1:], *(("--set", f"counters={RULES}") if rules else ()))
    texts = [lines(metric, counters, 50_000, seed) for seed in range(CONNECTIONS)]
    sent = CONNECTIONS * 50_000 * rounds
    with tempfile.TemporaryDirectory(prefix="counters-") as scratch:
        server = Server(binary, store[0], scratch + "/data", *settings)
        try:
            before = server.cpu_seconds()
            threads = [threading.Thread(target=send, args=(server.port, text, rounds))
                       for text in texts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            cpu = server.cpu_seconds() - before
            [answer] = json.loads(server.get(
                f"/api/query?start={START_S}&end={START_S + 3600}&m=sum:1h-sum:{metric}"))
            expect("sum of the increments", sum(answer["dps"].values()), sent)
        finally:
            server.kill()
    return sent / cpu


def run(build, quick):
    rounds = 2 if quick else 20
    binary = str(build / "halite")
    rows = [(f"{counters:,} counters, {'hour, day and all time' if rules else 'minutes'}",
             measure(binary, counters, rules, rounds))
            for counters in (COUNTERS, 1) for rules in (False, True)]
    table(f"increments a CPU-second, {CONNECTIONS} connections", ("", "Halite"), rows)


def run_on_hbase(build):
    store = ("hbase", "--set", f"hbase.quorum={os.environ['HALITE_TEST_HBASE']}")
    measure(build / "halite", COUNTERS, False, 1, store, "warm.up")
    table(f"increments a CPU-second of the daemon, {CONNECTIONS} connections, HBase", ("", "Halite"),
          [(f"{COUNTERS:,} counters, minutes", measure(build / "halite", COUNTERS, False, 1, store))])


if __name__ == "__main__":
    run_on_hbase(pathlib.Path(sys.argv[1]))
