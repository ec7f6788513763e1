#!/usr/bin/env python3
"""Faults of a real HBase under Halites that write and read: nothing acknowledged is lost, nothing is invented, memory
stays within bounds, refusals say why, and all goes on by itself.

    chaos.py --halite BIN                        each fault once (the short run, of ./dev test-hbase)
    chaos.py --halite BIN --rounds 20 --seed 7   so many, chosen by the seed (./dev chaos)"""

import argparse
import os
import random
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import faults  # noqa: E402
from cluster import Cluster, Trouble  # noqa: E402
from halite_server import HaliteServer  # noqa: E402
from server_process import ServerTrouble  # noqa: E402
from traffic import Ledger, Traffic, Watch, Wrong, check, put_settled  # noqa: E402

RECOVERY_SECONDS = 150  # until every writer and reader goes on
MEMORY_MIB_MAX = 700    # of a daemon, at its highest
UNDER_WAY_MIB_MAX = 16  # to HBase
SALTS = 8
SETTINGS = {"storage.salt_width": 1, "storage.salt_buckets": SALTS, "hbase.timeout_ms": "10s", "hbase.call_timeout_ms": "5s",
            "hbase.in_flight_bytes_max": f"{UNDER_WAY_MIB_MAX}MiB", "hbase.create_tables": "true", "self_metrics.enabled": "false"}


class Chaos:
    def __init__(self, cluster, seed, length):
        self.cluster = cluster
        self.seed = seed
        self.length = length
        self.choose = random.Random(seed)
        self.ledger = Ledger()
        self.daemons = []
        self.rounds = 0
        self.refused = 0

    def start(self, daemons):
        tables = ",".join(f"{salt:02x}" for salt in range(2, SALTS, 2))
        self.cluster.tool("tsdb-tables", "", "NONE", "NONE", tables)
        settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
        for _ in range(daemons):
            self.daemons.append(HaliteServer("--hbase-quorum", self.cluster.quorum, *settings, store="hbase"))
            self._await_ready(self.daemons[-1])
        put_settled(self.daemons[0])

    @staticmethod
    def _await_ready(daemon):
        end = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < end:
            try:
                if daemon.request("GET", "/-/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise Wrong(f"not ready within {RECOVERY_SECONDS} s")

    def round(self, name):
        began = time.monotonic()
        faults.spread(self.cluster)
        traffic = Traffic(self.daemons, self.ledger, self.rounds, self.seed)
        watches = [Watch(daemon) for daemon in self.daemons]
        self.rounds += 1
        for part in (traffic, *watches):
            part.start()
        try:
            traffic.await_progress(RECOVERY_SECONDS)
            faults.ALL[name](self.cluster, self.daemons, self.choose, self.length)
            over = time.monotonic()
            traffic.await_progress(RECOVERY_SECONDS)
            recovered = time.monotonic() - over
        finally:
            for part in (traffic, *watches):
                part.stop()
        if name == "all_away" and traffic.refused == 0:
            raise Wrong("nobody was refused while there was no HBase")
        points = check(self.ledger, self.daemons)
        self.refused += traffic.refused
        print(f"{self.rounds:3} {name:20} recovered {recovered:5.1f} s after its end; {traffic.refused} refusals; "
              f"{points} points read back by {len(self.daemons)} daemons; {self.memory_mib()} MiB, "
              f"{[watch.under_way_bytes >> 20 for watch in watches]} MiB of them under way; "
              f"{time.monotonic() - began:.0f} s", flush=True)
        for daemon in self.daemons:
            if not daemon.running():
                raise Wrong("a daemon is gone")
        if max(self.memory_mib()) > MEMORY_MIB_MAX:
            raise Wrong(f"{self.memory_mib()} MiB, {MEMORY_MIB_MAX} are allowed")
        if max(watch.under_way_bytes >> 20 for watch in watches) > UNDER_WAY_MIB_MAX:
            raise Wrong(f"more than {UNDER_WAY_MIB_MAX} MiB are under way")

    def memory_mib(self):
        found = []
        for daemon in self.daemons:
            with open(f"/proc/{daemon.process.pid}/status", encoding="utf-8") as status:
                found.append(int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) >> 10)
        return found

    def stop(self):
        for daemon in self.daemons:
            if daemon.running() and (code := daemon.terminate()) != 0:
                raise Wrong(f"a daemon ended with {code}")


def run(options):
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    folder = tempfile.mkdtemp(prefix="halite-chaos-")
    print(f"seed {seed}, logs in {folder}", flush=True)
    cluster = Cluster(options.region_servers, folder=folder, session_ms=int(1000 * options.session_seconds))
    chaos = Chaos(cluster, seed, faults.Length(options.session_seconds, options.stopped_seconds, options.away_seconds))
    names = options.faults.split(",") if options.faults else list(faults.ALL)
    if options.rounds:
        names = [chaos.choose.choice(names) for _ in range(options.rounds)]
    try:
        with cluster:
            chaos.start(options.daemons)
            for name in names:
                chaos.round(name)
            chaos.stop()
            cluster.kill_all()
    except (Wrong, ServerTrouble, Trouble) as wrong:
        print(f"FAILED in round {chaos.rounds}, seed {seed}: {wrong}", flush=True)
        for number, daemon in enumerate(chaos.daemons):
            with open(os.path.join(folder, f"halite{number}.log"), "w", encoding="utf-8") as log:
                log.write(daemon.log_text())
            daemon.kill()
        return 1
    print(f"{chaos.rounds} rounds, {chaos.ledger.sent} points sent, {chaos.ledger.acknowledged} acknowledged, "
          f"{chaos.refused} refusals; none lost, none invented", flush=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--rounds", type=int, default=0, help="0: each fault once, in order")
    parser.add_argument("--seed", type=int, help="of everything but the machines' own timing; default: a random one")
    parser.add_argument("--faults", help=f"names by commas, of {', '.join(faults.ALL)}")
    parser.add_argument("--daemons", type=int, default=2)
    parser.add_argument("--region-servers", type=int, default=2)
    parser.add_argument("--session-seconds", type=float, default=10, help="of servers with ZooKeeper")
    parser.add_argument("--stopped-seconds", type=float, default=30, help="how long a region server is, by SIGSTOP")
    parser.add_argument("--away-seconds", type=float, default=20, help="how long all servers are away (300 is a good test)")
    parsed = parser.parse_args()
    os.environ["HALITE_BIN"] = os.path.abspath(parsed.halite)
    sys.exit(run(parsed))
