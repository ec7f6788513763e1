#!/usr/bin/env python3
"""deploy/halite.service under a real systemd, installed as docs/operate/install.md says."""

import json
import pathlib
import re
import time
import unittest

import support
import systemd_machine

SOURCE = pathlib.Path(__file__).resolve().parents[2]
UPGRADE = SOURCE / "docs" / "operate" / "upgrade.md"
PORT = 4242


def commands(binary):
    """The commands of docs/operate/install.md, with the build under test."""
    [typed] = [block for block in (SOURCE / "docs" / "operate" / "install.md").read_text().split("```\n")
               if "systemctl enable --now halite" in block]
    assert "build/release" in typed
    return typed.replace("build/release", str(binary.parent))


class Service(unittest.TestCase):
    def setUp(self):
        binary = pathlib.Path(support.binary()).resolve()
        try:
            self.machine = systemd_machine.Machine([SOURCE, binary.parent])
        except systemd_machine.NoMachine as why:
            self.skipTest(f"no machine of systemd's here: {why}")
        self.addCleanup(self.machine.close)
        self.machine.run("sh", "-e", "-c", f"cd {SOURCE}\n{commands(binary)}")
        told = self.machine.run("halite", "auth", "token", "boss", "--roles", "admin").stdout
        self.token, table = told.removeprefix("# ").split("\n", 1)
        self.append("/etc/halite/accounts.toml", table)
        self.systemctl("restart")

    def append(self, path, text, anew=False):
        into = f"{'>' if anew else '>>'} {path}"
        self.machine.run("sh", "-c", f"mkdir -p {pathlib.Path(path).parent}; cat {into}", text=text)

    def systemctl(self, verb):
        done = self.machine.run("systemctl", verb, "halite", check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.journal())

    def journal(self):
        return self.machine.run("journalctl", "-u", "halite", "-o", "cat", "--no-pager").stdout

    def status(self, path, body=None, token=None, method=None):
        """(status, text) of a request to the service."""
        command = ["curl", "-s", "-w", "\n%{http_code}", f"http://127.0.0.1:{PORT}{path}"]
        command += ["-X", method] if method else []
        command += ["-H", f"Authorization: Bearer {token}"] if token else []
        command += ["--data-binary", json.dumps(body)] if body is not None else []
        text, status = self.machine.run(*command, check=False).stdout.rsplit("\n", 1)
        return int(status), text

    def stored(self, metric):
        status, text = self.status(f"/api/query?start=1h-ago&m=sum:{metric}", token=self.token)
        self.assertEqual(status, 200, text)
        return [list(answer["dps"].values()) for answer in json.loads(text)]

    def put(self, metric, value):
        point = {"metric": metric, "timestamp": int(time.time()), "value": value, "tags": {"a": "b"}}
        self.assertEqual(self.status("/api/put", point, self.token), (204, ""), self.journal())

    def test_lives_as_a_service(self):
        self.put("unit.first", 1)  # started is ready: nothing is waited for
        self.assertEqual(self.status("/api/version")[0], 401)

        pid = self.machine.properties("halite", "MainPID")["MainPID"]
        rights = dict(line.split(":\t", 1) for line in
                      self.machine.run("cat", f"/proc/{pid}/status").stdout.splitlines() if ":\t" in line)
        self.assertNotIn("0", rights["Uid"].split())
        self.assertEqual({rights[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertEqual((rights["NoNewPrivs"], rights["Seccomp"]), ("1", "2"))

        # What needs files, threads and sockets in its work is not filtered away.
        for call in ("flush", "seal", "check"):
            status, text = self.status(f"/api/admin/{call}", token=self.token, method="POST")
            self.assertIn(status, (202, 204), text)
        self.assertEqual(self.stored("unit.first"), [[1]])

        self.put("unit.second", 2)
        self.machine.run("kill", "-9", pid)
        deadline = time.monotonic() + 60
        while self.status("/-/ready")[0] != 200:
            self.assertLess(time.monotonic(), deadline, self.journal())
            time.sleep(0.1)
        self.assertEqual(self.machine.properties("halite", "NRestarts"), {"NRestarts": "1"})
        self.assertEqual((self.stored("unit.first"), self.stored("unit.second")), ([[1]], [[2]]))

        self.systemctl("stop")
        self.assertEqual(self.machine.properties("halite", "Result", "ExecMainStatus", "ActiveState"),
                         {"Result": "success", "ExecMainStatus": "0", "ActiveState": "inactive"})
        checked = self.machine.run("halite", "check", "--data-dir", "/var/lib/halite", check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

        self.systemctl("start")
        self.assertEqual((self.stored("unit.first"), self.stored("unit.second")), ([[1]], [[2]]))

    def test_takes_over_from_the_unit_of_0_1_0(self):
        """A dynamic user owned the data: docs/operate/upgrade.md."""
        self.append("/etc/systemd/system/halite.service.d/old.conf", "[Service]\nUser=\nGroup=\nDynamicUser=yes\n"
                    "LoadCredential=accounts:/etc/halite/accounts.toml\nEnvironment=HALITE_AUTH_FILE=%d/accounts\n")
        self.systemctl("stop")
        self.machine.run("rm", "-r", "/var/lib/halite", "/var/lib/halite-backups")
        self.machine.run("chmod", "600", "/etc/halite/accounts.toml")
        self.machine.run("userdel", "halite")
        self.append("/etc/halite/halite.toml", 'listen = "0.0.0.0:4242"\n', anew=True)
        self.machine.run("systemctl", "daemon-reload")
        self.systemctl("start")
        self.put("unit.old", 4)
        self.machine.run("test", "-d", "/var/lib/private/halite")

        self.machine.run("rm", "-r", "/etc/systemd/system/halite.service.d")
        [typed] = re.findall(r"## The unit of 0.1.0\n.*?```\n(.*?)```", UPGRADE.read_text(), re.DOTALL)
        done = self.machine.run("sh", "-e", "-c", typed, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.journal())
        self.assertEqual(self.stored("unit.old"), [[4]])
        self.assertEqual(self.machine.run("stat", "-c", "%F %U", "/var/lib/halite").stdout, "directory halite\n")
        self.assertEqual(self.machine.run("ls", "/var/lib/private").stdout, "")
        self.assertEqual(self.status("/api/version")[0], 401)

    def test_keeps_backups(self):
        self.append("/etc/halite/halite.toml", 'engine.backup_dir = "/var/lib/halite-backups"\n')
        self.systemctl("restart")
        self.put("unit.kept", 3)
        done = self.machine.run("sh", "-c", 'cat > /run/token && halite backup --token-file /run/token '
                                f"--url http://127.0.0.1:{PORT}", check=False, text=self.token)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.journal())
        self.machine.run("halite", "restore", "--from", "/var/lib/halite-backups", "--data-dir", "/run/restored")

    def test_wrong_settings_are_not_tried_again(self):
        self.append("/etc/halite/halite.toml", "listens = 1\n")
        self.assertNotEqual(self.machine.run("systemctl", "restart", "halite", check=False).returncode, 0)
        self.assertIn("unknown setting listens", self.journal())
        self.assertEqual(self.machine.properties("halite", "ActiveState", "NRestarts"),
                         {"ActiveState": "failed", "NRestarts": "0"})


if __name__ == "__main__":
    support.main()
