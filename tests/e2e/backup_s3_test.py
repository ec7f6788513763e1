#!/usr/bin/env python3
"""Backups in S3 stores: of running and of stopped servers, cut off and made again, damaged, pruned, restored
elsewhere. Each test runs against a small store that checks every signature, and against a real one: versitygw,
which keeps objects as files."""

import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

import support
from go_programs import go_program
from s3_server import S3Server
from server_process import clean_environment

PACKAGE, VERSION = "github.com/versity/versitygw/cmd/versitygw", "v1.8.0"
T = 1356998400
SERIES = 20
PLACE = "s3://backups/halite/one"


class SmallStore:
    """The store of s3_server.py."""

    def __init__(self, case, **options):
        self.server = case.enterContext(S3Server(**options))
        self.endpoint, self.key_id, self.secret = self.server.endpoint, self.server.key_id, self.server.secret

    def objects(self):
        return self.server.objects()

    def put(self, key, content):
        self.server.put(key, content)


class Versity:
    """A versitygw over a directory."""

    def __init__(self, case, certificate=None, key=None, put_seconds=0.0):
        program = go_program(PACKAGE, VERSION)
        self.root = case.scratch / "gateway"
        (self.root / "backups").mkdir(parents=True)
        self.key_id, self.secret = "AKVERSITY", "versity/+=secret"
        port = support.free_port()
        self.endpoint = f"http{'s' if certificate else ''}://127.0.0.1:{port}"
        tls = ["--cert", certificate, "--key", key] if certificate else []
        log = (case.scratch / "gateway.log").open("w")
        process = subprocess.Popen(
            [program, "--quiet", "--keep-alive", "--port", f"127.0.0.1:{port}", *map(str, tls), "posix", self.root],
            env={**os.environ, "ROOT_ACCESS_KEY": self.key_id, "ROOT_SECRET_KEY": self.secret},
            stdout=log, stderr=log)
        case.addCleanup(log.close)
        case.addCleanup(process.wait)
        case.addCleanup(process.kill)
        case.eventually("versitygw", lambda: support.listens(port))

    def objects(self):
        bucket = self.root / "backups"
        return {str(path.relative_to(bucket)): path.read_bytes() for path in bucket.rglob("*")
                if path.is_file() and ".sgwtmp" not in path.parts}

    def put(self, key, content):
        (self.root / "backups" / key).write_bytes(content)


class S3Backups:
    """The tests; STORE is the kind of store."""

    def setUp(self):
        super().setUp()
        self.use(self.STORE(self))

    def use(self, store, **more):
        self.store = store
        self.environment = {"AWS_ACCESS_KEY_ID": store.key_id, "AWS_SECRET_ACCESS_KEY": store.secret,
                            "HALITE_BACKUP_S3_ENDPOINT": store.endpoint, "HOME": str(self.scratch), **more}

    def halite(self, *arguments, wanted=0, **environment):
        code, out, err = self.run_halite(*arguments, environment={**self.environment, **environment})
        self.assertEqual(code, wanted, out + err)
        self.assertNotIn(self.store.secret, out + err)
        return out + err

    def put(self, server, begin, count):
        status, body = server.put(
            [{"metric": "b.load", "timestamp": T + second, "value": second * 7 + series, "tags": {"s": f"s{series}"}}
             for second in range(begin, begin + count) for series in range(SERIES)])
        self.assertEqual(status, 204, body)

    def points(self, server):
        return support.points_of(server.query("sum:b.load{s=*}", T, T + 100_000))

    def filled(self):
        """A data directory of a server that was killed, and its points."""
        server = self.server().start()
        self.put(server, 0, 200)
        points = self.points(server)
        server.kill()
        return points

    def files(self, count, size):
        """Adds files that no other file equals."""
        extra = self.scratch / "data" / "extra"
        extra.mkdir()
        for number in range(count):
            (extra / f"{number}").write_bytes(random.Random(number).randbytes(size))

    def test_a_running_server(self):
        server = self.server("--set", f"engine.backup_dir={PLACE}", environment=self.environment).start()
        self.put(server, 0, 100)
        url = f"http://127.0.0.1:{server.port}"
        first = self.halite("backup", "--url", url)
        self.assertRegex(first, r"^saved as \d{8}T\d{6}\.\d{3}Z\.manifest: \d+ files, ")
        _, metrics = server.request("GET", "/metrics")
        newest = float(metrics.decode().split("\nhalite_backup_newest_time_seconds ")[1].split()[0])
        self.assertAlmostEqual(newest, time.time(), delta=600)
        self.put(server, 100, 1)
        self.halite("backup", "--url", url)
        points = self.points(server)
        self.halite("restore", "--from", PLACE, "--data-dir", "again")
        again = self.server(data_dir=self.scratch / "again").start()
        self.assertEqual(self.points(again), points)
        self.assertNotIn(self.store.secret, server.log_text())
        self.assertEqual(server.terminate(), 0)
        self.assertEqual([key for key in self.store.objects() if "/locks/" in key], [])
        # The next one knows when the newest was made.
        server = self.server("--set", f"engine.backup_dir={PLACE}", environment=self.environment).start()
        self.eventually("the time of the newest backup", lambda: b"newest_time_seconds 1" in
                        server.request("GET", "/metrics")[1])

    def test_each_file_once_verified_and_pruned(self):
        points = self.filled()
        self.halite("backup", "--data-dir", "data", "--to", PLACE)
        self.assertIn("0.0 MiB copied", self.halite("backup", "--data-dir", "data", "--to", PLACE))
        self.files(3, 1000)
        self.halite("backup", "--data-dir", "data", "--to", PLACE)
        self.assertEqual(self.halite("backups", "list", "--in", PLACE).count(".manifest: "), 3)
        self.assertIn("0 damaged", self.halite("backups", "verify", "--in", PLACE))
        self.assertIn("removed 2 backups", self.halite("backups", "prune", "--in", PLACE, "--keep", "1"))
        self.halite("restore", "--from", PLACE, "--data-dir", "again")
        self.halite("check", "--data-dir", "again")
        self.assertEqual(self.points(self.server(data_dir=self.scratch / "again").start()), points)

        # One wrong bit.
        key, content = max(self.store.objects().items(), key=lambda one: len(one[1]))
        wrong = bytearray(content)
        wrong[len(wrong) // 2] ^= 4
        self.store.put(key, bytes(wrong))
        self.assertIn(key, self.halite("backups", "verify", "--in", PLACE, wanted=1))
        self.assertIn(key, self.halite("restore", "--from", PLACE, "--data-dir", "hurt", wanted=2))
        self.assertFalse((self.scratch / "hurt").exists())

    def test_parts_of_a_large_file(self):
        self.filled()
        self.files(1, (40 << 20) + 17)  # three parts
        self.halite("backup", "--data-dir", "data", "--to", PLACE)
        self.halite("restore", "--from", PLACE, "--data-dir", "again")
        name = pathlib.Path("extra", "0")
        self.assertEqual((self.scratch / "again" / name).read_bytes(), (self.scratch / "data" / name).read_bytes())

    def test_a_backup_is_killed_and_made_again(self):
        points = self.filled()
        self.files(600, 3000)
        process = subprocess.Popen([support.binary(), "backup", "--data-dir", "data", "--to", PLACE], cwd=self.scratch,
                                   env=clean_environment(**self.environment))
        self.eventually("some files", lambda: len(self.store.objects()) > 40)
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie until the end of the test
        self.addCleanup(process.wait)
        before = [key for key in self.store.objects() if "/files/" in key]
        self.assertIn(f"there is no backup in {PLACE}", self.halite("backups", "list", "--in", PLACE))
        self.halite("restore", "--from", PLACE, "--data-dir", "none", wanted=2)
        # At once: the process whose lock is still there has ended.
        self.halite("backup", "--data-dir", "data", "--to", PLACE)
        if isinstance(self.store, SmallStore):
            puts = [one for one in self.store.server.requests if one.startswith("PUT") and "/files/" in one]
            self.assertEqual(len(puts), len(set(puts)), "no file was sent twice")
        self.assertGreater(len(self.store.objects()), len(before))
        self.halite("restore", "--from", PLACE, "--data-dir", "again")
        self.assertEqual(self.points(self.server(data_dir=self.scratch / "again").start()), points)

    def test_errors_say_what_to_do(self):
        self.filled()
        backup = ("backup", "--data-dir", "data", "--to", PLACE)
        self.assertIn("secret access key", self.halite(*backup, wanted=2, AWS_SECRET_ACCESS_KEY="other"))
        self.assertIn("create it first", self.halite(*backup[:-1], "s3://nothing-here/x", wanted=2))
        self.assertIn("backup.s3_region", self.halite(*backup, wanted=2, AWS_REGION="eu-west-1"))
        self.assertIn("no credentials for S3", self.halite(*backup, wanted=2, AWS_ACCESS_KEY_ID=""))
        self.assertIn("backup.s3_profile = west names a section of",
                      self.halite(*backup, "--set", "backup.s3_profile=west", wanted=2))
        port = support.free_port()
        refused = self.halite(*backup, wanted=2, HALITE_BACKUP_S3_ENDPOINT=f"http://127.0.0.1:{port}")
        self.assertIn("Connection refused", refused)
        self.assertEqual(self.store.objects(), {})

    def test_credentials_in_files(self):
        self.filled()
        text = (f"[default]\naws_access_key_id = nobody\naws_secret_access_key = none\n[backups]\n"
                f"aws_access_key_id = {self.store.key_id}\naws_secret_access_key = {self.store.secret}\n")
        (self.scratch / ".aws").mkdir()
        (self.scratch / ".aws" / "credentials").write_text(text)
        (self.scratch / "keys").write_text(text.replace("default", "other").replace("backups", "default"))
        backup = ("backup", "--data-dir", "data", "--to", PLACE)
        none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
        self.halite(*backup, **none, AWS_PROFILE="backups")
        self.halite(*backup, **none, HALITE_BACKUP_S3_PROFILE="backups")
        self.halite(*backup, "--set", f"backup.s3_credentials_file={self.scratch}/keys")
        self.assertIn("does not exist", self.halite(*backup, "--set", "backup.s3_credentials_file=/none", wanted=2))
        self.halite(*backup, wanted=2, **none)
        printed = self.halite("serve", "--print-config", "--set", f"backup.s3_credentials_file={self.scratch}/keys")
        self.assertNotIn(self.store.key_id, printed)

    def test_tls(self):
        self.filled()
        certificate, key = self.scratch / "ca.pem", self.scratch / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=store",
             "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True, timeout=60)
        self.scratch = self.scratch / "tls"  # of another store
        self.scratch.mkdir()
        (self.scratch / "data").symlink_to(self.scratch.parent / "data")
        self.use(self.STORE(self, certificate=certificate, key=key))
        backup = ("backup", "--data-dir", "data", "--to", PLACE)
        self.assertIn("is not trusted", self.halite(*backup, wanted=2))
        self.assertIn("cannot load trusted", self.halite(*backup, "--set", "backup.s3_ca_file=/none", wanted=2))
        trusted = ("--set", f"backup.s3_ca_file={certificate}")
        self.halite(*backup, *trusted)
        self.assertIn("0 damaged", self.halite("backups", "verify", "--in", PLACE, *trusted))
        # The same server under a name that its certificate does not have.
        other = self.store.endpoint.replace("127.0.0.1", "localhost")
        self.assertIn("is not trusted", self.halite(*backup, *trusted, wanted=2, HALITE_BACKUP_S3_ENDPOINT=other))

    def test_wrong_settings_prevent_a_start(self):
        for place, endpoint in (("s3://Backups", ""), ("s3://backups", "127.0.0.1:9000"), ("s3://a//b", "")):
            said = self.halite("serve", "--data-dir", "none", "--listen", "127.0.0.1:0", "--set",
                               f"engine.backup_dir={place}", "--set", f"backup.s3_endpoint={endpoint}", wanted=2)
            self.assertIn("engine.backup_dir", said)


class SmallStoreTest(S3Backups, support.HaliteTest):
    STORE = SmallStore


class VersityTest(S3Backups, support.HaliteTest):
    STORE = Versity


if __name__ == "__main__":
    support.main()
