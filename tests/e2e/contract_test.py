#!/usr/bin/env python3
"""docs/openapi.yaml against the real server: schemathesis generates requests from the description
and checks that each answer has a described status, content type and schema. The same file checks
that the description and the server's table of endpoints name the same routes.

tests/e2e/clients/python pins schemathesis; ./dev e2e installs it. Requests come from a fixed seed.
CONTRACT_EXAMPLES sets how many each operation gets."""

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
from contract_model import METHODS, SPEC, T, near, operations, strict
from schemathesis.checks import CHECKS, load_all_checks

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = int(os.environ.get("CONTRACT_EXAMPLES", "8"))
SEED = 20130101

# Stop or harm what other requests need: they get a server of their own.
HARMFUL = ("/api/admin/", "/api/dropcaches", "/logs")

load_all_checks()
CONFORMANCE = [check for check in CHECKS.get_all()
               if check.__name__ in ("status_code_conformance", "content_type_conformance",
                                     "response_schema_conformance")]
assert len(CONFORMANCE) == 3, "schemathesis names its checks differently now"


def is_harmful(path, method):
    return method == "delete" or path.startswith(HARMFUL)


class Contract(support.HaliteTest):
    def start_with_data(self, name, *settings):
        server = self.server(*support.everything_on(self.scratch), *settings,
                             data_dir=self.scratch / name).start()

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
            case.validate_response(response, checks=CONFORMANCE)

        with self.subTest(operation=operation.label, mode=mode.value):
            try:
                ask()
            except hypothesis.errors.Unsatisfiable:
                if mode == schemathesis.GenerationMode.POSITIVE:
                    raise
                # The operation accepts every value, so no request can be wrong.
        return asked

    def test_answers_are_as_described(self):
        server = self.start_with_data("data")
        asked = self.attack(server, lambda path, method: not is_harmful(path, method))
        self.assertGreater(asked, 50 * EXAMPLES)

    def test_answers_of_deletes_and_administration_are_as_described(self):
        server = self.start_with_data(
            "harmed", "--set", "web.get_may_write=true")
        self.assertGreater(self.attack(server, is_harmful), 10 * EXAMPLES)

    def test_examples_are_answered_with_success(self):
        server = self.start_with_data("data", "--set", "web.get_may_write=true")
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
        dialects = (ROOT / "web" / "http" / "dialect.cc").read_text()
        foreign = dict(re.findall(r'ForeignPath\{"([^"]*)", "([^"]*)"', dialects))
        prometheus = (ROOT / "web" / "http" / "prometheus_path.cc").read_text()
        for name, endpoint in [*re.findall(r'ApiPath\{"([^"]*)", "([^"]*)"', prometheus),
                               ("label/{name}/values", "prometheus/label_values")]:
            foreign["/api/v1/" + name] = foreign["/prometheus/api/v1/" + name] = endpoint
        foreign["/prometheus/federate"] = "prometheus/federate"
        for name in ("healthy", "ready"):
            foreign["/prometheus/-/" + name] = "prometheus/-"
        self.assertGreater(len(foreign), 50)
        found = {}
        for path, method, _ in operations(SPEC):
            if path in foreign:
                found.setdefault(foreign[path], set()).add(method)
                continue
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
            self.assertIn(operation["x-role"], ("none", "read", "write", "read,write", "admin"), (path, method))


if __name__ == "__main__":
    support.main()
