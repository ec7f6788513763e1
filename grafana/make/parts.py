"""Pieces of Grafana's dashboard JSON in the form of Grafana 7.

Newer ones bring what they load up to date, and never the other way round. So: schema 27, the old
`graph` panel (which Grafana 11 and later draw as time series) and data sources by name.
"""

SCHEMA = 27  # Grafana 7.5
SOURCE = "Halite"  # both name and uid in provisioning/datasources/halite.yaml
CHOSEN = "$datasource"  # the dashboard's variable of that name


def query(metric, aggregator="sum", by=None, where=None, rate=False, counter=False, down="avg",
          interval="", fill="none", alias=""):
    """One target. `by` are tag keys that split it, `where` are {key: value or $variable}.

    No counterMax and counterResetValue, not even empty: up to 12.2 Grafana's server, which asks for alert
    rules, would take them for set, and a counter that starts again for one that fell below 0.
    """
    tags = {key: "*" for key in by or []}
    tags.update(where or {})
    return {
        "aggregator": aggregator,
        "alias": alias,
        "disableDownsampling": False,
        "downsampleAggregator": down,
        "downsampleFillPolicy": fill,
        "downsampleInterval": interval,
        "explicitTags": False,
        "filters": [],
        "isCounter": counter,
        "metric": metric,
        "shouldComputeRate": rate or counter,
        "tags": tags,
    }


def filtered(metric, tag, kind, pattern, group=True, **more):
    """A target with a filter of OpenTSDB 2.2 and later in place of tags."""
    target = query(metric, **more)
    target["tags"] = {}
    target["filters"] = [{"type": kind, "tagk": tag, "filter": pattern, "groupBy": group}]
    return target


def _panel(kind, title, targets, source, description):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": source,
        "targets": [{"refId": letter, **target} for letter, target in zip(letters, targets)],
    }


def graph(title, *targets, unit="short", stack=False, description="", source=CHOSEN, repeat=None,
          width=12, height=9, minimum=0, right=None):
    """Lines over time. `right` is (regular expression over names, unit) of the right axis."""
    panel = _panel("graph", title, targets, source, description)
    axis = {"format": unit, "logBase": 1, "show": True, "min": minimum, "max": None, "label": None}
    other = {**axis, "show": False}
    overrides = []
    if right:
        other = {**axis, "format": right[1]}
        # Since Grafana 8 the unit of a line wins over that of its axis.
        overrides = [{"matcher": {"id": "byRegexp", "options": right[0]},
                      "properties": [{"id": "unit", "value": right[1]}]}]
    panel.update({
        "size": (width, height),
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": overrides},
        "renderer": "flot",
        "lines": True,
        "linewidth": 1,
        "fill": 6 if stack else 1,
        "fillGradient": 0,
        "stack": stack,
        "percentage": False,
        "points": False,
        "bars": False,
        "steppedLine": False,
        "nullPointMode": "null",
        "legend": {"show": True, "alignAsTable": True, "rightSide": False, "values": True,
                   "avg": True, "current": True, "max": True, "min": False, "total": False},
        "tooltip": {"shared": True, "sort": 2, "value_type": "individual"},
        "seriesOverrides": [{"alias": right[0], "yaxis": 2}] if right else [],
        "aliasColors": {},
        "thresholds": [],
        "timeRegions": [],
        "options": {"alertThreshold": True},
        "xaxis": {"mode": "time", "show": True, "values": []},
        "yaxes": [axis, other],
        "yaxis": {"align": False},
    })
    if not stack:  # else the order of stacking would follow
        panel["legend"].update({"sort": "max", "sortDesc": True})  # what does not fit is scrolled to
    if repeat:
        panel.update({"repeat": repeat, "repeatDirection": "h", "maxPerRow": 2})
    return panel


def stat(title, *targets, unit="short", steps=None, description="", source=CHOSEN, width=4,
         height=4, decimals=None):
    """The last value, with a sketch of its past. `steps` are [(from, colour)], ascending."""
    colours = [{"color": "green", "value": None}]
    colours += [{"color": colour, "value": at} for at, colour in steps or []]
    panel = _panel("stat", title, targets, source, description)
    panel.update({
        "size": (width, height),
        "fieldConfig": {"defaults": {"unit": unit, "mappings": [],
                                     "thresholds": {"mode": "absolute", "steps": colours}},
                        "overrides": []},
        "options": {"colorMode": "value", "graphMode": "area", "justifyMode": "auto",
                    "orientation": "auto", "textMode": "auto",
                    "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
    })
    if decimals is not None:
        panel["fieldConfig"]["defaults"]["decimals"] = decimals
    return panel


def text(content, width=24, height=3):
    return {"type": "text", "title": "", "size": (width, height), "mode": "markdown",
            "content": content, "options": {"mode": "markdown", "content": content},
            "fieldConfig": {"defaults": {}, "overrides": []}}


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "size": (24, 1)}


def lay_out(panels):
    """Gives panels their ids and places: from left to right, wrapping at 24 columns."""
    x = y = tallest = 0
    for number, panel in enumerate(panels, 1):
        width, height = panel.pop("size")
        if x + width > 24:
            x, y, tallest = 0, y + tallest, 0
        panel["id"] = number
        panel["gridPos"] = {"x": x, "y": y, "w": width, "h": height}
        x += width
        tallest = max(tallest, height)
    return panels


def source_variable(kind="opentsdb", source=SOURCE):
    return {"type": "datasource", "name": "datasource", "label": "Data source", "query": kind,
            "current": {"text": source, "value": source, "selected": True}, "hide": 0,
            "includeAll": False, "multi": False, "options": [], "refresh": 1, "regex": ""}


def variable(name, asked, label=None, every=None, regex="", hide=0):
    """What the user picks. `every` offers "All" beside several values: the text that stands for all
    of them, or "" for all their names one by one."""
    several = every is not None
    made = {"type": "query", "name": name, "label": label or name, "datasource": CHOSEN,
            "query": asked, "definition": asked, "regex": regex, "refresh": 2, "sort": 1,
            "hide": hide, "includeAll": several, "multi": several, "options": [],
            "current": {"text": ["All"], "value": ["$__all"], "selected": True} if several else {},
            "skipUrlSync": False}
    if every:
        made["allValue"] = every
    return made


def choice(name, options, label=None):
    return {"type": "custom", "name": name, "label": label or name, "query": ",".join(options),
            "current": {"text": options[0], "value": options[0], "selected": True}, "hide": 0,
            "includeAll": False, "multi": False, "skipUrlSync": False,
            "options": [{"text": option, "value": option, "selected": option == options[0]}
                        for option in options]}


def annotation(name, metric, everywhere=False):
    """A metric's annotations, red, or with `everywhere` the global ones that come with its answer, blue."""
    colour = "rgba(96, 160, 255, 1)" if everywhere else "rgba(255, 96, 96, 1)"
    return {"name": name, "datasource": CHOSEN, "enable": True, "hide": False, "iconColor": colour,
            "target": metric, "isGlobal": everywhere, "showIn": 0}


def dashboard(uid, title, panels, variables=(), annotations=(), tags=(), refresh="30s",
              since="now-1h", description=""):
    builtin = {"builtIn": 1, "datasource": "-- Grafana --", "enable": True, "hide": True,
               "iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts",
               "type": "dashboard"}
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "schemaVersion": SCHEMA,
        "version": 1,
        "id": None,
        "editable": True,
        "graphTooltip": 1,
        "style": "dark",
        "tags": ["halite", *tags],
        "timezone": "",
        "refresh": refresh,
        "time": {"from": since, "to": "now"},
        "timepicker": {},
        "links": [{"type": "dashboards", "title": "Halite", "tags": ["halite"], "asDropdown": True,
                   "icon": "external link", "includeVars": False, "keepTime": True,
                   "targetBlank": False, "tooltip": "", "url": ""}],
        "annotations": {"list": [builtin, *annotations]},
        "templating": {"list": list(variables)},
        "panels": lay_out(panels),
    }
