"""The real binary under test with a data directory of its own, ready when it was made."""

import json
import os
import shutil
import tempfile

from server_process import ServerProcess, ServerTrouble


class HaliteServer(ServerProcess):
    """HALITE_BIN serve; `arguments` follow `serve`."""

    def __init__(self, *arguments, store="memory"):
        self.directory = tempfile.mkdtemp(prefix="halite-e2e-")
        super().__init__(os.environ["HALITE_BIN"], os.path.join(self.directory, "data"),
                         "--store", store, *arguments)
        self.launch()
        if not self.listens():
            self.stop()
            raise ServerTrouble(f"halite ended with {self.process.returncode}:\n{self.log_text()}")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def post(self, path, body):
        """(status, body bytes)"""
        return self.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})

    def put(self, points, batch=500):
        """Stores points: dicts with metric, timestamp, value, tags."""
        for at in range(0, len(points), batch):
            status, body = self.post("/api/put?details", points[at:at + batch])
            if status != 200:
                raise ServerTrouble(f"put answered {status}: {body[:500]!r}")

    def stop(self):
        """Asks the server to end and returns its exit code."""
        try:
            return self.terminate() if self.running() else self.process.wait()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
