#!/usr/bin/env python3
"""/api/v1/export of one server into /api/v1/import of another: the same points."""

import gzip
import json
import urllib.parse

import support

T = 1700000000
SERIES, POINTS = 40, 3000


class ExportHttp(support.HaliteTest):
    def export(self, server, selector, headers=None):
        """The answer's text, and its points by series."""
        path = "/api/v1/export?" + urllib.parse.urlencode({"match[]": selector})
        status, body = server.request("GET", path, None, headers or {})
        self.assertEqual(status, 200, body)
        if headers:
            body = gzip.decompress(body)
        points = {}
        for line in body.decode().splitlines():
            parsed = json.loads(line)
            self.assertNotIn("omitted", parsed)
            series = points.setdefault(json.dumps(parsed["metric"], sort_keys=True), [])
            series += zip(parsed["timestamps"], map(str, parsed["values"]), strict=True)
        return body, points

    def test_what_is_exported_can_be_imported(self):
        first = self.server(data_dir=self.scratch / "first").start()
        lines = []
        for i in range(SERIES):
            times = [(T + 10 * n) * 1000 + n % 7 for n in range(POINTS)]
            values = [n * 0.1 + i if n % 5 else n for n in range(POINTS)]
            values[7] = "NaN"
            lines.append(json.dumps({"metric": {"__name__": f"m.{i % 3}", "host": f"h{i}", "x y": "ä\"\n"},
                                     "values": values, "timestamps": times}))
        status, text = first.request("POST", "/api/v1/import", "\n".join(lines).encode())
        self.assertEqual(status, 204, text)
        _, points = self.export(first, '{__name__!=""}')
        points = {name: series for name, series in points.items() if '"m.' in name}
        self.assertEqual(len(points), SERIES)
        self.assertEqual({len(series) for series in points.values()}, {POINTS})
        for series in points.values():
            self.assertEqual(series, sorted(series))

        text, same = self.export(first, '{__name__=~"m.*"}', {"Accept-Encoding": "gzip"})
        self.assertEqual(same, points)

        second = self.server(data_dir=self.scratch / "second").start()
        status, text = second.request("POST", "/api/v1/import", text)
        self.assertEqual(status, 204, text)
        self.assertEqual(self.export(second, '{__name__=~"m.*"}')[1], points)

    def test_limits_are_named(self):
        server = self.server("--set", "query.points_max=10").start()
        for count in (10, 11):
            body = json.dumps({"metric": {"__name__": f"m{count}"}, "values": [1] * count,
                               "timestamps": [(T + i) * 1000 for i in range(count)]}).encode()
            self.assertEqual(server.request("POST", "/api/v1/import", body)[0], 204)
        self.assertEqual(len(self.export(server, "m10")[1]), 1)
        status, text = server.request("GET", "/api/v1/export?match[]=m11")
        self.assertEqual(status, 413)
        self.assertIn(b"query.points_max", text)
        queries = json.loads(server.request("GET", "/api/server/queries")[1])
        self.assertIn("m11", json.dumps(queries))


if __name__ == "__main__":
    support.main()
