"""What Grafana does with a dashboard and the OpenTSDB data source, as far as requests go.

Two dialects reach a server:
  browser   Grafana 7 to 12.3: the browser's code, all queries of a panel in one POST, times in
            milliseconds, no end where the range ends now
  backend   Grafana 12.4 and later: the plugin's server, a POST a query, times in seconds; what it
            cannot read as numbers fails the panel
"""

import dataclasses
import json
import re
import urllib.parse

ALL = "$__all"


class Refused(AssertionError):
    """The server's answer is one that Grafana shows as an error."""


def numbers_only(text):
    """JSON as Go and browsers read it: NaN and Infinity are no numbers."""
    def refuse(name):
        raise Refused(f"{name} in an answer")
    return json.loads(text, parse_constant=refuse)


@dataclasses.dataclass
class Source:
    """A data source of Grafana's before a server."""
    server: object
    dialect: str  # "browser" or "backend"
    version: int  # jsonData.tsdbVersion
    resolution: int  # jsonData.tsdbResolution
    lookup_limit: int  # jsonData.lookupLimit; 0 = missing, which means 1000 to the browser's code only
    prefix: str = "/grafana"

    def get(self, path, **parameters):
        ask = f"{self.prefix}{path}?{urllib.parse.urlencode(parameters)}"
        headers = {"Accept": "application/json, text/plain, */*"} if self.dialect == "browser" else {}
        status, body = self.server.request("GET", ask, headers=headers)
        if status != 200:
            raise Refused(f"GET {ask}: {status} {body[:500]!r}")
        return numbers_only(body)

    def post_query(self, body):
        path = f"{self.prefix}/api/query"
        if self.dialect == "backend" and self.version == 4:
            path += "?arrays=true"
        status, answer = self.server.request("POST", path, json.dumps(body),
                                             {"Content-Type": "application/json"})
        if status != 200:
            raise Refused(f"POST {path} {json.dumps(body)}: {status} {answer[:500]!r}")
        return numbers_only(answer)

    # ---- variables ------------------------------------------------------------------------------

    def find(self, asked):
        """The values that a variable's query offers."""
        if found := re.search(r"metrics\((.*)\)", asked):
            return self._suggest("metrics", found[1])
        if found := re.search(r"tag_names\((.*)\)", asked):
            return self._lookup(found[1], 1000, lambda tags: tags)
        if found := re.search(r"tag_values\((.*?),\s?(.*)\)", asked):
            keys = [key.strip() for key in found[2].split(",")]
            pattern = f"{found[1]}{{{','.join([keys[0] + '=*', *keys[1:]])}}}"
            return self._lookup(pattern, self.lookup_limit,
                                lambda tags: [tags[keys[0]]] if keys[0] in tags else [])
        if found := re.search(r"suggest_tag([kv])\((.*)\)", asked):
            return self._suggest(f"tag{found[1]}", found[2])
        raise AssertionError(f"Grafana knows no such function: {asked}")

    def _suggest(self, kind, prefix):
        return self.get("/api/suggest", type=kind, q=prefix, max=self.lookup_limit or 1000)

    def _lookup(self, pattern, limit, of):
        found = self.get("/api/search/lookup", m=pattern, limit=limit)
        return sorted({name for result in found["results"] for name in of(result["tags"])})

    # ---- queries --------------------------------------------------------------------------------

    def convert(self, target, scope, interval):
        """A panel's target as a query of OpenTSDB."""
        made = {"metric": scope.fill(target["metric"], "pipe"),
                "aggregator": scope.fill(target["aggregator"]) or "avg"}
        if target["shouldComputeRate"]:
            made["rate"] = True
            made["rateOptions"] = {"counter": target["isCounter"]}
            if self.dialect == "backend" or self.version >= 2:
                made["rateOptions"]["dropResets"] = True
        if not target["disableDownsampling"]:
            step = scope.fill(target["downsampleInterval"]) or interval
            made["downsample"] = f"{step}-{target['downsampleAggregator']}"
            if target["downsampleFillPolicy"] != "none":
                made["downsample"] += f"-{target['downsampleFillPolicy']}"
        if target["filters"]:
            made["filters"] = [{**one, "tagk": scope.fill(one["tagk"], "pipe"),
                                "filter": scope.fill(one["filter"], "pipe")}
                               for one in target["filters"]]
        if target["tags"] and (self.dialect == "backend" or not target["filters"]):
            made["tags"] = {key: scope.fill(value, "pipe")
                            for key, value in target["tags"].items()}
        return made

    def ask(self, queries, begin, end, ends_now=True):
        """Answers of each query, in order: [[{"metric", "tags", "points": {second: value}}]]"""
        if self.dialect == "backend":
            return [self._read(self.post_query({"start": begin, "end": end, "queries": [query]}))
                    for query in queries]
        body = {"start": begin * 1000, "queries": queries, "globalAnnotations": True,
                "msResolution": self.resolution == 2}
        if not ends_now:
            body["end"] = end * 1000
        if self.version == 3:
            body["showQuery"] = True
        answers = [[] for _ in queries]
        for one in self._read(self.post_query(body)):
            answers[self._whose(one, queries)].append(one)
        return answers

    def _whose(self, one, queries):
        if self.version == 3:
            return one["query"]["index"]
        for index, query in enumerate(queries):
            if query["metric"] == one["metric"] and (query.get("filters") or all(
                    value == "*" or one["tags"].get(key) in value.split("|")
                    for key, value in query.get("tags", {}).items())):
                return index
        return 0

    def _read(self, answer):
        for one in answer:
            pairs = one["dps"]
            if self.dialect == "browser" or self.version != 4:
                pairs = [(int(time), value) for time, value in one["dps"].items()]
            scale = 1000 if self.dialect == "browser" and self.resolution == 2 else 1
            one["points"] = {}
            for time, value in pairs:
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise Refused(f"a value that is no number: {value!r}")
                one["points"][time / scale] = value
            if not isinstance(one["tags"], dict) or not isinstance(one["aggregateTags"], list):
                raise Refused(f"tags, aggregateTags: {one['tags']}, {one['aggregateTags']}")
        return answer

    def annotations(self, metric, everywhere, begin, end):
        """[(second, text)] of an annotation query of a dashboard, into which Grafana puts no variables."""
        query = {"aggregator": "sum", "metric": metric}
        answer = self.ask([query], begin, end)[0]
        if self.dialect == "browser":
            answer = answer[:1]  # it looks no further
        field = "globalAnnotations" if everywhere else "annotations"
        return [(note["startTime"], note["description"])
                for one in answer for note in one.get(field, [])]


@dataclasses.dataclass
class PromqlSource:
    """A data source Prometheus of Grafana's before a server."""
    server: object
    method: str  # jsonData.httpMethod
    prefix: str
    step: int  # seconds; jsonData.timeInterval

    def api(self, page, parameters, method="GET"):
        path, body, headers = f"{self.prefix}/api/v1/{page}", None, {}
        text = urllib.parse.urlencode(parameters)
        if method == "POST":
            body, headers = text, {"Content-Type": "application/x-www-form-urlencoded"}
        elif text:
            path += f"?{text}"
        status, answer = self.server.request(method, path, body, headers)
        if status != 200:
            raise Refused(f"{method} {path} {text}: {status} {answer[:500]!r}")
        read = numbers_only(answer)
        if read["status"] != "success":
            raise Refused(f"{method} {path} {text}: {answer[:500]!r}")
        return read["data"]

    def check_health(self):
        """Save & test."""
        answer = self.api("query", {"query": "1+1", "time": "4"}, self.method)
        if answer["resultType"] != "scalar" or answer["result"][1] != "2":
            raise Refused(f"1+1 is {answer}")
        self.api("status/buildinfo", {})

    def find(self, asked):
        """The values that a variable's query offers."""
        found = re.fullmatch(r"label_values\((.+),\s*(\w+)\)", asked)
        if not found:
            raise AssertionError(f"not used by our dashboards: {asked}")
        return self.api(f"label/{found[2]}/values", {"match[]": found[1]})

    def ask(self, target, scope, begin, end):
        """[{"labels", "points": [(second, value)]}] of a panel's target."""
        rates = scope.with_value("__rate_interval", f"{4 * self.step}s")
        form = {"query": rates.fill(target["expr"], "regexp"), "step": self.step,
                "start": begin // self.step * self.step, "end": end // self.step * self.step}
        answer = self.api("query_range", form, self.method)
        if answer["resultType"] != "matrix":
            raise Refused(f"{form}: {answer['resultType']}")
        return [{"labels": one["metric"],
                 "points": [(second, float(value)) for second, value in one["values"]]}
                for one in answer["result"]]


class Scope:
    """Values of a dashboard's variables: name to list of texts."""

    def __init__(self, values=None, singles=None):
        self.values = dict(values or {})
        self.singles = dict(singles or {})  # name to the value of "All" as one text

    def with_value(self, name, value):
        return Scope({**self.values, name: [value]},
                     {key: text for key, text in self.singles.items() if key != name})

    def fill(self, text, form="pipe"):
        def value(found):
            name = found[1] or found[2]
            if name not in self.values:
                raise AssertionError(f"no variable ${name} for {text!r}")
            if name in self.singles:
                return self.singles[name]
            values = self.values[name]
            if form == "regexp":  # in a string of PromQL
                texts = [re.sub(r"([\\^$*+?.()|\[\]{}])", r"\\\\\1", value) for value in values]
                return f"({'|'.join(texts)})" if len(texts) > 1 else texts[0]
            if form == "distributed" and len(values) > 1:
                return ",".join([values[0], *(f"{name}={other}" for other in values[1:])])
            return "|".join(values)
        return re.sub(r"\$(\w+)|\$\{(\w+)(?::\w+)?\}", value, text)


def javascript_pattern(text):
    """A variable's regular expression, /.../ or plain, for Python."""
    return re.compile(text[1:text.rindex("/")] if text.startswith("/") else text)


def choose(dashboard, source, prefer=()):
    """Picks a value for every variable as Grafana does when a dashboard is opened: "All" where that
    is the default, else what `prefer` names, else the first."""
    scope = Scope()
    for variable in dashboard["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "datasource":
            scope.values[name] = ["Halite"]
            continue
        if variable["type"] == "custom":
            options = variable["query"].split(",")
        else:
            options = source.find(scope.fill(variable["query"], "distributed"))
            if variable["regex"]:
                found = (javascript_pattern(variable["regex"]).search(one) for one in options)
                options = sorted({one[1] for one in found if one})
        if not options:
            raise Refused(f"nothing to choose for ${name}: {variable['query']}")
        current = variable["current"].get("value")
        if current == [ALL]:
            scope.values[name] = options
            if variable.get("allValue"):
                scope.singles[name] = variable["allValue"]
        else:
            liked = [option for option in options if option in prefer]
            scope.values[name] = (liked or options)[:1]
    return scope


def panels(dashboard, scope):
    """(panel, scope) of every panel with queries, once for each value that it is repeated over."""
    for panel in dashboard["panels"]:
        if not panel.get("targets"):
            continue
        name = panel.get("repeat")
        for value in scope.values[name] if name else [None]:
            yield panel, scope.with_value(name, value) if name else scope
