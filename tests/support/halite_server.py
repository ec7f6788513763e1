"""The real binary under test: started on a free port, waited for, stopped."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class HaliteServer:
    """HALITE_BIN serve with a data directory of its own; `arguments` follow `serve`."""

    def __init__(self, *arguments, store="memory", ready_seconds=60):
        self.port = free_port()
        self.directory = tempfile.mkdtemp(prefix="halite-e2e-")
        self.log_path = os.path.join(self.directory, "server.log")
        # What the environment says to the tests is no setting of the server.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("HALITE_")}
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [os.environ["HALITE_BIN"], "serve", "--store", store, "--listen", f"127.0.0.1:{self.port}",
                 "--data-dir", os.path.join(self.directory, "data"), *arguments],
                stdout=log, stderr=subprocess.STDOUT, env=environment)
        try:
            self._wait_until_ready(time.monotonic() + ready_seconds)
        except Exception:
            self.stop()
            raise

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _wait_until_ready(self, deadline):
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"halite ended with {self.process.returncode}:\n{self.log()}")
            try:
                if self.call("GET", "/-/ready")[0] == 200:
                    return
            except OSError:
                pass  # not listening yet
            if time.monotonic() > deadline:
                raise AssertionError(f"halite is not ready:\n{self.log()}")
            time.sleep(0.05)

    def call(self, method, path, body=None):
        """(status, headers, body bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def put(self, points, batch=500):
        """Stores points: dicts with metric, timestamp, value, tags."""
        for at in range(0, len(points), batch):
            status, _, body = self.call("POST", "/api/put?details", points[at:at + batch])
            if status != 200:
                raise AssertionError(f"put answered {status}: {body[:500]!r}")

    def stop(self):
        """Asks the server to end and returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
        return self.process.returncode
