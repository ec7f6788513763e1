#!/usr/bin/env python3
"""The alert rules of deploy/alerts as files: they are what make.py writes, parse, name metrics that exist, have
sections in docs/operate/alerts.md, and the dashboards show what they watch. alerts_test.py makes them fire."""

import json
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse

import support

ROOT = support.HERE.parent.parent
sys.path.append(str(ROOT / "deploy/alerts"))
import make  # noqa: E402


class AlertRulesTest(support.HaliteTest):
    def test_files_metrics_runbooks_and_syntax(self):
        done = subprocess.run([sys.executable, make.__file__, "--check"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        code, reference, err = self.run_halite("metrics")
        self.assertEqual(code, 0, err)
        kinds = dict(re.findall(r"^\| `(halite_\w+)` \| (\w+) \|", reference, re.MULTILINE))
        runbook = (ROOT / "docs/operate/alerts.md").read_text()
        sections = re.findall(r"^### (Halite\w+)$", runbook, re.MULTILINE)
        self.assertEqual(sections, list(make.ALERTS))  # in this order, none twice
        for name, body in zip(sections, re.split(r"^### Halite\w+$", runbook, flags=re.MULTILINE)[1:]):
            for part in ("**Meaning.**", "**Look.**", "**Do.**"):
                self.assertIn(part, body, name)
        server = self.server("--store", "memory", "--set", "self_metrics.enabled=false").start()
        for own in (False, True):
            for alert, expr in (one for members in make.rules(own).values() for one in members):
                with self.subTest(alert.name, own=own):
                    parsed = server.get_json(f"/api/v1/parse_query?query={urllib.parse.quote(expr)}")
                    self.assertEqual(parsed["status"], "success")
                    for metric in re.findall(r"\bhalite_\w+", alert.expr):
                        name = re.sub(r"_(sum|count|bucket)$", "", metric)
                        self.assertIn(name, kinds)
                        self.assertEqual(kinds[name] == "histogram", name != metric, metric)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_syntax_by_promtool(self):
        done = subprocess.run(["promtool", "check", "rules", *make.files()], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_of_grafana_link_to_runbooks(self):
        rules = json.loads((ROOT / "grafana/provisioning/alerting/halite.json").read_text())["groups"][0]["rules"]
        anchors = {make.runbook(alert) for alert in make.ALERTS.values()}
        self.assertLessEqual({rule["annotations"]["runbook_url"] for rule in rules}, anchors)

    def test_dashboards_show_what_the_rules_watch(self):
        kept = ROOT / "grafana/provisioning/dashboards/halite"
        panels = {name: [json.dumps(panel["targets"]) for panel in json.loads((kept / name).read_text())["panels"]
                         if "targets" in panel] for name in ("server.json", "server_promql.json")}
        code, reference, err = self.run_halite("metrics")
        self.assertEqual(code, 0, err)
        known = set(re.findall(r"^\| `(halite_\w+)` \|", reference, re.MULTILINE))
        for file, own in (("server.json", True), ("server_promql.json", False)):
            shown = set()
            for text in panels[file]:
                for name in re.findall(r'"(halite\.[\w.]+)"' if own else r"\b(halite_\w+)", text):
                    shown.add(re.sub(r"_seconds_(sum|count|bucket)$", "_seconds", name.replace(".", "_")))
            self.assertLessEqual(shown, known, file)
            for alert in make.ALERTS.values():
                watched = {re.sub(r"_seconds_(sum|count)$", "_seconds", name)
                           for name in re.findall(r"\bhalite_\w+", alert.expr)}
                if alert.own or not own:
                    self.assertLessEqual(watched, shown, (file, alert.name))


if __name__ == "__main__":
    support.main()
