"""A server's health from its /metrics, in PromQL. It also works before a Prometheus that scrapes Halite."""

from parts import dashboard, graph, row, stat
from promql import chosen, expression, instances, rate, source_variable


def own(metric, name="{{instance}}"):
    return expression(chosen(f"halite_{metric}"), name)


def total(metric, by=(), name=None):
    """The rate of a counter, summed over the labels that are not in `by`."""
    labels = ", ".join(["instance", *by])
    shown = " ".join(f"{{{{{label}}}}}" for label in ["instance", *by])
    return expression(f"sum by ({labels}) ({rate(f'halite_{metric}')})", name or shown)


def mean(metric, name):
    """Of a histogram: what one observation was on average."""
    return expression(f"{rate(f'halite_{metric}_sum')} / {rate(f'halite_{metric}_count')}", name)


def quantile(q, metric, by=()):
    labels = ", ".join(["instance", *by, "le"])
    shown = " ".join(f"{{{{{label}}}}}" for label in ["instance", *by])
    return expression(
        f"histogram_quantile({q}, sum by ({labels}) ({rate(f'halite_{metric}_bucket')}))",
        f"{shown} {q}")


def make():
    return dashboard(
        "halite-server-promql", "Halite: server (PromQL)", [
            stat("Points in", total("ingest_points_total"), unit="wps"),
            stat("Points refused", total("ingest_points_refused_total"), unit="wps",
                 steps=[(0.001, "orange"), (10, "red")]),
            stat("Series", own("engine_known_series")),
            stat("Questions", total("query_runs_total"), unit="reqps"),
            stat("Memory", own("process_resident_bytes"), unit="bytes"),
            stat("Up for", own("process_uptime_seconds"), unit="s"),

            row("What comes in"),
            graph("Points a second, by way", total("ingest_points_total", ["protocol"]), unit="wps",
                  stack=True, description="`own` are Halite's own metrics."),
            graph("Points refused a second, by reason",
                  total("ingest_points_refused_total", ["reason"]), unit="wps"),
            graph("Connections", own("web_connections", "{{instance}} {{protocol}}")),
            graph("Requests a second, by endpoint and status",
                  total("web_requests_total", ["endpoint", "status"]), unit="reqps"),

            row("What is asked"),
            graph("Questions a second, by outcome", total("query_runs_total", ["outcome"]),
                  unit="reqps"),
            graph("Seconds from question to answer", quantile(0.5, "query_run_seconds"),
                  quantile(0.99, "query_run_seconds"), unit="s"),
            graph("Points read and answered a second",
                  total("query_points_read_total", name="{{instance}} read"),
                  total("query_points_out_total", name="{{instance}} answered"), unit="ops"),
            graph("Seconds of requests, by endpoint",
                  quantile(0.99, "web_request_seconds", ["endpoint"]), unit="s"),

            row("What is kept"),
            graph("Log: bytes a second, and not synced yet",
                  total("log_bytes_total", name="{{instance}} written"),
                  own("log_unsynced_bytes", "{{instance}} not synced"), unit="Bps",
                  right=("/not synced/", "bytes")),
            graph("Seconds of a sync of the log", quantile(0.5, "log_commit_seconds"),
                  quantile(0.99, "log_commit_seconds"), unit="s"),
            graph("Points in the head", own("engine_head_points")),
            graph("On disk", own("engine_chunk_bytes", "{{instance}} chunks"),
                  own("log_disk_bytes", "{{instance}} log"), unit="bytes", stack=True),
            graph("What should stay 0",
                  own("engine_damaged_places", "{{instance}} damaged places"),
                  total("engine_failed_flushes_total", name="{{instance}} failed flushes"),
                  total("log_commit_failures_total", name="{{instance}} failed syncs"),
                  own("engine_expiry_stopped", "{{instance}} expiry stopped")),

            row("What alerts watch"),
            graph("Ready, and expiry", own("process_ready", "{{instance}} ready"),
                  own("engine_expiry_stopped", "{{instance}} expiry stopped"), unit="none",
                  description="Ready is 1 while the server accepts points."),
            graph("Not stored, a second",
                  total("ingest_bodies_refused_total", name="{{instance}} bodies"),
                  total("ingest_points_unknown_total", name="{{instance}} points, unknown"),
                  total("engine_points_total", ["outcome"], "{{instance}} engine {{outcome}}"),
                  total("new_series_refused_total", name="{{instance}} new series"), unit="ops",
                  description="`refused` of the engine: too old, or too far in the future."),
            graph("Connections and logins a second",
                  total("web_connections_rejected_total", name="{{instance}} rejected"),
                  total("auth_total", ["outcome"], "{{instance}} login {{outcome}}"), unit="ops"),
            graph("Space of the disk", own("disk_free_bytes", "{{instance}} free"),
                  own("disk_bytes", "{{instance}} size"), own("log_disk_bytes", "{{instance}} log"),
                  unit="bytes"),
            graph("Not synced, and its limit", own("log_unsynced_bytes", "{{instance}} not synced"),
                  own("log_unsynced_limit_bytes", "{{instance}} limit"), unit="bytes",
                  description="Senders wait above the limit."),
            graph("Mean seconds of a synced write and of a query",
                  mean("log_commit_seconds", "{{instance}} write of the log"),
                  mean("query_run_seconds", "{{instance}} query"), unit="s"),
            graph("Shares of the memory limit in use",
                  own("memory_used_bytes", "{{instance}} {{setting}}"), unit="bytes"),
            graph("Shares of the memory limit",
                  own("memory_share_bytes", "{{instance}} {{setting}}"), unit="bytes"),
            graph("Failed writes a second",
                  total("storage_commit_failures_total", name="{{instance}} names and cells"),
                  total("storage_failed_writes_total", name="{{instance}} batches of cells"),
                  total("backup_failures_total", name="{{instance}} backups"), unit="ops"),
            graph("Damage of names, files and the log",
                  own("rocksdb_damaged_places", "{{instance}} names"),
                  own("scrub_damaged_places", "{{instance}} found by the check"),
                  own("log_damaged_records_total", "{{instance}} records of the log"),
                  own("log_lost_ends_total", "{{instance}} ends of the log")),
            graph("Age of the newest backup",
                  expression(f"time() - {chosen('halite_backup_newest_time_seconds')}"), unit="s"),
            graph("Maintenance cycles a second", total("engine_maintenance_rounds_total"), unit="ops"),
            graph("Queries that wait", own("query_waiting")),
            graph("Seconds that the server's clock is ahead",
                  expression(f"{chosen('halite_process_time_seconds')} - "
                             f"timestamp({chosen('halite_process_time_seconds')})"), unit="s",
                  minimum=None),
            graph("HBase: requests a second", total("hbase_requests_total", name="{{instance}} sent"),
                  total("hbase_timeouts_total", name="{{instance}} timed out"), unit="reqps"),
            graph("HBase: requests that wait", own("hbase_waiting_requests")),

            row("The process"),
            graph("Processors in use", total("process_cpu_seconds_total"), unit="none"),
            graph("Memory", own("process_resident_bytes", "{{instance}} resident"),
                  own("memory_limit_bytes", "{{instance}} limit"),
                  own("engine_head_bytes", "{{instance}} head"),
                  own("engine_known_series_bytes", "{{instance}} series"), unit="bytes"),
            graph("Threads and open files", own("process_threads", "{{instance}} threads"),
                  own("process_open_files", "{{instance}} files"),
                  own("process_open_files_limit", "{{instance}} files allowed")),
        ],
        variables=[source_variable(), instances("halite_process_uptime_seconds", "Server")],
        tags=["promql"],
        description="A Halite server by its /metrics, which something must scrape and send: "
                    "Prometheus, vmagent or Alloy.")
