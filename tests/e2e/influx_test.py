#!/usr/bin/env python3
"""InfluxDB's clients from PyPI, as they are: influxdb-client of version 2, influxdb of version 1, with
tokens too. tests/e2e/clients/python pins them; ./dev e2e installs them."""

import base64
import hashlib
import json

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
import influxdb
import influxdb.exceptions
from influxdb_client import InfluxDBClient, Point, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS, WriteOptions
from influxdb_client.rest import ApiException

T = 1700000000
BIG = 2**60 + 1  # no double
TOKENS = {"halite_agent": "write", "halite_panel": "read"}


class InfluxTest(support.HaliteTest):
    def points(self, server, metric, headers=None):
        """{tags: {ms: value}} of all series of a metric."""
        status, body = server.request(
            "GET", f"/api/query?start={T - 10}&end={T + 100_000}&ms=true&m=none:{metric}", None, headers)
        self.assertEqual(status, 200, body)
        return {tuple(sorted(answer["tags"].items())):
                {int(moment): value for moment, value in answer["dps"].items()}
                for answer in json.loads(body)}

    def expect(self, server, metric, wanted, headers=None):
        """With the types of the values: an integer stays one."""
        found = self.points(server, metric, headers)
        self.assertEqual(found.keys(), wanted.keys())
        for tags, points in wanted.items():
            # unittest takes minutes to show how two large ones differ.
            self.assertEqual(sorted(found[tags].items() ^ points.items())[:4], [], f"{metric} {tags}")
        kinds = lambda series: [[type(value) for value in points.values()] for points in series.values()]
        self.assertEqual(kinds(found), kinds(wanted), metric)

    def with_accounts(self):
        """A server with TOKENS, and alice, who may write."""
        accounts = self.scratch / "accounts.toml"
        code, alice, _ = self.run_halite("auth", "user", "alice", "--roles", "write", stdin=b"geheim\n")
        self.assertEqual(code, 0)
        accounts.write_text(alice + "".join(
            f'[tokens.{role}]\nsha256 = "{hashlib.sha256(token.encode()).hexdigest()}"\nroles = "{role}"\n'
            for token, role in TOKENS.items()))
        accounts.chmod(0o600)
        return self.server("--set", f"auth.file={accounts}").start()


READER = {"Authorization": "Token halite_panel"}


class Version2(InfluxTest):
    def client(self, server, token="any", **more):
        client = InfluxDBClient(url=f"http://127.0.0.1:{server.port}", token=token, org="o", **more)
        self.addCleanup(client.close)
        return client

    def write(self, server, record, token="any", precision=WritePrecision.NS, **more):
        self.client(server, token, **more).write_api(write_options=SYNCHRONOUS).write(
            "b", record=record, write_precision=precision)

    def test_values_of_all_types(self):
        server = self.server().start()
        point = (Point("room").tag("room", "a b,c=d").field("float", -0.1).field("whole", 2.0)
                 .field("int", BIG).field("negative", -BIG).field("boolean", True).field("string", "x y"))
        for precision, scale in ((WritePrecision.NS, 10**9), (WritePrecision.US, 10**6),
                                 (WritePrecision.MS, 10**3), (WritePrecision.S, 1)):
            self.write(server, point.time((T + scale % 97) * scale, precision), precision=precision)
        times = [(T + scale % 97) * 1000 for scale in (10**9, 10**6, 10**3, 1)]
        tags = (("room", "a b,c=d"),)
        for metric, value in (("float", -0.1), ("whole", 2.0), ("int", BIG), ("negative", -BIG),
                              ("boolean", 1.0)):
            self.expect(server, f"room_{metric}", {tags: {at: value for at in sorted(times)}})
        self.assertEqual(server.get_json("/api/suggest?type=metrics&q=room_string"), [])

    def test_batches_packed_by_gzip(self):
        server = self.server().start()
        client = self.client(server, enable_gzip=True)
        with client.write_api(write_options=WriteOptions(batch_size=700, flush_interval=10_000)) as api:
            for i in range(5000):
                api.write("b", record={"measurement": "batch", "tags": {"n": str(i % 10)},
                                       "fields": {"value": i}, "time": (T + i) * 10**9})
        self.expect(server, "batch", {(("n", str(n)),): {(T + i) * 1000: i for i in range(n, 5000, 10)}
                                      for n in range(10)})

    def test_a_bad_line_costs_no_other(self):
        server = self.server().start()
        lines = [f"m,a=b value=1i {T}000000000", f"m,a=b value=x {T + 1}000000000",
                 f"m,a=b value=3i {T + 2}000000000"]
        with self.assertRaises(ApiException) as caught:
            self.write(server, lines)
        self.assertEqual(caught.exception.status, 400)
        answer = json.loads(caught.exception.body)
        self.assertEqual(answer["code"], "invalid")
        self.assertRegex(answer["message"], "partial write: unable to parse: .*line 2: .* dropped=1$")
        self.expect(server, "m", {(("a", "b"),): {T * 1000: 1, (T + 2) * 1000: 3}})
        with self.assertRaisesRegex(ApiException, "unable to parse: "):
            self.write(server, lines[1])

    def test_what_it_asks(self):
        server = self.server().start()
        client = self.client(server)
        self.assertTrue(client.ping())
        self.assertEqual(client.health().status, "pass")
        self.assertTrue(client.version())

    def test_tokens(self):
        server = self.with_accounts()
        line = f"m,a=b value=%di {T}%03d000000"
        self.write(server, line % (1, 1), "halite_agent")
        self.write(server, line % (2, 2), "alice:geheim")
        for token, status, code in (("halite_nobody", 401, "unauthorized"), ("alice:x", 401, "unauthorized"),
                                    ("halite_panel", 403, "forbidden")):
            with self.subTest(token), self.assertRaises(ApiException) as caught:
                self.write(server, line % (9, 9), token)
            self.assertEqual((caught.exception.status, json.loads(caught.exception.body)["code"]),
                             (status, code))
        self.expect(server, "m", {(("a", "b"),): {T * 1000 + 1: 1, T * 1000 + 2: 2}}, READER)


class Version1(InfluxTest):
    def client(self, server, user="any", password="any", **more):
        client = influxdb.InfluxDBClient("127.0.0.1", server.port, user, password, "home", **more)
        self.addCleanup(client.close)
        return client

    def test_values_of_all_types(self):
        server = self.server().start()
        for gzip, at in ((False, T), (True, T + 1)):
            client = self.client(server, gzip=gzip)
            self.assertTrue(client.ping())
            client.create_database("home")
            self.assertEqual(client.get_list_database(), [])
            for precision, moment in (("s", at), ("ms", at * 1000 + 1), ("u", at * 10**6 + 2000),
                                      ("n", at * 10**9 + 3_000_000)):
                self.assertTrue(client.write_points([{
                    "measurement": "room", "tags": {"room": "a b,c=d"}, "time": moment,
                    "fields": {"float": -0.1, "whole": 2.0, "int": BIG, "boolean": False, "string": "x"}}],
                    time_precision=precision))
        tags = (("db", "home"), ("room", "a b,c=d"))
        times = [second * 1000 + ms for second in (T, T + 1) for ms in range(4)]
        for metric, value in (("float", -0.1), ("whole", 2.0), ("int", BIG), ("boolean", 0.0)):
            self.expect(server, f"room_{metric}", {tags: {at: value for at in times}})

    def test_a_bad_line_costs_no_other(self):
        server = self.server().start()
        lines = [f"m value=1i {T}", f"m value=x {T + 1}", f"m value=3i {T + 2}"]
        with self.assertRaises(influxdb.exceptions.InfluxDBClientError) as caught:
            self.client(server).write_points(lines, time_precision="s", protocol="line")
        self.assertEqual(caught.exception.code, 400)
        self.assertRegex(json.loads(caught.exception.content)["error"], "^partial write: .*line 2: ")
        self.expect(server, "m", {(("db", "home"),): {T * 1000: 1, (T + 2) * 1000: 3}})

    def test_passwords_and_parameters(self):
        server = self.with_accounts()
        for number, user, password in ((1, "any", "halite_agent"), (2, "alice", "geheim")):
            self.client(server, user, password).write_points(
                [f"m value={number}i {T + number}"], time_precision="s", protocol="line")
            status, body = server.request(
                "POST", f"/write?db=home&u={user}&p={password}&precision=s", f"m value={number}i {T + 10 + number}")
            self.assertEqual((status, body), (204, b""))
        with self.assertRaises(influxdb.exceptions.InfluxDBClientError) as caught:
            self.client(server, "alice", "x").write_points([f"m value=9i {T}"], protocol="line")
        self.assertEqual(caught.exception.code, 401)
        for parameters, status in (("u=alice&p=x", 401), ("u=any&p=halite_panel", 403), ("u=alice", 401), ("", 401)):
            self.assertEqual(server.request("POST", f"/write?db=home&{parameters}", f"m value=9i {T}")[0],
                             status, parameters)
        # A header says more than parameters.
        basic = "Basic " + base64.b64encode(b"alice:x").decode()
        self.assertEqual(server.request("POST", "/write?db=home&u=alice&p=geheim", f"m value=9i {T}",
                                        {"Authorization": basic})[0], 401)
        self.expect(server, "m", {(("db", "home"),): {(T + at) * 1000: at % 10 for at in (1, 2, 11, 12)}}, READER)
        self.assertNotIn("geheim", server.log_text())


if __name__ == "__main__":
    support.main()
