#!/usr/bin/env python3
"""`halite serve --read-only` on a copied data directory: it answers as the server whose copy it is, and not a
byte of the directory changes."""

import hashlib
import json
import os
import shutil
import subprocess
import unittest

import support

START = 1_700_000_000


class ReadOnly(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.data = self.scratch / "data"

    def contents(self, directory):
        """What is there: names, bytes and times of change."""
        return {str(file.relative_to(directory)):
                (file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).hexdigest())
                for file in sorted(directory.rglob("*")) if file.is_file()}

    def put(self, server, begin, count):
        points = [{"metric": "r.load", "timestamp": START + second, "value": second, "tags": {"h": f"h{second % 7}"}}
                  for second in range(begin, begin + count)]
        self.assertEqual(server.put(points)[0], 204)

    def seconds(self, server):
        answers = server.query("sum:r.load{h=*}", START - 10, START + 100_000)
        return sorted(int(time) - START for answer in answers for time in answer["dps"])

    def copy_of_a_killed_server(self, *arguments):
        """Points in chunks, sealed ones, and some that only its log has."""
        server = self.server(*arguments).start()
        self.put(server, 0, 500)
        self.assertEqual(server.request("POST", "/api/admin/seal")[0], 204)
        self.put(server, 500, 300)
        self.assertEqual(server.request("POST", "/api/admin/flush")[0], 204)
        self.put(server, 800, 200)
        server.kill()
        copy = self.scratch / "copy"
        shutil.copytree(self.data, copy)
        return copy

    def replica(self, copy, *arguments):
        return self.server("--read-only", *arguments, data_dir=copy).start()

    def refused(self, data_dir, *arguments):
        """A start that has to fail: (exit code, what it said)."""
        code, _, said = self.run_halite("serve", "--listen", "127.0.0.1:0", "--data-dir", str(data_dir), *arguments)
        return code, said

    def check_replica(self, copy, *arguments):
        before = self.contents(copy)
        replica = self.replica(copy, *arguments)
        self.assertEqual(self.seconds(replica), list(range(1000)))
        self.assertEqual(replica.request("GET", "/-/ready")[0], 200)
        point = {"metric": "r.load", "timestamp": START, "value": 1, "tags": {"h": "h0"}}
        self.assertEqual(replica.request("POST", "/api/put", json.dumps(point))[0], 404)
        status, body = replica.request("POST", "/api/admin/seal")
        self.assertEqual(status, 403, body)
        self.assertIn(b"--read-only", body)
        self.assertIn("unknown command: put", replica.telnet_lines(["put r.load 1700000000 1 h=h0"]))
        self.assertEqual(replica.request("DELETE", "/api/server/queries/9999")[0], 404)
        # Two may look at once; both end in order, and leave nothing.
        second = self.replica(copy, *arguments)
        self.assertEqual(self.seconds(second), list(range(1000)))
        self.assertEqual(second.terminate(), 0)
        self.assertEqual(replica.terminate(), 0)
        self.assertEqual(self.contents(copy), before)

    def test_the_engine(self):
        self.check_replica(self.copy_of_a_killed_server())

    def test_rocksdb(self):
        self.check_replica(self.copy_of_a_killed_server("--store", "rocksdb"), "--store", "rocksdb")

    @unittest.skipUnless(os.geteuid() == 0, "mounting wants root")
    def test_a_disk_that_is_read_only(self):
        copy = self.copy_of_a_killed_server()
        mounted = self.scratch / "mounted"
        mounted.mkdir()
        if subprocess.run(["mount", "--bind", str(copy), str(mounted)], check=False).returncode != 0:
            self.skipTest("no mounting here")
        self.addCleanup(subprocess.run, ["umount", str(mounted)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(mounted)], check=True)
        replica = self.replica(mounted)
        self.assertEqual(self.seconds(replica), list(range(1000)))
        self.assertEqual(replica.terminate(), 0)

    def test_not_beside_a_server_that_writes(self):
        server = self.server().start()
        code, said = self.refused(self.data, "--read-only")
        self.assertEqual(code, 1)
        self.assertIn("read_only requires a copy", said)
        self.assertEqual(server.terminate(), 0)
        # Nor does a server begin to write where a replica reads.
        replica = self.replica(self.data)
        code, said = self.refused(self.data)
        self.assertEqual(code, 1)
        self.assertIn("in use by another server", said)
        self.assertEqual(replica.terminate(), 0)

    def test_a_restored_backup_has_no_file_to_lock(self):
        copy = self.copy_of_a_killed_server()
        (copy / "halite.lock").unlink()
        replica = self.replica(copy)
        self.assertFalse((copy / "halite.lock").exists())
        code, said = self.refused(copy)
        self.assertEqual(code, 1)
        self.assertIn("in use by another server, with --read-only", said)
        self.assertEqual(self.seconds(replica), list(range(1000)))
        self.assertEqual(replica.terminate(), 0)

    def test_nothing_is_made(self):
        code, said = self.refused(self.scratch / "none", "--read-only")
        self.assertEqual(code, 1)
        self.assertIn("the data directory", said)
        self.assertFalse((self.scratch / "none").exists())

    def test_where_it_means_nothing(self):
        for more, why in ((("--store", "memory"), "a data directory, which memory does not have"),
                          (("--set", "web.mode=wo"), "cannot be combined")):
            code, said = self.refused(self.data, "--read-only", *more)
            self.assertEqual(code, 2, said)
            self.assertIn(why, said)


if __name__ == "__main__":
    support.main()
