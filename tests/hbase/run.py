#!/usr/bin/env python3
"""Runs a command beside a real HBase that lives as long as the command does.

    run.py [--region-servers N] [--heap 512m] [--folder DIR] -- COMMAND...

The command's environment has HALITE_TEST_HBASE, ZooKeeper's address HOST:PORT (the znode parent is /hbase), and
HALITE_TEST_HBASE_FOLDER, which has the cluster's logs (and HALITE_TEST_HBASE_TOOL, for cluster.Tables). With --folder, data and logs stay there, and the next start
finds them."""

import argparse
import os
import signal
import subprocess
import sys
import time

from cluster import Cluster
from jars import Trouble


class Interrupted(Exception):
    pass


def _interrupt(number, _frame):
    raise Interrupted(signal.Signals(number).name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--region-servers", type=int, default=0, help="each in a JVM of its own; 0: all in one")
    parser.add_argument("--heap", default="512m", help="of each server")
    parser.add_argument("--folder", help="for data and logs; default: one that is removed at the end")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("a COMMAND is wanted")
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
        options.folder = os.path.realpath(options.folder)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    started = time.monotonic()
    try:
        with Cluster(options.region_servers, options.heap, options.folder) as cluster:
            print(f"hbase: up after {time.monotonic() - started:.0f} s, quorum {cluster.quorum}", file=sys.stderr)
            environment = {**os.environ, "HALITE_TEST_HBASE": cluster.quorum,
                           "HALITE_TEST_HBASE_FOLDER": cluster.folder,
                           "HALITE_TEST_HBASE_TOOL": str(cluster.tool_port)}
            return subprocess.run(command, env=environment, check=False).returncode
    except Trouble as trouble:
        print(f"hbase: {trouble}", file=sys.stderr)
        return 1
    except Interrupted as how:
        print(f"hbase: ended by {how}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
