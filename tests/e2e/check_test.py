#!/usr/bin/env python3
"""What `halite check`, `repair` and `backup` say of a data directory of which a part is gone, or that is none, and
that looking at one leaves no trace in it."""

import os
import shutil
import subprocess
import unittest

import support

T = 1356998400
SERIES = 7
SECONDS = 30
POINTS = SERIES * SECONDS


class Check(support.HaliteTest):
    def stored(self):
        """A data directory with points in chunks, its server ended."""
        server = self.server(environment={"HALITE_SELF_METRICS_ENABLED": "false"}).start()
        points = [{"metric": "c.load", "timestamp": T + second, "value": second, "tags": {"s": f"s{series}"}}
                  for second in range(SECONDS) for series in range(SERIES)]
        status, body = server.put(points)
        self.assertEqual(status, 204, body)
        self.assertEqual(server.request("POST", "/api/admin/flush")[0], 204)
        self.assertEqual(server.terminate(), 0)
        return self.scratch / "data"

    def everything(self, directory):
        """What is there: names, times of change, and bytes of files."""
        return {str(path.relative_to(directory)):
                (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
                for path in sorted(directory.rglob("*"))}

    def tool(self, wanted, *arguments):
        """What it says; the exit status is `wanted`."""
        code, out, err = self.run_halite(*arguments)
        self.assertEqual(code, wanted, out + err)
        return out + err

    def refused_start(self, data, *arguments):
        return self.tool(1, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(data), *arguments)

    def test_without_names(self):
        data = self.stored()
        shutil.rmtree(data / "rocksdb")
        missing = "the names of their series are missing"
        self.assertIn(missing, self.refused_start(data))
        self.assertFalse((data / "rocksdb").exists())
        for empty in (False, True):
            if empty:  # as starts left it once
                other = self.server("--store", "rocksdb", data_dir=self.scratch / "other").start()
                self.assertEqual(other.terminate(), 0)
                shutil.copytree(self.scratch / "other" / "rocksdb", data / "rocksdb")
            said = self.tool(1, "check", "--data-dir", "data")
            self.assertIn(missing, said)
            self.assertIn(f"{POINTS} points in chunks, of {SERIES} series without names", said)
            said = self.tool(1, "repair", "--data-dir", "data")
            self.assertIn("left: data/rocksdb: it cannot be recreated", said)
            self.assertIn(missing, self.tool(1, "backup", "--data-dir", "data", "--to", "kept"))

    def test_without_points(self):
        data = self.stored()
        shutil.rmtree(data / "engine")
        missing = "engine/chunks is missing or has no file CURRENT, but it held points"
        self.assertIn(missing, self.refused_start(data))
        said = self.tool(1, "check", "--data-dir", "data")
        self.assertIn(missing, said)
        self.assertIn("data/engine/log: is missing", said)
        said = self.tool(1, "repair", "--data-dir", "data")
        self.assertIn("left: data/engine/chunks: it cannot be recreated", said)
        self.assertIn(missing, self.tool(1, "backup", "--data-dir", "data", "--to", "kept"))

    def test_what_is_no_data_directory(self):
        for name, files in (("empty", ()), ("foreign", ("x",))):
            place = self.scratch / name
            place.mkdir()
            for file in files:
                (place / file).write_text("x")
            neither = f"(it has no {name}/rocksdb and no {name}/engine)"
            self.assertIn(neither, self.tool(2, "check", "--data-dir", name))
            self.assertIn(neither, self.tool(2, "repair", "--data-dir", name))
            self.assertIn(neither, self.tool(2, "backup", "--data-dir", name, "--to", "kept"))
            self.assertIn(neither, self.refused_start(name, "--read-only"))
            self.assertEqual(sorted(path.name for path in place.iterdir()), sorted(files))
            self.assertFalse((self.scratch / "kept").exists())

    def test_looking_leaves_no_trace(self):
        data = self.stored()
        for lock_file in (True, False):
            if not lock_file:
                (data / "halite.lock").unlink()
                (data / "rocksdb" / "halite.lock").unlink()
            before = self.everything(data)
            self.tool(0, "check", "--data-dir", "data")
            self.tool(0, "backup", "--data-dir", "data", "--to", "kept")
            self.assertEqual(self.everything(data), before)
        replica = self.server("--read-only").start()
        self.tool(0, "check", "--data-dir", "data")
        self.assertEqual(replica.terminate(), 0)
        server = self.server().start()
        for arguments in (("check",), ("repair",), ("backup", "--to", "kept")):
            self.assertIn("in use", self.tool(2, *arguments, "--data-dir", "data"))
        self.assertEqual(server.terminate(), 0)

    @unittest.skipUnless(os.geteuid() == 0, "mounting wants root")
    def test_on_a_disk_that_is_read_only(self):
        data = self.stored()
        mounted = self.scratch / "mounted"
        mounted.mkdir()
        if subprocess.run(["mount", "--bind", str(data), str(mounted)], check=False).returncode != 0:
            self.skipTest("no mounting here")
        self.addCleanup(subprocess.run, ["umount", str(mounted)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(mounted)], check=True)
        self.tool(0, "check", "--data-dir", "mounted")
        self.tool(0, "backup", "--data-dir", "mounted", "--to", "kept")

    def test_a_segment_longer_than_memory(self):
        data = self.stored()
        segment = max((data / "engine" / "log").glob("*.log"))
        os.truncate(segment, 1 << 40)
        said = self.tool(1, "check", "--data-dir", "data")
        self.assertIn(segment.name, said)
        self.assertIn("has 1099511627776 bytes", said)
        server = self.server().start()
        self.assertIn(segment.name, server.log_text())
        self.assertIn("has 1099511627776 bytes", server.log_text())
        answers = support.points_of(server.query("sum:c.load{s=*}", T, T + SECONDS))
        self.assertEqual(sum(len(points) for points in answers.values()), POINTS)
        self.assertEqual(server.put([{"metric": "c.load", "timestamp": T + SECONDS, "value": 1,
                                      "tags": {"s": "s0"}}])[0], 204)
        self.assertEqual(server.terminate(), 0)
        self.assertFalse(segment.exists() and segment.stat().st_size > 1 << 30)
        self.tool(0, "check", "--data-dir", "data")


if __name__ == "__main__":
    support.main()
