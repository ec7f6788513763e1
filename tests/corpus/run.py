#!/usr/bin/env python3
"""Plays the recorded conversations to the real binary and compares the failures with the list of those expected.

    run.py --halite build/dev/halite [--store memory|rocksdb|engine|hbase] [--unrest] [--only AREA_OR_SCENARIO[,..]] [-v]

A server for each profile, with an opentsdb.conf made of profiles.json. Scenarios expected to fail get little time to
settle, all others ten seconds."""
import argparse
import concurrent.futures
import os
import sys
import tempfile
import threading
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import replay  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

SETTLE_SECONDS = 10.0
SETTLE_SECONDS_OF_FAILING = 0.3
SERVERS_AT_ONCE = 3


def expected_failures():
    """{scenario: reason}"""
    expected = {}
    with open(os.path.join(HERE, "expected_failures.txt"), encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, reason = line.split(None, 1)
            if name in expected:
                raise SystemExit(f"expected_failures.txt names {name} twice")
            expected[name] = reason
    return expected


class Unrest:
    """Flushes and seals all the while, so that every answer is read from points on their way."""

    # As small as settings go, or at once.
    SETTINGS = ["engine.head_freeze_bytes=1MiB", "engine.head_bytes_max=2MiB", "engine.head_age_max_ms=1s",
                "engine.seal_quiet_ms=0ms", "engine.log_segment_bytes=16MiB", "engine.block_cache_bytes=1MiB",
                "engine.expiry_interval_ms=1s"]
    PAUSE_SECONDS = 0.02

    def __init__(self, server):
        self._server = server
        self._over = threading.Event()
        self.refused = []
        self.rounds = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while self.rounds == 0 or not self._over.wait(self.PAUSE_SECONDS):
                self.rounds += 1
                # Two flushes, so that there are rows to merge and slots that are sealed in part.
                for what in ("flush", "flush", "seal"):
                    status, body = self._server.request("POST", f"/api/admin/{what}")
                    if status >= 300:
                        self.refused.append(f"{what}: {status} {body[:300]!r}")
        except OSError as error:
            self.refused.append(str(error))

    def end(self):
        """What went wrong with it."""
        self._over.set()
        self._thread.join()
        return self.refused[:3]


def write_conf(profile):
    """The path of an opentsdb.conf with the properties of a profile."""
    every = replay.find_profiles([HERE])
    properties = {**every["default"], **every["profiles"][profile]}
    with tempfile.NamedTemporaryFile("w", prefix=f"corpus-{profile}-", suffix=".conf", delete=False,
                                     encoding="utf-8") as out:
        for key, value in properties.items():
            out.write(f"{key} = {value}\n".replace("{{prefix}}", ""))
    return out.name


def play_profile(options, profile, scenarios, expected):
    """([(scenario, step number, difference, whether it counts)], the server's exit code)"""
    conf = write_conf(profile)
    settings = list(Unrest.SETTINGS) if options.unrest else []
    arguments = []
    if options.store == "hbase":
        # Each server has tables of its own on the cluster that ./dev test-hbase has started. Rows of two series are
        # already scanned in parts.
        arguments = ["--hbase-quorum", os.environ["HALITE_TEST_HBASE"]]
        settings += [f"hbase.table_prefix=c{os.getpid()}-{profile}-", "hbase.compression=NONE", "hbase.encoding=NONE",
                     "hbase.scan_part_series_min=1"]
    server = HaliteServer("--opentsdb-conf", conf, *arguments,
                          *[word for setting in settings for word in ("--set", setting)], store=options.store)
    unrest = Unrest(server) if options.unrest else None
    differences = []
    try:
        target = (server.url, ("127.0.0.1", server.port))
        for scenario in scenarios:
            settle = SETTLE_SECONDS_OF_FAILING if scenario["name"] in expected else SETTLE_SECONDS
            manner = types.SimpleNamespace(settle=settle, strict_numbers=False)
            for number, step, difference in replay.play(scenario, target, manner):
                if difference:
                    counts = not (step.get("quirk") or scenario.get("quirk"))
                    differences.append((scenario["name"], number, difference, counts))
    finally:
        for trouble in unrest.end() if unrest else []:
            differences.append((profile, 0, trouble, True))
        code = server.stop()
        if code != 0:
            print(server.log_text()[-8000:])
        os.unlink(conf)
    return differences, code


def load_scenarios(only):
    by_profile = {}
    for path, raw in replay.load([os.path.join(HERE, "conversations")]):
        scenario = replay.parse_json(raw)
        names = (scenario["area"], scenario["name"])
        if only and not any(name.startswith(wanted) for name in names for wanted in only.split(",")):
            continue
        by_profile.setdefault(scenario["profile"], []).append(scenario)
    return by_profile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--store", default="memory", choices=["memory", "rocksdb", "engine", "hbase"])
    parser.add_argument("--unrest", action="store_true", help="flush and seal all the while (engine)")
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true", help="show expected differences and quirks as well")
    options = parser.parse_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    expected = expected_failures()
    by_profile = load_scenarios(options.only)
    played = {scenario["name"] for scenarios in by_profile.values() for scenario in scenarios}
    wrong = [f"{name}: no such scenario" for name in expected if not options.only and name not in played]
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(SERVERS_AT_ONCE) as pool:
        runs = {profile: pool.submit(play_profile, options, profile, scenarios, expected)
                for profile, scenarios in by_profile.items()}
        for profile, run in runs.items():
            differences, code = run.result()
            if code != 0:
                wrong.append(f"the server of profile {profile} ended with {code}")
            for name, number, difference, counts in differences:
                if counts:
                    failed.add(name)
                text = f"{name} step {number}: {difference}"
                if counts and name not in expected:
                    wrong.append(text)
                elif options.v:
                    print("expected:" if counts else "quirk:", text)
    for name in sorted(set(expected) & played - failed):
        wrong.append(f"{name} passes: take it out of expected_failures.txt")
    for text in wrong:
        print(text)
    print(f"{len(played)} scenarios with the {options.store} store, {len(failed)} fail, {len(set(expected) & failed)} of them expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
