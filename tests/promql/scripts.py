#!/usr/bin/env python3
"""Runs Prometheus' own evaluation scripts (promql/promqltest/testdata of the Go module below) against the
real binary over HTTP: loads by remote_write, evals by /api/v1/query and /api/v1/query_range.

Each segment, what stands between two `clear`s, has a server and a data directory of its own. The scripts are
not in this repository: `go mod download` fetches them, or finds them in its cache. Without them this exits
with 77, which ctest takes for skipped. The status is 1 if an eval of class core failed.

  core  Prometheus 3.14 answers so with its default flags, from series of floats
  exp   behind a flag of Prometheus; asked with query.promql_experimental
  nh    needs native histograms, which Halite does not store: only their floats are loaded
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from script_check import Wrong, check_eval  # noqa: E402
from script_classes import CLASSES, classify  # noqa: E402
from script_language import Eval, Load, parse_script  # noqa: E402
from server_process import ServerProcess, ServerTrouble  # noqa: E402
from wire import remote_write_1, snappy  # noqa: E402

MODULE = "github.com/prometheus/prometheus@v0.314.0"
SKIPPED = 77
WRITE_HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
                 "X-Prometheus-Remote-Write-Version": "0.1.0"}
SETTINGS = ("--set", "self_metrics.enabled=false")  # no series but those of the script
EXPERIMENTAL = ("--set", "query.promql_experimental=true")

Verdict = collections.namedtuple("Verdict", "file eval trouble")  # trouble: None if it passed


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", type=pathlib.Path, help="the binary to test")
    parser.add_argument("--only", help="one file, such as operators.test, or operators.test:329")
    parser.add_argument("--class", dest="classes", action="append", choices=CLASSES,
                        help="what to ask (core); may be repeated")
    parser.add_argument("--list", action="store_true", help="count the evals by class and end")
    parser.add_argument("--verbose", action="store_true", help="show evals that failed")
    parser.add_argument("--pinned", action="store_true",
                        help="ask instant evals with @, at other times as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() + 1,
                        help="servers at a time (processors + 1)")
    parser.add_argument("--scripts", type=pathlib.Path, help="a directory of *.test files")
    options = parser.parse_args()
    if not options.list and not options.halite:
        parser.error("--halite or --list")
    options.classes = options.classes or ["core"]
    return options


def find_scripts():
    """The directory of the scripts in Go's module cache; None if it cannot be had."""
    if not shutil.which("go"):
        return None, "go is not installed"
    with tempfile.TemporaryDirectory() as nowhere:  # no go.mod may be near
        done = subprocess.run(["go", "mod", "download", "-json", MODULE], cwd=nowhere,
                              capture_output=True, text=True, check=False)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = {"Error": done.stderr.strip()}
    if done.returncode or "Dir" not in told:
        return None, told.get("Error", "no directory")
    return pathlib.Path(told["Dir"]) / "promql" / "promqltest" / "testdata", None


def read_scripts(directory, only):
    """{file: segments}, each eval with its class; with `only` others have none."""
    name, _, line = (only or "").partition(":")
    scripts = {}
    for path in sorted(directory.glob("*.test")):
        if name and path.name != name:
            continue
        scripts[path.name] = parse_script(path.read_text())
        for segment in scripts[path.name]:
            classify(segment, path.name)
            for one in evals_of(segment):
                if line and one.line != int(line):
                    one.needs = None
    if not scripts:
        sys.exit(f"no {name or '*.test'} in {directory}")
    return scripts


def evals_of(segment):
    return [command for command in segment if isinstance(command, Eval)]


def write(server, load):
    series = [(labels, samples) for labels, samples in load.series if samples]
    if not series:
        return
    status, text = server.request("POST", "/api/v1/write", snappy(remote_write_1(series)),
                                  WRITE_HEADERS)
    if status // 100 != 2:
        raise ServerTrouble(f"a load was refused: {status} {text.decode(errors='replace')}")


def run_segment(options, file, segment, classes, settings):
    """Verdicts of the segment's evals of these classes, from a server of its own."""
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="halite-promql-") as directory:
        server = ServerProcess(options.halite.resolve(), pathlib.Path(directory) / "data", *settings)
        server.launch()
        try:
            if not server.listens():
                raise ServerTrouble(f"it did not start:\n{server.log_text()}")
            for command in segment:
                if isinstance(command, Load):
                    write(server, command)
                elif command.needs in classes:
                    try:
                        check_eval(command, server, options.pinned)
                        verdicts.append(Verdict(file, command, None))
                    except Wrong as trouble:
                        verdicts.append(Verdict(file, command, str(trouble)))
        except (OSError, ServerTrouble) as trouble:  # it is gone, or took no points
            left = [one for one in evals_of(segment) if one.needs in classes][len(verdicts):]
            verdicts += [Verdict(file, one, f"the server: {trouble}") for one in left]
        finally:
            server.kill()
        for line in server.log:
            if "Sanitizer" in line or "runtime error" in line:
                sys.exit(f"a sanitizer spoke:\n{server.log_text()}")
    return verdicts


def run(options, scripts):
    """All verdicts. Core is asked of servers with default settings."""
    manners = [({"core"}, SETTINGS), ({"exp", "nh"}, SETTINGS + EXPERIMENTAL)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as crew:
        waiting = []
        for classes, settings in manners:
            asked = classes & set(options.classes)
            waiting += [crew.submit(run_segment, options, file, segment, asked, settings)
                        for file, segments in scripts.items() for segment in segments
                        if any(one.needs in asked for one in evals_of(segment))]
        return [verdict for future in waiting for verdict in future.result()]


def show(verdict):
    """An eval that failed: what was asked, expected and found."""
    one = verdict.eval
    when = (f"at {one.end_ms} ms" if one.instant
            else f"from {one.start_ms} to {one.end_ms} ms, step {one.step_ms} ms")
    print(f"\n{verdict.file}:{one.line} ({one.needs}) {when}\n  {one.expression}")
    if one.fail:
        print(f"  expected: failure {one.fail}")
    elif one.scalar is not None or one.string is not None:
        print(f"  expected: {one.scalar if one.string is None else repr(one.string)}")
    else:
        print(f"  expected: {len(one.expected)} series")
        for labels, values in one.expected[:20]:
            print(f"    {labels} {values}")
    for what, wanted in one.notices.items():
        print(f"  expected: {what} {'' if wanted is True else [str(text) for text in wanted]}")
    print(f"  got: {verdict.trouble[:2000]}")


def print_table(scripts, verdicts):
    print(f"{'':32}{'passed':>8}{'failed':>8}{'skipped':>8}")
    totals = collections.Counter()
    for file, segments in scripts.items():
        mine = [verdict for verdict in verdicts if verdict.file == file]
        failed = sum(verdict.trouble is not None for verdict in mine)
        counts = {"passed": len(mine) - failed, "failed": failed,
                  "skipped": sum(len(evals_of(one)) for one in segments) - len(mine)}
        totals.update(counts)
        print(f"{file:32}" + "".join(f"{count:8}" for count in counts.values()))
    for name in CLASSES:
        mine = [verdict for verdict in verdicts if verdict.eval.needs == name]
        if mine:
            passed = sum(verdict.trouble is None for verdict in mine)
            print(f"class {name}: {passed} of {len(mine)} passed")
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")


def print_list(scripts):
    counts = collections.Counter()
    print(f"{'':32}" + "".join(f"{name:>8}" for name in CLASSES))
    for file, segments in scripts.items():
        mine = [one for segment in segments for one in evals_of(segment)]
        counts.update((one.needs, one.why) for one in mine if one.needs)
        print(f"{file:32}" + "".join(f"{sum(one.needs == name for one in mine):8}"
                                     for name in CLASSES))
    for (needs, why), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{needs:6}{count:6}  {why or 'floats and default flags'}")


def main():
    options = parse_arguments()
    directory, trouble = (options.scripts, None) if options.scripts else find_scripts()
    if trouble:
        print(f"skipped: {MODULE} cannot be had: {trouble}")
        sys.exit(SKIPPED)
    scripts = read_scripts(directory, options.only)
    if options.list:
        print_list(scripts)
        return
    verdicts = run(options, scripts)
    if not verdicts:
        sys.exit(f"no eval of class {', '.join(options.classes)}")
    failed = [verdict for verdict in verdicts if verdict.trouble is not None]
    for verdict in failed if options.verbose else []:
        show(verdict)
    print_table(scripts, verdicts)
    sys.exit(any(verdict.eval.needs == "core" for verdict in failed))


if __name__ == "__main__":
    main()
