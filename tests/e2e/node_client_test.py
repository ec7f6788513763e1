#!/usr/bin/env python3
"""Clients from npm, as they are: `opentsdb`, whose socket writes and whose client asks, and InfluxDB's for
version 2. tests/e2e/clients/node pins them; ./dev e2e installs them."""

import hashlib
import json
import shutil
import subprocess

import support

T = 1356998400
HERE = support.HERE / "clients" / "node"


class NodeClient(support.HaliteTest):
    def run_script(self, name, server, *arguments):
        """Runs one of clients/node/*.js with the port and the arguments; returns what it printed, a JSON text."""
        node = shutil.which("node")
        self.assertIsNotNone(node, "node is missing: ./dev e2e installs it")
        modules = support.clients("node") / "node_modules"
        done = subprocess.run(
            [node, str(HERE / name), str(server.port), *arguments], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=120, check=False,
            env=support.clean_environment(NODE_PATH=str(modules), NODE_NO_WARNINGS="1"))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def test_it_writes_and_asks(self):
        server = self.server().start()
        said = self.run_script("write.js", server)
        self.assertEqual(said, {"written": 200, "heard": ""})
        expected = [[(T + i) * 1000 + 250, i + 0.5] for i in range(100)]

        def stored():
            found = self.run_script("ask.js", server)
            return found if sum(len(one["dps"]) for one in found["grouped"] or []) == 200 else None

        found = self.eventually("its points", stored)
        grouped = {one["tags"]["host"]: one["dps"] for one in found["grouped"]}
        self.assertEqual(grouped, {"a": expected, "b": expected})
        self.assertEqual({one["metric"] for one in found["grouped"]}, {"js.memory"})
        self.assertEqual(found["summed"][0]["aggregateTags"], ["host"])
        self.assertEqual(found["summed"][0]["dps"],
                         [[(T + i) * 1000, 2 * i + 10.0] for i in range(0, 100, 10)])
        self.assertEqual(found["rates"][0]["dps"],
                         [[(T + i) * 1000 + 250, 2] for i in range(1, 100)])
        # It asks with `tsuids=` where OpenTSDB has `tsuid=`, and hears what OpenTSDB says to that.
        self.assertEqual(found["by_tsuid"]["error"]["message"], "Missing sub queries")
        self.assertEqual(found["metrics"], ["js.memory"])
        self.assertIn("ep99r7", found["aggregators"])
        self.assertIn("version", found["version"])
        self.assertTrue(found["config"])
        self.assertEqual(found["dropcaches"], {"status": "200", "message": "Caches dropped"})
        self.assertEqual(found["unknown"]["error"]["message"],
                         "No such name for 'metrics': 'js.unknown'")

    def test_influx(self):
        accounts = self.scratch / "accounts.toml"
        digest = hashlib.sha256(b"halite_agent").hexdigest()
        accounts.write_text(f'[tokens.agent]\nsha256 = "{digest}"\nroles = "read, write"\n')
        accounts.chmod(0o600)
        server = self.server("--set", f"auth.file={accounts}").start()
        (failure,) = self.run_script("influx_write.js", server, "halite_agent")
        self.assertEqual((failure["http"], failure["status"], failure["json"]["code"]),
                         (True, 400, "invalid"))
        self.assertRegex(failure["json"]["message"], "^partial write: .*line 2: ")
        begin = 1700000000000
        times = range(begin, begin + 2500)
        for metric, wanted in (
                ("js_float", {ms: ms - begin + 0.5 for ms in times}),
                ("js_int", dict.fromkeys(times, 2**53 - 1)),
                ("js_uint", {ms: ms - begin for ms in times}),
                ("js_boolean", {ms: 1.0 - ms % 2 for ms in times}),
                ("lines", {begin: 1, begin + 1: 3})):
            status, body = server.request(
                "GET", f"/api/query?start={begin}&end={begin + 10_000}&ms=true&m=none:{metric}", None,
                {"Authorization": "Bearer halite_agent"})
            self.assertEqual(status, 200, body)
            (answer,) = json.loads(body)
            self.assertEqual(answer["tags"], {"host": "a b,c=d"} if metric != "lines" else {})
            found = {int(ms): value for ms, value in answer["dps"].items()}
            # unittest takes minutes to show how two large ones differ.
            self.assertEqual(sorted(found.items() ^ wanted.items())[:4], [], metric)


if __name__ == "__main__":
    support.main()
