#!/usr/bin/env python3
"""The OpenTSDB client `opentsdb` from npm, as it is: its socket writes, its client asks.
tests/e2e/clients/node pins it; ./dev e2e installs it."""

import json
import shutil
import subprocess

import support

T = 1356998400
HERE = support.HERE / "clients" / "node"


class NodeClient(support.HaliteTest):
    def run_script(self, name, server):
        """Runs one of clients/node/*.js; returns what it printed, a JSON text."""
        node = shutil.which("node")
        self.assertIsNotNone(node, "node is missing: ./dev e2e installs it")
        modules = support.clients("node") / "node_modules"
        done = subprocess.run(
            [node, str(HERE / name), str(server.port)], stdin=subprocess.DEVNULL,
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


if __name__ == "__main__":
    support.main()
