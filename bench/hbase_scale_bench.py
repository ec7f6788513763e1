#!/usr/bin/env python3
"""What a point costs on HBase: the figures of `halite hbase plan`, and a check of its formula with several region servers.

    bench/hbase_scale_bench.py --halite build/release/halite [--part forms|servers|memory]... [--form NAME]... [--quick]

Starts HBase as the tests do (tests/hbase), each region server in a JVM of its own. All JVMs and Halite share the
processors of this machine, so it counts CPU seconds and shares, not points a second.

forms    one region server: CPU of the daemon and of the region server, bytes of the log, of memstores and of files
         (GZ, DIFF, after a major compaction), for each write form, for rows of 36 points with two
         and with eight tags, and of 360 with two
servers  the same load with 1, 2 and 3 region servers: CPU of all together, and the share of each
memory   of the daemon, for each series"""

import argparse
import atexit
import concurrent.futures
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import hbase
from hbase import cpu_seconds
from cluster import Cluster
from halite_server import HaliteServer
from server_process import clean_environment

START = hbase.START
SALTS = 12  # a multiple of 1, 2 and 3
METRICS_SECONDS = 12  # until a region server's metrics show what happened
SALTED = ("storage.salt_width=1", f"storage.salt_buckets={SALTS}")
FORMS = {
    "cells": SALTED,
    "ring": ("storage.layout=cyclic", f"storage.salt_buckets={SALTS}"),
    "appends": (*SALTED, "hbase.appends=true"),
    "backfill": (*SALTED, "hbase.compact_batches=backfill"),
}
SHAPES = ((36, 2), (36, 8), (360, 2))  # points of an hour, tags


def lines(series, per_hour, tags, hour, by_series):
    """The points of an hour, as bytes for each connection; values are walks of integers."""
    step, at = 3600 // per_hour, START + 3600 * hour
    values = hbase.values_of(min(series, 1000), per_hour)
    names = [f"host=h{n}" + "".join(f" tag{t}=v{n % (10 + t)}" for t in range(1, tags)) + "\n" for n in range(series)]

    def line(n, i):
        return f"put scale {at + step * i} {values[n % len(values)][i]} {names[n]}"

    texts = []
    for first in range(hbase.CONNECTIONS):
        mine = range(first, series, hbase.CONNECTIONS)
        order = ((n, i) for n in mine for i in range(per_hour)) if by_series else ((n, i) for i in range(per_hour) for n in mine)
        texts.append("".join(line(n, i) for n, i in order).encode())
    return texts


def send(port, text):
    """Returns when all of it is stored."""
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.sendall(text + b"sync\nexit\n")
        with connection.makefile("rb") as answer:
            told = answer.read()
    if told != b"synced\n":
        raise RuntimeError(f"it said {told[:300]!r}")


class Rig:
    """A Halite on tables of its own."""

    def __init__(self, cluster, prefix, settings):
        self.cluster = cluster
        self.table = prefix + "tsdb"
        self.settings = (f"hbase.quorum={cluster.quorum}", f"hbase.table_prefix={prefix}", *settings)
        self.words = [word for one in self.settings for word in ("--set", one)]
        self.tell("create-tables")
        cluster.tool("spread", self.table)
        self.server = HaliteServer("--set", "self_metrics.enabled=false", *self.words, store="hbase")
        atexit.register(self.server.process.kill)  # after an error
        while self.server.request("GET", "/-/ready")[0] != 200:
            time.sleep(0.1)
        self.pids = {"daemon": self.server.process.pid,
                     **{name: one.process.pid for name, one in cluster.servers.items() if name.startswith("rs")}}

    def tell(self, command):
        return subprocess.run([os.environ["HALITE_BIN"], "hbase", command, *self.words], check=True, text=True,
                              stdout=subprocess.PIPE, env=clean_environment()).stdout

    def cpu(self):
        return {name: cpu_seconds(pid) for name, pid in self.pids.items()}

    def idle(self):
        """CPU seconds of each process from when they all do hardly anything."""
        while True:
            before = self.cpu()
            time.sleep(1)
            after = self.cpu()
            if after["daemon"] - before["daemon"] < 0.03 and sum(after.values()) - sum(before.values()) < 0.25:
                return before

    def cost(self, work):
        """CPU seconds by process that `work` causes."""
        before = self.idle()
        work()
        after = self.idle()
        return {name: after[name] - before[name] for name in before}

    def send(self, texts):
        with concurrent.futures.ThreadPoolExecutor(len(texts)) as pool:
            for sender in [pool.submit(send, self.server.port, text) for text in texts]:
                sender.result()

    def metrics(self, *names):
        """Sums over the region servers."""
        time.sleep(METRICS_SECONDS)
        total = [0] * len(names)
        for name in self.pids:
            if name != "daemon":
                port = self.cluster.port[name + "_web"]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server") as told:
                    [bean] = json.load(told)["beans"]
                total = [sum(pair) for pair in zip(total, (bean[name] for name in names))]
        return total

    def regions(self):
        """{server: (regions, writes)}"""
        rows = self.tell("regions").split("\n\n")[1].splitlines()[1:]
        found = {}
        for row in rows:
            words = row.split()
            found[self.cluster.region_server_of(words[0].replace(":", ","))] = (int(words[1]), int(words[3]))
        return found

    def bytes_stored(self):
        self.cluster.tool("major", self.table, seconds=600)
        return int(re.search(r"bytes=(\d+)", self.cluster.tool("size", self.table).stdout).group(1))

    def log_bytes(self):
        total = 0
        for folder in ("WALs", "oldWALs"):
            for where, _, files in os.walk(os.path.join(self.cluster.folder, "data", folder)):
                for name in files:
                    try:
                        total += os.stat(os.path.join(where, name)).st_size
                    except FileNotFoundError:
                        pass  # it was moved or removed meanwhile
        return total

    def count(self, hour, wanted):
        at = START + 3600 * hour
        status, body = self.server.request("GET", f"/api/query?start={at}&end={at + 3599}&m=sum:1h-count:scale")
        found = sum(json.loads(body)[0]["dps"].values()) if status == 200 else body
        if found != wanted:
            raise RuntimeError(f"hour {hour} has {found} points, not {wanted}")

    def close(self):
        self.server.stop()
        tables = [line.split("\t")[0] for line in self.cluster.tool("list").stdout.splitlines()]
        prefix = self.table.removesuffix("tsdb")
        self.cluster.tool("drop", *(name for name in tables if name.startswith(prefix)))


def region_servers(cost):
    return sum(seconds for name, seconds in cost.items() if name.startswith("rs"))


def measure_form(rig, form, points, per_hour, tags):
    """Figures of one shape. Hour 0 has a point of each series, so that hour 1 has known series only."""
    series = points // per_hour
    first = lines(series, 1, tags, 0, False)
    texts = lines(series, per_hour, tags, 1, form == "backfill")
    new = rig.cost(lambda: rig.send(first))
    stored = rig.bytes_stored()
    log, [memory] = rig.log_bytes(), rig.metrics("memStoreHeapSize")
    put = rig.cost(lambda: rig.send(texts))
    memory = rig.metrics("memStoreHeapSize")[0] - memory
    log = rig.log_bytes() - log
    flush = rig.cost(lambda: rig.cluster.tool("flush", rig.table))
    compact = rig.cost(lambda: rig.cluster.tool("major", rig.table, seconds=600))
    stored = rig.bytes_stored() - stored
    rig.count(1, points)
    million = points / 1e6
    return {"daemon s/M": put["daemon"] / million, "rs put s/M": region_servers(put) / million,
            "rs flush s/M": region_servers(flush) / million, "rs rewrite s/M": region_servers(compact) / million,
            "log B": log / points, "memstore B": memory / points, "stored B": stored / points,
            "new series: daemon us": new["daemon"] / series * 1e6, "new series: rs us": region_servers(new) / series * 1e6}


def print_rows(title, rows):
    names = list(rows[0][1])
    print(f"\n| {title} | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for name, row in rows:
        print(f"| {name} | {' | '.join(f'{value:,.2f}' for value in row.values())} |", flush=True)


def run_forms(points, forms):
    with Cluster(1, heap="2g") as cluster:
        warm = Rig(cluster, "warm-", FORMS["cells"])
        for hour in range(4):
            warm.send(lines(points // 360, 360, 2, hour, False))
            warm.bytes_stored()
        warm.close()
        rows = []
        for form, settings in ((form, FORMS[form]) for form in forms):
            for number, (per_hour, tags) in enumerate(SHAPES):
                rig = Rig(cluster, f"{form}{number}-", settings)
                # Each append rewrites what the row has: HBase refuses some if many come at once.
                row = measure_form(rig, form, points // 5 if form == "appends" else points, per_hour, tags)
                rig.close()
                print(form, per_hour, tags, row, file=sys.stderr, flush=True)
                rows.append((f"{form}, {per_hour} points an hour, {tags} tags", row))
        print_rows(f"{points:,} points", rows)


def run_servers(counts, points, rounds):
    rows = []
    for count in counts:
        with Cluster(count, heap="1500m") as cluster:
            rig = Rig(cluster, "scale-", FORMS["cells"])
            series = points // 360
            # As much for each server, as its JVM compiles what it does often.
            measured = range(2 * count, (2 + rounds) * count)
            for hour in range(measured.start):
                rig.send(lines(series, 360, 2, hour, False))
            total = {}
            before = rig.regions()
            for hour in measured:
                texts = lines(series, 360, 2, hour, False)
                for name, seconds in rig.cost(lambda: rig.send(texts)).items():
                    total[name] = total.get(name, 0) + seconds
                rig.count(hour, series * 360)
            time.sleep(2)
            after = rig.regions()
            rig.close()
            million = series * 360 * len(measured) / 1e6
            writes = {name: after[name][1] - before[name][1] for name in after}
            servers = region_servers(total)
            rows.append((f"{count}", {
                "daemon s/M": total["daemon"] / million, "region servers s/M": servers / million,
                "busiest: regions %": 100 * max(row[0] for row in after.values()) / SALTS,
                "busiest: writes %": 100 * max(writes.values()) / sum(writes.values()),
                "busiest: CPU %": 100 * max(seconds for name, seconds in total.items() if name.startswith("rs")) / servers,
                "fair share %": 100 / count}))
            print(count, rows[-1][1], file=sys.stderr, flush=True)
    print_rows(f"region servers; {points * rounds:,} points for each, {SALTS} salts", rows)


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return int(re.search(r"RssAnon:\s+(\d+)", status.read()).group(1)) * 1024


def run_memory(series):
    with Cluster(1, heap="2g") as cluster:
        rows = []
        for tags in (2, 8):
            rig = Rig(cluster, f"memory{tags}-", FORMS["cells"])
            rig.send(lines(1000, 1, tags, 0, False))
            before = anonymous_bytes(rig.pids["daemon"])
            cost = rig.cost(lambda: rig.send(lines(series, 1, tags, 1, False)))
            bytes_each = (anonymous_bytes(rig.pids["daemon"]) - before) / series
            rig.close()
            rows.append((f"{tags} tags", {"bytes a series": bytes_each, "daemon us a new series": cost["daemon"] / series * 1e6,
                                          "region server us": region_servers(cost) / series * 1e6}))
            print(rows[-1], file=sys.stderr, flush=True)
        print_rows(f"{series:,} series", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--part", choices=("forms", "servers", "memory"), action="append")
    parser.add_argument("--form", choices=tuple(FORMS), action="append")
    parser.add_argument("--servers", default="1,2,3", help="numbers of region servers")
    parser.add_argument("--quick", action="store_true", help="a few points, to see that it works")
    options = parser.parse_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    parts = options.part or ["forms", "servers", "memory"]
    points = 36_000 if options.quick else 360_000
    if "forms" in parts:
        run_forms(points, options.form or FORMS)
    if "servers" in parts:
        run_servers([int(word) for word in options.servers.split(",")], points, 1 if options.quick else 3)
    if "memory" in parts:
        run_memory(5_000 if options.quick else 30_000)


if __name__ == "__main__":
    main()
