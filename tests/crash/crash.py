#!/usr/bin/env python3
"""Kills servers under load, or cuts their power, and looks whether a point is missing.

Everything is chosen by the seed but what the machine's own timing decides. A directory lives for
--rounds-per-directory rounds, so that damage adds up; one in which something was wrong is kept.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

from ledger import Ledger
from load import Load
from profile import PROFILES, SETTINGS, CrashClock
from server import CUT, Server, ServerTrouble

COMPLAINTS_SHOWN = 10
PLACES = ("", "", "engine/log", "engine/chunks", "engine/chunks", "rocksdb")


class Failure(Exception):
    pass


class Directory:
    """One data directory through its rounds."""

    def __init__(self, options, kind, number, totals):
        self.options = options
        self.kind = kind
        self.totals = totals
        self.choose = random.Random(f"{options.seed} {kind} {number}")
        self.profile = PROFILES[number % len(PROFILES)]
        self.clock = CrashClock(self.profile.speed)
        self.ledger = Ledger()
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"halite-crash-{kind}-", dir=options.dir))
        self.server = None

    def _launch(self, after=0):
        """Starts a process; after > 0: its power fails at that change of the disk."""
        # The shipping binary wherever nothing has to be put underneath it.
        shipping = self.kind == "kill" and self.profile.speed == 1
        crash = {
            "DISK": "real" if self.kind == "kill" else self.options.disk,
            "SEED": self.choose.getrandbits(31),
            "AFTER": after,
            "AT": self.choose.choice(PLACES),
            "CLOCK": self.clock,
        }
        self.server = Server(self.options.halite if shipping else self.options.halite_crash,
                             self.path / "data", SETTINGS | self.profile.settings,
                             None if shipping else crash)
        self.totals["starts"] += 1

    def _kill(self, phase):
        how = signal.SIGKILL
        if self.kind == "power" and self.choose.random() < 0.7:
            how = signal.SIGUSR1
        self.server.kill(how)
        self._count(phase)

    def _count(self, phase):
        # By SIGUSR1 itself where it had not come so far as to wait for it.
        killed = (-signal.SIGKILL, -signal.SIGUSR1, CUT)
        if self.server.process.returncode not in killed:
            raise Failure(f"it died by itself ({self.server.process.returncode}):\n"
                          f"{self.server.log_text()}")
        if phase == "load" and list((self.path / "data/engine/chunks").glob("*.new")):
            phase = "flush"  # or sealing, by itself
        self.totals[f"killed in {phase}"] += 1
        for line in self.server.log:
            if line.startswith("the power fails at "):
                place = re.search("engine/log|engine/chunks|rocksdb|$", line).group() or "/"
                self.totals[f"power cut at a change of {place}"] += 1

    def start(self):
        """Starts it, and kills it again before it listens, at times several times."""
        while self.choose.random() < 0.3:
            if self.kind == "power" and self.choose.random() < 0.7:
                self._launch(after=self.choose.randrange(1, 120))
                if self.server.listens():
                    self._kill("start")  # it needed fewer changes
                    continue
                self._count("start")
            else:
                self._launch()
                self.server.listens(self.choose.random() * 0.1)
                self._kill("start")
        self._launch(after=self._cut_under_load())
        while not self.server.listens():
            self._count("start")
            self._launch()

    def _cut_under_load(self):
        if self.kind == "kill" or self.choose.random() < 0.5:
            return 0
        return int(100 * 2 ** (self.choose.random() * 6))

    def round(self, number):
        self.start()
        self.check()
        load = Load(self.server, self.ledger, self.profile, self.clock, number,
                    self.choose.getrandbits(32))
        load.start()
        moment = self.choose.choice((0.1, 0.5, 2.0)) * self.choose.random() + 0.1
        if self.server.ended(moment):
            load.join()
            self._count(load.phase)
        else:
            counters = self.server.counters()
            self._kill(load.under_way or "load")
            load.join()
            for name, count in counters.items():
                self.totals[name] += count
        self.totals["flushes asked for"] += load.flushes
        self.totals["seals asked for"] += load.seals
        for refusal in load.refusals:
            if self.profile.speed == 1 or "retention" not in refusal:
                raise Failure(f"refused: {refusal}")

    def check(self):
        """Everything that was ever sent to this directory."""
        try:
            known = self.server.get_json("/api/suggest?type=metrics&max=1000000")
            complaints = []
            stored_points = 0
            for metric in sorted({*self.ledger.metrics, *known}):
                now = self.clock()
                stored = self.server.stored(metric, 1, now * 2) if metric in known else {}
                ttl = self.profile.ttl_ms(metric)
                oldest = (now - ttl, self.clock() - ttl) if ttl else (0, 0)
                self.ledger.metrics.setdefault(metric, {})
                right, wrong = self.ledger.check(metric, stored, *oldest)
                stored_points += right
                complaints += wrong
        except (OSError, ServerTrouble) as error:
            if self.server.ended(1) and self.server.process.returncode == CUT:
                self._count("reading")  # a power cut that was still to come
                self.start()
                self.check()
                return
            raise Failure(f"reading back: {error}\n{self.server.log_text()}") from error
        self.totals["checks"] += 1
        self.totals["points read back"] += stored_points
        for kind, _ in complaints:
            self.totals[kind] += 1
        if complaints:
            shown = "\n".join(f"  {kind}: {text}" for kind, text in complaints[:COMPLAINTS_SHOWN])
            raise Failure(f"{len(complaints)} points are wrong:\n{shown}\n{self.server.log_text()}")

    def finish(self):
        """A last look; then it has to stop in order, and to have everything after that, too."""
        for _ in range(2):
            self._launch()
            if not self.server.listens():
                raise Failure(f"it did not start:\n{self.server.log_text()}")
            self.check()
            if code := self.server.terminate():
                raise Failure(f"exit code {code}:\n{self.server.log_text()}")

    def close(self, keep):
        if self.server is not None:
            self.server.kill()
        self.totals["sent"] += self.ledger.sent
        self.totals["acknowledged"] += self.ledger.acknowledged
        self.totals["deleted"] += self.ledger.deleted
        if not keep:
            shutil.rmtree(self.path)


def run(options, kind, totals):
    """All rounds of one kind; whether all was well."""
    directory = None
    number = 0
    try:
        for number in range(options.rounds):
            if number % options.rounds_per_directory == 0:
                if directory is not None:
                    directory.finish()
                    directory.close(keep=False)
                directory = Directory(options, kind, number // options.rounds_per_directory, totals)
            directory.round(number)
            totals["rounds"] += 1
            print(f"{kind} {number + 1}/{options.rounds}: {directory.profile.name}, "
                  f"{directory.ledger.acknowledged} points acknowledged here", flush=True)
        directory.finish()
        directory.close(keep=False)
        return True
    except (Failure, ServerTrouble) as failure:
        print(f"FAILED: --seed {options.seed} --kind {kind} round {number + 1}, "
              f"{directory.profile.name}, {directory.path} is kept\n{failure}", flush=True)
        directory.close(keep=True)
        return False


def print_table(results):
    rows = ["rounds", "starts", "checks", "sent", "acknowledged", "deleted", "points read back", "lost",
            "changed", "invented", "expired"]
    for totals in results.values():
        rows += sorted(name for name in totals if name not in rows)
    print(f"\n{'':36}" + "".join(f"{kind:>14}" for kind in results))
    for row in rows:
        print(f"{row:36}" + "".join(f"{int(totals[row]):>14,}" for totals in results.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halite", type=pathlib.Path, required=True)
    parser.add_argument("--halite-crash", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--rounds-per-directory", type=int, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--kind", choices=("kill", "power", "both"), default="both")
    parser.add_argument("--dir", type=pathlib.Path, help="where data directories are made (/tmp)")
    parser.add_argument("--disk", choices=("forgets", "lies"), default="forgets",
                        help="of power cuts; one that lies must be found out")
    options = parser.parse_args()
    print(f"--seed {options.seed}", flush=True)
    results = {}
    well = True
    began = time.monotonic()
    for kind in ("kill", "power") if options.kind == "both" else (options.kind,):
        results[kind] = collections.Counter()
        well = run(options, kind, results[kind]) and well
    print_table(results)
    print(f"{time.monotonic() - began:.0f} s, {os.cpu_count()} processors")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
