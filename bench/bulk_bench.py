#!/usr/bin/env python3
"""Points that are loaded into HBase as files, beside OpenTSDB's `tsdb import` of the same text.

    bench/bulk_bench.py --loader build/release/bulk_loader [--hosts 200] [--hours 24] [--step 10] [--rounds 3] [--codec GZ]

Starts HBase as the tests do (tests/hbase). Each round makes new tables for each. Prints medians: points by second of the
CPU of the loader and HBase together (without what HBase uses when it is idle), by that of the loader alone, by second of
the clock until the loader ends; and the bytes of a point in HBase's files as they are then, and after a major compaction.
OpenTSDB once writes cells, once appends; its client (asynchbase) runs in the importing JVM, as always."""

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", "hbase"), os.path.join(HERE, "..", "tests", "support")]
import jars  # noqa: E402
from cluster import JVM, Cluster  # noqa: E402

START = 1356998400
TABLES = {"data": "tsdb", "uid": "tsdb-uid", "tree": "tsdb-tree", "meta": "tsdb-meta"}
# The settings of OpenTSDB.
WAYS = {"files": None, "import, cells": {}, "import, appends": {"tsd.storage.enable_appends": "true"}}
IDLE_SECONDS = 10
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def idle_rate(pid):
    """CPU seconds a second of an HBase that has nothing to do."""
    before = cpu_seconds(pid)
    time.sleep(IDLE_SECONDS)
    return (cpu_seconds(pid) - before) / IDLE_SECONDS


def await_idle(pid):
    while True:
        before = cpu_seconds(pid)
        time.sleep(1)
        if cpu_seconds(pid) - before < 0.2:
            return before


def write_lines(path, options):
    """Series by series, as from `tsdb scan --import`; integers and values with two decimals."""
    numbers = random.Random(7)
    count = 0
    with open(path, "w", encoding="ascii") as out:
        for host in range(options.hosts):
            value = 1000
            for time_s in range(START, START + 3600 * options.hours, options.step):
                value = max(0, value + numbers.randrange(-20, 21))
                text = str(value) if host % 2 == 0 else f"{value / 100:.2f}"
                out.write(f"bulk.load {time_s} {text} host=web{host:04} dc=lga\n")
                count += 1
    return count


def opentsdb_import(cluster, prefix, path, settings, folder):
    keys = {"tsd.core.auto_create_metrics": "true", "tsd.storage.hbase.zk_quorum": cluster.quorum,
            "tsd.storage.enable_compaction": "false", "tsd.core.plugin_path": "",
            **{f"tsd.storage.hbase.{kind}_table": prefix + name for kind, name in TABLES.items()}, **settings}
    conf = os.path.join(folder, "import.conf")
    with open(conf, "w", encoding="utf-8") as out:
        out.writelines(f"{key} = {value}\n" for key, value in keys.items())
    class_path = os.path.dirname(os.path.abspath(jars.__file__)) + ":" + jars.class_path("opentsdb")
    return ["java", "-Xmx1g", *JVM, "-cp", class_path, "net.opentsdb.tools.TextImporter", f"--config={conf}", path], None


def file_load(cluster, prefix, path, options, folder):
    return [options.loader, cluster.quorum, prefix, f"file://{folder}/load"], path


def size(cluster, table):
    return int(re.search(r"bytes=(\d+)", cluster.tool("size", table).stdout).group(1))


def measure(cluster, prefix, command, stdin, points, folder):
    hbase = cluster.servers["standalone"].process.pid
    await_idle(hbase)
    idle = idle_rate(hbase)
    theirs = cpu_seconds(hbase)
    before = os.times()
    begun = time.monotonic()
    with open(stdin or os.devnull, encoding="ascii") as text, open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        done = subprocess.run(command, stdin=text, stdout=log, stderr=log, check=False)
    took = time.monotonic() - begun
    after = os.times()
    if done.returncode != 0:
        with open(os.path.join(folder, "log"), encoding="utf-8") as log:
            sys.exit(log.read()[-3000:])
    mine = after.children_user + after.children_system - before.children_user - before.children_system
    theirs = await_idle(hbase) - theirs - idle * (time.monotonic() - begun - 1)
    print(f"CPU seconds: {mine:.1f} of the loader, {theirs:.1f} of HBase, idle {idle:.3f} a second", file=sys.stderr)
    cluster.tool("flush", prefix + "tsdb")
    fresh = size(cluster, prefix + "tsdb")
    cluster.tool("major", prefix + "tsdb")
    return points / (mine + theirs), points / mine, points / took, fresh / points, size(cluster, prefix + "tsdb") / points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loader", required=True)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--step", type=int, default=10, help="seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=WAYS, help="may be repeated; all by default")
    parser.add_argument("--codec", default="GZ", help="of the tables, and so of the files")
    options = parser.parse_args()
    options.loader = os.path.abspath(options.loader)
    results = {}
    with tempfile.TemporaryDirectory() as folder, Cluster(heap="2g") as cluster:
        path = os.path.join(folder, "points")
        points = write_lines(path, options)
        for number in range(options.rounds):
            for name in options.only or WAYS:
                more = WAYS[name]
                prefix = f"b{number}-{list(WAYS).index(name)}-"
                cluster.tool("tsdb-tables", prefix, options.codec, "DIFF")
                if more is None:
                    command, stdin = file_load(cluster, prefix, path, options, folder)
                    # Makes Halite's own tables.
                    subprocess.run(command, input=b"bulk.other 1356998400 1 dc=lga\n", check=True, capture_output=True)
                else:
                    command, stdin = opentsdb_import(cluster, prefix, path, more, folder)
                result = measure(cluster, prefix, command, stdin, points, folder)
                print(f"round {number} {name}: " + " ".join(f"{one:.1f}" for one in result), file=sys.stderr, flush=True)
                results.setdefault(name, []).append(result)
                cluster.tool("drop", *(prefix + table for table in TABLES.values()))
    print(f"{points} points of {options.hosts} series, codec {options.codec}\n")
    print("| | points a CPU-second, loader and HBase | loader alone | points a second | bytes a point, fresh | after a major compaction |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, rounds in results.items():
        all_cpu, own_cpu, wall, fresh, compacted = (statistics.median(column) for column in zip(*rounds))
        print(f"| {name} | {all_cpu:,.0f} | {own_cpu:,.0f} | {wall:,.0f} | {fresh:.2f} | {compacted:.2f} |")


if __name__ == "__main__":
    main()
