"""The real binary as a test sees it: started on a free port, talked to, stopped, killed."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

# Sanitizers make everything some ten times slower; nobody waits this long for a healthy server.
START_SECONDS = 60
STOP_SECONDS = 60

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parent.parent / "build" / "clients"  # where ./dev e2e installs client libraries

_options = argparse.Namespace(halite=None, keep=False)


def main():
    """Takes --halite PATH from the command line, gives the rest to unittest."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--halite", type=pathlib.Path, required=True, help="the binary to test")
    parser.add_argument("--keep", action="store_true", help="keep the scratch directories")
    options, rest = parser.parse_known_args()
    _options.halite = options.halite.resolve()
    _options.keep = options.keep
    unittest.main(module="__main__", argv=[sys.argv[0], "-v", *rest])


def binary():
    return str(_options.halite)


def clients(language):
    """Where the client libraries of one language are. A test without them fails."""
    found = CLIENTS / language
    if not (found / "installed").exists():
        sys.exit(f"{found} is missing or incomplete: ./dev e2e installs it")
    return found


def use_python_clients():
    """Lets a test import what tests/e2e/clients/python/requirements.txt names."""
    sys.path.insert(0, str(clients("python")))


def clean_environment(**more):
    """Ours without HALITE_*: a setting of whoever runs the tests must not change them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HALITE_")}
    kept.pop("NOTIFY_SOCKET", None)
    return {**kept, **more}


class Halite:
    """One server process. Its log is kept; a test that fails shows it."""

    def __init__(self, data_dir, *arguments, environment=None, wrapper=(), listen="127.0.0.1:0"):
        self.data_dir = pathlib.Path(data_dir)
        self.arguments = arguments
        self.environment = environment or {}
        self.wrapper = wrapper
        self.listen = listen
        self.process = None
        self.port = None
        self.log = []

    def start(self):
        command = [*self.wrapper, binary(), "serve", "--data-dir", str(self.data_dir)]
        command += ["--listen", self.listen, *self.arguments]
        self.port = None
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=clean_environment(**self.environment),
        )
        listening = threading.Event()
        threading.Thread(target=self._read_log, args=(listening,), daemon=True).start()
        deadline = time.monotonic() + START_SECONDS
        while not listening.wait(0.05):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"it did not start:\n{self.log_text()}")
        return self

    def _read_log(self, listening):
        with self.process.stderr as stream:
            for line in stream:
                text = line.decode(errors="replace").rstrip("\n")
                self.log.append(text)
                found = re.search(r"listening on \S*:(\d+)", text)
                if found and self.port is None:
                    self.port = int(found.group(1))
                    listening.set()

    def log_text(self):
        return "\n".join(self.log)

    def terminate(self, how=signal.SIGTERM):
        """Asks it to stop and returns its exit code."""
        self.process.send_signal(how)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not stop:\n{self.log_text()}") from None

    def kill9(self):
        self.process.kill()
        self.process.wait()

    def running(self):
        return self.process is not None and self.process.poll() is None

    # ---- talking to it ----------------------------------------------------------------------

    def request(self, method, path, body=None, headers=None, timeout=60):
        """Returns (status, body as bytes)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get_json(self, path):
        status, body = self.request("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body.decode(errors='replace')}")
        return json.loads(body)

    def put(self, points, parameters=""):
        return self.request("POST", "/api/put" + parameters, json.dumps(points))

    def query(self, expression, start, end, parameters=""):
        """Answers of one `m=` expression over [start, end], in seconds."""
        m = urllib.parse.quote(expression, safe="")
        return self.get_json(f"/api/query?start={start}&end={end}&m={m}{parameters}")

    def telnet(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def telnet_lines(self, lines):
        """Sends lines, waits until the server has read them all, returns what it said."""
        with self.telnet() as connection:
            connection.sendall("".join(line + "\n" for line in lines).encode())
            connection.shutdown(socket.SHUT_WR)
            said = b""
            while piece := connection.recv(65536):
                said += piece
        return said.decode()


class HaliteTest(unittest.TestCase):
    """Gives each test a scratch directory and ends every server it started."""

    maxDiff = None

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="halite-e2e-"))
        self.servers = []
        self.addCleanup(self._clean_up)

    def _clean_up(self):
        for server in self.servers:
            if server.running():
                server.kill9()
            for line in server.log:
                if "Sanitizer" in line or "runtime error" in line:
                    self.fail(f"a sanitizer spoke:\n{server.log_text()}")
        if _options.keep:
            print(f"kept: {self.scratch}", file=sys.stderr)
        else:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def server(self, *arguments, data_dir=None, **more):
        """A server that was not started yet."""
        server = Halite(data_dir or self.scratch / "data", *arguments, **more)
        self.servers.append(server)
        return server

    def run_halite(self, *arguments, environment=None):
        """Runs `halite ARGUMENTS` to its end: (exit code, standard output, standard error)."""
        done = subprocess.run(
            [binary(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.scratch,
            env=clean_environment(**(environment or {})),
            timeout=START_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def eventually(self, what, condition, seconds=60):
        """Waits until condition() is true and returns what it returned."""
        deadline = time.monotonic() + seconds
        while True:
            result = condition()
            if result:
                return result
            if time.monotonic() > deadline:
                logs = "\n---\n".join(server.log_text() for server in self.servers)
                self.fail(f"waited {seconds} s for {what}\n{logs}")
            time.sleep(0.1)


def points_of(answers):
    """{(metric, tags as a sorted tuple): {second: value}} of a query's answers."""
    return {
        (answer["metric"], tuple(sorted(answer["tags"].items()))): {
            int(second): value for second, value in answer["dps"].items()
        }
        for answer in answers
    }
