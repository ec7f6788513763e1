"""`halite serve` as a child process: its environment, its log, the port it chose, HTTP to it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading

# Sanitizers make everything some ten times slower; nobody waits this long for a healthy server.
START_SECONDS = 120
STOP_SECONDS = 120


class ServerTrouble(AssertionError):
    """It did not start, answer or stop as a healthy server does."""


def clean_environment(**more):
    """Ours without HALITE_*: a setting of whoever runs the tests must not change them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HALITE_")}
    kept.pop("NOTIFY_SOCKET", None)
    return {**kept, **more}


class ServerProcess:
    """`arguments` follow `serve`; `wrapper` is a command that runs the rest of its line."""

    LISTENING = r"listening on \S*:(\d+)"  # the log line that tells the port

    def __init__(self, binary, data_dir, *arguments, environment=None, wrapper=(),
                 listen="127.0.0.1:0"):
        self.command = [*wrapper, str(binary), "serve", "--data-dir", str(data_dir),
                        "--listen", listen, *arguments]
        self.environment = environment or {}
        self.process = None
        self.port = None
        self.log = []
        self._listening = threading.Event()
        self._reader = None

    def launch(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env=clean_environment(**self.environment))
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        with self.process.stderr as stream:
            for line in stream:
                text = line.decode(errors="replace").rstrip("\n")
                self.log.append(text)
                found = re.search(self.LISTENING, text)
                if found and self.port is None:
                    self.port = int(found.group(1))
                    self._listening.set()
        self._listening.set()  # nothing more will come

    def log_text(self):
        return "\n".join(self.log)

    def listens(self, seconds=START_SECONDS):
        """Waits until it does; False when the time is over, or when it ended."""
        self._listening.wait(seconds)
        return self.port is not None

    def running(self):
        return self.process is not None and self.process.poll() is None

    def terminate(self, how=signal.SIGTERM):
        """Asks it to stop and returns its exit code."""
        self.process.send_signal(how)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerTrouble(f"it did not stop:\n{self.log_text()}") from None
        self._reader.join()
        return code

    def kill(self, how=signal.SIGKILL):
        if self.running():
            self.process.send_signal(how)
        self.process.wait()
        self._reader.join()

    # ---- talking to it ----------------------------------------------------------------------

    def connect(self, port=None):
        return socket.create_connection(("127.0.0.1", port or self.port), timeout=START_SECONDS)

    def http(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)

    def request(self, method, path, body=None, headers=None):
        """(status, body as bytes)"""
        connection = self.http()
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get_json(self, path):
        status, body = self.request("GET", path)
        if status != 200:
            raise ServerTrouble(f"GET {path}: {status} {body.decode(errors='replace')[:2000]}")
        return json.loads(body)
