#!/usr/bin/env python3
"""Runs the libFuzzer programs of a build, some at a time, each for a while.

A crash leaves its input in <build>/findings/ and fails the run; a canary that is not found fails
it too. New inputs that reach new code are kept in <build>/corpus/<target>/, never in the tree.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CANARY = "canary"


def targets_listed():
    text = (HERE / "CMakeLists.txt").read_text()
    return re.findall(r"^\s*halite_fuzzer\((\w+)", text, re.MULTILINE)


def fuzz(build, target, seconds):
    """Returns (target, whether it went as it should, the end of its output)."""
    grown = build / "corpus" / target
    findings = build / "findings"
    grown.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    command = [
        str(build / f"{target}_fuzz"),
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={findings}/{target}-",
        str(grown),
        str(HERE / "corpus" / target),
    ]
    dictionary = HERE / "corpus" / f"{target}.dict"
    if dictionary.exists():
        command.insert(1, f"-dict={dictionary}")
    environment = dict(os.environ, ASAN_SYMBOLIZER_PATH="/usr/bin/llvm-symbolizer-19")
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False
    )
    output = done.stdout.decode(errors="replace")
    if target == CANARY:
        good = done.returncode != 0 and "libFuzzer: deadly signal" in output
        return target, good, "found, as it must be" if good else "THE CANARY WAS NOT FOUND\n" + output
    if done.returncode != 0:
        return target, False, output[-6000:]
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
    return target, True, f"{executed.group(1) if executed else '?'} inputs, nothing found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--time", type=int, default=60, help="seconds a target")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("targets", nargs="*", help="all of them when none is named")
    options = parser.parse_args()

    listed = targets_listed()
    unknown = sorted(set(options.targets) - set(listed))
    if unknown:
        sys.exit(f"no such fuzzer: {', '.join(unknown)}; there are {', '.join(listed)}")
    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [
            pool.submit(fuzz, options.build.resolve(), target, options.time)
            for target in options.targets or listed
        ]
        for future in concurrent.futures.as_completed(running):
            target, good, text = future.result()
            print(f"{target}: {text}", flush=True)
            if not good:
                failed.append(target)
    if failed:
        sys.exit(f"failed: {', '.join(sorted(failed))}; inputs are in {options.build}/findings/")


if __name__ == "__main__":
    main()
