"""One server process that will be killed: started, talked to, ended in several ways."""

import http.client
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from server_process import START_SECONDS, ServerProcess, ServerTrouble, clean_environment  # noqa: E402

CUT = 137  # how halite_crash ends when its power fails


def environment_of(settings, crash=None, preloaded=None):
    """As of Server."""
    environment = {f"HALITE_{name}": str(value) for name, value in settings.items()}
    environment |= {f"CRASH_{name}": str(value) for name, value in (crash or {}).items()}
    if preloaded:
        environment["LD_PRELOAD"] = str(preloaded)
    return clean_environment(**environment)


class Server(ServerProcess):
    def __init__(self, binary, data_dir, settings, crash=None, preloaded=None):
        """settings: HALITE_* without the prefix; crash: what tests/crash/main.cc knows; preloaded: a
        library beneath it."""
        super().__init__(binary, data_dir, "--store", "engine",
                         environment=environment_of(settings, crash, preloaded))
        self.launch()

    def listens(self, seconds=START_SECONDS):
        """As its base does; an end of its own that is not the power's is an error."""
        if super().listens(seconds):
            return True
        if self._listening.is_set() and self.process.wait(START_SECONDS) != CUT:
            raise ServerTrouble(f"it did not start ({self.process.returncode}):\n{self.log_text()}")
        return False

    def ended(self, seconds):
        """Waits for its end; whether it came."""
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def stored(self, metric, begin_ms, end_ms, downsample=""):
        """{tags as a sorted tuple: {ms: value}} of a metric; downsample: as "1h-sum:"."""
        question = urllib.parse.quote(f"none:{downsample}{metric}", safe="")
        path = f"/api/query?start={begin_ms}&end={end_ms}&ms=true&m={question}"
        status, body = self.request("GET", path)
        if status == 400 and b"No such name" in body:
            return {}  # it had no points, and was forgotten since it was listed
        if status != 200:
            raise ServerTrouble(f"GET {path}: {status} {body.decode(errors='replace')[:2000]}")
        found = {}
        for answer in json.loads(body):
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
