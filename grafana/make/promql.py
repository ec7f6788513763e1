"""Pieces of dashboards that ask in PromQL, by Grafana's data source Prometheus. See parts.py."""

from parts import source_variable as any_source_variable, variable

SOURCE = "Halite (PromQL)"  # the name in provisioning/datasources/halite.yaml
INSTANCE = 'instance=~"$instance"'


def expression(expr, name="{{instance}}"):
    """One target; `name` is of its lines. $__rate_interval wants Grafana 7.2."""
    return {"expr": expr, "legendFormat": name, "interval": "", "intervalFactor": 1,
            "format": "time_series", "instant": False, "range": True}


def chosen(metric, *matchers):
    """The series of the instances that are picked."""
    return f"{metric}{{{', '.join([INSTANCE, *matchers])}}}"


def rate(metric, *matchers):
    return f"rate({chosen(metric, *matchers)}[$__rate_interval])"


def source_variable():
    return any_source_variable("prometheus", SOURCE)


def instances(metric, label):
    """What the user picks: those that send this metric."""
    return variable("instance", f"label_values({metric}, instance)", label, every=".*")
