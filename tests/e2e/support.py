"""The real binary as a test sees it: started on a free port, talked to, stopped, killed."""

import argparse
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from server_process import START_SECONDS, ServerProcess, clean_environment  # noqa: E402

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


def everything_on(scratch):
    """Arguments of a server that has all that a setting switches on, and ids that begin at 1."""
    rollups = {
        "aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3},
        "intervals": [
            {"table": "tsdb", "preAggregationTable": "preagg-1m", "interval": "1m",
             "rowSpan": "1h", "defaultInterval": True},
            {"table": "rollup-1h", "preAggregationTable": "preagg-1h", "interval": "1h",
             "rowSpan": "1d"}]}
    settings = {
        "histograms.config": json.dumps({"net.opentsdb.core.SimpleHistogramDecoder": 42}),
        "rollups.enabled": "true", "rollups.config": json.dumps(rollups),
        "meta.track_series": "true", "meta.series_objects": "true", "meta.trees": "true",
        "self_metrics.enabled": "false", "web.allow_delete": "true",
        "engine.backup_dir": f"{scratch}/backups"}
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def free_port():
    """A free port, for a program that cannot choose one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def listens(port):
    """Whether a program listens on this port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def query(server, expression, start, end, parameters=""):
    """Answers of one `m=` expression over [start, end], in seconds."""
    m = urllib.parse.quote(expression, safe="")
    return server.get_json(f"/api/query?start={start}&end={end}&m={m}{parameters}")


class Halite(ServerProcess):
    """One server process. Its log is kept; a test that fails shows it."""

    def __init__(self, data_dir, *arguments, **more):
        super().__init__(binary(), data_dir, *arguments, **more)
        self.data_dir = pathlib.Path(data_dir)

    def start(self):
        self.launch()
        if not self.listens():
            raise AssertionError(f"it did not start:\n{self.log_text()}")
        return self

    def put(self, points, parameters=""):
        return self.request("POST", "/api/put" + parameters, json.dumps(points))

    def query(self, expression, start, end, parameters=""):
        return query(self, expression, start, end, parameters)

    def telnet_lines(self, lines):
        """Sends lines, waits until the server has read them all, returns what it said."""
        with self.connect() as connection:
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
                server.kill()
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

    def run_halite(self, *arguments, environment=None, stdin=b""):
        """Runs `halite ARGUMENTS` to its end: (exit code, standard output, standard error)."""
        done = subprocess.run(
            [binary(), *arguments],
            input=stdin,
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
