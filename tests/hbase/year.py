#!/usr/bin/env python3
"""Carries a long history from text to a data directory, from there as files to HBase, and from HBase to a second data
directory, and compares both directories point by point. The text itself is compared with what the first directory
exports, one day in each piece.

    run.py --heap 2g -- python3 tests/hbase/year.py --halite build/release/halite --days 365 --folder /var/tmp/year

A host has one metric, or up to ten, with values of two decimals that wander. A thousand hosts with a point in ten
seconds have 3.15 billion points in a year. The work is done in pieces of --piece-days; it takes up to 15 bytes of disk
a point."""

import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "..", "bench")]
from cluster import Tables  # noqa: E402
from import_bench import FIELDS, WALK, WALK_STRIDE, walk  # noqa: E402
from server_process import clean_environment  # noqa: E402

DAY = 86400
BEGIN = 1704067200  # 2024-01-01
SALTS = 8


def texts(options, begin, end):
    """OpenTSDB's lines from `begin` to `end`, a text for each time."""
    values = walk()
    series = [(number * WALK_STRIDE, f"cpu.usage_{field} ", f" host=host_{host} rack={host % 40}\n")
              for number, (host, field) in enumerate((host, field) for host in range(options.hosts)
                                                 for field in FIELDS[:options.metrics])]
    for second in range(begin, end, options.step):
        at = (second - BEGIN) // options.step
        yield "".join([f"{head}{second} {values[(first + at) % WALK]}{tail}" for first, head, tail in series])


class Year:
    def __init__(self, options):
        self.options = options
        self.halite = os.path.abspath(options.halite)
        self.folder = os.path.abspath(options.folder)
        self.tables = Tables.of_environment()
        self.hbase = f"hbase://{self.tables.quorum}/hbase"
        self.sets = [f"hbase.table_prefix={options.prefix}", "storage.salt_width=1", f"storage.salt_buckets={SALTS}"]
        self.cpu = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *words, **how):
        return subprocess.Popen([self.halite, *words], cwd=self.folder, env=clean_environment(),
                                text=how.pop("text", True), **how)

    def end(self, name, *processes):
        """Waits for them, the last one first, and keeps what they cost."""
        for process in reversed(processes):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu[name] = self.cpu.get(name, 0) + usage.ru_utime + usage.ru_stime
        if any(process.returncode for process in processes):
            sys.exit(f"{name} ended with {[process.returncode for process in processes]}")

    @staticmethod
    def range(begin, end):
        return "--start", str(begin), "--end", str(end)

    def hbase_sets(self, flag):
        return [word for value in self.sets for word in (flag, value)]

    def import_text(self, begin, end):
        importing = self.tool("import", "--quiet", "--data-dir", self.path("first"), "--format", "opentsdb", "-",
                              stdin=subprocess.PIPE)
        for text in texts(self.options, begin, end):
            importing.stdin.write(text)
        importing.stdin.close()
        self.end("text to directory", importing)

    def compare_text(self, begin, end):
        """The lines of the generator against those of the export, sorted."""
        environment = {**os.environ, "LC_ALL": "C"}
        with open(self.path("sent"), "w", encoding="ascii") as file:
            file.writelines(texts(self.options, begin, end))
        subprocess.run(["sed", "-Ei", r"s/\.00 /.0 /; s/(\.[1-9])0 /\1 /", self.path("sent")], check=True)
        exporting = self.tool("export", "--quiet", "--data-dir", self.path("first"), *self.range(begin, end),
                              "--output", self.path("stored"))
        self.end("export of a day", exporting)
        for name in ("sent", "stored"):
            subprocess.run(["sort", "-o", self.path(name), self.path(name)], check=True, env=environment)
        if subprocess.run(["cmp", self.path("sent"), self.path("stored")], check=False).returncode:
            sys.exit(f"the export differs from the text: {self.folder}/sent and stored")
        for name in ("sent", "stored"):
            os.remove(self.path(name))

    def to_hbase(self, begin, end):
        staging = self.path("hfiles")
        os.makedirs(staging, exist_ok=True)
        exporting = self.tool("export", "--quiet", "--data-dir", self.path("first"), *self.range(begin, end),
                              "--format", "vmjson", stdout=subprocess.PIPE)
        importing = self.tool("import", "--quiet", "--store", "hbase", "--hbase-quorum", self.tables.quorum,
                              *self.hbase_sets("--set"), "--hfiles", f"file://{staging}", "--format", "vmjson", "-",
                              stdin=exporting.stdout)
        exporting.stdout.close()
        self.end("directory to HBase", exporting, importing)

    def from_hbase(self, begin, end):
        self.end("HBase to directory", self.tool(
            "migrate", "--quiet", "--from", self.hbase, *self.hbase_sets("--from-set"), "--to", self.path("second"),
            *self.range(begin, end)))

    def compare(self, begin, end):
        comparing = self.tool("migrate", "--quiet", "--from", self.path("first"), "--to", self.path("second"),
                              "--no-copy", *self.range(begin, end), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = comparing.stdout.read()
        self.end("comparison", comparing)
        wanted = len(range(begin, end, self.options.step)) * self.options.hosts * self.options.metrics
        if f"{wanted:,}" not in said and str(wanted) not in said:
            sys.exit(f"{wanted} points were expected: {said}")

    def run(self):
        options = self.options
        if not options.go_on:
            self.tables.tool("tsdb-tables", options.prefix, "NONE", "NONE")
        begin, end = BEGIN + options.from_day * DAY, BEGIN + options.days * DAY
        for first in range(begin, end, options.piece_days * DAY):
            last = min(end, first + options.piece_days * DAY)
            started = time.monotonic()
            self.import_text(first, last)
            self.compare_text(first, first + DAY)
            self.to_hbase(first, last)
            self.from_hbase(first, last)
            self.compare(first, last)
            if options.hbase_days and (last - BEGIN) // DAY % options.hbase_days == 0:
                self.tables.tool("truncate", f"{options.prefix}tsdb")
            print(f"days {(first - BEGIN) // DAY} to {(last - BEGIN) // DAY}: equal, {time.monotonic() - started:.0f} s",
                  flush=True)
        self.compare(BEGIN, end)
        print(f"all {options.days} days are equal")
        for name, seconds in self.cpu.items():
            print(f"{name}: {seconds:.0f} s of CPU")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--folder", required=True, help="for the data directories; must not exist, or see --go-on")
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--step", type=int, default=10, help="seconds")
    parser.add_argument("--metrics", type=int, default=1, help="of each host, up to 10")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--piece-days", type=int, default=30)
    parser.add_argument("--hbase-days", type=int, default=0,
                        help="for a small disk: HBase's points are deleted after each so many days; a multiple of a piece")
    parser.add_argument("--prefix", default="year-", help="of the names of the tables")
    parser.add_argument("--go-on", action="store_true", help="the folder and the tables exist")
    parser.add_argument("--from-day", type=int, default=0, help="with --go-on: the days before are in all three")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=options.go_on)
    Year(options).run()


if __name__ == "__main__":
    main()
