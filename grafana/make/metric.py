"""Any metric: the functions of the data source's variables, each used by the next."""

from parts import (annotation, choice, dashboard, filtered, graph, source_variable, stat, text,
                   variable)

NOTE = """Pick a metric: *Tag key* then offers the keys it has (`tag_names`), *Value* the values of
that key (`tag_values`). Global annotations are blue; those of a metric want its name in the dashboard's
settings, where no variable is put in. First of all tag keys of the server (`suggest_tagk`):
**$every_key**; first of all tag values (`suggest_tagv`): **$every_value**."""


def shown(**more):
    """Without an alias: Grafana then names lines metric{key=value}."""
    return filtered("$metric", "$key", "regexp", "^($value)$", aggregator="$aggregator",
                    interval="$interval", **more)


def make():
    return dashboard(
        "halite-metric", "Any metric (OpenTSDB)", [
            text(NOTE),
            graph("$metric by $key", shown(), width=24, height=10, minimum=None),
            graph("Its rate", shown(rate=True), minimum=None),
            graph("Gaps are left open", shown(fill="nan"), minimum=None,
                  description="Downsampled with the fill policy `nan`, which Halite writes under "
                              "/grafana so that every Grafana can read it."),
            graph("Points in each bucket", shown(down="count")),
            stat("Now", shown(), width=12),
        ],
        variables=[
            source_variable(),
            variable("metric", "metrics()", "Metric"),
            variable("key", "tag_names($metric)", "Tag key"),
            # It stands in a regular expression.
            variable("value", "tag_values($metric, $key)", "Value", every=".*"),
            choice("aggregator", ["avg", "sum", "min", "max", "dev", "p95", "count", "none"],
                   "Aggregator"),
            choice("interval", ["1m", "10s", "30s", "5m", "15m", "1h"], "Downsample"),
            variable("every_key", "suggest_tagk()", hide=2),
            variable("every_value", "suggest_tagv()", hide=2),
        ],
        # Not of $metric: Grafana puts no variables into the metrics of annotations.
        annotations=[annotation("Global annotations", "halite.process.uptime_seconds",
                                everywhere=True)],
        tags=["opentsdb"],
        description="One metric, split by one of its tags: variables of every kind.")
