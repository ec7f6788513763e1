"""Alert rules, twice from one list.

Grafana 7 and 8 take them from panels of a dashboard (`alert` in a `graph` panel; no variables, the
data source by name). Grafana 9.1 and later take rules from provisioning/alerting and ignore those
of panels; each rule then points to its panel.
"""

import dataclasses

from parts import SOURCE, dashboard, graph, query

UID = "halite-alerts"
RUNBOOK = "file:/usr/local/share/doc/halite/docs/operate/alerts.md"
SECTIONS = {  # of the runbook
    "halite-away": "HaliteAway",
    "halite-refused": "HalitePointsRefused",
    "halite-flushes": "HaliteFlushesFail",
    "halite-syncs": "HaliteLogFails",
    "halite-unsynced": "HaliteLogFallsBehind",
    "halite-damage": "HaliteChunksDamaged",
    "halite-damage-names": "HaliteNamesDamaged",
    "halite-damage-scrub": "HaliteCheckFoundDamage",
    "halite-damage-log": "HaliteLogDamaged",
    "halite-lost-log": "HaliteLogEndLost",
    "halite-expiry": "HaliteExpiryPaused",
    "halite-unknown": "HalitePointsUnknown",
    "halite-series-refused": "HaliteSeriesRefused",
    "halite-rejected": "HaliteConnectionsRejected",
    "halite-waiting": "HaliteQueriesWait",
    "halite-backups": "HaliteBackupFails",
}
EVALUATE = "1m"
WINDOW_S = 300


@dataclasses.dataclass(frozen=True)
class Alert:
    uid: str
    title: str
    target: dict
    above: float  # fires over this, in any series of the target
    hold: str  # for so long
    summary: str
    unit: str = "short"
    severity: str = "warning"
    when_silent: str = "OK"  # without data: OK, or Alerting
    description: str = ""


def counted(metric, by=None):
    """Events a second, of each server; a restart counts as nothing."""
    return query(metric, by=["host", *(by or [])], counter=True)


def most(metric):
    return query(metric, "max", by=["host"], down="max")


ALERTS = [
    Alert("halite-away", "Halite is away", query("halite.process.threads", "max", by=["host"]),
          1e6, "2m", "No metrics of Halite itself for five minutes: it is away, or cannot store.",
          severity="critical", when_silent="Alerting",
          description="Fires when there is no data; the number itself does not matter."),
    Alert("halite-refused", "Points are refused",
          counted("halite.ingest.points_refused_total", ["reason"]), 0, "5m",
          "Agents send points that are not stored; the page has samples under Status.", unit="wps"),
    Alert("halite-flushes", "Flushes fail", counted("halite.engine.failed_flushes_total"), 0, "2m",
          "Heads could not be written into chunks: is the disk full?", unit="ops",
          severity="critical"),
    Alert("halite-syncs", "The log cannot be written", counted("halite.log.commit_failures_total"),
          0, "0s", "Points are not acknowledged: is the disk full?", unit="ops",
          severity="critical"),
    Alert("halite-unsynced", "The log falls behind", most("halite.log.unsynced_bytes"), 12 << 20,
          "2m", "More than 12 MiB wait for the disk: senders wait above engine.log_unsynced_bytes_max, "
          "16 MiB by default.", unit="bytes"),
    Alert("halite-damage", "Something stored is damaged", most("halite.engine.damaged_places"), 0,
          "0s", "Queries met damaged chunks; the log names them.", severity="critical"),
    Alert("halite-damage-names", "Stored names are damaged", most("halite.rocksdb.damaged_places"),
          0, "0s", "Damaged files of names or cells were met; the log names them.",
          severity="critical"),
    Alert("halite-damage-scrub", "A check found damage", most("halite.scrub.damaged_places"), 0,
          "0s", "The background check found damaged files; GET /api/admin/check lists them.",
          severity="critical"),
    # Of the last start: the counters do not grow later.
    Alert("halite-damage-log", "The log was damaged", most("halite.log.damaged_records_total"), 0,
          "0s", "Acknowledged points could not be read when the server started.",
          severity="critical"),
    Alert("halite-lost-log", "The end of the log is lost", most("halite.log.lost_ends_total"), 0,
          "0s", "Acknowledged points were missing when the server started.", severity="critical"),
    Alert("halite-expiry", "Nothing expires", most("halite.engine.expiry_stopped"), 0, "0s",
          "The clock jumped ahead, so expiry waits: see docs/operate/retention.md."),
    Alert("halite-unknown", "Points may be lost", counted("halite.ingest.points_unknown_total"), 0,
          "0s", "It is unknown whether some points are stored; their senders got 503.", unit="wps",
          severity="critical"),
    Alert("halite-series-refused", "New series are refused",
          counted("halite.new.series_refused_total"), 0, "5m",
          "A limit of series is reached; the page names the metrics under Status.", unit="ops"),
    Alert("halite-rejected", "Connections are rejected",
          counted("halite.web.connections_rejected_total"), 0, "2m",
          "web.connections_max or web.connections_per_address_max is reached.", unit="ops"),
    Alert("halite-waiting", "Queries wait", most("halite.query.waiting"), 0, "5m",
          "query.running_max is reached; the page shows the queries under Status."),
    Alert("halite-backups", "Backups fail", counted("halite.backup.failures_total"), 0, "0s",
          "GET /api/admin/backup has the error.", unit="ops"),
]


def _panel(alert):
    panel = graph(alert.title, alert.target, unit=alert.unit, source=SOURCE,
                  description=alert.description or alert.summary)
    condition = {"type": "query", "query": {"params": ["A", f"{WINDOW_S}s", "now"]},
                 "reducer": {"type": "max", "params": []},
                 "evaluator": {"type": "gt", "params": [alert.above]},
                 "operator": {"type": "and"}}
    panel["alert"] = {
        "name": alert.title,
        "message": alert.summary,
        "frequency": EVALUATE,
        "for": alert.hold,
        "handler": 1,
        "conditions": [condition],
        "noDataState": "alerting" if alert.when_silent == "Alerting" else "ok",
        "executionErrorState": "alerting" if alert.when_silent == "Alerting" else "keep_state",
        "alertRuleTags": {"severity": alert.severity},
        "notifications": [],
    }
    if alert.above < 1e6:
        panel["thresholds"] = [{"value": alert.above, "op": "gt", "fill": True, "line": True,
                                "colorMode": "critical"}]
    return panel


def make():
    return dashboard(UID, "Halite: alerts", [_panel(alert) for alert in ALERTS], since="now-3h",
                     description="What the alert rules look at.")


def _rule(panel_id, alert):
    def step(letter, source, model, since_s):
        model = {"refId": letter, "intervalMs": 1000, "maxDataPoints": 43200, **model}
        return {"refId": letter, "queryType": "", "datasourceUid": source, "model": model,
                "relativeTimeRange": {"from": since_s, "to": 0}}

    expression = {"type": "__expr__", "uid": "__expr__"}
    target = {**alert.target, "downsampleInterval": "1m"}
    return {
        "uid": alert.uid,
        "title": alert.title,
        "condition": "C",
        "for": alert.hold,
        "noDataState": alert.when_silent,
        "execErrState": alert.when_silent,  # such as stores without that metric
        "dashboardUid": UID,
        "panelId": panel_id,
        "annotations": {"summary": alert.summary, "__dashboardUid__": UID,
                        "runbook_url": f"{RUNBOOK}#{SECTIONS[alert.uid].lower()}",
                        "__panelId__": str(panel_id)},
        "labels": {"severity": alert.severity},
        "data": [
            step("A", SOURCE, {"datasource": {"type": "opentsdb", "uid": SOURCE}, **target},
                 WINDOW_S),
            step("B", "__expr__", {"type": "reduce", "datasource": expression, "expression": "A",
                                   "reducer": "max", "settings": {"mode": "dropNN"}}, 0),
            step("C", "__expr__", {"type": "math", "datasource": expression,
                                   "expression": f"$B > {alert.above:.0f}"}, 0),
        ],
    }


def make_rules():
    return {"apiVersion": 1, "groups": [
        {"orgId": 1, "name": "halite", "folder": "Halite", "interval": EVALUATE,
         "rules": [_rule(number, alert) for number, alert in enumerate(ALERTS, 1)]}]}
