#!/usr/bin/env python3
"""Data directories of released versions (tests/compat): this binary answers from them exactly as the
version that wrote them, and goes on writing; kill -9 under load in the midst of an upgrade loses
nothing; what a later version wrote is refused by name. HALITE_SEED chooses the moments of kills."""

import hashlib
import json
import os
import random
import shutil
import struct
import sys
import threading
import time
import urllib.parse

import kill9_test
import support

sys.path.insert(0, str(support.HERE.parent / "compat"))
import content  # noqa: E402

VERSIONS = sorted(place.name for place in content.HERE.iterdir() if (place / "made_by.json").exists())
ROUNDS = 3
SMALL_HEADS = {"HALITE_ENGINE_HEAD_FREEZE_BYTES": "1MiB"}
NOT_IN_READ_ONLY = ("/api/uid/", "/api/tree")


def crc32c(data):
    """Castagnoli's CRC, bit by bit: for a header of 36 bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Compat(support.HaliteTest):
    def for_each_directory(self, check):
        """check(kind, a fresh copy, its answers) of every version, each in a subtest."""
        self.assertIn("0.1.0", VERSIONS)
        for version in VERSIONS:
            for kind in content.KINDS:
                if (content.HERE / version / f"{kind}.tar.xz").exists():
                    with self.subTest(version=version, kind=kind):
                        check(kind, self.copy(version, kind), self.expected(version, kind))

    def copy(self, version, kind):
        place = self.scratch / f"{version}-{kind}"
        shutil.unpack_archive(content.HERE / version / f"{kind}.tar.xz", place)
        return place / "data"

    def expected(self, version, kind):
        return content.from_text((content.HERE / version / f"{kind}.answers").read_text())

    def started(self, data, kind, *more, **options):
        server = content.Server(support.binary(), data, kind, *more, **options)
        self.servers.append(server)
        return server.start()

    def check_answers(self, server, expected, grown=False):
        """The answers are those of the version that wrote the points. With `grown` there are more names."""
        if grown:
            expected = [one for one in expected if not one[0].startswith("/api/suggest?type=tag")]
        self.assertEqual("\n".join(content.differences(server, expected)), "", server.log_text())

    def check_sound(self, data):
        code, out, err = self.run_halite("check", "--data-dir", str(data))
        self.assertEqual(code, 0, out + err)

    # ---- what is written by this binary, and how it reads ----------------------------------------

    def write(self, server, again):
        """Points of known and of new series, some that replace others; `again` tells two runs apart."""
        begin = content.WRITTEN
        server.put([content.point("compat.ints", begin + i, i + again, host="a", dc="x") for i in range(20)]
                   + [content.point("compat.doubles", begin + i, i / 8 + again, host="b", dc="y") for i in range(20)]
                   + [content.point("written.new", begin + i, 2.5 * i, host="a", dc="x", run=f"r{again}")
                      for i in range(10)])
        m = urllib.parse.quote("sum:compat.doubles{host=b}", safe="")
        server.ask("DELETE", f"/api/query?start={begin + 3}&end={begin + 5}&m={m}")
        server.ask("POST", "/api/annotation", {"startTime": begin + 5, "description": f"upgraded {again}"})

    def check_written(self, server, again):
        begin, end = content.WRITTEN, content.WRITTEN + 100

        def dps(expression):
            return [answer["dps"] for answer in support.query(server, expression, begin, end)]

        self.assertEqual(dps("none:compat.ints{host=a}"), [{str(begin + i): i + again for i in range(20)}])
        self.assertEqual(dps("none:compat.doubles{host=b}"),
                         [{str(begin + i): i / 8 + again for i in range(20) if i not in (3, 4, 5)}])
        for run in range(again + 1):
            self.assertEqual(dps(f"none:written.new{{run=r{run}}}"), [{str(begin + i): 2.5 * i for i in range(10)}])
        note = server.get_json(f"/api/annotation?start_time={begin + 5}")
        self.assertEqual(note["description"], f"upgraded {again}")

    # ---- tests ----------------------------------------------------------------------------------

    def test_opens_answers_and_writes(self):
        self.for_each_directory(self.open_and_write)

    def open_and_write(self, kind, data, expected):
        server = self.started(data, kind)
        self.check_answers(server, expected)
        self.write(server, 0)
        self.check_written(server, 0)
        server.kill()
        server = self.started(data, kind)
        self.check_answers(server, expected, grown=True)
        self.check_written(server, 0)
        if kind != "rocksdb":  # all chunks are written anew
            server.ask("POST", "/api/admin/seal")
            self.check_answers(server, expected, grown=True)
        self.write(server, 1)
        self.assertEqual(server.terminate(), 0, server.log_text())
        self.check_sound(data)
        server = self.started(data, kind)
        self.check_answers(server, expected, grown=True)
        self.check_written(server, 1)
        self.assertEqual(server.terminate(), 0, server.log_text())

    def test_reads_only_and_backs_up(self):
        self.for_each_directory(self.read_and_back_up)

    def read_and_back_up(self, kind, data, expected):
        def contents():
            return {str(file.relative_to(data)): hashlib.sha256(file.read_bytes()).hexdigest()
                    for file in data.rglob("*") if file.is_file()}

        before = contents()
        server = self.started(data, kind, "--read-only")
        self.check_answers(server, [one for one in expected if not one[0].startswith(NOT_IN_READ_ONLY)])
        self.assertEqual(server.terminate(), 0)
        self.check_sound(data)
        kept, again = data.parent / "kept", data.parent / "again"
        code, out, err = self.run_halite("backup", "--data-dir", str(data), "--to", str(kept))
        self.assertEqual(code, 0, out + err)
        self.assertEqual(contents(), before)
        code, out, err = self.run_halite("restore", "--from", str(kept), "--data-dir", str(again))
        self.assertEqual(code, 0, out + err)
        self.check_answers(self.started(again, kind), expected)

    def test_kill_9_under_load_in_the_midst_of_an_upgrade(self):
        seed = int(os.environ.get("HALITE_SEED", time.time_ns() % 1_000_000))
        print(f"HALITE_SEED={seed}", flush=True)
        self.moments = random.Random(seed)
        self.for_each_directory(self.upgrade_under_load)

    def upgrade_under_load(self, kind, data, expected):
        for _ in range(2):  # while it opens the directory
            server = content.Server(support.binary(), data, kind)
            self.servers.append(server)
            server.launch()
            time.sleep(0.15 * self.moments.random())
            server.kill()
        loads = []
        for round_number in range(ROUNDS):
            server = self.started(data, kind, environment=SMALL_HEADS)
            load = kill9_test.Load(server, round_number)
            load.start()
            sealing = threading.Thread(target=self.seal_until_it_is_gone, args=(server, kind))
            sealing.start()
            time.sleep(0.05 + 0.6 * self.moments.random())
            server.kill()
            load.join()
            sealing.join()
            self.assertEqual(load.wrong, [])
            loads.append(load)
        self.assertGreater(sum(len(load.acknowledged) for load in loads), 0)
        server = self.started(data, kind)
        self.check_answers(server, expected, grown=True)
        for load in loads:
            kill9_test.check(self, server, load)
        self.assertEqual(server.terminate(), 0, server.log_text())
        self.check_sound(data)

    def seal_until_it_is_gone(self, server, kind):
        """Chunks of the old version are rewritten while points come."""
        try:
            while kind != "rocksdb":
                server.request("POST", "/api/admin/seal")
                time.sleep(0.05)
        except OSError:
            return

    def test_a_log_of_a_later_version(self):
        data = self.copy("0.1.0", "engine")
        segment = max((data / "engine" / "log").glob("*.log"))
        header = bytearray(segment.read_bytes()[:40])
        header[10:12] = struct.pack("<H", 2)
        header[36:40] = struct.pack("<I", crc32c(header[:36]))
        with segment.open("r+b") as file:
            file.write(header)
        before = segment.read_bytes()
        for command in (("serve", "--listen", "127.0.0.1:0", *content.arguments("engine")), ("check",), ("repair",)):
            code, out, err = self.run_halite(*command, "--data-dir", str(data))
            self.assertEqual(code, 2, command)
            self.assertIn(f"{segment}: it has version 2; this version of Halite reads version 1", out + err)
        self.assertEqual(segment.read_bytes(), before)


if __name__ == "__main__":
    support.main()
