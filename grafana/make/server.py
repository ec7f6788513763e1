"""The server's own health, from the metrics halite.* that it keeps of itself."""

from parts import annotation, dashboard, graph, query, row, source_variable, stat, variable

HOST = {"host": "$host"}


def own(metric, by=None, **more):
    return query(f"halite.{metric}", by=by, where=HOST, **more)


def rate(metric, by=None, **more):
    return own(metric, by, counter=True, **more)


def make():
    return dashboard(
        "halite-server", "Halite: server", [
            stat("Points in", rate("ingest.points_total", alias="$tag_host"), unit="wps"),
            stat("Points refused", rate("ingest.points_refused_total", alias="$tag_host"),
                 unit="wps", steps=[(0.001, "orange"), (10, "red")]),
            stat("Series", own("engine.known_series", alias="$tag_host")),
            stat("Questions", rate("query.runs_total", alias="$tag_host"), unit="reqps"),
            stat("Memory", own("process.resident_bytes", alias="$tag_host"), unit="bytes"),
            stat("Up for", own("process.uptime_seconds", alias="$tag_host"), unit="s"),

            row("What comes in"),
            graph("Points a second, by way", rate("ingest.points_total", ["protocol"],
                                                  alias="$tag_host $tag_protocol"),
                  unit="wps", stack=True, description="`own` are Halite's own metrics."),
            graph("Points refused a second, by reason",
                  rate("ingest.points_refused_total", ["reason"], alias="$tag_host $tag_reason"),
                  unit="wps", description="Samples of what was refused stand on Halite's page, under Status."),
            graph("Connections", own("web.connections", ["protocol"],
                                     alias="$tag_host $tag_protocol")),
            graph("Requests a second, by endpoint",
                  rate("web.requests_total", ["endpoint"], alias="$tag_host $tag_endpoint"),
                  unit="reqps"),
            graph("Bytes a second", rate("web.read_bytes_total", alias="$tag_host read"),
                  rate("web.written_bytes_total", alias="$tag_host written"), unit="Bps"),
            graph("Series looked up a second, in the cache",
                  rate("ingest.series_cache_lookups_total", ["result"],
                       alias="$tag_host $tag_result"),
                  unit="ops", description="A miss is parsed in full, and interned where it is new."),

            row("What is asked"),
            graph("Questions a second, by outcome",
                  rate("query.runs_total", ["outcome"], alias="$tag_host $tag_outcome"),
                  unit="reqps"),
            graph("Questions answered at once", rate("query.run_seconds.sum", alias="$tag_host mean"),
                  own("query.running", down="max", alias="$tag_host most"),
                  description="The mean is the seconds spent on answers in each second."),
            graph("Points read and answered a second",
                  rate("query.points_read_total", alias="$tag_host read"),
                  rate("query.points_out_total", alias="$tag_host answered"), unit="ops"),
            graph("Seconds a second spent on requests, by endpoint",
                  rate("web.request_seconds.sum", ["endpoint"], alias="$tag_host $tag_endpoint"),
                  unit="s"),

            row("What is kept"),
            graph("Log: bytes a second, and not synced yet",
                  rate("log.bytes_total", alias="$tag_host written"),
                  own("log.unsynced_bytes", down="max", alias="$tag_host not synced"),
                  unit="Bps", right=("/not synced/", "bytes")),
            graph("Log: syncs a second", rate("log.commits_total", alias="$tag_host"), unit="ops"),
            graph("Points in the head", own("engine.head_points", alias="$tag_host"),
                  description="Recent points in memory; a flush writes them into chunks."),
            graph("On disk", own("engine.chunk_bytes", alias="$tag_host chunks"),
                  own("log.disk_bytes", alias="$tag_host log"), unit="bytes", stack=True),
            graph("Points a second into chunks",
                  rate("engine.flushed_points_total", alias="$tag_host flushed"),
                  rate("engine.sealed_points_total", alias="$tag_host sealed"), unit="wps"),
            graph("Write amplification", own("engine.write_amplification", alias="$tag_host"),
                  unit="none", description="Bytes of files of chunks written since the start, over "
                                           "those that flushes wrote."),
            graph("Names and series", own("engine.known_series", alias="$tag_host series"),
                  own("engine.known_names", alias="$tag_host names")),
            graph("What should stay 0", own("engine.damaged_places", alias="$tag_host damaged places"),
                  rate("engine.failed_flushes_total", alias="$tag_host failed flushes"),
                  rate("log.commit_failures_total", alias="$tag_host failed syncs"),
                  own("engine.expiry_stopped", alias="$tag_host expiry stopped")),

            row("The process"),
            graph("Processors in use", rate("process.cpu_seconds_total", alias="$tag_host"),
                  unit="none"),
            graph("Memory", own("process.resident_bytes", alias="$tag_host resident"),
                  own("engine.head_bytes", alias="$tag_host head"),
                  own("engine.known_series_bytes", alias="$tag_host series"), unit="bytes"),
            graph("Threads and open files", own("process.threads", alias="$tag_host threads"),
                  own("process.open_files", alias="$tag_host files")),
            graph("Up for", own("process.uptime_seconds", alias="$tag_host"), unit="s",
                  description="Falls to 0 at each start."),
        ],
        variables=[source_variable(),
                   variable("host", "tag_values(halite.process.uptime_seconds, host)", "Server",
                            every="*")],
        annotations=[annotation("Global annotations", "halite.process.uptime_seconds",
                                everywhere=True)],
        description="A Halite server: what comes in, what is asked, what is kept.")
