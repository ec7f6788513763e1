#!/usr/bin/env python3
"""docs/openapi.yaml against the real server: schemathesis generates requests from the description
and checks that each answer has a described status, content type and schema. The same file checks
that the description and the server's table of endpoints name the same routes.

tests/e2e/clients/python pins schemathesis; ./dev e2e installs it. Requests come from a fixed seed.
CONTRACT_EXAMPLES sets how many each operation gets."""

import copy
import json
import os
import pathlib
import re
import unittest

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
import hypothesis
import requests
import schemathesis
import yaml
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())
METHODS = ("get", "post", "put", "delete", "head", "patch")
EXAMPLES = int(os.environ.get("CONTRACT_EXAMPLES", "8"))
SEED = 20130101
T = 1356998400

# Stop or harm what other requests need: they get a server of their own.
HARMFUL = ("/api/admin/", "/api/dropcaches", "/logs")

ROLLUPS = {
    "aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3},
    "intervals": [
        {"table": "tsdb", "preAggregationTable": "preagg-1m", "interval": "1m", "rowSpan": "1h",
         "defaultInterval": True},
        {"table": "rollup-1h", "preAggregationTable": "preagg-1h", "interval": "1h",
         "rowSpan": "1d"}]}
SETTINGS = (
    "--set", "histograms.config=" + json.dumps({"net.opentsdb.core.SimpleHistogramDecoder": 42}),
    "--set", "rollups.enabled=true", "--set", "rollups.config=" + json.dumps(ROLLUPS),
    "--set", "meta.track_series=true", "--set", "meta.series_objects=true",
    "--set", "meta.trees=true", "--set", "self_metrics.enabled=false")

# ---- values that mean something to the server -----------------------------------------------------

def mostly(good, bad):
    """Each good value is drawn as often as all bad ones together."""
    return st.sampled_from([one for one in good for _ in bad] + bad)


def joined(*parts):
    return st.tuples(*parts).map("".join)


metrics = mostly(["sys.cpu.user", "sys.mem", "app.latency"], ["no.such", "m-_./ü", "a b"])
tag_keys = mostly(["host", "dc"], ["nosuch"])
tag_values = mostly(["web01", "web02", "lga", "*"], ["web*", "web01|web02", "regexp(w.*)", ""])
tsuids = mostly(["000001000001000001", "000001000001000002000002000001"],
                ["000002000001000001", "00000100000100000100000200000F", "0", "xyz", ""])
aggregators = mostly(["sum", "avg", "none"], ["min", "count", "p99", "zimsum", "nosuch"])
times = mostly(
    [str(T), str(T * 1000), "now", "1h-ago", "2013/01/01", "2013/01/01-00:10", str(T + 600)],
    ["nonsense", "0", "2013/01/01 00:00:30", "5y-ago", "1356998400.250"])
downsamplers = mostly(["1m-avg", "10s-sum-nan", "0all-max", "1h-count-zero", "1dc-sum"],
                      ["1n-avg-null", "500ms-min", "1x-avg", "1m-nosuch", "60m-"])
braces = st.one_of(st.just(""), st.just("{}"),
                   joined(st.just("{"), tag_keys, st.just("="), tag_values, st.just("}")))
series = joined(metrics, braces)
parts_of_m = st.lists(
    st.one_of(downsamplers, mostly(["rate", "rate{counter,100}", "explicit_tags"],
                                   ["pre-agg", "percentiles[50,99]", "rollup_raw", ""])),
    max_size=2).map(lambda parts: "".join(part + ":" for part in parts))
m_queries = joined(aggregators, st.just(":"), parts_of_m, series, st.one_of(st.just(""), braces))
tsuid_queries = joined(aggregators, st.just(":"), parts_of_m, tsuids)
gexps = st.one_of(
    joined(mostly(["absolute", "sumSeries", "diff"], ["nosuch"]), st.just("("), m_queries,
           st.just(")")),
    joined(st.sampled_from(["scale", "highestMax", "movingAverage", "shift"]), st.just("("),
           m_queries, mostly([",10)", ",'10min')"], [",x)", ")"])))

for name, strategy in {
        "time": times, "metric": metrics, "tagk": tag_keys, "tagv": tag_values, "tsuid": tsuids,
        "series": series, "m": m_queries, "m-tsuid": tsuid_queries, "gexp": gexps,
        "aggregator": aggregators, "downsample": downsamplers,
        "timezone": mostly(["UTC", "Europe/Berlin"], ["No/Such", ""])}.items():
    schemathesis.openapi.format(f"halite-{name}", strategy)

load_all_checks()
CONFORMANCE = [check for check in CHECKS.get_all()
               if check.__name__ in ("status_code_conformance", "content_type_conformance",
                                     "response_schema_conformance")]


# ---- the description ------------------------------------------------------------------------------

def close_objects(node):
    """Answers must not have fields that the description does not name."""
    if isinstance(node, list):
        for each in node:
            close_objects(each)
    elif isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and "additionalProperties" not in node:
            node["additionalProperties"] = False
        for each in node.values():
            close_objects(each)


def strict(spec):
    """The description with closed answers. What requests use stays open."""
    spec = copy.deepcopy(spec)
    schemas = spec["components"]["schemas"]
    wanted, seen = [], set()

    def references(node):
        if isinstance(node, list):
            for each in node:
                yield from references(each)
        elif isinstance(node, dict):
            if str(node.get("$ref", "")).startswith("#/components/schemas/"):
                yield node["$ref"].rsplit("/", 1)[1]
            for each in node.values():
                yield from references(each)

    answers = [spec["components"]["responses"]]
    answers += [operation["responses"] for _, _, operation in operations(spec)]
    for node in answers:
        close_objects(node)
        wanted += references(node)
    while wanted:
        used = wanted.pop()
        if used in seen:
            continue
        seen.add(used)
        close_objects(schemas[used])
        wanted += references(schemas[used])
    return spec


def near(spec):
    """The description with small ranges where most of a large one names nothing, without fields
    that it does not name (the server ignores them), and with what a query cannot do without. A GET
    is mostly what it says that it is."""
    spec = copy.deepcopy(spec)
    close_objects([operation.get("requestBody", {}) for _, _, operation in operations(spec)])
    close_objects(spec["components"]["schemas"])
    schemas, parameters = spec["components"]["schemas"], spec["components"]["parameters"]
    query, sub_query = schemas["Query"]["properties"], schemas["SubQuery"]
    del query["delete"], sub_query["properties"]["tsuids"]
    query["queries"]["maxItems"] = sub_query["properties"]["filters"]["maxItems"] = 2
    sub_query["required"].append("metric")
    parameters["M"]["required"] = True
    parameters["M"]["schema"].update(minItems=1, maxItems=2)
    parameters["TsuidQuery"]["schema"].update(maxItems=1)

    def narrow(node):
        if isinstance(node, list):
            for each in node:
                narrow(each)
        elif isinstance(node, dict):
            for key, maximum in (("treeid", 2), ("treeId", 2), ("level", 1), ("order", 1)):
                schema = node.get(key) if key in node else (
                    node.get("schema") if node.get("name") == key else None)
                if isinstance(schema, dict) and "maximum" in schema:
                    schema["maximum"] = maximum
            for each in node.values():
                narrow(each)

    narrow(spec)
    override = "#/components/parameters/MethodOverride"
    for path, _, operation in operations(spec):
        if path != "/api/annotation" and "parameters" in operation:
            operation["parameters"] = [
                one for one in operation["parameters"] if one.get("$ref") != override]
    return spec


def operations(spec):
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def is_harmful(path, method):
    return method == "delete" or path.startswith(HARMFUL)


def check_not_undescribed_fault(context, response, case):
    """5xx only where the description allows it."""
    del context
    described = case.operation.responses.status_codes
    if response.status_code >= 500 and str(response.status_code) not in map(str, described):
        raise AssertionError(f"{response.status_code}: {response.text[:500]}")


# ---- tests ----------------------------------------------------------------------------------------

class Contract(support.HaliteTest):
    def start_with_data(self, name, *settings):
        server = self.server(*SETTINGS, *settings, data_dir=self.scratch / name).start()

        def post(path, body, status):
            self.assertEqual(server.request("POST", path, json.dumps(body))[0], status, path)

        post("/api/tree", {"name": "first", "storeFailures": True, "enabled": True}, 200)
        post("/api/tree/rule", {"treeId": 1, "level": 0, "order": 0, "type": "TAGK",
                                "field": "host"}, 200)
        post("/api/put", {"metric": "sys.cpu.user", "timestamp": T, "value": 0.5,
                          "tags": {"host": "web01"}}, 204)
        post("/api/put", [
            {"metric": metric, "timestamp": T + 60 * i, "value": i, "tags": {"host": host, "dc": dc}}
            for metric in ("sys.cpu.user", "sys.mem") for i in range(20)
            for host, dc in (("web01", "lga"), ("web02", "fra"))], 204)
        post("/api/histogram", {"metric": "app.latency", "timestamp": T, "buckets": {"0,10": 5},
                                "underflow": 0, "overflow": 1, "tags": {"host": "web01"}}, 204)
        post("/api/annotation", {"startTime": T, "description": "one"}, 200)
        post("/api/uid/assign", {"metric": ["sys.old"]}, 200)
        for page in ("tree/branch?treeid=1", "uid/tsmeta?tsuid=000001000001000001"):
            self.eventually(page, lambda: server.request("GET", "/api/" + page)[0] == 200)
        return server

    def attack(self, server, wanted):
        """Generated requests for each operation that is wanted."""
        schema = schemathesis.openapi.from_dict(near(strict(SPEC)))
        url = f"http://127.0.0.1:{server.port}"
        session = requests.Session()
        self.addCleanup(session.close)
        asked = 0
        for found in schema.get_all_operations():
            operation = found.ok()
            if not wanted(operation.path, operation.method.lower()):
                continue
            more = 4 if operation.path.startswith("/api/query") else 1  # most can go wrong there
            for mode, count in ((schemathesis.GenerationMode.POSITIVE, more * EXAMPLES),
                                (schemathesis.GenerationMode.NEGATIVE, (EXAMPLES + 2) // 3)):
                asked += self.attack_one(operation, mode, count, url, session)
        self.assertTrue(server.running(), server.log_text())
        self.assertEqual(server.request("GET", "/-/ready")[0], 200)
        self.assertNotIn("exception", server.log_text())
        self.assertEqual(server.terminate(), 0, server.log_text())
        return asked

    def attack_one(self, operation, mode, count, url, session):
        if mode == schemathesis.GenerationMode.NEGATIVE and not list(
                operation.iter_parameters()) and not operation.body:
            return 0
        asked = 0

        @hypothesis.seed(SEED)
        @hypothesis.settings(max_examples=count, deadline=None, database=None,
                             phases=[hypothesis.Phase.generate], print_blob=False,
                             suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            nonlocal asked
            asked += 1
            response = case.call(base_url=url, session=session, timeout=support.START_SECONDS)
            case.validate_response(response, checks=[check_not_undescribed_fault, *CONFORMANCE])

        with self.subTest(operation=operation.label, mode=mode.value):
            try:
                ask()
            except hypothesis.errors.Unsatisfiable:
                pass  # nothing of this operation can be wrong
        return asked

    def test_answers_are_as_described(self):
        server = self.start_with_data("data")
        asked = self.attack(server, lambda path, method: not is_harmful(path, method))
        self.assertGreater(asked, 50 * EXAMPLES)

    def test_answers_of_deletes_and_administration_are_as_described(self):
        server = self.start_with_data(
            "harmed", "--set", f"engine.backup_dir={self.scratch}/backups",
            "--set", "web.allow_delete=true", "--set", "web.get_may_write=true")
        self.assertGreater(self.attack(server, is_harmful), 10 * EXAMPLES)

    def test_examples_are_answered_with_success(self):
        server = self.start_with_data("data", "--set", f"engine.backup_dir={self.scratch}/backups",
                                      "--set", "web.allow_delete=true",
                                      "--set", "web.get_may_write=true")
        asked = 0
        # What deletes comes last: other examples name what it takes.
        for path, method, operation in sorted(operations(SPEC), key=lambda one: one[1] == "delete"):
            parameters, complete = [], True
            for parameter in operation.get("parameters", []) + SPEC["paths"][path].get("parameters", []):
                if "$ref" in parameter:
                    parameter = SPEC["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
                if parameter["in"] == "path":
                    complete = False
                elif "example" in parameter:
                    value = parameter["example"]
                    for one in value if isinstance(value, list) else [value]:
                        parameters.append((parameter["name"], one))
                elif parameter.get("required"):
                    complete = False
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "requestBody" in operation and "examples" not in content:
                complete = False
            if not complete or operation["summary"] == "Not available" or path == "/api/server/regions":
                continue
            for example in content.get("examples", {"": {"value": None}}).values():
                with self.subTest(path=path, method=method):
                    answer = requests.request(
                        method, f"http://127.0.0.1:{server.port}{path}", params=parameters,
                        json=example["value"], allow_redirects=False, timeout=support.START_SECONDS)
                    self.assertIn(answer.status_code, range(200, 300), answer.text)
                    asked += 1
        self.assertGreater(asked, 50)

    def test_each_operation_needs_the_role_that_is_described(self):
        """A token with this role alone is let in, one with another is refused."""
        tables, tokens = "", {}
        for role in ("read", "write", "admin"):
            _, out, _ = self.run_halite("auth", "token", role, "--roles", role)
            tokens[role] = out.splitlines()[0].removeprefix("# ")
            tables += out
        accounts = self.scratch / "accounts.toml"
        accounts.write_text(tables)
        accounts.chmod(0o600)
        server = self.server("--set", f"auth.file={accounts}",
                             "--set", "web.get_may_write=true").start()
        for path, method, operation in operations(SPEC):
            target = path.replace("{type}", "tsmeta").replace("{file}", "app.js").replace("{id}", "1")
            role = operation["x-role"]
            with self.subTest(path=path, method=method):
                def status(token=None):
                    headers = {"Authorization": f"Bearer {tokens[token]}"} if token else {}
                    return server.request(method.upper(), target, None, headers)[0]
                self.assertEqual(status() == 401, role != "none")
                for token in tokens:
                    allowed = role in ("none", token) or token == "admin"
                    self.assertEqual(status(token) == 403, not allowed, token)


class Routes(unittest.TestCase):
    """The server's table of endpoints (web/endpoints.cc) and the description."""

    # Answered with a refusal whatever is sent: the description says so in the endpoint's text.
    REFUSED = {("api/histogram", method) for method in ("get", "put", "delete", "head", "patch")} | {
        ("api/search", method) for method in ("put", "delete", "patch")} | {
        ("api/tree", "patch")}

    def table(self):
        """{endpoint: {method}} as the router has it."""
        text = (ROOT / "web" / "endpoints.cc").read_text()
        constants = dict(re.findall(r"constexpr std::uint8_t (\w+) = ([\w| ]+);", text))

        def methods(expression):
            for word in expression.replace(" ", "").split("|"):
                if word in constants:
                    yield from methods(constants[word])
                else:
                    yield word.removeprefix("k").lower()

        found = {name: set(methods(expression)) for name, expression in
                 re.findall(r'Endpoint\{"([^"]*)", ([\w| ]+),', text)}
        self.assertGreater(len(found), 20)
        self.assertLessEqual(set.union(*found.values()), set(METHODS))
        return found

    def described(self):
        """{endpoint: {method}} as the description has it."""
        found = {}
        for path, method, _ in operations(SPEC):
            words = path.strip("/").split("/")
            name = "/".join(words[:2]) if words[0] == "api" else words[0]
            found.setdefault("" if name == "{file}" else name, set()).add(method)
        return found

    def test_each_endpoint_is_described_and_each_described_one_exists(self):
        table, described = self.table(), self.described()
        self.assertEqual(set(table), set(described))
        for name, methods in table.items():
            refused = {method for endpoint, method in self.REFUSED if endpoint == name}
            self.assertEqual(methods - refused, described[name], name)

    def test_each_page_of_an_endpoint_is_described(self):
        """Handlers compare the words behind an endpoint with names: each one is a path."""
        named = {word for path in SPEC["paths"] for word in path.split("/")[2:]}
        named |= set(SPEC["paths"]["/api/search/{type}"]["parameters"][0]["schema"]["enum"])
        found = set()
        for file in sorted((ROOT / "web" / "handlers").glob("*.cc")):
            text = file.read_text()
            pages = re.findall(r'\b(?:kind|what|type|page|name|rest\[0\]) [!=]= "([a-z_]+)"', text)
            if "target.rest" in text:
                found |= {(file.name, page) for page in pages}
        self.assertGreater(len(found), 25)
        self.assertEqual([], [page for page in sorted(found) if page[1] not in named])

    def test_operation_ids_are_unique_and_roles_are_named(self):
        ids = [operation["operationId"] for _, _, operation in operations(SPEC)]
        self.assertEqual(len(ids), len(set(ids)))
        for path, method, operation in operations(SPEC):
            self.assertIn(operation["x-role"], ("none", "read", "write", "admin"), (path, method))


if __name__ == "__main__":
    support.main()
