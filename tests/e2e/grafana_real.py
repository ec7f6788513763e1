#!/usr/bin/env python3
"""Asks a real Grafana, started with the provisioning of grafana/ before a Halite that has data, for all
that is in it: see "A real Grafana" in grafana/README.md. No part of ./dev test or ./dev e2e.

  python3 tests/e2e/grafana_real.py http://127.0.0.1:3000 [DIRECTORY FOR SCREENSHOTS]

The Grafana lets anybody in as an administrator (GF_AUTH_ANONYMOUS_*). Without a directory no browser is
started, so a Grafana without its frontend will do.
"""

import copy
import http.client
import json
import pathlib
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from grafana_model import PromqlSource, Refused, Source, choose, panels  # noqa: E402

RANGE_S = 3600
SETTLE_S = 8  # for a page to load and draw


class Grafana:
    """What grafana_model.Source takes for a server: Halite, seen through Grafana's proxy."""

    def __init__(self, url):
        self.url = url.rstrip("/")
        self.at = urllib.parse.urlsplit(self.url).netloc

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.at, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def json(self, path, body=None):
        status, text = self.request("POST" if body else "GET", path, body and json.dumps(body),
                                    {"Content-Type": "application/json"})
        if status != 200:
            raise Refused(f"{path}: {status} {text[:500]!r}")
        return json.loads(text)


def filled(target, scope):
    """A panel's target as the browser hands it to Grafana's server: variables are values by then."""
    made = copy.deepcopy(target)
    for key in ("metric", "aggregator", "downsampleInterval"):
        made[key] = scope.fill(made[key])
    made["tags"] = {key: scope.fill(value) for key, value in made["tags"].items()}
    for one in made["filters"]:
        one.update(tagk=scope.fill(one["tagk"]), filter=scope.fill(one["filter"]))
    return {**made, "datasource": {"type": "opentsdb", "uid": "Halite"}, "intervalMs": 10000,
            "maxDataPoints": 600}


def ask_server(grafana, panel, scope):
    """Points of each target by Grafana's own server, as alert rules and 12.4 and later ask. One by one: up to
    12.2 it answers no more."""
    points = []
    for target in panel["targets"]:
        asked = {"from": f"now-{RANGE_S}s", "to": "now", "queries": [{**filled(target, scope), "refId": "A"}]}
        result = grafana.json("/api/ds/query", asked)["results"]["A"]
        if "error" in result:
            raise Refused(result["error"])
        points.append(sum(len(frame["data"]["values"][0]) for frame in result["frames"]))
    return points


def ask_proxy(source, panel, scope):
    """The same by the proxy, as the browser's code asks."""
    end = int(time.time())
    if isinstance(source, PromqlSource):
        return [sum(len(one["points"]) for one in source.ask(target, scope, end - RANGE_S, end))
                for target in panel["targets"]]
    queries = [source.convert(target, scope, "10s") for target in panel["targets"]]
    return [sum(len(one["points"]) for one in answer)
            for answer in source.ask(queries, end - RANGE_S, end)]


def check(grafana):
    source = Source(grafana, "browser", 3, 1, 10000, "/api/datasources/proxy/uid/Halite")
    source.get("/api/aggregators")
    source.get("/api/config/filters")
    promql = PromqlSource(grafana, "POST", "/api/datasources/proxy/uid/HalitePromQL", 15)
    promql.check_health()
    boards = {}
    for found in grafana.json("/api/search?type=dash-db&tag=halite"):
        board = grafana.json(f"/api/dashboards/uid/{found['uid']}")["dashboard"]
        in_promql = found["uid"].endswith("-promql")
        asked = promql if in_promql else source
        scope = choose(board, asked, prefer=("10s", "load.load.shortterm"))
        boards[found["uid"]] = scope
        for panel, own in panels(board, scope):
            ways = {"proxy": ask_proxy(asked, panel, own)}
            if not in_promql:
                ways["server"] = ask_server(grafana, panel, own)
            for way, points in ways.items():
                if not all(points):
                    print(f"  empty: {board['title']}, {panel['title']}, by the {way}: {points}")
        for note in board["annotations"]["list"]:
            if not note.get("builtIn"):
                end = int(time.time())
                texts = source.annotations(note["target"], note["isGlobal"], end - RANGE_S, end)
                print(f"  {board['title']}, annotations {note['name']!r}: {texts}")
        print(f"{board['title']}: {len(board['panels'])} panels")
    groups = grafana.json("/api/prometheus/grafana/api/v1/rules")["data"]["groups"]
    for rule in (rule for group in groups for rule in group["rules"]):
        print(f"rule {rule['name']}: {rule['health']}, {rule['state']} {rule.get('lastError', '')}")
    return boards


def photograph(grafana, boards, directory):
    """Each dashboard as a whole, in a window so high that nothing waits for being scrolled to."""
    from webdriver import Browser
    browser = Browser(width=1400, height=1000)
    try:
        for uid, scope in boards.items():
            browser.open(f"{grafana.url}/d/{uid}?kiosk&from=now-{RANGE_S}s&to=now&" + urllib.parse.urlencode(
                {f"var-{name}": values[0] for name, values in scope.values.items() if len(values) == 1}))
            for height in (1000, None):
                time.sleep(SETTLE_S)
                height = height or browser.run(
                    "return document.querySelector('.react-grid-layout').offsetHeight") + 50
                browser.chrome("Emulation.setDeviceMetricsOverride",
                               {"width": 1400, "height": height, "deviceScaleFactor": 1, "mobile": False})
            time.sleep(SETTLE_S)
            browser.screenshot(str(pathlib.Path(directory) / f"{uid}.png"))
            for entry in browser.log():
                print(f"  {uid}: {entry['level']} {entry['message'][:300]}")
    finally:
        browser.close()


def main():
    grafana = Grafana(sys.argv[1])
    boards = check(grafana)
    if len(sys.argv) > 2:
        photograph(grafana, boards, sys.argv[2])


if __name__ == "__main__":
    main()
