#!/usr/bin/env python3
"""The dashboards, variables, annotations and alert rules of grafana/, asked as Grafana asks them, of a
real server that real collectds feed: every panel must show something. See grafana_model.py."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import support
from grafana_model import Refused, Source, choose, panels

GRAFANA = pathlib.Path(__file__).resolve().parent.parent.parent / "grafana"
PROVISIONING = GRAFANA / "provisioning"
DASHBOARDS = {path.stem: json.loads(path.read_text())
              for path in sorted((PROVISIONING / "dashboards/halite").glob("*.json"))}
PROMQL = {name for name, one in DASHBOARDS.items()
          if any("expr" in target for panel in one["panels"] for target in panel.get("targets", []))}
RULES = json.loads((PROVISIONING / "alerting/halite.json").read_text())
HOSTS = ["web01.example", "web02.example"]
# What a dashboard shows beside what an engine has.
OF_OTHER_STORES = ["halite.hbase.requests_total", "halite.hbase.timeouts_total", "halite.hbase.waiting_requests",
                   "halite.storage.failed_writes_total"]
FED_SECONDS = 130  # alert rules want two whole minutes

BROWSERS = [(version, resolution) for version in (1, 2, 3, 4) for resolution in (1, 2)]
BACKENDS = [(version, 1) for version in (1, 2, 3, 4)]


def provisioned(name, pattern):
    return re.search(pattern, (PROVISIONING / name).read_text(), re.MULTILINE)[1]


def provisioned_source(uid, field):
    """A field of the data source with this uid."""
    text = (PROVISIONING / "datasources/halite.yaml").read_text()
    source = next(one for one in text.split("  - name: ") if f"uid: {uid}\n" in one)
    return re.search(rf"^ +{field}: (\S+)$", source, re.MULTILINE)[1]


class Files(unittest.TestCase):
    def test_they_are_what_the_generator_writes(self):
        done = subprocess.run([sys.executable, str(GRAFANA / "make"), "--check"],
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_data_source_is_the_one_that_dashboards_and_rules_name(self):
        self.assertEqual(provisioned("datasources/halite.yaml", r"^    url: (\S+)$"),
                         "http://127.0.0.1:4242/grafana")
        for field in ("uid", r"- name"):
            self.assertEqual(provisioned("datasources/halite.yaml", rf"^  *{field}: (\S+)$"), "Halite")
        for name, dashboard in DASHBOARDS.items():
            known = {"$datasource"} if name != "alerts" else {"Halite"}
            for panel in dashboard["panels"]:
                if panel["type"] not in ("row", "text"):
                    self.assertIn(panel["datasource"], known, (name, panel["title"]))

    def test_dashboards_in_promql_have_their_own_data_source(self):
        self.assertEqual(PROMQL, {"hosts_promql", "server_promql"})
        self.assertEqual(provisioned_source("HalitePromQL", "type"), "prometheus")
        self.assertEqual(provisioned_source("HalitePromQL", "url"), "http://127.0.0.1:4242/prometheus")
        self.assertIn("- name: Halite (PromQL)\n",
                      (PROVISIONING / "datasources/halite.yaml").read_text())
        for name, dashboard in DASHBOARDS.items():
            for variable in dashboard["templating"]["list"]:
                if variable["type"] == "datasource":
                    wanted = (("prometheus", "Halite (PromQL)") if name in PROMQL else ("opentsdb", "Halite"))
                    self.assertEqual((variable["query"], variable["current"]["value"]), wanted, name)

    def test_no_dashboard_is_named_like_its_folder(self):
        # Grafana leaves such a dashboard out: "Dashboard name cannot be the same as folder".
        folder = provisioned("dashboards/halite.yaml", r"^    folder: (\w+)")
        for name, dashboard in DASHBOARDS.items():
            self.assertNotEqual(dashboard["title"].lower(), folder.lower(), name)

    def test_dashboards_and_rules_share_one_folder(self):
        # Rules come first and make the folder by its name. A folderUid then asks for a second one of that
        # name, at which Grafana 11.0 does not start, and later ones show the folder twice.
        text = (PROVISIONING / "dashboards/halite.yaml").read_text()
        self.assertNotIn("folderUid", text)
        folder = provisioned("dashboards/halite.yaml", r"^    folder: (\w+)")
        self.assertEqual([group["folder"] for group in RULES["groups"]], [folder])

    def test_uids_ids_and_places_are_distinct(self):
        self.assertEqual(len({one["uid"] for one in DASHBOARDS.values()}), len(DASHBOARDS))
        for dashboard in DASHBOARDS.values():
            self.assertLessEqual(len(dashboard["uid"]), 40)
            covered = set()
            for panel in dashboard["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & covered, panel["title"])
                self.assertLessEqual(at["x"] + at["w"], 24)
                covered |= cells
            ids = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(set(ids)), len(ids))

    def test_counters_that_start_again_are_left_out(self):
        # Grafana's server takes an empty counterMax for set, and then does not ask for dropResets.
        targets = [rule["data"][0]["model"] for rule in RULES["groups"][0]["rules"]]
        targets += [target for name, one in DASHBOARDS.items() if name not in PROMQL
                    for panel in one["panels"] for target in panel.get("targets", [])]
        self.assertGreater(sum(target["isCounter"] for target in targets), 20)
        for target in targets:
            self.assertFalse({"counterMax", "counterResetValue"} & set(target), target)

    def test_each_rule_points_to_its_panel_which_has_it_for_older_grafanas(self):
        board = DASHBOARDS["alerts"]
        by_id = {panel["id"]: panel for panel in board["panels"]}
        rules = RULES["groups"][0]["rules"]
        self.assertEqual(len({rule["uid"] for rule in rules}), len(by_id))
        for rule in rules:
            self.assertEqual(rule["dashboardUid"], board["uid"])
            panel = by_id[rule["panelId"]]
            self.assertEqual(panel["alert"]["name"], rule["title"])
            self.assertEqual(panel["type"], "graph")  # the only one that may have alerts in 7 and 8
            self.assertEqual(panel["targets"][0]["metric"], rule["data"][0]["model"]["metric"])
            self.assertNotIn("$", json.dumps(panel["targets"]))  # alerts see no variables
            above = panel["alert"]["conditions"][0]["evaluator"]["params"][0]
            self.assertEqual(rule["data"][2]["model"]["expression"], f"$B > {above:.0f}")
            self.assertEqual([step["datasourceUid"] for step in rule["data"]],
                             ["Halite", "__expr__", "__expr__"])


class Answers(support.HaliteTest):
    """All of it on one server, which takes its time to have two minutes of everything."""

    def start_collectd(self, host, port):
        """Debian's collectd with grafana/collectd.conf."""
        collectd = shutil.which("collectd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        self.assertIsNotNone(collectd, "collectd is missing: ./dev e2e installs it")
        directory = self.scratch / host
        directory.mkdir()
        shipped = (GRAFANA / "collectd.conf").read_text()
        self.assertIn('Port "4242"', shipped)
        config = directory / "collectd.conf"
        config.write_text(f'Hostname "{host}"\nFQDNLookup false\nInterval 1\n'
                          f'BaseDir "{directory}"\nPIDFile "{directory}/pid"\n'
                          'PluginDir "/usr/lib/collectd"\nTypesDB "/usr/share/collectd/types.db"\n'
                          + shipped.replace('Port "4242"', f'Port "{port}"'))
        process = subprocess.Popen([collectd, "-f", "-C", str(config)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def annotate(self, server, metric, text, seconds_ago):
        """An annotation of one of the metric's series, and a global one. Of these there is one a second."""
        answer = server.get_json(f"/api/query?start=5m-ago&m=sum:{metric}&show_tsuids")
        start = int(time.time()) - seconds_ago
        for tsuid, told in ((answer[0]["tsuids"][0], text), (None, f"global {text}")):
            note = {"startTime": start, "description": told}
            if tsuid:
                note["tsuid"] = tsuid
            status, body = server.request("POST", "/api/annotation", json.dumps(note))
            self.assertEqual(status, 200, body)

    def feed(self):
        server = self.server("--store", "engine", "--set", f"engine.backup_dir={self.scratch}/backups",
                             environment={"HALITE_SELF_METRICS_INTERVAL_MS": "1000",
                                          "HALITE_SELF_METRICS_HOST": "db01"}).start()
        for host in HOSTS:
            self.start_collectd(host, server.port)
        begin = time.time()
        self.eventually("collectd's metrics", lambda: len(
            server.get_json("/api/suggest?type=metrics&q=df.&max=100")) > 2)
        refused = 0
        while time.time() < begin + FED_SECONDS:
            now = int(time.time())
            server.telnet_lines([f"put bad.value {now} 12x host=a"])
            server.telnet_lines([f"put {name} {now} {refused} host=db01" for name in OF_OTHER_STORES])
            refused += 1
            server.get_json("/api/query?start=1m-ago&m=sum:halite.process.threads")
            time.sleep(1)
        self.annotate(server, "load.load.shortterm", "deployed", 20)
        self.annotate(server, "halite.process.uptime_seconds", "restarted", 10)
        return server

    def check_panel(self, name, panel, scope, source, begin, end):
        where = (name, panel["title"], source.dialect, source.version, source.resolution)
        queries = [source.convert(target, scope, "2s") for target in panel["targets"]]
        try:
            answers = source.ask(queries, begin, end)
        except Refused as error:
            self.fail(f"{where}: {error}")
        for target, query, answer in zip(panel["targets"], queries, answers):
            self.assertTrue(answer, (where, query))
            self.assertTrue(any(one["points"] for one in answer), (where, query))
            for one in answer:
                for second in one["points"]:
                    self.assertTrue(begin - 60 <= second <= end + 60, (where, query, second))
                for tag in re.findall(r"\$tag_(\w+)", target["alias"]):
                    self.assertIn(tag, one["tags"], (where, query))
        return answers

    def check_annotations(self, dashboard, source, begin, end, wanted):
        for note in dashboard["annotations"]["list"]:
            if note.get("builtIn"):
                continue
            texts = [text for _, text in
                     source.annotations(note["target"], note["isGlobal"], begin, end)]
            told = wanted if not note["isGlobal"] else f"global {wanted}"
            self.assertEqual(texts.count(told), 1, (dashboard["title"], note, source, texts))

    def check_alerts(self, source, begin, end):
        """Which rules are true: the query, the most of each series, the comparison."""
        firing = set()
        for rule in RULES["groups"][0]["rules"]:
            query, reduce, math = (step["model"] for step in rule["data"])
            self.assertEqual((reduce["reducer"], reduce["expression"]), ("max", "A"))
            limit = float(re.fullmatch(r"\$B > (\d+)", math["expression"])[1])
            since = end - rule["data"][0]["relativeTimeRange"]["from"]
            answers = self.check_panel("rule", {"title": rule["title"], "targets": [query]},
                                       choose({"templating": {"list": []}}, source), source,
                                       since, end)
            if any(max(one["points"].values(), default=0) > limit for one in answers[0]):
                firing.add(rule["uid"])
        return firing

    def test_every_panel_variable_annotation_and_rule_has_an_answer(self):
        server = self.feed()
        end = int(time.time())
        begin = end - 120
        limit = int(provisioned("datasources/halite.yaml", r"lookupLimit: (\d+)"))
        asked = 0
        for dialect, settings in (("browser", BROWSERS), ("backend", BACKENDS)):
            for version, resolution in settings:
                # The plugin's server asks for limit=0 then.
                missing = dialect == "backend" and version == 1
                source = Source(server, dialect, version, resolution, 0 if missing else limit)
                self.assertIsInstance(source.get("/api/aggregators"), list)
                self.assertIn("literal_or", source.get("/api/config/filters"))
                for name, dashboard in DASHBOARDS.items():
                    if name in PROMQL:  # grafana_promql_test.py
                        continue
                    scope = choose(dashboard, source, prefer=("10s", "load.load.shortterm"))
                    for panel, own_scope in panels(dashboard, scope):
                        self.check_panel(name, panel, own_scope, source, begin, end)
                        asked += 1
                    self.check_annotations(
                        dashboard, source, begin, end,
                        "deployed" if name == "hosts" else "restarted")
                if dialect == "backend":
                    self.assertEqual(self.check_alerts(source, begin, end), {"halite-refused"})
        self.assertGreater(asked, 12 * 60)

        scope = choose(DASHBOARDS["hosts"], source)
        self.assertEqual(scope.values["host"], HOSTS)
        scope = choose(DASHBOARDS["metric"], source, prefer=("load.load.shortterm",))
        self.assertEqual((scope.values["key"], scope.values["value"]), (["fqdn"], HOSTS))

    def test_what_grafana_cannot_read_fails_here_too(self):
        """The check itself: /api without /grafana writes "NaN", which the panel's rules refuse."""
        server = self.server("--store", "memory").start()
        now = int(time.time())
        server.put([{"metric": "m", "timestamp": now - 50, "value": 1, "tags": {"h": "a"}}])
        query = {"metric": "m", "aggregator": "sum", "downsample": "10s-avg-nan"}
        for prefix in ("", "/grafana"):
            source = Source(server, "backend", 3, 1, 1000, prefix=prefix)
            if prefix:
                self.assertEqual(len(source.ask([query], now - 60, now)[0][0]["points"]), 1)
            else:
                with self.assertRaises(Refused):
                    source.ask([query], now - 60, now)


if __name__ == "__main__":
    support.main()
