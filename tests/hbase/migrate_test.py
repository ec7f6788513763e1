"""Points that `halite import`, `export` and `migrate` carry between HBase, data directories and servers, among them a
real OpenTSDB that still receives points."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from beside_opentsdb import HOUR, ask, post, settings  # noqa: E402
from cluster import OpenTsdb, Tables, Trouble  # noqa: E402
from server_process import START_SECONDS, clean_environment  # noqa: E402

PROCESSES = 4
HOSTS = 30
STEPS = 200
SALT = "storage.salt_width=1", "storage.salt_buckets=8"
UID_KINDS = "metrics", "tagk", "tagv"


def points(seed, count=4000):
    """Lines of integers, of floats that four bytes cannot hold, and of milliseconds."""
    rng = random.Random(seed)
    lines = []
    for i in range(count):
        lines.append(f"sys.cpu {HOUR + 10 * i} {rng.randrange(-10 ** 12, 10 ** 12)} host=a dc=x")
        lines.append(f"sys.cpu {HOUR + 10 * i} {rng.random()!r} host=b")
        lines.append(f"sys.mem {1000 * (HOUR + 10 * i) + rng.randrange(1000)} {rng.randrange(100) / 4} host=h{i % 7}")
    return "\n".join(lines) + "\n"


class MigrateTest(unittest.TestCase):
    def setUp(self):
        self.tables = Tables.of_environment()
        folder = tempfile.TemporaryDirectory(prefix="halite-migrate-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.made = 0

    def new_tables(self, name):
        prefix = f"migrate-{name}-"
        self.tables.tool("tsdb-tables", prefix, "NONE", "NONE")
        return prefix

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    @staticmethod
    def sets(flag, *values):
        return [word for value in values for word in (flag, value)]

    def hbase(self, prefix, *more):
        """Flags of a tool that opens HBase as its store."""
        return ["--store", "hbase", "--hbase-quorum", self.tables.quorum,
                *self.sets("--set", f"hbase.table_prefix={prefix}", *more)]

    @property
    def location(self):
        return f"hbase://{self.tables.quorum}/hbase"

    def start(self, *arguments):
        """A folder of its own: checkpoints have names of their own there."""
        self.made += 1
        place = self.path(f"run{self.made}")
        os.mkdir(place)
        return subprocess.Popen([os.environ["HALITE_BIN"], *map(str, arguments)], stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place, env=clean_environment())

    def end(self, process, expect=0):
        out, err = process.communicate(timeout=2 * START_SECONDS)
        self.assertEqual(process.returncode, expect, (process.args, out[-2000:], err[-2000:]))
        return out

    def tool(self, *arguments, expect=0):
        return self.end(self.start(*arguments), expect)

    def exported(self, *source):
        return self.tool("export", "--quiet", *source)

    def same(self, out, count):
        self.assertIn(f"{count} points compared: 0 missing in the target, 0 with another value, 0 only in the target", out)

    def there_and_back(self, name, sets, *how):
        """Text into HBase, HBase into a directory, the directory into HBase again."""
        text = points(name)
        count = text.count("\n")
        plain, prefix = self.path(f"plain-{name}"), self.new_tables(name)
        file = self.file(f"{name}.txt", text)
        self.tool("import", "--quiet", "--data-dir", plain, file)
        out = self.tool("import", "--quiet", *self.hbase(prefix, *sets), *how, file)
        self.assertIn(f"{count} points stored, 0 lines refused", out)
        where = self.sets("--from-set", f"hbase.table_prefix={prefix}", *sets)
        self.same(self.tool("migrate", "--quiet", "--no-copy", "--from", self.location, *where, "--to", plain), count)

        directory = self.path(f"directory-{name}")
        self.same(self.tool("migrate", "--quiet", "--from", self.location, *where, "--to", directory, "--verify"), count)
        expected = self.exported("--data-dir", plain)
        self.assertEqual(self.exported("--data-dir", directory), expected)
        self.assertEqual(sorted(self.exported(*self.hbase(prefix, *sets)).splitlines()), sorted(expected.splitlines()))
        chosen = "--match", "sys.cpu{host=a}", "--start", HOUR + 3600, "--end", HOUR + 7200
        self.assertEqual(self.exported(*self.hbase(prefix, *sets), *chosen), self.exported("--data-dir", plain, *chosen))

        back = self.new_tables(f"{name}-back")
        there = self.sets("--to-set", f"hbase.table_prefix={back}", *sets)
        self.same(self.tool("migrate", "--quiet", "--from", directory, "--to", self.location, *there, "--verify"), count)
        return prefix

    def test_by_calls(self):
        prefix = self.there_and_back("calls", ())
        with OpenTsdb(self.tables, settings(prefix, {})) as opentsdb:
            [found] = ask(opentsdb.url, f"start={HOUR}&end={HOUR + 100_000}&m=none:sys.cpu{{host=a}}")
            self.assertEqual(len(found["dps"]), 4000)

    def test_into_an_opentsdb(self):
        """It refuses bodies over 8 KiB, or over max_chunk if chunked requests are enabled."""
        source = self.path("source-into")
        self.tool("import", "--quiet", "--data-dir", source, self.file("into.txt", points("into", 300)))
        for name, more in (("small", {}), ("chunked", {"tsd.http.request.enable_chunked": "true",
                                                       "tsd.http.request.max_chunk": "4096"})):
            with OpenTsdb(self.tables, settings(self.new_tables(f"into-{name}"), more)) as opentsdb:
                self.same(self.tool("migrate", "--quiet", "--from", source, "--to", opentsdb.url, "--verify"), 900)

    def test_as_files(self):
        self.there_and_back("files", SALT, "--hfiles", f"file://{self.path('load')}")

    def test_an_opentsdb_that_receives_points(self):
        prefix, target = self.new_tables("opentsdb"), self.path("target")
        # OpenTSDB answers integers beside floats of the same series as floats.
        history = [{"metric": "sys.cpu", "timestamp": HOUR + 60 * i, "value": i + (0.25 if host == 1 else 0),
                    "tags": {"host": f"h{host}"}} for i in range(300) for host in range(3)]
        stop, sent = threading.Event(), []
        with OpenTsdb(self.tables, settings(prefix, {})) as opentsdb:
            for at in range(0, len(history), 50):  # OpenTSDB's default limit of a body is 4 kB
                post(opentsdb.url, "/api/put?sync&details", history[at:at + 50])

            def send():
                while not stop.is_set():
                    number = len(sent)
                    point = {"metric": f"new.{number % 3}", "timestamp": int(time.time()) - number % 100, "value": number,
                             "tags": {"host": f"n{number}"}}
                    post(opentsdb.url, "/api/put?sync&details", [point])
                    sent.append(point)
                    time.sleep(0.05)

            sender = threading.Thread(target=send)
            sender.start()
            try:
                process = self.start("migrate", "--quiet", "--from", opentsdb.url, "--start", HOUR - 60, "--to", target,
                                     "--follow", "--quiet-ms", 5000, "--verify")
                time.sleep(15)
                self.assertIsNone(process.poll())
            finally:
                stop.set()
                sender.join()
            out = self.end(process)
            self.same(out, len(history) + len(sent))
        # Everything that was acknowledged is in the target, and nothing else.
        expected = sorted(f"{point['metric']} {point['timestamp']} {point['value']} host={point['tags']['host']}"
                          for point in history + sent)
        self.assertEqual(sorted(self.exported("--data-dir", target).splitlines()), expected)

    def test_many_at_once(self):
        """They name the same metrics and hosts at the same time."""
        prefix = self.new_tables("many")
        texts = ["".join(f"many.{host % 5} {HOUR + PROCESSES * step + number} {1000 * number + step} host=h{host} k{step % 9}=v\n"
                         for step in range(STEPS) for host in range(HOSTS)) for number in range(PROCESSES)]
        files = [self.file(f"many-{number}.txt", text) for number, text in enumerate(texts)]
        for process in [self.start("import", "--quiet", *self.hbase(prefix), file) for file in files]:
            self.assertIn(f"{STEPS * HOSTS} points stored, 0 lines refused", self.end(process))
        lines = self.exported(*self.hbase(prefix)).splitlines()
        self.assertEqual(sorted(lines), sorted("".join(texts).splitlines()))
        self.check_ids(prefix)

    def check_ids(self, prefix):
        """Each name has one id, and each id its name."""
        forward, backward = {}, {}
        for (row, family, column), (_, value) in self.tables.dump(prefix + "tsdb-uid").items():
            kind = bytes.fromhex(column).decode()
            if kind not in UID_KINDS or row == "00":
                continue
            if family == "id":
                forward[kind, row] = value
            else:
                backward[kind, row] = value
        self.assertEqual({kind: sum(1 for one, _ in forward if one == kind) for kind in UID_KINDS},
                         {"metrics": 5, "tagk": 10, "tagv": HOSTS + 1})
        self.assertEqual(len(set((kind, uid) for (kind, _), uid in forward.items())), len(forward))
        for (kind, name), uid in forward.items():
            self.assertEqual(backward[kind, uid], name, (kind, uid))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
