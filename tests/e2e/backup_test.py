#!/usr/bin/env python3
"""Checks, backups and restores of a server that goes on taking points: what was acknowledged before
a backup began is in it, it costs no more than what is new, and damage is told by file."""

import json
import re
import threading
import unittest

import support

T = 1356998400
SERIES = 40


def batch(begin, count):
    return [{"metric": "b.load", "timestamp": T + second, "value": second * 7 + series,
             "tags": {"s": f"s{series}"}}
            for second in range(begin, begin + count) for series in range(SERIES)]


class Backups(support.HaliteTest):
    def started(self, data_dir=None):
        return self.server("--set", f"engine.backup_dir={self.scratch}/kept",
                           data_dir=data_dir).start()

    def put(self, server, begin, count):
        status, body = server.put(batch(begin, count))
        self.assertEqual(status, 204, body)

    def seconds(self, server, end):
        """How many seconds from T on each series has, all of them right."""
        answers = support.points_of(server.query("sum:b.load{s=*}", T, T + end))
        self.assertEqual(len(answers), SERIES)
        found = set()
        for (_, tags), points in answers.items():
            series = int(dict(tags)["s"][1:])
            for second, value in points.items():
                self.assertEqual(value, (second - T) * 7 + series)
            found.add(len(points))
        self.assertEqual(len(found), 1)
        return found.pop()

    def state(self, server, job):
        status, body = server.request("GET", f"/api/admin/{job}")
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def run_job(self, server, job):
        status, body = server.request("POST", f"/api/admin/{job}", "{}")
        self.assertEqual(status, 202, body)
        return self.eventually(f"the end of {job}", lambda: self.ended(server, job))

    def ended(self, server, job):
        state = self.state(server, job)
        return None if state["running"] else state

    def test_a_backup_while_points_come(self):
        server = self.started()
        self.put(server, 0, 100)
        stop, acknowledged = threading.Event(), [100]

        def write():
            while not stop.is_set():
                self.put(server, acknowledged[0], 5)
                acknowledged[0] += 5

        writer = threading.Thread(target=write)
        writer.start()
        before = acknowledged[0]
        code, out, err = self.run_halite("backup", "--url", f"http://127.0.0.1:{server.port}")
        stop.set()
        writer.join()
        self.assertEqual(code, 0, out + err)
        self.assertRegex(out, r"^saved as \d{8}T\d{6}\.\d{3}Z\.manifest: \d+ files, ")
        self.assertFalse((self.scratch / "data" / "snapshot").exists())

        code, out, err = self.run_halite("restore", "--from", "kept", "--data-dir", "again")
        self.assertEqual(code, 0, out + err)
        code, out, err = self.run_halite("check", "--data-dir", "again")
        self.assertEqual(code, 0, out + err)
        again = self.started(self.scratch / "again")
        self.assertGreaterEqual(self.seconds(again, 100_000), before)
        self.assertNotIn("missing", again.log_text())
        self.put(again, 90_000, 1)
        self.assertEqual(again.terminate(), 0)
        code, out, err = self.run_halite("check", "--data-dir", "again")
        self.assertEqual(code, 0, out + err)

        # The next one copies what is new; another into the same data directory is refused.
        self.put(server, acknowledged[0], 1)
        second = self.run_job(server, "backup")
        self.assertEqual(second["damaged"], [])
        self.assertLess(second["bytes_copied"], second["bytes"])
        code, _, err = self.run_halite("restore", "--from", "kept", "--data-dir", "again")
        self.assertEqual(code, 2)
        self.assertIn("not empty", err)

    def test_offline_and_damaged(self):
        server = self.started()
        self.put(server, 0, 200)
        code, _, err = self.run_halite("backup", "--data-dir", "data", "--to", "kept")
        self.assertEqual(code, 2)
        self.assertIn("in use", err)
        server.kill()  # -9: the newest points are in the log alone
        (self.scratch / "link").symlink_to(self.scratch / "data")
        for inside in ("data/kept", "data", "link/a/../b", "./data/../link"):
            code, _, err = self.run_halite("backup", "--data-dir", "data", "--to", inside)
            self.assertEqual(code, 2)
            self.assertIn("is inside the data directory", err)
        self.assertFalse((self.scratch / "data" / "kept").exists())
        code, out, err = self.run_halite("backup", "--data-dir", "data", "--to", "kept")
        self.assertEqual(code, 0, out + err)
        (self.scratch / "kept-link").symlink_to(self.scratch / "kept")
        for inside in ("kept/in", "kept", "kept-link/in", "./again/../kept/a/b"):
            code, _, err = self.run_halite("restore", "--from", "kept", "--data-dir", inside)
            self.assertEqual(code, 2)
            self.assertIn("is inside the backup repository", err)
        self.assertFalse((self.scratch / "kept" / "in").exists())
        code, out, err = self.run_halite("restore", "--from", "kept", "--data-dir", "again")
        self.assertEqual(code, 0, out + err)
        again = self.started(self.scratch / "again")
        self.assertEqual(self.seconds(again, 1000), 200)
        self.assertEqual(again.terminate(), 0)

        # A bit of a kept file.
        largest = max((self.scratch / "kept" / "files").iterdir(), key=lambda f: f.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 4
        largest.write_bytes(content)
        code, out, err = self.run_halite("restore", "--from", "kept", "--data-dir", "hurt")
        self.assertEqual(code, 2, out + err)
        self.assertIn(largest.name, err)
        self.assertFalse((self.scratch / "hurt.restoring").exists())

    def test_after_an_older_backup_was_restored(self):
        def halite(*arguments):
            code, out, err = self.run_halite(*arguments)
            self.assertEqual(code, 0, out + err)
            return out

        def write(name):
            path = self.scratch / f"{name}.txt"
            path.write_text("".join(f"{name} {T + second} {second} s=a\n" for second in range(5000)))
            return str(path)

        halite("import", "--quiet", "--data-dir", "data", write("one"))
        halite("backup", "--data-dir", "data", "--to", "kept")
        first = re.search(r"\d{8}T\d{6}\.\d{3}Z", halite("backups", "list", "--in", "kept")).group()
        halite("import", "--quiet", "--data-dir", "data", write("two"))
        halite("backup", "--data-dir", "data", "--to", "kept")
        # From here on its files have the numbers of others.
        halite("restore", "--from", "kept", "--backup", first, "--data-dir", "again")
        halite("import", "--quiet", "--data-dir", "again", write("six"))
        self.assertNotIn("damaged", halite("backup", "--data-dir", "again", "--to", "kept"))
        halite("backup", "--data-dir", "again", "--to", "kept")

    def test_a_check_of_a_running_server(self):
        server = self.started()
        self.put(server, 0, 200)
        self.assertEqual(server.request("POST", "/api/admin/flush")[0], 204)
        self.assertIsNone(json.loads(server.request("GET", "/api/admin/check")[1])["sound"])
        state = self.run_job(server, "check")
        self.assertIs(state["sound"], True)
        self.assertGreater(state["points"], 0)
        # Of points: what the database says of itself is not hurting anybody.
        tables = sorted((table for table in
                         (self.scratch / "data" / "engine" / "chunks").glob("*.sst")
                         if b"unsealed" not in table.read_bytes()), key=lambda f: f.stat().st_size)
        with open(tables[-1], "r+b") as table:
            table.seek(20)
            byte = table.read(1)[0]
            table.seek(20)
            table.write(bytes([byte ^ 1]))
        state = self.run_job(server, "check")
        self.assertFalse(state["sound"])
        self.assertEqual([f["file"] for f in state["findings"]], [str(tables[-1])])
        hurt = state["findings"][0]["hurt"]
        self.assertTrue(any(name.startswith("b.load{s=") for name in hurt["series"]), hurt)
        self.assertIn(tables[-1].name, server.log_text())
        _, metrics = server.request("GET", "/metrics")
        self.assertIn(b"halite_scrub_damaged_places 1", metrics)

    def test_what_a_killed_backup_left_goes(self):
        left = self.scratch / "data" / "snapshot" / "engine" / "chunks"
        left.mkdir(parents=True)
        (left / "000001.sst").write_bytes(b"half")
        self.started()
        self.assertFalse((self.scratch / "data" / "snapshot").exists())

    def test_without_a_place_for_backups(self):
        server = self.server().start()
        status, body = server.request("POST", "/api/admin/backup", "{}")
        self.assertEqual(status, 501, body)
        self.assertIn(b"engine.backup_dir", body)

    def test_a_place_in_the_data_directory(self):
        code, _, err = self.run_halite("serve", "--data-dir", "data", "--listen", "127.0.0.1:0",
                                       "--set", f"engine.backup_dir={self.scratch}/data/snapshot")
        self.assertEqual(code, 2, err)
        self.assertIn("is inside the data directory", err)
        self.assertFalse((self.scratch / "data").exists())

    def test_what_is_no_directory(self):
        (self.scratch / "data").mkdir()
        place = str(self.scratch / "backups")
        for arguments, said in (
                (("backup", "--data-dir", "data", "--to", "S3://bucket/x"), "S3://bucket/x is a URL"),
                (("backup", "--data-dir", "data", "--to", "s3:/bucket/x"), "s3:/bucket/x is a URL"),
                (("restore", "--from", "https://host/x", "--data-dir", "new"), "https://host/x is a URL"),
                (("restore", "--from", place, "--data-dir", "s3://bucket/x"), "s3://bucket/x is a URL"),
                (("restore", "--from", place, "--data-dir", "new", "--backup", ""), "--backup: it is empty"),
                (("backup", "--url", "http://127.0.0.1:1", "--data-dir", "data"), "--url URL alone"),
                (("backup", "--url", "http://127.0.0.1:1", "--to", place), "--url URL alone")):
            with self.subTest(arguments=arguments):
                code, out, err = self.run_halite(*arguments)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(said, err)
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["data"])


if __name__ == "__main__":
    support.main()
