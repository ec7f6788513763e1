#!/usr/bin/env python3
"""Runs the libFuzzer programs of a build, some at a time, each for a while or up to a number of inputs.

A crash leaves its input in <build>/findings/ and fails the run; a canary that is not found fails
it too. New inputs that reach new code are kept in <build>/corpus/<target>/, never in the tree, and
what was executed until a run ended well is added up in <build>/executed/<target>: a run that is to
reach a number goes on where the last one stopped.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CANARY = "canary"
TURN_SECONDS = 120  # of one target that is to reach a number: what a run that is ended loses at most


def targets_listed():
    text = (HERE / "CMakeLists.txt").read_text()
    return re.findall(r"^\s*halite_fuzzer\((\w+)", text, re.MULTILINE)


class Target:
    def __init__(self, build, name):
        self.build = build
        self.name = name
        self.record = build / "executed" / name
        self.record.parent.mkdir(parents=True, exist_ok=True)
        self.executed = int(self.record.read_text()) if self.record.exists() else 0
        self.new = 0  # of this run
        self.seconds = 0.0
        self.trouble = None

    def fuzz(self, limits):
        """For one run with these options of libFuzzer."""
        grown = self.build / "corpus" / self.name
        findings = self.build / "findings"
        grown.mkdir(parents=True, exist_ok=True)
        findings.mkdir(parents=True, exist_ok=True)
        command = [
            str(self.build / f"{self.name}_fuzz"),
            *limits,
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-max_len=65536",
            "-print_final_stats=1",
            f"-artifact_prefix={findings}/{self.name}-",
            str(grown),
            str(HERE / "corpus" / self.name),
        ]
        dictionary = HERE / "corpus" / f"{self.name}.dict"
        if dictionary.exists():
            command.insert(1, f"-dict={dictionary}")
        environment = dict(os.environ, ASAN_SYMBOLIZER_PATH="/usr/bin/llvm-symbolizer-19")
        began = time.monotonic()
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False
        )
        self.seconds += time.monotonic() - began
        output = done.stdout.decode(errors="replace")
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
        if self.name == CANARY:
            if done.returncode == 0 or "libFuzzer: deadly signal" not in output:
                self.trouble = "THE CANARY WAS NOT FOUND\n" + output
        elif done.returncode != 0 or executed is None:
            self.trouble = output[-6000:]
        else:
            self.new += int(executed.group(1))
            self.executed += int(executed.group(1))
            self.record.write_text(f"{self.executed}\n")

    def fuzz_up_to(self, executions):
        while self.executed < executions and self.trouble is None:
            self.fuzz([f"-runs={executions - self.executed}", f"-max_total_time={TURN_SECONDS}"])
            if self.name == CANARY:
                break

    def told(self):
        if self.trouble is not None:
            return self.trouble
        if self.name == CANARY:
            return "found, as it must be"
        return (f"{self.new:,} inputs, {self.new / max(self.seconds, 1):,.0f} a second, nothing found; "
                f"{self.executed:,} in all runs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--time", type=int, default=60, help="seconds a target")
    parser.add_argument("--executions", type=int, help="instead: up to so many inputs in all runs of this build")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("targets", nargs="*", help="all of them when none is named")
    options = parser.parse_args()

    listed = targets_listed()
    unknown = sorted(set(options.targets) - set(listed))
    if unknown:
        sys.exit(f"no such fuzzer: {', '.join(unknown)}; there are {', '.join(listed)}")

    def run(name):
        target = Target(options.build.resolve(), name)
        if options.executions is None:
            target.fuzz([f"-max_total_time={options.time}"])
        else:
            target.fuzz_up_to(options.executions)
        return target

    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(run, name) for name in options.targets or listed]
        for future in concurrent.futures.as_completed(running):
            target = future.result()
            print(f"{target.name}: {target.told()}", flush=True)
            if target.trouble is not None:
                failed.append(target.name)
    if failed:
        sys.exit(f"failed: {', '.join(sorted(failed))}; inputs are in {options.build}/findings/")


if __name__ == "__main__":
    main()
