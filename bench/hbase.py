#!/usr/bin/env python3
"""Halite beside OpenTSDB on one HBase: the same points and the same questions to both, one after the other.

    bench/hbase.py --halite build/release/halite [--backfill] [--rounds 3] [--hosts 1000] [--hours 1] [--set NAME=VALUE]...

Starts HBase and OpenTSDB as the tests do (tests/hbase). Prints a table of medians: points by second of the daemon's own
CPU (both leave the rest to the same HBase) up to the moment when nothing is under way any more, points by second of the
clock up to the same moment, of two questions the time and the daemon's CPU, and the bytes of a point in HBase's files
(GZ, DIFF) after a major compaction.

Points come moment by moment and become a cell each. With --backfill they come series by series; Halite makes columns of
them, OpenTSDB once cells and once appends."""

import argparse
import glob
import http.client
import json
import os
import random
import re
import socket
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", "hbase"), os.path.join(HERE, "..", "tests", "support")]
from cluster import Cluster, OpenTsdb  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

START = 1356998400
STEP = 10
HOUR_POINTS = 360
CONNECTIONS = 4
HTTP_BATCH = 500
QUESTIONS = 20
TABLES = {"data": "tsdb", "uid": "tsdb-uid", "tree": "tsdb-tree", "meta": "tsdb-meta"}


def cpu_seconds(pid):
    """Of all threads that live, in nanoseconds: the ticks of /proc/PID/stat are 10 ms long."""
    nanoseconds = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path, encoding="utf-8") as schedstat:
                nanoseconds += int(schedstat.read().split()[0])
        except OSError:
            pass  # it has ended
    return nanoseconds / 1e9


def await_idle(daemon):
    """Returns (the daemon's CPU seconds, the moment) when it and HBase began to do nothing, or hardly anything, for a second:
    a daemon that waits for HBase is not done."""
    while True:
        before, theirs, moment = cpu_seconds(daemon.pid), cpu_seconds(daemon.hbase_pid), time.monotonic()
        time.sleep(1)
        if cpu_seconds(daemon.pid) - before < 0.03 and cpu_seconds(daemon.hbase_pid) - theirs < 0.2:
            return before, moment


def places(hosts, moments, by_series):
    """[(host, number of the moment)] of each connection."""
    if by_series:
        return [[(host, i) for host in range(at, hosts, CONNECTIONS) for i in range(moments)] for at in range(CONNECTIONS)]
    return [[(host, i) for i in range(moments) for host in range(at, hosts, CONNECTIONS)] for at in range(CONNECTIONS)]


def values_of(hosts, moments):
    """[[value of a moment] of a host]: integers that walk."""
    made = []
    for host in range(hosts):
        choose, value, walk = random.Random(host), 500, []
        for _ in range(moments):
            value = max(0, min(1000, value + choose.randrange(-5, 6)))
            walk.append(value)
        made.append(walk)
    return made


def telnet_load(metric, hosts, moments, by_series):
    """Bytes for each connection."""
    values = values_of(hosts, moments)
    return ["".join(f"put {metric} {START + STEP * i} {values[host][i]} host=h{host} dc=d{host % 10}\n"
                    for host, i in load).encode() for load in places(hosts, moments, by_series)]


def http_load(metric, hosts, moments, by_series):
    """Bodies for each connection."""
    values = values_of(hosts, moments)
    loads = []
    for load in places(hosts, moments, by_series):
        points = [{"metric": metric, "timestamp": START + STEP * i, "value": values[host][i],
                   "tags": {"host": f"h{host}", "dc": f"d{host % 10}"}} for host, i in load]
        loads.append([json.dumps(points[i:i + HTTP_BATCH]).encode() for i in range(0, len(points), HTTP_BATCH)])
    return loads


def send_telnet(port, load):
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        told = []
        reader = threading.Thread(target=lambda: told.append(connection.makefile("rb").read()))
        reader.start()
        connection.sendall(load)
        connection.shutdown(socket.SHUT_WR)
        reader.join()
        if told[0]:
            raise RuntimeError(f"it said {told[0][:300]!r}")


def send_http(port, load):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    for body in load:
        connection.request("POST", "/api/put", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 204:
            raise RuntimeError(f"put answered {answer.status}: {said[:300]!r}")
    connection.close()


def take_in(daemon, send, loads, points):
    """Points by CPU second and by second."""
    await_idle(daemon)
    cpu, began = cpu_seconds(daemon.pid), time.monotonic()
    senders = [threading.Thread(target=send, args=(daemon.port, load)) for load in loads]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    cpu_end, end = await_idle(daemon)
    return points / (cpu_end - cpu), points / (end - began)


def ask(daemon, question, wanted):
    """Median ms up to the last byte, CPU ms of one, after one that warms up."""
    target = f"/api/query?start={START}&end={START + 3599}&m={question}"
    times = []
    for i in range(QUESTIONS + 1):
        if i == 1:
            cpu = cpu_seconds(daemon.pid)
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=600)
        began = time.monotonic()
        connection.request("GET", target)
        body = connection.getresponse().read()
        if i > 0:
            times.append(1000 * (time.monotonic() - began))
        connection.close()
        answer = json.loads(body)
        if len(answer) != wanted or not all(len(series["dps"]) == 60 for series in answer):
            raise RuntimeError(f"{question}: {len(answer)} series")
    return statistics.median(times), 1000 * (cpu_seconds(daemon.pid) - cpu) / QUESTIONS


class Daemon:
    def __init__(self, cluster, pid, port):
        self.hbase_pid = cluster.servers["standalone"].process.pid
        self.pid = pid
        self.port = port


def check_count(daemon, metric, wanted):
    target = f"/api/query?start={START}&end={START + STEP * wanted}&m=sum:1h-count:{metric}"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{daemon.port}{target}", timeout=600) as answer:
            found = sum(json.loads(answer.read())[0]["dps"].values())
    except urllib.error.HTTPError as refused:
        raise RuntimeError(f"{target} answers {refused.code}: {refused.read()[:500]!r}") from None
    if found != wanted:
        raise RuntimeError(f"{metric} has {found} points, not {wanted}")


def measure(daemon, loads, points, hosts):
    found = {}
    # A JVM compiles what it does often: both get as much before.
    take_in(daemon, send_telnet, loads["warm telnet"], points)
    take_in(daemon, send_http, loads["warm http"], points)
    found["telnet: points/CPU-s"], found["telnet: points/s"] = take_in(daemon, send_telnet, loads["telnet"], points)
    found["HTTP: points/CPU-s"], found["HTTP: points/s"] = take_in(daemon, send_http, loads["http"], points)
    for metric in ("bench.telnet", "bench.http"):
        check_count(daemon, metric, points)
    for name, question, series in ((f"1 h of {hosts} hosts", "sum:1m-avg:bench.telnet%7Bhost=*%7D", hosts),
                                   ("1 h of one host", "sum:1m-avg:bench.telnet%7Bhost=h7%7D", 1)):
        found[f"{name}: ms"], found[f"{name}: CPU-ms"] = ask(daemon, question, series)
    return found


def settings(cluster, prefix):
    names = {f"tsd.storage.hbase.{kind}_table": prefix + name for kind, name in TABLES.items()}
    return {"tsd.core.auto_create_metrics": "true", "tsd.storage.enable_compaction": "false",
            "tsd.http.request.max_chunk": "16777216", "tsd.storage.hbase.zk_quorum": cluster.quorum, **names}


def run_opentsdb(cluster, prefix, loads, points, hosts, more):
    with OpenTsdb(cluster, {**settings(cluster, prefix), **dict(one.split("=", 1) for one in more)}, heap="2g") as opentsdb:
        return measure(Daemon(cluster, opentsdb.pid, opentsdb.port), loads, points, hosts)


def run_halite(cluster, prefix, loads, points, hosts, more):
    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8") as conf:
        conf.writelines(f"{key} = {value}\n" for key, value in settings(cluster, prefix).items())
        conf.flush()
        words = [word for one in more for word in ("--set", one)]
        server = HaliteServer("--opentsdb-conf", conf.name, "--set", "self_metrics.enabled=false", *words, store="hbase")
        try:
            while True:
                try:
                    if server.request("GET", "/-/ready")[0] == 200:
                        break
                except OSError:
                    pass
                time.sleep(0.1)
            return measure(Daemon(cluster, server.process.pid, server.port), loads, points, hosts)
        finally:
            server.stop()


def bytes_of_a_point(cluster, table, points):
    cluster.tool("major", table, seconds=600)
    return int(re.search(r"bytes=(\d+)", cluster.tool("size", table).stdout).group(1)) / points


def sides_of(options):
    """[(name, how it is run, its settings)], the one to compare with first."""
    if not options.backfill:
        return [("OpenTSDB", run_opentsdb, []), ("Halite", run_halite, options.set)]
    return [("OpenTSDB", run_opentsdb, []), ("OpenTSDB, appends", run_opentsdb, ["tsd.storage.enable_appends=true"]),
            ("Halite, backfill", run_halite, ["hbase.compact_batches=backfill", *options.set])]


def print_table(title, names, samples):
    print(f"| {title} | {' | '.join(names)} | {names[-1]} / {names[0]} |\n|---|{'--:|' * (len(names) + 1)}")
    for row in samples[names[0]][0]:
        medians = [statistics.median(sample[row] for sample in samples[name]) for name in names]
        digits = 0 if medians[0] > 100 else 1 if medians[0] > 10 else 2
        print(f"| {row} | {' | '.join(f'{median:,.{digits}f}' for median in medians)} | {medians[-1] / medians[0]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--hours", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of Halite")
    parser.add_argument("--backfill", action="store_true", help="points come series by series, and share columns")
    options = parser.parse_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    moments = options.hours * HOUR_POINTS
    points = options.hosts * moments
    loads = {name: make(f"bench.{name.replace(' ', '.')}", options.hosts, moments, options.backfill)
             for name, make in (("telnet", telnet_load), ("http", http_load), ("warm telnet", telnet_load), ("warm http", http_load))}
    sides = sides_of(options)
    samples = {name: [] for name, _, _ in sides}
    with Cluster(heap="3g") as cluster:
        for number in range(options.rounds):
            for at, (name, run, more) in enumerate(sides if number % 2 == 0 else reversed(sides)):
                prefix = f"bench{number}-{at}-"
                cluster.tool("tsdb-tables", prefix, "GZ", "DIFF")
                sample = run(cluster, prefix, loads, points, options.hosts, more)
                sample["bytes a point"] = bytes_of_a_point(cluster, prefix + TABLES["data"], len(loads) * points)
                samples[name].append(sample)
                print(name, json.dumps({row: round(value, 2) for row, value in sample.items()}), file=sys.stderr)
                cluster.tool("drop", *(prefix + table for table in TABLES.values()))
    print_table(f"{options.hosts} hosts, {options.hours} h, {points:,} points, {options.rounds} rounds", list(samples), samples)


if __name__ == "__main__":
    main()
