#!/usr/bin/env python3
"""`halite migrate`: points copied between directories and servers, also while the source still
receives some.
"""

import json
import threading
import time

import support
from export_test import ALL, FAILED, REFUSED, T, ExportTest, some_points


class Migrate(ExportTest):
    def test_between_directories_and_servers(self):
        first = self.imported("first", some_points())
        text = self.exported(first)
        out, _ = self.migrated("--from", first, "--to", self.scratch / "second", "--verify")
        self.assertIn("6004 points copied, 0 refusals", out)
        self.assertIn("6004 points compared: 0 missing in the target, 0 with another value, 0 only",
                      out)
        self.assertEqual(self.exported(self.scratch / "second"), text)
        self.assertEqual(list(self.scratch.glob("*checkpoint*")), [])

        server = self.served(self.scratch / "third")
        out, _ = self.migrated("--from", first, "--to", self.url(server), "--verify")
        self.assertIn("6004 points compared: 0 missing in the target, 0 with another value, 0 only",
                      out)
        out, _ = self.migrated("--from", self.url(server), "--start", T - 60, "--to",
                               self.scratch / "fourth", "--verify")
        self.assertIn("6004 points compared: 0 missing", out)
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(self.exported(self.scratch / "third"), text)
        self.assertEqual(self.exported(self.scratch / "fourth"), text)

    def test_integers_beside_floats_of_a_server(self):
        """Each point keeps its kind."""
        first = self.imported("first", f"m {T} -5 host=a\nm {T + 1} 0.5 host=a\n")
        server = self.served(self.scratch / "second")
        out, _ = self.migrated("--from", first, "--to", self.url(server), "--verify")
        self.assertIn("2 points compared: 0 missing in the target, 0 with another", out)
        self.migrated("--from", self.url(server), "--start", T, "--to", self.scratch / "third")
        self.assertEqual(server.terminate(), 0)
        for name in ("second", "third"):
            self.assertEqual(self.exported(self.scratch / name), self.exported(first))

    def test_what_is_no_number_of_a_server(self):
        """Infinities, NaNs and staleness markers are copied bit for bit."""
        large = 2 ** 53 + 1
        first = self.imported("first", f"odd.int {T} {large} host=a\nodd.int {T + 1} 0.5 host=a\n"
                                       f"odd.z {T} 1 host=a\n")
        odd = self.scratch / "odd.jsonl"
        odd.write_text(json.dumps({"metric": {"__name__": "odd.nan", "host": "a"},
                                   "values": [1, "Infinity", "-Infinity", "NaN"],
                                   "timestamps": [1000 * (T + i) for i in range(4)]}) + "\n")
        self.run_tool("import", "--quiet", "--data-dir", first, odd)
        text = self.exported(first, "--format", "vmjson", "--match", "odd.nan")
        self.assertIn(b'"Infinity"', text)
        source = self.served(first)
        arguments = ("--url", self.url(source), "--start", T)
        self.assertEqual(self.run_tool("export", "--quiet", *arguments, "--format", "vmjson",
                                       "--match", "odd.nan")[0], text)
        errors = self.scratch / "errors"
        out, _ = self.run_tool("export", "--quiet", *arguments, "--errors", errors, expect=REFUSED)
        self.assertEqual(errors.read_text().count("odd.nan host=a"), 1)
        self.assertIn(f"odd.int {T} {large} host=a\n".encode(), out)
        self.assertIn(f"odd.z {T} 1 host=a\n".encode(), out)
        out, _ = self.migrated("--from", self.url(source), "--start", T, "--to",
                               self.scratch / "second", "--verify")
        self.assertIn("7 points compared: 0 missing in the target, 0 with another value", out)
        self.assertEqual(source.terminate(), 0)
        out, _ = self.migrated("--no-copy", "--from", first, "--to", self.scratch / "second")
        self.assertIn("7 points compared: 0 missing in the target, 0 with another value", out)

    def test_differences_are_named(self):
        first = self.imported("first", f"m {T} 1 host=a\nm {T + 1} 2 host=a\nm {T + 2} 3 host=a\n")
        second = self.imported("second", f"m {T} 1 host=a\nm {T + 1} 9 host=a\nn {T} 3 host=a\n")
        out, _ = self.migrated("--no-copy", "--from", first, "--to", second, expect=REFUSED)
        self.assertIn(f"another value: m host=a at {T + 1}000\n", out)
        self.assertIn(f"missing: m host=a at {T + 2}000\n", out)
        self.assertIn(f"only in the target, 1 in this hour: n host=a at {T}000\n", out)
        self.assertIn("3 points compared: 1 missing in the target, 1 with another value, 1 only "
                      "in the target", out)
        out, _ = self.migrated("--from", first, "--to", second, "--verify")
        self.assertIn("3 points compared: 0 missing in the target, 0 with another value, 1 only "
                      "in the target", out)

    def test_wrong_arguments(self):
        first = self.imported("first", f"m {T} 1 host=a\n")
        for arguments, said in (
                (("--from", first, "--to", "ftp://x"), "ftp://x"),
                (("--from", first, "--to", self.scratch / "x", "--follow"), "--follow"),
                (("--from", self.scratch / "nowhere", "--to", self.scratch / "x"), "nowhere"),
                (("--from", first, "--to", "http://127.0.0.1:1"), "127.0.0.1"),
                (("--from", "http://127.0.0.1:1", "--to", first), "--start"),
                (("--from", first, "--to", first), "first"),
                (("--from", first, "--to", f"{first}/../first/"), "are the same directory"),
                (("--from", "http://localhost:9", "--to", "http://127.0.0.1:9/", "--start", T),
                 "are the same server"),
                (("--from", first, "--to", "http://127.0.0.1:9", "--late-ms=-1"),
                 "--late-ms: -1 is less than 0")):
            with self.subTest(arguments):
                _, err = self.migrated(*arguments, expect=FAILED)
                self.assertIn(said, err)

    def test_a_series_that_the_target_refuses(self):
        """An emoji is two characters to OpenTSDB's rule, and its message names half of it."""
        first = self.imported("first", "".join(json.dumps(
            {"metric": {"__name__": "m", "host": host}, "values": [1, 2],
             "timestamps": [1000 * T, 1000 * T + 1000]}) + "\n"
            for host in ("a", "\U0001F600", "c")))
        server = self.served(self.scratch / "second")
        errors = self.scratch / "errors"
        out, err = self.migrated("--from", first, "--to", self.url(server), "--errors", errors,
                                 expect=REFUSED)
        self.assertIn("4 points copied, ", out)
        [row] = errors.read_text(encoding="utf-8").splitlines()
        self.assertTrue(row.startswith("m host=\U0001F600\t"), row)
        self.assertIn("illegal character: \uFFFD", row)
        self.assertIn("illegal character: \uFFFD", err)

    def test_refused_points_are_counted_by_series(self):
        first = self.imported("first", "".join(json.dumps(
            {"metric": {"__name__": "m", "host": host}, "values": values,
             "timestamps": [1000 * (T + i) for i in range(len(values))]}) + "\n"
            for host, values in (("a", ["NaN", 1] * 100), ("b", [1]), ("\U0001F600", [1] * 30))))
        server = self.served(self.scratch / "second")
        errors = self.scratch / "errors"
        out, _ = self.migrated("--from", first, "--to", self.url(server), "--errors", errors,
                               expect=REFUSED)
        self.assertIn("101 points copied, 130 refusals", out)
        rows = [row.split("\t") for row in errors.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([(row[0], row[1]) for row in rows],
                         [("m host=a", "100"), ("m host=\U0001F600", "30")])

    def test_a_match_of_nothing(self):
        first = self.imported("first", f"m {T} 1 host=a\n")
        arguments = ("--match", "nope", "--from", first, "--to", self.scratch / "second")
        out, err = self.migrated(*arguments)
        self.assertIn("0 points copied, 0 refusals", out)
        self.assertIn("the source has no such points", err)
        for more in ("--verify", "--no-copy"):
            _, err = self.migrated(*arguments, more, expect=FAILED)
            self.assertIn("nothing was compared: the source has no points for this --match", err)

    def test_resumed_after_kill_9(self):
        first = self.imported("first", "".join(
            f"m.{host % 2} {T + step} {step % 1000} host=h{host}\n"
            for step in range(6_000) for host in range(100)))
        arguments = ("--quiet", "--from", first, "--to", self.scratch / "second",
                     "--checkpoint", self.scratch / "checkpoint")
        checkpoint = self.scratch / "checkpoint"
        self.interrupt(checkpoint, "migrate", *arguments)
        out, _ = self.run_tool("migrate", *arguments, "--resume", "--verify")
        self.assertIn(b"600000 points compared: 0 missing", out)
        self.assertEqual(self.exported(self.scratch / "second"), self.exported(first))

    def test_follows_what_still_arrives(self):
        source = self.served(self.scratch / "first")
        target = self.served(self.scratch / "second")
        begin = int(time.time()) - 600
        history = [{"metric": "m", "timestamp": begin + i, "value": i, "tags": {"host": f"h{h}"}}
                   for i in range(300) for h in range(5)]
        source.put(history)
        stop = threading.Event()
        sent = []

        def send():
            while not stop.is_set():
                number = len(sent)
                point = {"metric": f"new.{number % 3}", "timestamp": int(time.time() * 1000),
                         "value": number + 0.5, "tags": {"host": f"h{number % 7}"}}
                late = {"metric": "m", "timestamp": begin + number % 600, "value": -number,
                        "tags": {"host": "late"}}
                source.put([point, late])
                sent.append(point)
                time.sleep(0.02)

        sender = threading.Thread(target=send)
        sender.start()
        process = self.start("migrate", "--from", self.url(source), "--start", begin - 60, "--to",
                             self.url(target), "--follow", "--quiet-ms", 3000, "--verify")
        time.sleep(4)
        self.assertIsNone(process.poll())
        stop.set()
        sender.join()
        out, err = process.communicate(timeout=support.START_SECONDS)
        self.assertEqual(process.returncode, ALL, (out, err))
        self.assertRegex(out, rb"\d+ points compared: 0 missing in the target, 0 with another value")
        self.assertIn(b"new or changed point", err)
        for server in (source, target):
            self.assertEqual(server.terminate(), 0)
        text = self.exported(self.scratch / "first")
        self.assertEqual(text.count(b"new."), len(sent))
        self.assertEqual(self.exported(self.scratch / "second"), text)


    def test_following_ends_where_points_are_refused(self):
        now = int(time.time())
        text = "".join(json.dumps({"metric": {"__name__": "m", "host": host}, "values": values,
                                   "timestamps": [1000 * now - 60_000, 1000 * now - 30_000]}) + "\n"
                       for host, values in (("a", [1, 2]), ("b", ["NaN", 4])))
        first = self.imported("first", text)
        source = self.served(first)
        target = self.served(self.scratch / "second")
        out, err = self.migrated("--from", self.url(source), "--start", now - 600, "--to",
                                 self.url(target), "--follow", "--quiet-ms", 500, "--verify",
                                 expect=REFUSED)
        self.assertIn("4 points compared: 1 missing in the target, 0 with another value", out)
        self.assertIn("NaN", err)


if __name__ == "__main__":
    support.main()
