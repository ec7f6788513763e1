#!/usr/bin/env python3
"""Runs the libFuzzer programs of a build, some at a time, each for a while or up to a number of inputs.

A crash leaves its input in <build>/findings/ and fails the run; a canary that is not found fails
it too. New inputs that reach new code stay in <build>/corpus/<target>/, and the inputs that were made
and executed in runs that ended well are added up in <build>/executed/<target>: a run that is to reach
a number goes on where the last one stopped. --keep puts both into kept.tar.xz, with which a new build
begins.
"""

import argparse
import concurrent.futures
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE / "kept.tar.xz"  # corpus/<target>/<name of an input>, executed/<target>
BEGAN = "began_with_kept"
CANARY = "canary"
TURN_SECONDS = 120  # of one target that is to reach a number: what a run that is ended loses at most
LENGTH_MAX = 65536
# Of inputs by the million: long ones take the time of many. A byte of a chunk's input may be a point to encode; a put line has
# some hundred bytes.
MANY_LENGTH_MAX = 512
MANY_LENGTHS_MAX = {"chunk": 128, "put_line": 256}
# Leaks are looked for at the end of a turn, not after each input that leaves something allocated. What takes a third of
# the time is left to the runs by --time: to find pointers to variables that are gone, to know where each piece of memory
# was allocated, and to keep long what was freed.
MANY_QUICKLY = {"libfuzzer": "-detect_leaks=0",
                "asan": "detect_stack_use_after_return=0:malloc_context_size=0:quarantine_size_mb=4"}
RUNS_MAX = 2**31 - 1  # that libFuzzer counts


def targets_listed():
    text = (HERE / "CMakeLists.txt").read_text()
    return re.findall(r"^\s*halite_fuzzer\((\w+)", text, re.MULTILINE)


def take_kept(build):
    """The build gets the inputs that were kept, and their numbers where its own are smaller."""
    if not KEPT.exists():
        return
    with tarfile.open(KEPT) as kept:
        for entry in kept:
            path, content = build / entry.name, kept.extractfile(entry).read()
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.name.startswith("executed/") and path.exists():
                content = max(content, path.read_bytes(), key=int)
            path.write_bytes(content)
    (build / BEGAN).touch()


class Target:
    def __init__(self, build, name):
        self.build = build
        self.name = name
        self.corpus = build / "corpus" / name
        self.findings = build / "findings"
        self.record = build / "executed" / name
        for directory in (self.corpus, self.findings, self.record.parent):
            directory.mkdir(parents=True, exist_ok=True)
        self.executed = int(self.record.read_text()) if self.record.exists() else 0
        self.new = 0  # of this run
        self.seconds = 0.0
        self.trouble = None

    def run(self, *arguments):
        """libFuzzer with these arguments: its exit status and what it said."""
        program = str(self.build / f"{self.name}_fuzz")
        environment = dict(os.environ, ASAN_SYMBOLIZER_PATH="/usr/bin/llvm-symbolizer-19")
        if MANY_QUICKLY["libfuzzer"] in arguments:
            environment["ASAN_OPTIONS"] = MANY_QUICKLY["asan"]
        done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def fuzz(self, *limits):
        """For one run with these options of libFuzzer."""
        began = time.monotonic()
        status, output = self.run(*limits, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
                                  f"-artifact_prefix={self.findings}/{self.name}-", self.corpus,
                                  HERE / "corpus" / self.name)
        self.seconds += time.monotonic() - began
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
        again = re.search(r"^#(\d+)\s+INITED", output, re.MULTILINE)  # what the corpora have
        if self.name == CANARY:
            if status == 0 or "libFuzzer: deadly signal" not in output:
                self.trouble = "THE CANARY WAS NOT FOUND\n" + output
        elif status != 0 or executed is None:
            self.trouble = output[-6000:]
        else:
            made = int(executed.group(1)) - int(again.group(1) if again else 0)
            self.new += made
            self.executed += made
            self.record.write_text(f"{self.executed}\n")

    def fuzz_up_to(self, executions):
        while self.executed < executions and self.trouble is None:
            # What it reads of the corpora first counts, too, some of it twice; a few more do no harm.
            runs = executions - self.executed + 2 * self.corpus_size() + 1000
            length_max = MANY_LENGTHS_MAX.get(self.name, MANY_LENGTH_MAX)
            self.fuzz(f"-runs={min(runs, RUNS_MAX)}", f"-max_total_time={TURN_SECONDS}", f"-max_len={length_max}",
                      MANY_QUICKLY["libfuzzer"])
            if self.name == CANARY:
                break

    def corpus_size(self):
        return sum(1 for directory in (self.corpus, HERE / "corpus" / self.name) for _ in directory.iterdir())

    def add_to(self, kept):
        """The fewest of its inputs that reach what all reach, and its number."""
        with tempfile.TemporaryDirectory() as fewest:
            status, output = self.run("-merge=1", f"-max_len={LENGTH_MAX}", fewest, self.corpus)
            if status != 0:
                sys.exit(f"{self.name}: {output[-6000:]}")
            for found in sorted(pathlib.Path(fewest).iterdir()):
                add_file(kept, f"corpus/{self.name}/{found.name}", found.read_bytes())
        add_file(kept, f"executed/{self.name}", f"{self.executed}\n".encode())

    def told(self):
        if self.trouble is not None:
            return self.trouble
        if self.name == CANARY:
            return "found, as it must be"
        return (f"{self.new:,} inputs, {self.new / max(self.seconds, 1):,.0f} a second, nothing found; "
                f"{self.executed:,} in all runs")


def add_file(kept, name, content):
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    kept.addfile(entry, io.BytesIO(content))


def keep(build, names):
    new = build / "kept.new"
    with tarfile.open(new, "w:xz") as kept:
        for name in names:
            if name != CANARY:
                Target(build, name).add_to(kept)
    KEPT.write_bytes(new.read_bytes())
    new.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--time", type=int, default=60, help="seconds a target")
    how.add_argument("--executions", type=int, help="up to so many inputs in all runs")
    how.add_argument("--keep", action="store_true", help="run nothing: put corpora and numbers into kept.tar.xz")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("targets", nargs="*", help="all of them when none is named")
    options = parser.parse_args()
    build = options.build.resolve()

    listed = targets_listed()
    unknown = sorted(set(options.targets) - set(listed))
    if unknown:
        sys.exit(f"no such fuzzer: {', '.join(unknown)}; there are {', '.join(listed)}")
    # Before what this build has takes the archive's place, too: others may have added to it.
    if options.keep or not (build / BEGAN).exists():
        take_kept(build)
    if options.keep:
        if options.targets:
            sys.exit("--keep is about all targets")
        keep(build, listed)
        return

    def run(name):
        target = Target(build, name)
        if options.executions is None:
            target.fuzz(f"-max_total_time={options.time}", f"-max_len={LENGTH_MAX}")
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
        sys.exit(f"failed: {', '.join(sorted(failed))}; inputs are in {build}/findings/")


if __name__ == "__main__":
    main()
