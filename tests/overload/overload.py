#!/usr/bin/env python3
"""Asks more of a real server than it can do, in every way at once, and looks what it does.

It has to stay within the memory that its settings allow, to refuse in order and to count that, to
keep what it acknowledged, to go on serving those who ask for little, and to be as before after it.
"""

import argparse
import http.client
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import time

import crew
import limits
from run import Run, Trouble

DESCRIPTORS_SPARE = 500


def raise_descriptors(idle, connections):
    """So many idle connections and places as descriptors allow: (idle, connections)."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    room = hard - DESCRIPTORS_SPARE
    return min(idle, room), min(connections, idle * 4 // 5, room)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halite", type=pathlib.Path, required=True)
    parser.add_argument("--point-load", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=600, help="of overload (600)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--idle", type=int, default=10_000, help="idle connections (10,000)")
    parser.add_argument("--slow", type=int, default=150, help="slow readers (150)")
    parser.add_argument("--calm-seconds", type=float, default=10, help="measured before and after")
    parser.add_argument("--unhurried", action="store_true",
                        help="no limits of latency, rate and memory: for sanitizers")
    parser.add_argument("--canary", nargs="?", const="point", choices=("point", "memory"),
                        help="a fault that must be found: an acknowledged point that was never "
                             "sent, or an absurd limit of memory")
    parser.add_argument("--dir", type=pathlib.Path, help="where the data directory is made (/tmp)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.idle, connections = raise_descriptors(options.idle, 8000)
    settings = limits.SETTINGS | {"web.connections_max": connections}
    if options.unhurried:
        settings |= limits.UNHURRIED
    path = pathlib.Path(tempfile.mkdtemp(prefix="halite-overload-", dir=options.dir))
    print(f"--seed {options.seed} --seconds {options.seconds:.0f}, {options.idle} idle connections, "
          f"{connections} allowed, {os.cpu_count()} processors", flush=True)
    began = crew.now()
    run = Run(options, settings, path)
    try:
        run.all()
    except (Trouble, AssertionError, OSError, KeyError, http.client.HTTPException) as failure:
        run.complain(f"it ended by {type(failure).__name__}: {failure}")
    finally:
        run.close()
    print(f"{crew.now() - began:.0f} s, load average {os.getloadavg()[0]:.1f}")
    if options.canary or not run.complaints:
        shutil.rmtree(path)
    if run.complaints:
        print(f"FAILED: {'a canary' if options.canary else f'{path} is kept'}")
        for complaint in run.complaints[:40]:
            print(f"  {complaint}")
        return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
