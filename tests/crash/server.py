"""One server process that will be killed: started, talked to, ended in several ways."""

import collections
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.parse

START_SECONDS = 120  # sanitizers make everything some ten times slower
CUT = 137  # how halite_crash ends when its power fails


class Died(Exception):
    """It ended before it listened, for a reason of its own."""


class Server:
    def __init__(self, binary, data_dir, settings, crash=None):
        """settings: HALITE_* without the prefix; crash: what tests/crash/main.cc knows."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("HALITE_", "CRASH_"))}
        kept.pop("NOTIFY_SOCKET", None)
        environment = kept | {f"HALITE_{name}": str(value) for name, value in settings.items()}
        environment |= {f"CRASH_{name}": str(value) for name, value in (crash or {}).items()}
        self.log = collections.deque(maxlen=400)
        self.port = None
        self._listening = threading.Event()
        self.process = subprocess.Popen(
            [str(binary), "serve", "--data-dir", str(data_dir), "--listen", "127.0.0.1:0",
             "--store", "engine"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment)
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        with self.process.stderr as stream:
            for line in stream:
                text = line.decode(errors="replace").rstrip("\n")
                self.log.append(text)
                found = re.search(r"listening on \S*:(\d+), store", text)
                if found and self.port is None:
                    self.port = int(found.group(1))
                    self._listening.set()
        self._listening.set()  # nothing more will come

    def log_text(self):
        self._reader.join(1)
        return "\n".join(self.log)

    def listens(self, seconds=START_SECONDS):
        """Waits; False when the time is over, or the power failed by itself."""
        self._listening.wait(seconds)
        if self.port is not None:
            return True
        if self._listening.is_set() and self.process.wait(START_SECONDS) != CUT:
            raise Died(f"it did not start ({self.process.returncode}):\n{self.log_text()}")
        return False

    def ended(self, seconds):
        """Waits for its end; whether it came."""
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def end(self, how):
        """signal.SIGKILL or, a power cut with torn writes, SIGUSR1."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait()
        self._reader.join()

    def stop(self):
        """Asks it to end and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(START_SECONDS)
        self._reader.join()
        return code

    # ---- talking to it ----------------------------------------------------------------------

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=START_SECONDS)

    def http(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)

    def request(self, method, path, body=None):
        """(status, body as bytes)"""
        connection = self.http()
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get_json(self, path):
        status, body = self.request("GET", path)
        if status != 200:
            raise Died(f"GET {path}: {status} {body.decode(errors='replace')[:2000]}")
        return json.loads(body)

    def stored(self, metric, begin_ms, end_ms):
        """{tags as a sorted tuple: {ms: value}} of a metric that is known."""
        question = urllib.parse.quote(f"none:{metric}", safe="")
        answers = self.get_json(
            f"/api/query?start={begin_ms}&end={end_ms}&ms=true&m={question}")
        found = {}
        for answer in answers:
            points = {int(time): value for time, value in answer["dps"].items()}
            found[tuple(sorted(answer["tags"].items()))] = points
        return found

    def counters(self):
        """The engine's counters; empty when it is gone."""
        try:
            status, body = self.request("GET", "/metrics")
        except (OSError, http.client.HTTPException):
            return {}
        if status != 200:
            return {}
        lines = re.findall(r"^(halite_engine_\w+_total)(?:\{[^}]*\})? (\S+)$", body.decode(), re.M)
        return {name: float(value) for name, value in lines}
