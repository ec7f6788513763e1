#!/usr/bin/env python3
"""Kills servers under load and imports, cuts their power, fills their disks, fails their syncs, flips their bits,
and looks whether a point is missing.

Everything is chosen by the seed but what the machine's own timing decides. A directory lives for
--rounds-per-directory rounds, so that damage adds up; one in which something was wrong is kept.
"""

import argparse
import collections
import os
import pathlib
import sys
import time

from bit_flips import FlipsDirectory
from directory import Directory, Failure
from full_disk import FullDirectory, why_no_disk
from imports import ImportDirectory, ImportPowerDirectory
from power import PowerDirectory, PreloadedDirectory, SyncDirectory
from server import ServerTrouble

KINDS = {kind.kind: kind for kind in (Directory, PowerDirectory, PreloadedDirectory, SyncDirectory,
                                      FullDirectory, FlipsDirectory, ImportDirectory, ImportPowerDirectory)}
ROUNDS_OF_ALL_PROTOCOLS = 40  # by then each had its turn many times


def run(options, kind, totals):
    """All rounds of one kind; whether all was well."""
    directory = None
    number = 0
    began = time.monotonic()
    lives = 1 if kind == "flips" else options.rounds_per_directory
    try:
        for number in range(options.rounds):
            if options.minutes and time.monotonic() - began > 60 * options.minutes:
                break
            if number % lives == 0:
                if directory is not None:
                    directory.finish()
                    directory.close(keep=False)
                directory = KINDS[kind](options, number // lives, totals)
            directory.round(number)
            totals["rounds"] += 1
            many = f", {directory.many.points} of many series" if directory.many else ""
            print(f"{kind} {number + 1}/{options.rounds}: {directory.profile.name}, "
                  f"{directory.ledger.acknowledged} points acknowledged here{many}", flush=True)
        directory.finish()
        if directory.views_wanted and not options.series:
            expect_views(totals)
        if totals["rounds"] >= ROUNDS_OF_ALL_PROTOCOLS:
            expect_protocols(totals, directory.protocols)
        directory.close(keep=False)
        return True
    except (Failure, ServerTrouble, AssertionError) as failure:
        where = f"{directory.profile.name}, {directory.path} is kept" if directory else "no directory"
        print(f"FAILED: --seed {options.seed} --kind {kind} round {number + 1}, {where}\n{failure}",
              flush=True)
        if directory:
            directory.close(keep=True)
        return False


def expect_views(totals):
    """Without a point there is nothing to ask, as in a few rounds whose power is cut early."""
    asked = totals["answers read back"] > 0 or totals["rounds"] >= 10
    if asked and totals["checks in which views answered"] == 0:
        raise Failure("no view answered a query in any round")


def expect_protocols(totals, protocols):
    """Each must have stored a point."""
    missing = [one.name for one in protocols
               if not totals[f"{one.name}, {'acknowledged' if one.answered else 'read back'}"]]
    if missing:
        raise Failure(f"no point was stored by {', '.join(missing)}")


def print_table(results):
    rows = ["rounds", "starts", "checks", "sent", "acknowledged", "deleted", "points read back", "lost",
            "changed", "invented", "expired", "increments sent", "increments acknowledged", "sums read back",
            "sums wrong", "answers read back", "views wrong", "checks in which views answered"]
    for totals in results.values():
        rows += sorted(name for name in totals if name not in rows)
    print(f"\n{'':36}" + "".join(f"{kind:>14}" for kind in results))
    for row in rows:
        print(f"{row:36}" + "".join(f"{int(totals[row]):>14,}" for totals in results.values()))


def kinds_wanted(options):
    wanted = list(KINDS) if options.kind == "all" else [options.kind]
    few = options.series > 0 and "with --series"
    impossible = {"sync": few, "flips": few, "import": few, "import-power": few, "preloaded": options.preload is None and "without --preload",
                  "full": few or ("full" in wanted and why_no_disk())}
    for kind in wanted:
        if impossible.get(kind):
            print(f"{kind} is left out {impossible[kind]}", flush=True)
    return [kind for kind in wanted if not impossible.get(kind)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    program = lambda text: pathlib.Path(text).resolve()
    parser.add_argument("--halite", type=program, required=True)
    parser.add_argument("--halite-crash", type=program, required=True)
    parser.add_argument("--preload", type=program, help="build/*/libforgetful_disk.so")
    parser.add_argument("--rounds", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--minutes", type=float, help="of each kind, after which no round begins")
    parser.add_argument("--rounds-per-directory", type=int, help="(20; with --series all)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--kind", choices=(*KINDS, "all"), default="all")
    parser.add_argument("--dir", type=pathlib.Path, help="where data directories are made (/tmp)")
    parser.add_argument("--series", type=int, default=0, help="so many more series in each directory, for kill, "
                        "power and preloaded; a step of all in each round (0)")
    parser.add_argument("--point-load", type=program, help="build/*/point_load, for --series")
    parser.add_argument("--disk", choices=("forgets", "lies"), default="forgets",
                        help="of power cuts; one that lies must be found out")
    parser.add_argument("--canary", nargs="?", const="point", choices=("point", "increment", "repeat", "view"),
                        help="claims a point (or an increment) that was never sent, which must be missed; or "
                        "repeats requests with other keys, which must be found to count twice; or takes "
                        "answers of views from before the load, which must be found to differ from the points")
    options = parser.parse_args()
    if options.series and not options.point_load:
        parser.error("--series needs --point-load")
    options.rounds_per_directory = options.rounds_per_directory or (options.rounds if options.series else 20)
    print(f"--seed {options.seed}", flush=True)
    results = {}
    well = True
    began = time.monotonic()
    for kind in kinds_wanted(options):
        results[kind] = collections.Counter()
        well = run(options, kind, results[kind]) and well
    if not results:
        return 1
    print_table(results)
    print(f"{time.monotonic() - began:.0f} s, {os.cpu_count()} processors")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
