#!/usr/bin/env python3
"""`halite compare` with two servers: the same answers, other answers, and servers and files that are not there."""

import http.server
import re
import socket
import threading
import time
import unittest

import support

T = 1356998400
QUERY = f"start={T}&end={T + 100}&m=sum:sys.cpu.user"
LOG = '10.0.0.1 - - [22/Nov/2026:10:00:00 +0000] "{} HTTP/1.1" 200 99 "-" "agent"'


def points(values, **tags):
    return [{"metric": "sys.cpu.user", "timestamp": T + i, "value": value, "tags": tags}
            for i, value in enumerate(values) if value is not None]


class Busy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"busy")

    def log_message(self, *_):
        pass


class Compare(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.theirs = self.server("--store", "memory", data_dir=self.scratch / "theirs").start()
        self.ours = self.server("--store", "memory", data_dir=self.scratch / "ours").start()
        for server in (self.theirs, self.ours):
            self.assertEqual(server.put(points([1, 2.5, 3], host="a"))[0], 204)

    def compare(self, *lines, more=(), halite=None):
        (self.scratch / "queries").write_text("\n".join(lines))
        return self.run_halite("compare", "--opentsdb", f"http://127.0.0.1:{self.theirs.port}",
                               "--halite", halite or f"http://127.0.0.1:{self.ours.port}/",
                               "--queries", "queries", *more)

    def test_the_same_data_gives_the_same_answers(self):
        code, out, err = self.compare(
            "# every form", f"/api/query?{QUERY}", QUERY, f"http://tsd:4242/api/query?{QUERY}%7Bhost=*%7D",
            f'{{"start":{T},"queries":[{{"metric":"sys.cpu.user","aggregator":"max"}}]}}',
            LOG.format(f"GET /api/query?{QUERY}&arrays=true"), LOG.format("POST /api/query"),
            LOG.format("GET /api/version"), QUERY.replace("sys.cpu.user", "no.such.metric"))
        self.assertEqual((code, err), (0, ""), out)
        lines = out.splitlines()
        self.assertEqual(lines[:2], [
            "5 queries: 4 match, 1 refused by both, 0 differ, 0 not answered",
            "skipped lines of the access log: 1 POST without a body, 1 others"])
        self.assertRegex(lines[2], r"^median answer time: opentsdb \d+ ms \(slowest \d+ ms\), halite \d+ ms")
        self.assertEqual(len(lines), 3)

    def test_other_data_is_shown(self):
        self.ours.put(points([None, 2.75, None, 4], host="a"))
        self.ours.put(points([7], host="b"))
        self.theirs.put([{"metric": "theirs", "timestamp": T, "value": 1, "tags": {"host": "a"}}])
        code, out, err = self.compare(
            f"/api/query?start={T}&end={T + 100}&m=none:sys.cpu.user", f"start={T}&end={T + 9}&m=sum:theirs",
            f"start={T - 1}&end={T}&m=sum:sys.cpu.user%7Bhost=a%7D", "nonsense")
        self.assertEqual((code, err), (1, "halite: queries:4: not a query and not a line of an access log\n"))
        shown, rest = out.split("line 2: ")
        self.assertEqual(shown.splitlines(), [
            f"line 1: /api/query?start={T}&end={T + 100}&m=none:sys.cpu.user",
            "  sys.cpu.user {host=a}: 2 points differ (opentsdb has 3, halite 4)",
            f"    {T + 1}: opentsdb 2.5, halite 2.75",
            f"    {T + 3}: opentsdb nothing, halite 4",
            "  only halite returned sys.cpu.user {host=b}: 1 points"])
        self.assertIn("opentsdb: 200 its answer", rest)
        self.assertRegex(rest, r"halite: 400 .*theirs")
        self.assertIn("3 queries: 1 match, 0 refused by both, 2 differ, 0 not answered", rest)
        self.assertIn("1 line not understood", rest)

    def test_times_that_move_are_the_same_for_both(self):
        now = int(time.time())
        for server in (self.theirs, self.ours):
            server.put([{"metric": "young", "timestamp": now - i, "value": i, "tags": {"host": "a"}} for i in range(300)])
        self.ours.put([{"metric": "young", "timestamp": now + 1, "value": 9, "tags": {"host": "a"}}])
        code, out, err = self.compare("start=10m-ago&m=sum:10s-sum:young")
        self.assertEqual((code, err), (0, ""), out)  # the newest minute is not asked for
        code, out, err = self.compare("start=10m-ago&m=sum:young", more=("--lag-ms", "-10000"))
        self.assertEqual((code, err), (1, ""), out)

    def take_away(self, server):
        """Nobody listens on its port any more, nor does another server that gets it by chance."""
        server.kill()
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", server.port))
        self.addCleanup(holder.close)

    def test_a_server_that_is_not_there(self):
        self.take_away(self.ours)
        code, out, _ = self.compare(QUERY)
        self.assertEqual(code, 2)
        self.assertRegex(out, rf"halite: 127.0.0.1:{self.ours.port}: Connection refused")
        self.assertIn("1 not answered", out)
        self.take_away(self.theirs)
        code, out, _ = self.compare(QUERY)
        self.assertEqual(code, 2)
        self.assertEqual(len(re.findall("Connection refused", out)), 2)

    def test_nothing_to_compare_is_not_the_same(self):
        code, out, _ = self.compare(QUERY.replace("sys.cpu.user", "no.such.metric"))
        self.assertEqual(code, 2, out)
        self.assertIn("1 query: 0 match, 1 refused by both", out)
        for server in (self.theirs, self.ours):
            server.kill()
            busy = http.server.HTTPServer(("127.0.0.1", server.port), Busy)
            self.addCleanup(busy.server_close)
            self.addCleanup(busy.shutdown)
            threading.Thread(target=busy.serve_forever, daemon=True).start()
        code, out, _ = self.compare(QUERY)
        self.assertEqual(code, 2, out)
        self.assertIn("halite: 503 busy", out)
        self.assertIn("0 refused by both, 0 differ, 1 not answered", out)

    def test_wrong_urls_files_and_flags(self):
        code, out, err = self.compare(QUERY, halite="127.0.0.1:4242")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('bad URL "127.0.0.1:4242": no http://', err)
        code, out, err = self.compare("# nothing")
        self.assertEqual((code, out, err), (2, "", "halite: queries contains no query\n"))
        both = ("--opentsdb", self.theirs_url(), "--halite", self.theirs_url())
        code, out, err = self.run_halite("compare", *both, "--queries", "nowhere")
        self.assertEqual((code, out, err), (2, "", "halite: cannot read nowhere\n"))
        code, _, err = self.run_halite("compare", *both)
        self.assertEqual(code, 2)
        self.assertIn("--queries is required", err)
        for tolerance in ("-1", "nan", "x"):
            code, _, err = self.run_halite("compare", *both, "--queries", "queries", "--tolerance",
                                           tolerance)
            self.assertEqual(code, 2)
            self.assertIn("--tolerance", err)

    def theirs_url(self):
        return f"http://127.0.0.1:{self.theirs.port}"


if __name__ == "__main__":
    support.main()
