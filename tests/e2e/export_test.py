#!/usr/bin/env python3
"""`halite export`: what is exported comes back as the same bytes, in each format; kill -9 in the midst
of an export that is then resumed. HALITE_SEED chooses the moments.
"""

import gzip
import json
import os
import random
import subprocess
import time

import support

T = 1356998400
ALL, REFUSED, FAILED = 0, 1, 2
FORMATS = ("opentsdb", "influx", "csv")
FORMATS_OF_DOUBLES = ("prometheus", "openmetrics", "vmjson", "promdump", "graphite")
CLASSES = ("--set", "storage.retention=tmp.=36500d")


class ExportTest(support.HaliteTest):
    def start(self, command, *arguments, **more):
        return subprocess.Popen([support.binary(), command, *map(str, arguments)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.scratch,
                                env=support.clean_environment(), **more)

    def run_tool(self, command, *arguments, expect=ALL):
        """Standard output, as bytes, and standard error."""
        process = self.start(command, *arguments)
        out, err = process.communicate(timeout=support.START_SECONDS)
        self.assertEqual(process.returncode, expect, (out[-2000:], err[-2000:]))
        return out, err.decode()

    def imported(self, name, text, *more):
        """A data directory with the points of a text."""
        file = self.scratch / f"{name}.txt"
        file.write_text(text)
        self.run_tool("import", "--quiet", "--data-dir", self.scratch / name, *more, file)
        return self.scratch / name

    def exported(self, data_dir, *arguments, expect=ALL):
        return self.run_tool("export", "--quiet", "--data-dir", data_dir, *arguments,
                             expect=expect)[0]

    def interrupt(self, checkpoint, *arguments):
        """Kills a tool after it has written a checkpoint with points."""
        process = self.start(*arguments, "--checkpoint-interval", 0.001)
        while True:
            self.assertIsNone(process.poll(), "it was too fast")
            try:
                if json.loads(checkpoint.read_text())["points"] > 0:
                    break
            except FileNotFoundError:
                pass
            time.sleep(0.001)
        process.kill()
        process.communicate()
        self.assertTrue(checkpoint.exists(), "it was too fast")

    def migrated(self, *arguments, expect=ALL):
        out, err = self.run_tool("migrate", "--quiet", *arguments, expect=expect)
        return out.decode(), err

    def served(self, data_dir, *arguments):
        return self.server("--set", "self_metrics.enabled=false", *arguments,
                           data_dir=data_dir).start()

    @staticmethod
    def url(server):
        return f"http://127.0.0.1:{server.port}"


def some_points():
    """Lines of several metrics, series and kinds of numbers, over two days."""
    rng = random.Random(1)
    lines = []
    for i in range(2000):
        lines.append(f"sys.cpu {T + 60 * i} {rng.randrange(-1000, 1000)} host=a dc=x")
        lines.append(f"sys.cpu {T + 60 * i} {rng.random():.6f} host=b")
        lines.append(f"sys.mem {1000 * (T + 60 * i) + i % 1000} {rng.random() * 1e9} host=b")
    lines.append(f"sys.big {T} {2 ** 63 - 1} host=a")
    lines.append(f"sys.big {T + 1} {-2 ** 63} host=a")
    lines.append(f"sys.big {T + 2} 4.9e-324 host=b")
    lines.append(f"sys.big {T + 3} -1.7976931348623157e308 host=b")
    return "\n".join(lines) + "\n"


class RoundTrip(ExportTest):
    def test_each_format_comes_back_as_the_same_bytes(self):
        first = self.imported("first", some_points())
        for form in FORMATS + FORMATS_OF_DOUBLES:
            with self.subTest(form):
                file = self.scratch / f"points.{form}"
                # Of the large integers, these read the nearest doubles.
                chosen = ("--match", "sys.cpu", "--match", "sys.mem") if (
                    form in FORMATS_OF_DOUBLES) else ()
                self.exported(first, "--format", form, "--output", file, *chosen)
                self.assertFalse((self.scratch / f"points.{form}.checkpoint").exists())
                second = self.scratch / f"from-{form}"
                more = ("--precision", "ns") if form == "influx" else ()
                self.run_tool("import", "--quiet", "--format", form, *more, "--data-dir", second,
                              file)
                self.assertEqual(self.exported(second, "--format", form), file.read_bytes())

    def test_a_text_of_opentsdb_says_everything(self):
        first = self.imported("first", some_points())
        text = self.exported(first)
        self.assertEqual(text.count(b"\n"), 6004)
        again = self.imported("second", text.decode())
        self.migrated("--no-copy", "--from", first, "--to", again)
        self.assertEqual(self.exported(again), text)

    def test_csv_of_several_headers(self):
        # Many blocks, with a header of their own or one far before them.
        lines = [f"m {T + i} {i} {key}=a" for key in ("host", "dc") for i in range(60_000)]
        first = self.imported("first", "\n".join(lines))
        text = self.exported(first, "--format", "csv")
        self.assertGreater(len(text), 2 << 20)
        self.assertIn(b"metric,time,value,dc\n", text)
        file = self.scratch / "titled.csv"
        file.write_bytes(b"of my machines\n" + text)
        arguments = ("import", "--quiet", "--format", "csv", "--jobs", 2)

        def check(place, *more):
            out, _ = self.run_tool(*arguments, *more, file, expect=REFUSED)
            self.assertIn(b"120000 points stored, 1 line refused", out)
            self.assertTrue(self.exported(place, "--format", "csv") == text)

        check(self.scratch / "second", "--data-dir", self.scratch / "second")

        third = ("--data-dir", self.scratch / "third")
        self.interrupt(self.scratch / "halite-import.checkpoint", *arguments, *third, "--rate",
                       60_000, file)
        check(self.scratch / "third", *third, "--resume")

        server = self.served(self.scratch / "fourth")
        out, _ = self.run_tool(*arguments, "--url", self.url(server), file, expect=REFUSED)
        self.assertIn(b"120000 points stored, 1 line refused", out)
        self.assertEqual(server.terminate(), 0)
        self.assertTrue(self.exported(self.scratch / "fourth", "--format", "csv") == text)

    def test_packed(self):
        first = self.imported("first", some_points())
        text = self.exported(first)
        for name in ("a.gz", "a.zst"):
            file = self.scratch / name
            self.exported(first, "--output", file)
            self.assertLess(file.stat().st_size, len(text) / 2)
            self.run_tool("import", "--quiet", "--data-dir", self.scratch / f"of-{name}", file)
            self.assertEqual(self.exported(self.scratch / f"of-{name}"), text)
        self.assertEqual(gzip.decompress((self.scratch / "a.gz").read_bytes()), text)

    def test_series_of_a_class_and_without_tags(self):
        # Influx and vmjson know series without tags.
        text = "".join(json.dumps({"metric": {"__name__": name}, "values": [1, 2],
                                   "timestamps": [1000 * T, 1000 * T + 1000]}) + "\n"
                       for name in ("bare", "tmp.bare"))
        first = self.imported("first", text + json.dumps(
            {"metric": {"__name__": "tmp.x", "host": "a"}, "values": [3],
             "timestamps": [1000 * T]}) + "\n", *CLASSES)
        out = self.exported(first, *CLASSES, "--format", "vmjson")
        self.assertEqual(out.count(b"\n"), 3)
        second = self.imported("second", out.decode(), *CLASSES)
        self.assertEqual(self.exported(second, *CLASSES, "--format", "vmjson"), out)
        self.migrated("--set", CLASSES[1], "--no-copy", "--from", first, "--to", second)

    def test_what_a_format_cannot_say_is_named(self):
        nan = json.dumps({"metric": {"__name__": "sys.nan", "host": "a"}, "values": [1, "NaN"],
                          "timestamps": [1000 * T, 1000 * T + 1000]}) + "\n"
        first = self.imported("first", nan)
        errors, out = self.scratch / "errors", self.scratch / "out"
        self.exported(first, "--errors", errors, "--output", out, expect=REFUSED)
        series, points, reason, *_ = errors.read_text().split("\t")
        self.assertEqual((series, points), ("sys.nan host=a", "1"))
        self.assertIn("NaN", reason)
        self.assertEqual(out.read_text(), f"sys.nan {T} 1.0 host=a\n")


class Choice(ExportTest):
    def test_series_and_times(self):
        first = self.imported("first", some_points())
        lines = self.exported(first).decode().splitlines()

        def chosen(*arguments):
            return self.exported(first, *arguments).decode().splitlines()

        def metric_is(name):
            return [line for line in lines if line.startswith(name)]

        self.assertEqual(chosen("--match", "sys.cpu"), metric_is("sys.cpu "))
        self.assertEqual(chosen("--match", "sys.cpu{host=b}"),
                         [line for line in metric_is("sys.cpu ") if "host=b" in line])
        both = chosen("--match", "sys.cpu{host=b}", "--match", "sys.c*{host=a}")
        self.assertEqual(both, metric_is("sys.cpu "))
        self.assertEqual(chosen("--match", "sys.*{host=b}", "--match", "none"),
                         [line for line in lines if "host=b" in line])
        begin, end = T + 3600, T + 7200

        def second(line):
            number = int(line.split()[1])
            return number if number < 1 << 33 else number / 1000

        self.assertEqual(chosen("--start", begin, "--end", end),
                         [line for line in lines if begin <= second(line) < end])
        self.assertEqual(chosen("--start", end, "--match", "none"), [])
        self.assertEqual(chosen("--start", "2013/01/02 00:00"), chosen("--start", T + 86_400))
        self.assertEqual(chosen("--end", "2013/01/01-01:00:00"), chosen("--end", T + 3600))

    def test_wrong_arguments(self):
        first = self.imported("first", f"sys.cpu {T} 1 host=a\n")
        there = self.scratch / "there"
        there.write_text("mine")
        for arguments, said in (
                (("--format", "cobol"), "cobol"), (("--start", T + 1, "--end", T), "--start"),
                (("--start", "soon"), "--start"), (("--match", "a{b"), "--match"),
                (("--match", "m{host!=h1}"), "write METRIC or METRIC{TAG=FILTER,...}"),
                (("--match", 'm{host="h1"}'), "not_literal_or(h1)"),
                (("--match", 'm{host=~"h.*"}'), "PromQL"),
                (("--match", 'm{host!~"h.*"}'), "not_literal_or(h1)"),
                (("--match", "{host=h1}"), "PromQL"),
                (("--start", "2023/99/99"), "no date"), (("--end", "2023/02/29"), "no date"),
                (("--end", "2023/01/01-24:00:00"), "no date"),
                (("--checkpoint-interval", "nan"), "--checkpoint-interval"),
                (("--store", "foo"), "none of engine, rocksdb and hbase"),
                (("--url", "http://127.0.0.1:1"), "--data-dir and --url"),
                (("--resume",), "--output"), (("--output", there), "exists"),
                (("--output", there, "--resume"), "exists"),
                (("--output", self.scratch / "none" / "x"), "none")):
            with self.subTest(arguments):
                _, err = self.run_tool("export", "--data-dir", first, *arguments, expect=FAILED)
                self.assertIn(said, err)
        self.assertEqual(there.read_text(), "mine")
        self.assertEqual(list(self.scratch.glob("*checkpoint*")), [])
        _, err = self.run_tool("export", "--data-dir", self.scratch / "nowhere", expect=FAILED)
        self.assertIn("nowhere", err)
        self.assertFalse((self.scratch / "nowhere").exists())

    def test_two_flags_of_one_file(self):
        first = self.imported("first", f"m {T} 1 host=a\n")
        (self.scratch / "link").symlink_to(self.scratch)
        for arguments, said in (
                (("--errors", "out"), "--output and --errors are both out"),
                (("--errors", "link/out"), "--output and --errors are both link/out"),
                (("--checkpoint", "./out"), "--output and --checkpoint are both ./out"),
                (("--errors", "out.checkpoint"), "--errors and --checkpoint are both")):
            with self.subTest(arguments):
                _, err = self.run_tool("export", "--data-dir", first, "--output", "out", *arguments,
                                       expect=FAILED)
                self.assertIn(said, err)
        _, err = self.run_tool("migrate", "--from", first, "--to", self.scratch / "second",
                               "--errors", "x", "--checkpoint", "x", expect=FAILED)
        self.assertIn("--errors and --checkpoint are both x", err)
        for name in ("out", "out.checkpoint", "x", "second"):
            self.assertFalse((self.scratch / name).exists())

    def test_a_data_directory_in_use(self):
        first = self.imported("first", f"sys.cpu {T} 1 host=a\n")
        server = self.served(first)
        _, err = self.run_tool("export", "--data-dir", first, expect=FAILED)
        self.assertRegex(err, "in use|uses|another")
        out, _ = self.run_tool("export", "--url", self.url(server), "--start", T - 60)
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(out, f"sys.cpu {T} 1 host=a\n".encode())
        self.assertEqual(self.exported(first), out)


class Kill9(ExportTest):
    """The file after kill -9 and --resume is that of an uninterrupted export."""

    def test_resumed_until_it_is_done(self):
        seed = int(os.environ.get("HALITE_SEED", time.time_ns() % 1_000_000))
        print(f"HALITE_SEED={seed}", flush=True)
        moments = random.Random(seed)
        first = self.imported("first", "".join(
            f"m.{host % 3} {T + 10 * step} {(step * 31 + host) % 1000} host=h{host}\n"
            for step in range(12_000) for host in range(100)))
        kills = 0
        for name in ("a.txt", "a.txt.zst", "a.txt.gz"):
            alone = self.scratch / f"alone-{name}"
            began = time.monotonic()
            self.exported(first, "--output", alone)
            took = time.monotonic() - began
            out = self.scratch / name
            checkpoint = self.scratch / f"{name}.checkpoint"
            for attempt in range(7):  # the last one is not killed
                resume = ("--resume",) if out.exists() or checkpoint.exists() else ()
                process = self.start("export", "--quiet", "--data-dir", first, "--output", out,
                                     "--checkpoint-interval", 0.01, *resume)
                try:
                    _, err = process.communicate(
                        timeout=took * moments.random() if attempt < 6 else None)
                    self.assertEqual(process.returncode, ALL, err)
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills += 1
                    if out.exists() and not checkpoint.exists():
                        break  # it was done
            self.assertFalse(checkpoint.exists())
            self.assertTrue(out.read_bytes() == alone.read_bytes(), name)
        self.assertGreater(kills, 0)
        print(f"{kills} kills", flush=True)

    def test_what_it_does_not_resume(self):
        first = self.imported("first", "".join(
            f"m {T + step} {step} host=h{host}\n" for step in range(20_000) for host in range(50)))
        out = self.scratch / "a.txt"
        checkpoint = self.scratch / "a.txt.checkpoint"
        arguments = ("--quiet", "--data-dir", first, "--output", out)
        self.interrupt(checkpoint, "export", *arguments)
        _, err = self.run_tool("export", *arguments, expect=FAILED)
        self.assertIn("--resume", err)
        for other in (("--format", "csv"), ("--match", "m"), ("--start", T), ("--end", T + 9)):
            _, err = self.run_tool("export", *arguments, "--resume", *other, expect=FAILED)
            self.assertIn("another task", err)
        whole = out.read_bytes()
        out.write_bytes(whole[:100])
        _, err = self.run_tool("export", *arguments, "--resume", expect=FAILED)
        self.assertIn("100 bytes", err)
        out.write_bytes(whole)
        text = checkpoint.read_text()
        checkpoint.write_text("{")
        _, err = self.run_tool("export", *arguments, "--resume", expect=FAILED)
        self.assertIn("remove it to begin again", err)
        checkpoint.write_text(text)
        self.run_tool("export", *arguments, "--resume")
        self.assertTrue(out.read_bytes() == self.exported(first))

if __name__ == "__main__":
    support.main()
