#!/usr/bin/env python3
"""`halite import --url`: into a running server, and what stands in its place."""

import http.server
import threading
import time

import support
from import_test import ALL, FAILED, NO_TTL, REFUSED, T, ImportTest, line


class Url(ImportTest):
    def test_into_a_running_server(self):
        server = self.served()
        text = [line("m", T + i, i + 0.25, host=f"h{i % 50}") for i in range(30_000)]
        text[7] = "m 1356998400 x host=a"
        file = self.write("a.txt", "\n".join(text))
        errors = self.scratch / "errors"
        url = f"http://127.0.0.1:{server.port}"
        out, _ = self.run_import("--url", url, "--errors", str(errors), file, expect=REFUSED)
        self.assertIn(f"{len(text) - 1} points stored, 1 line refused", out)
        self.assertIn(f"{file}\t8\t", errors.read_text())
        found = self.points(server, "sum:m{host=*}", 40_000)
        stored = {second: value for points in found.values() for second, value in points.items()}
        self.assertEqual(stored, {T + i: i + 0.25 for i in range(30_000) if i != 7})

    def test_a_server_that_refuses_all(self):
        file = self.write("a.txt", line("m", T, 1, host="a") + "\n")
        errors = self.scratch / "errors"
        server = self.served("--set", "auth.anonymous=read")
        arguments = ("--errors", str(errors), file)
        _, err = self.run_import("--url", f"http://127.0.0.1:{server.port}", *arguments, expect=FAILED)
        self.assertIn("the server answered 401", err)
        self.assertNotIn("--resume", err)
        self.assertEqual(list(self.scratch.glob("*checkpoint*")), [])
        self.assertEqual(server.terminate(), 0)
        server = self.served()
        out, _ = self.run_import("--url", f"http://127.0.0.1:{server.port}", *arguments)
        self.assertIn("1 point stored, 0 lines refused", out)

    def test_what_the_server_refuses_is_named(self):
        server = self.served("--set", "storage.ttl_ms=30d")
        now = int(time.time())
        text = [line("m", now - i, i, host="a") for i in range(100)]
        for at in (10, 50, 51):
            text[at] = line("m", now - 100 * 86400 - at, 1, dc="x", host="a")
        file = self.write("a.txt", "\n".join(text))
        errors = self.scratch / "errors"
        out, _ = self.run_import("--url", f"http://127.0.0.1:{server.port}", "--errors", str(errors),
                                 file, expect=REFUSED)
        self.assertIn("97 points stored, 3 lines refused", out)
        self.assertEqual([int(row.split("\t")[1]) for row in errors.read_text().splitlines()],
                         [11, 51, 52])

    def test_a_server_that_is_killed_and_started_again(self):
        port = support.free_port()
        listen = {"listen": f"127.0.0.1:{port}"}
        server = self.server(*NO_TTL, **listen).start()
        lines = 600_000
        file = self.write("a.txt", "\n".join(
            line("m", T + i // 100, i, host=f"h{i % 100}") for i in range(lines)))
        process = self.start_import("--url", f"http://127.0.0.1:{port}", file)
        self.addCleanup(process.kill)
        kills = 0
        while process.poll() is None and kills < 3:
            time.sleep(0.7)
            if process.poll() is not None:
                break
            server.kill()
            kills += 1
            time.sleep(0.3)
            server = self.server(*NO_TTL, **listen).start()
        out, err = process.communicate(timeout=support.START_SECONDS)
        self.assertEqual(process.returncode, ALL, err)
        self.assertIn(f"{lines} points stored, 0 lines refused".encode(), out)
        self.assertGreater(kills, 0)
        [found] = self.points(server, "sum:0all-count:m", 9999).values()
        self.assertEqual(sum(found.values()), lines)
        [found] = self.points(server, "sum:0all-sum:m", 9999).values()
        self.assertEqual(sum(found.values()), lines * (lines - 1) // 2)


class Foreign(ImportTest):
    """Servers that are not what they should be: each path has a list of answers, (status, body,
    headers), the last of which is repeated."""
    VERSION = (200, '{"version":"2.4.0"}', {})
    CONFIG = (200, '{"tsd.http.request.enable_chunked":"true"}', {})
    PAGE = (200, "<html><h1>Welcome</h1></html>", {})

    def answering(self, **answers):
        """Its URL. `asked` has the path and time of each request."""
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.partition("?")[0].removeprefix("/api/")
                asked.append((path, time.monotonic()))
                left = answers.get(path, answers["other"])
                status, body, headers = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_GET

            def log_message(self, *_):
                pass

        answers.setdefault("other", [(404, "<html>no such page</html>", {})])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def refused(self, url):
        file = self.write("a.txt", line("m", T, 1, host="a") + "\n")
        return self.run_import("--url", url, file, expect=FAILED)[1]

    def test_a_web_server_is_no_target(self):
        url = self.answering(other=[self.PAGE])
        err = self.refused(url)
        self.assertIn(f"the server answered 200 to {url}/api/version: not JSON: <html>", err)
        self.assertIn("check the URL", err)

    def test_what_is_nearly_a_target(self):
        for answers, said in (
                ({}, "answered 404 to URL/api/version: not JSON: <html>no such page"),
                ({"version": [(200, "{}", {})]}, "answered 200 to URL/api/version: {}; neither"),
                ({"version": [self.VERSION], "config": [(500, "broken", {})]}, "answered 500 to URL/api/config"),
                ({"version": [self.VERSION], "config": [self.PAGE]}, "to URL/api/config: not JSON"),
                ({"version": [self.VERSION], "config": [self.CONFIG], "put": [self.PAGE]},
                 "answered 200 to URL/api/put: not JSON: <html>"),
                ({"version": [self.VERSION], "config": [self.CONFIG], "put": [(200, "{}", {})]},
                 "answered 200 to URL/api/put: {}; neither")):
            with self.subTest(said):
                url = self.answering(**{path: list(left) for path, left in answers.items()})
                self.assertIn(said.replace("URL", url), self.refused(url))

    def test_a_busy_target_is_asked_again_when_it_says(self):
        url = self.answering(version=[self.VERSION], config=[self.CONFIG], put=[
            (429, '{"error":{"code":429,"message":"Too much"}}', {"Retry-After": "3"}),
            (204, "", {})])
        file = self.write("a.txt", line("m", T, 1, host="a") + "\n")
        out, _ = self.run_import("--url", url, file)
        self.assertIn("1 point stored, 0 lines refused", out)
        first, second = [when for path, when in self.asked if path == "put"]
        self.assertGreaterEqual(second - first, 3)

    def test_answers_that_say_that_all_is_stored(self):
        for put in ((204, "", {}), (200, '{"success":1,"failed":0,"errors":[]}', {}),
                    (200, '{"success":1,"failed":0}', {})):
            with self.subTest(put):
                # A proxy may hide the settings.
                url = self.answering(version=[self.VERSION], config=[(404, "", {})], put=[put])
                file = self.write("a.txt", line("m", T, 1, host="a") + "\n")
                out, _ = self.run_import("--url", url, file)
                self.assertIn("1 point stored, 0 lines refused", out)


if __name__ == "__main__":
    support.main()
