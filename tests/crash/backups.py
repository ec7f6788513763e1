"""Backups that are made under load, and what a restored one has to show.

A backup has everything that was acknowledged before it was asked for, and nothing that was never sent
until it was done."""

import json
import shutil
import subprocess
import threading
import time


class Finished:
    def __init__(self, path, name, ledgers):
        self.path = path
        self.name = name
        self.ledgers = ledgers  # of what it may show

    def restore(self, halite, target):
        shutil.rmtree(target, ignore_errors=True)
        done = subprocess.run(
            [str(halite), "restore", "--from", str(self.path), "--data-dir", str(target), "--backup",
             self.name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"restore of {self.name} ({done.returncode}): {done.stderr}")


class Backups:
    """All of one data directory; one is made at a time."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.finished = None

    def take_finished(self):
        with self.lock:
            finished, self.finished = self.finished, None
            return finished

    def make(self, server, ledgers):
        """Asks the server for one and waits for its end; the refusal, where there is one."""
        copies = [ledger.follow() for ledger in ledgers]
        try:
            status, body = server.request("POST", "/api/admin/backup", "{}")
            if status != 202:
                return f"backup: {status} {body[:500]!r}"
            while True:
                state = json.loads(server.request("GET", "/api/admin/backup")[1])
                if not state["running"]:
                    break
                time.sleep(0.01)
        finally:
            for ledger, copy in zip(ledgers, copies, strict=True):
                ledger.leave(copy)
        if "error" in state:
            return f"backup: {state['error']}"
        with self.lock:
            self.finished = Finished(self.path, state["backup"].removesuffix(".manifest"), copies)
        return None
