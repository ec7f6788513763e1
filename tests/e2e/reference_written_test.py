#!/usr/bin/env python3
"""The references in docs/reference that the binary writes are current."""

import pathlib

import support

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class References(support.HaliteTest):
    def current(self, name, *command):
        code, out, err = self.run_halite(*command)
        self.assertEqual((code, err), (0, ""))
        file = f"docs/reference/{name}.md"
        self.maxDiff = None
        self.assertEqual(out, (ROOT / file).read_text(),
                         f"{file} is not current; run: halite {' '.join(command)} > {file}")

    def test_settings(self):
        self.current("settings", "serve", "--print-config=markdown")

    def test_metrics(self):
        self.current("metrics", "metrics")

    def test_metrics_are_those_of_a_server(self):
        server = self.server().start()
        text = (ROOT / "docs/reference/metrics.md").read_text()
        status, body = server.request("GET", "/metrics")
        self.assertEqual(status, 200)
        for line in body.decode().splitlines():
            if not line.startswith("# TYPE "):
                continue
            name, kind = line.split()[2:4]
            self.assertIn(f"| `{name}` | {kind} |", text)


if __name__ == "__main__":
    support.main()
