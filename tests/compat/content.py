"""What a data directory of tests/compat holds, and the questions whose answers must never change.

A directory is written once, by a released binary (make.py). Every later binary opens copies of it. So
nothing here depends on the time of day, and what is written to a kind of directory only grows by new
names: the questions stay those that the directory's .answers file holds.
"""

import json
import pathlib
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from server_process import ServerProcess, ServerTrouble  # noqa: E402

DAY = 86400
OLD = 1704067200  # 2024-01-01: sealed, with late points and a delete
NEXT = OLD + DAY  # sealed, nothing since
FLUSHED = OLD + 2 * DAY  # in chunks that are not sealed
LOGGED = OLD + 3 * DAY  # in the log alone when the server is killed
WRITTEN = OLD + 40 * DAY  # what the tests write: no question asks for it
HOSTS = ("a", "b", "c", "é", "host-with-a-longer-name.example.org")
NEW_HOSTS = ["new-0", "new-1", "new-2", "new-3"]
GONE = "compat.gone"  # its points are deleted, its names are removed

ROLLUPS = {
    "aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3},
    "intervals": [
        {"table": "tsdb", "preAggregationTable": "preagg-1m", "interval": "1m", "rowSpan": "1h",
         "defaultInterval": True},
        {"table": "rollup-1h", "preAggregationTable": "preagg-1h", "interval": "1h", "rowSpan": "1d"}]}

_COMMON = {"self_metrics.enabled": "false", "web.allow_delete": "true"}
_EVERYTHING = {
    **_COMMON, "histograms.config": json.dumps({"net.opentsdb.core.SimpleHistogramDecoder": 42}),
    "rollups.enabled": "true", "rollups.config": json.dumps(ROLLUPS), "meta.track_series": "true",
    "meta.series_objects": "true", "meta.name_objects": "true", "meta.trees": "true"}
# Series and names are removed only where no rollups are; one retention class, so that it is stored.
_PLAIN = {**_COMMON, "storage.retention": "class.=0", "engine.expiry_interval_ms": "1000"}
KINDS = {"engine": ("engine", _EVERYTHING), "plain": ("engine", _PLAIN),
         "rocksdb": ("rocksdb", _EVERYTHING)}


def arguments(kind):
    """Those of `serve` for a directory of this kind, without --data-dir."""
    store, settings = KINDS[kind]
    words = ["--store", store]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    return words


class Server(ServerProcess):
    """A server with a directory of one kind."""

    def __init__(self, binary, data_dir, kind, *more, **options):
        super().__init__(binary, data_dir, *arguments(kind), *more, **options)
        self.kind = kind

    def start(self):
        self.launch()
        if not self.listens():
            raise ServerTrouble(f"it did not start:\n{self.log_text()}")
        return self

    def ask(self, method, path, body=None, wanted=(200, 204)):
        """The answer's text; another status than wanted is an error."""
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        status, answer = self.request(method, path, data)
        if status not in wanted:
            raise ServerTrouble(f"{method} {path}: {status} {answer.decode()[:500]}")
        return answer.decode()

    def put(self, points):
        for at in range(0, len(points), 500):
            self.ask("POST", "/api/put", points[at:at + 500], wanted=(204,))

    def metric_value(self, name):
        for line in self.ask("GET", "/metrics").splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return None


def point(metric, second, value, **tags):
    return {"metric": metric, "timestamp": second, "value": value, "tags": tags}


def day_of_points(begin):
    """Every shape of values and times that chunks tell apart, for one day."""
    points = []
    for number, host in enumerate(HOSTS):
        for i in range(24):
            at = begin + 900 * i + number
            points += [
                point("compat.ints", at, i * i * (number + 1) - 700, host=host, dc="x"),
                point("compat.decimals", at, round(20 + number + i / 7, 2), host=host, dc="x"),
                point("compat.doubles", at, (i + 1) / (number + 3), host=host, dc="y"),
                point("compat.ms", at * 1000 + 17 * i + number, i % 5, host=host, dc="y"),
                point("compat.mixed", at, i if i % 3 else i + 0.5, host=host, dc="z"),
            ]
    points += [point("compat.constant", begin + 60 * i, 42, host="a") for i in range(200)]
    points += [point("compat.extremes", begin + i, value, host="a") for i, value in enumerate(
        (2**63 - 1, -2**63, 0, 2**53 + 1, 1, -1, 1e300, -1e-300, 0.1, 123456789.123456789))]
    points += [point("compat.counter", begin + 15 * i, 3 * i % 1000, host="a", core=str(core))
               for i in range(50) for core in range(3)]
    points += [point("class.own", begin + 10 * i, i, host="a", _t="1") for i in range(50)]
    return points


def long_series():
    """So many points that their chunk has segments."""
    return [point("compat.long", OLD + 5 * i, i * 7919 % 1009, host="a") for i in range(12000)]


def _seal(server):
    if server.kind != "rocksdb":
        server.ask("POST", "/api/admin/seal")


def _flush(server):
    if server.kind != "rocksdb":
        server.ask("POST", "/api/admin/flush")


def _delete(server, begin, end, expression):
    m = urllib.parse.quote(expression, safe="")
    server.ask("DELETE", f"/api/query?start={begin}&end={end}&m={m}")


def _write_objects(server):
    """Rollups, histograms, annotations, and what is said about names and series."""
    rollups = []
    for hour in range(24):
        for host in HOSTS[:2]:
            rollups += [{**point("compat.rolled", OLD + 3600 * hour, value, host=host),
                         "interval": "1h", "aggregator": aggregator}
                        for aggregator, value in (("sum", 10.5 * hour), ("count", 6),
                                                  ("min", -hour), ("max", hour * hour))]
    rollups += [{**point("compat.rolled", OLD + 3600 * hour, hour, dc="x"), "interval": "1h",
                 "aggregator": "sum", "groupByAggregator": "SUM"} for hour in range(4)]
    server.ask("POST", "/api/rollup", rollups)
    server.ask("POST", "/api/histogram", [
        {"metric": "compat.histogram", "timestamp": OLD + 60 * i, "tags": {"host": host},
         "buckets": {"0,1": 10 + i, "1,2": 5, "2,4.5": i}, "underflow": 1, "overflow": i % 2}
        for i in range(30) for host in HOSTS[:2]])
    server.ask("POST", "/api/tree", {"name": "Sites", "enabled": True, "storeFailures": True})
    for level, field in enumerate(("dc", "host")):
        server.ask("POST", "/api/tree/rule", {"treeId": 1, "level": level, "order": 0,
                                              "type": "TAGK", "field": field})
    server.ask("POST", "/api/tree/rule", {"treeId": 1, "level": 2, "order": 0, "type": "METRIC"})


def _wait(until, otherwise):
    """For what is done behind the points."""
    deadline = time.monotonic() + 60
    while not until():
        if time.monotonic() > deadline:
            raise ServerTrouble(otherwise)
        time.sleep(0.1)


def _say_about_names(server):
    """Once the names exist: notes about them, annotations of a series and of everything."""
    [found] = json.loads(server.ask("GET", "/api/search/lookup?m=compat.ints%7Bhost=a%7D"))["results"]
    server.ask("POST", "/api/annotation", {
        "startTime": OLD + 100, "endTime": OLD + 400, "tsuid": found["tsuid"],
        "description": "a fan was loud", "notes": "näher ansehen", "custom": {"who": "op"}})
    server.ask("POST", "/api/annotation", {"startTime": OLD + 7200, "description": "power returned"})
    server.ask("POST", "/api/uid/uidmeta", {
        "uid": found["tsuid"][:6], "type": "metric", "displayName": "Integers",
        "description": "whole numbers", "custom": {"owner": "tests"}})
    if server.kind != "plain":
        tsmeta = f"/api/uid/tsmeta?tsuid={found['tsuid']}"
        _wait(lambda: server.request("GET", tsmeta)[0] == 200, f"there is no TSMeta for {found['tsuid']}")
        server.ask("POST", "/api/uid/tsmeta", {"tsuid": found["tsuid"], "displayName": "Integers of a",
                                               "units": "pieces"})


def _forget_names(server):
    """Points whose series and names leave the tables again."""
    server.put([point(GONE, OLD + i, i, gone="yes") for i in range(20)])
    _flush(server)
    _delete(server, OLD, OLD + DAY, f"sum:{GONE}{{gone=*}}")

    def forgotten():
        _seal(server)
        return server.metric_value("halite_engine_forgotten_names_total")
    _wait(forgotten, "the names of deleted points were not removed")


def write(server):
    """Everything, in an order that leaves parts of it in every place that the store has."""
    server.ask("POST", "/api/uid/assign", {"metric": ["compat.assigned"], "tagk": ["rack"],
                                           "tagv": ["r1"]})
    if server.kind != "plain":
        _write_objects(server)
    server.put(day_of_points(OLD) + day_of_points(NEXT) + long_series())
    server.put([point("compat.oldname", OLD + 60 * i, i, host="a") for i in range(30)])
    _say_about_names(server)
    server.ask("POST", "/api/uid/rename", {"metric": "compat.oldname", "name": "compat.newname"})
    if server.kind == "plain":
        _forget_names(server)
    _seal(server)
    # After the day was sealed: late points, points that replace others, deleted ones.
    server.put([point("compat.ints", OLD + 450 + 900 * i, -i, host="b", dc="x") for i in range(20)])
    server.put([point("compat.ints", OLD + 900 * i, 9000 + i, host="a", dc="x") for i in range(10)])
    _flush(server)
    _delete(server, OLD + 3000, OLD + 7000, "sum:compat.decimals{host=c}")
    server.put(day_of_points(FLUSHED))
    _flush(server)
    _delete(server, FLUSHED + 900, FLUSHED + 2700, "sum:compat.ms{host=a}")
    server.put(day_of_points(LOGGED))
    server.put([point("compat.lognames", LOGGED + i, i * 1.5, host=host)
                for i, host in zip(range(40), NEW_HOSTS * 10)])
    server.put([point("compat.ints", OLD + 75, 777, host="a", dc="x")])  # late, in the log
    if server.kind != "plain":
        def filed():
            root = server.request("GET", "/api/tree/branch?treeid=1")[1].decode()
            return all(f'"displayName":"{host}"' in root for host in NEW_HOSTS)
        _wait(filed, "the tree lacks the newest series")


def _query(begin, end, expression, *parameters):
    m = urllib.parse.quote(expression, safe="")
    return "/api/query?" + "&".join((f"start={begin}", f"end={end}", f"m={m}", *parameters))


def questions(kind):
    """Paths to GET. Their answers may depend on nothing that is at or after WRITTEN."""
    end = LOGGED + DAY
    asked = [_query(OLD, end, f"none:{metric}{{host=*}}", *more) for metric, more in (
        ("compat.ints", ()), ("compat.decimals", ()), ("compat.doubles", ()),
        ("compat.ms", ("ms=true",)), ("compat.mixed", ()), ("compat.constant", ()),
        ("compat.extremes", ()), ("compat.counter", ()), ("compat.newname", ("show_tsuids=true",)),
        ("compat.lognames", ()), ("class.own", ()))]
    asked += [_query(OLD, end, expression) for expression in (
        "sum:rollup_raw:1h-avg:compat.ints{dc=x}", "max:rollup_raw:1h-max:compat.decimals{host=*}",
        "avg:10m-sum-zero:compat.doubles", "sum:rate:compat.counter{core=*}",
        "min:rollup_raw:1d-min:compat.ms", "p95:rollup_raw:6h-p95:compat.doubles",
        "count:0all-count:compat.mixed",
        "sum:rollup_raw:1h-count:compat.ints{host=regexp(.*example.*)}",
        "sum:rollup_raw:1d-avg:compat.constant", "sum:rollup_raw:1h-sum:compat.long",
        "sum:rollup_raw:1d-dev:compat.long", "sum:7m-max:compat.long{host=a}")]
    asked += [_query(OLD + 30000, OLD + 30300, "none:compat.long"),
              _query(OLD, OLD + 8000, "none:compat.ints{host=a}", "global_annotations=true",
                     "show_tsuids=true"),
              "/api/suggest?type=metrics&q=c&max=100", "/api/suggest?type=tagk&max=100",
              "/api/suggest?type=tagv&max=100", "/api/search/lookup?m=compat.ints&limit=100",
              "/api/search/lookup?m=compat.lognames&limit=100",
              "/api/uid/uidmeta?type=metric&uid=000002"]
    if kind != "plain":
        asked += [_query(OLD, OLD + DAY - 1, f"{how}:compat.rolled{{host=*}}") for how in (
                      "sum:1h-sum", "sum:1h-avg", "max:2h-max", "min:1h-min", "sum:1h-count")]
        asked += [_query(OLD, OLD + DAY - 1, "sum:pre-agg:1h-sum:compat.rolled{dc=x}"),
                  _query(OLD, OLD + 3600, "sum:percentiles[50,99]:compat.histogram{host=*}"),
                  "/api/tree?treeid=1", "/api/tree/branch?treeid=1",
                  "/api/search/lookup?use_meta=true&m=compat.ints&limit=100"]
    return asked


def comparable(text):
    """An answer without the order of its parts; numbers stay the text that was sent."""
    value = json.loads(text, parse_int=str, parse_float=str)

    def ordered(one):
        if isinstance(one, dict):
            return {key: ordered(below) for key, below in sorted(one.items()) if key != "time"}
        if isinstance(one, list):
            return sorted(map(ordered, one), key=lambda part: json.dumps(part, sort_keys=True))
        return one

    return ordered(value)


def answers(server, asked):
    """[(path, status, body)] of what is asked."""
    found = []
    for path in asked:
        status, body = server.request("GET", path)
        found.append((path, status, body.decode()))
    return found


def to_text(found):
    """The text of an .answers file: the path, then the status and the body."""
    return "".join(f"GET {path}\n{status} {body}\n\n" for path, status, body in found)


def from_text(text):
    found = []
    for block in text.strip().split("\n\n"):
        asked, answer = block.split("\n", 1)
        status, body = answer.split(" ", 1)
        found.append((asked.removeprefix("GET "), int(status), body))
    return found


def differences(server, expected):
    """What a server answers otherwise than expected: lines for people, none if nothing."""
    said = []
    for path, status, body in answers(server, [path for path, _, _ in expected]):
        [(wanted_status, wanted)] = [(s, b) for p, s, b in expected if p == path]
        if (status, comparable(body)) != (wanted_status, comparable(wanted)):
            said.append(f"GET {path}\n  expected {wanted_status} {wanted[:400]}\n"
                        f"  answered {status} {body[:400]}")
    return said
