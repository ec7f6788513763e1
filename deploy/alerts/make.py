"""Writes the alert rules of this folder: python3 deploy/alerts/make.py

    halite.yml      over a Halite's /metrics that something scrapes (names halite_x_y)
    halite-own.yml  over the metrics that a Halite stores of itself (names halite.x.y)

With --check nothing is written; it fails where a file is not what would be. docs/operate/alerts.md has a
section for each alert.
"""

import dataclasses
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RUNBOOK = "file:/usr/local/share/doc/halite/docs/operate/alerts.md"  # where cmake --install puts it


@dataclasses.dataclass(frozen=True)
class Alert:
    name: str
    expr: str  # over /metrics; without `by`, so that it keeps the labels that tell servers apart
    hold: str  # `for`
    severity: str  # critical: points or answers are lost now; warning: they will be
    summary: str
    own: bool = True  # also over a server's own metrics


GROUPS = {
    "server": [
        Alert("HaliteAway",
              "max_over_time(halite_process_uptime_seconds[1d]) unless halite_process_uptime_seconds"
              " or absent_over_time(halite_process_uptime_seconds[1d])",
              "2m", "critical", "No metrics of a server that had some within a day."),
        Alert("HaliteNotReady", "halite_process_ready == 0",
              "2m", "critical", "The server accepts no points: /-/ready has the reason."),
        Alert("HaliteRestarts", "resets(halite_process_uptime_seconds[1h]) > 2",
              "0s", "warning", "The server started {{ $value }} times within an hour."),
        Alert("HaliteMemoryNearLimit",
              "halite_process_resident_bytes > 0.95 * halite_memory_limit_bytes",
              "10m", "warning", "The server uses {{ $value | humanize1024 }}B, more than 95 % of memory.limit."),
        Alert("HaliteOpenFilesNearLimit",
              "halite_process_open_files > 0.8 * halite_process_open_files_limit",
              "5m", "warning", "{{ $value }} files and sockets are open, more than 80 % of what is allowed."),
        # A server's own metrics have the time of its own clock.
        Alert("HaliteClockWrong",
              "abs(halite_process_time_seconds - timestamp(halite_process_time_seconds)) > 60",
              "5m", "warning", "The server's clock is {{ $value | humanizeDuration }} from the scraper's.",
              own=False),
    ],
    "intake": [
        Alert("HaliteIngestStopped",
              'sum without (protocol) (rate(halite_ingest_points_total{protocol!="own"}[10m])) == 0'
              ' and sum without (protocol) (rate(halite_ingest_points_total{protocol!="own"}[1h] offset 10m)) > 0',
              "5m", "critical", "No points came for 10 minutes; there were some in the hour before."),
        Alert("HalitePointsRefused",
              "sum without (protocol) (rate(halite_ingest_points_refused_total[5m])) > 0",
              "5m", "warning", "{{ $value }} points a second are refused: {{ $labels.reason }}."),
        Alert("HaliteRefusalsGrow",
              "sum without (protocol, reason) (rate(halite_ingest_points_refused_total[5m]))"
              " > 0.1 * sum without (protocol) (rate(halite_ingest_points_total[5m]))",
              "5m", "critical", "{{ $value }} points a second are refused, more than a tenth of those stored."),
        Alert("HaliteBodiesRefused", "rate(halite_ingest_bodies_refused_total[5m]) > 0",
              "5m", "warning", "{{ $value }} bodies a second cannot be parsed."),
        Alert("HalitePointsUnknown",
              "sum without (protocol) (increase(halite_ingest_points_unknown_total[15m])) > 0",
              "0s", "critical", "It is unknown whether {{ $value }} points are stored."),
        Alert("HalitePointsOutsideTime", 'rate(halite_engine_points_total{outcome="refused"}[5m]) > 0',
              "5m", "warning", "{{ $value }} points a second are too old or too far in the future."),
        Alert("HaliteSeriesGrow",
              "delta(halite_engine_known_series[1h]) > 10000"
              " and delta(halite_engine_known_series[1h]) > 0.2 * halite_engine_known_series",
              "15m", "warning", "{{ $value }} series came within an hour, a fifth of all."),
        Alert("HaliteSeriesRefused", "increase(halite_new_series_refused_total[15m]) > 0",
              "0s", "warning", "{{ $value }} attempts to create a series were refused by a limit."),
        Alert("HaliteSeriesMemoryNearFull",
              'halite_memory_used_bytes{setting="storage.series_bytes_max"}'
              ' > 0.9 * halite_memory_share_bytes{setting="storage.series_bytes_max"}',
              "10m", "warning", "Series use {{ $value | humanize1024 }}B, more than 90 % of storage.series_bytes_max."),
        Alert("HaliteConnectionsRejected", "increase(halite_web_connections_rejected_total[5m]) > 0",
              "0s", "warning", "{{ $value }} connections were closed at once because there are too many."),
        Alert("HaliteLoginsFail", 'sum without (outcome) (rate(halite_auth_total{outcome!="known"}[5m])) > 0.1',
              "5m", "warning", "{{ $value }} logins a second fail."),
        Alert("HaliteRequestsFail",
              'sum without (endpoint, status) (rate(halite_web_requests_total{status=~"5.."}[5m]))'
              " > 0.05 * sum without (endpoint, status) (rate(halite_web_requests_total[5m]))",
              "5m", "critical", "{{ $value }} requests a second fail with a status of 500 or more, over 5 % of all."),
    ],
    "disk": [
        Alert("HaliteDiskFillsUp",
              "predict_linear(halite_disk_free_bytes[6h], 24 * 3600) < 0"
              " and halite_disk_free_bytes < 0.5 * halite_disk_bytes",
              "1h", "warning", "The disk will be full within 24 hours if it fills up as in the last 6."),
        Alert("HaliteDiskNearlyFull", "halite_disk_free_bytes < 0.05 * halite_disk_bytes",
              "5m", "critical", "The disk has {{ $value | humanize1024 }}B left, less than 5 %."),
        # Twice what the log leaves for chunks: engine.log_reserve_bytes, and half of its size.
        Alert("HaliteLogNearFull", "halite_disk_free_bytes < 32 * 1024 * 1024 + halite_log_disk_bytes",
              "1m", "critical", "The disk has {{ $value | humanize1024 }}B left, nearly too little for the log to grow."),
        Alert("HaliteLogFails", "increase(halite_log_commit_failures_total[10m]) > 0",
              "0s", "critical", "The log cannot be written: points are not acknowledged."),
        Alert("HaliteStoreWritesFail",
              "increase(halite_storage_commit_failures_total[10m]) > 0"
              " or increase(halite_storage_failed_writes_total[10m]) > 0",
              "0s", "critical", "Names or cells cannot be written."),
        Alert("HaliteFlushesFail", "increase(halite_engine_failed_flushes_total[10m]) > 0",
              "0s", "critical", "Points in memory cannot be written into chunks."),
        Alert("HaliteLogFallsBehind", "halite_log_unsynced_bytes > 0.75 * halite_log_unsynced_limit_bytes",
              "2m", "warning", "{{ $value | humanize1024 }}B wait for the disk; senders will wait, too."),
        Alert("HaliteLogSlow",
              "rate(halite_log_commit_seconds_sum[5m]) / rate(halite_log_commit_seconds_count[5m]) > 0.25",
              "10m", "warning", "A synced write of the log takes {{ $value }} s on average."),
        Alert("HaliteHeadNearFull",
              'halite_memory_used_bytes{setting="engine.head_bytes_max"}'
              ' > 0.9 * halite_memory_share_bytes{setting="engine.head_bytes_max"}',
              "5m", "warning", "Recent points use {{ $value | humanize1024 }}B; senders will wait for flushes."),
        Alert("HaliteMaintenanceStuck",
              "increase(halite_engine_maintenance_rounds_total[2h]) == 0 and halite_process_uptime_seconds > 7200",
              "0s", "warning", "Maintenance has completed no cycle for 2 hours."),
        Alert("HaliteExpiryPaused", "halite_engine_expiry_stopped == 1",
              "0s", "warning", "The clock jumped ahead: nothing expires until you confirm the time."),
    ],
    "damage": [
        Alert("HaliteChunksDamaged", "halite_engine_damaged_places > 0",
              "0s", "critical", "{{ $value }} damaged places in stored points."),
        Alert("HaliteNamesDamaged", "halite_rocksdb_damaged_places > 0",
              "0s", "critical", "{{ $value }} damaged places in names or cells."),
        Alert("HaliteCheckFoundDamage", "halite_scrub_damaged_places > 0",
              "0s", "critical", "The background check found {{ $value }} damaged places."),
        Alert("HaliteLogDamaged", "halite_log_damaged_records_total > 0",
              "0s", "critical", "{{ $value }} acknowledged records could not be read at the start."),
        Alert("HaliteLogEndLost", "halite_log_lost_ends_total > 0",
              "0s", "critical", "The end of the log was missing at the start."),
    ],
    "backup": [
        Alert("HaliteBackupOld", "time() - halite_backup_newest_time_seconds > 2 * 86400",
              "1h", "warning", "The newest backup is {{ $value | humanizeDuration }} old."),
        Alert("HaliteBackupFails", "increase(halite_backup_failures_total[1h]) > 0",
              "0s", "warning", "{{ $value }} backups failed within an hour."),
    ],
    "queries": [
        Alert("HaliteQueriesSlow",
              "rate(halite_query_run_seconds_sum[10m]) / rate(halite_query_run_seconds_count[10m]) > 2",
              "10m", "warning", "Queries take {{ $value }} s on average."),
        Alert("HaliteQueriesWait", "halite_query_waiting > 0",
              "5m", "warning", "{{ $value }} queries wait because query.running_max is reached."),
        Alert("HaliteQueriesFail",
              'sum without (outcome) (rate(halite_query_runs_total{outcome=~"timeout|overloaded|unavailable|corruption|'
              'internal"}[10m])) > 0.05 * sum without (outcome) (rate(halite_query_runs_total[10m]))',
              "5m", "warning", "{{ $value }} queries a second fail by the server's fault, over 5 % of all."),
    ],
    "hbase": [
        Alert("HaliteHBaseAway", "halite_process_ready == 0 and halite_hbase_requests_total >= 0",
              "2m", "critical", "HBase does not answer.", own=False),  # it could not store this
        Alert("HaliteHBaseSlow",
              "rate(halite_hbase_timeouts_total[5m]) > 0 or halite_hbase_waiting_requests > 0",
              "5m", "warning", "Requests to HBase wait or time out."),
    ],
}
ALERTS = {alert.name: alert for group in GROUPS.values() for alert in group}


def own_names(expr):
    """The expression over the metrics that a server stores of itself."""
    def own(found):
        name = re.sub(r"_seconds_(sum|count)$", r"_seconds.\1", found[1])
        name = name.replace("_", ".", 2)
        matchers = "," + found[2][1:-1] if found[2] else ""
        return f'{{__name__="{name}"{matchers}}}'
    return re.sub(r"\b(halite_\w+)(\{[^}]*\})?", own, expr)


def runbook(alert):
    return f"{RUNBOOK}#{alert.name.lower()}"


def rules(own=False):
    """{group: [(alert, expression)]}"""
    return {f"halite-{name}": [(alert, own_names(alert.expr) if own else alert.expr)
                               for alert in alerts if alert.own or not own]
            for name, alerts in GROUPS.items()}


def text(own=False):
    of = "that a Halite stores of itself: halite.x.y" if own else "of a scraped Halite: halite_x_y"
    lines = [f"# Alert rules over the metrics {of}.",
             "# Written by deploy/alerts/make.py; do not edit. What each means: docs/operate/alerts.md",
             "groups:"]
    for group, members in rules(own).items():
        lines += [f"  - name: {group}", "    rules:"]
        for alert, expr in members:
            lines += [f"      - alert: {alert.name}", f"        expr: {json.dumps(expr)}"]
            if alert.hold != "0s":
                lines.append(f"        for: {alert.hold}")
            lines += ["        labels:", f"          severity: {alert.severity}", "        annotations:",
                      f"          summary: {json.dumps(alert.summary)}", f"          runbook_url: {runbook(alert)}"]
    return "\n".join(lines) + "\n"


def files():
    return {HERE / "halite.yml": text(), HERE / "halite-own.yml": text(own=True)}


def main():
    stale = {path: made for path, made in files().items() if not path.exists() or path.read_text() != made}
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"not what python3 deploy/alerts/make.py writes: {', '.join(map(str, stale))}")
        return
    for path, made in stale.items():
        path.write_text(made)
        print(path)


if __name__ == "__main__":
    main()
