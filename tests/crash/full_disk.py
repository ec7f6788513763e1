"""A small disk (tmpfs) that fills up while points come, and has room again: nothing that was acknowledged is
lost, and without a restart points are taken again within seconds."""

import os
import pathlib
import subprocess
import tempfile
import time

from directory import Directory, Failure
from profile import Forever
from senders import ANSWERED
from server import ServerTrouble

DISK_BYTES = 160 << 20
LEFT_MAX = 24 << 20  # what the log leaves to chunks is about that
FULL_SECONDS_MAX = 15
AGAIN_SECONDS_MAX = 20


def mount(path, size):
    """Makes `path` a disk of so many bytes. Returns why not, or None."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "halite-crash", str(path)],
                          capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def unmount(path):
    subprocess.run(["umount", str(path)], check=True)
    path.rmdir()


def why_no_disk():
    """Why no small disk can be had here; None where it can."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="halite-crash-disk-"))
    if why := mount(path, 1 << 20):
        path.rmdir()
        return f"no small disk can be mounted here, which wants root: {why}"
    unmount(path)
    return None


class FullDirectory(Directory):
    kind = "full"
    profiles = (Forever(),)
    backups_wanted = False
    protocols = ANSWERED  # Graphite's senders wait as long as nothing can be stored
    views_wanted = False  # they would need the rest of a full disk
    pace = 0.1

    def __init__(self, options, number, totals):
        super().__init__(options, number, totals)
        if why := mount(self.path, DISK_BYTES):
            raise Failure(why)
        self.ballast = self.path / "ballast"

    def tolerates(self, refusal):
        # What a full disk may say, and nothing else: none of it says that the point was wrong.
        return any(text in refusal for text in ("no space left", "No space left", "disk is full", "503"))

    def fill(self):
        """All but a chance's part of what is free."""
        left = self.choose.randrange(LEFT_MAX)
        with open(self.ballast, "wb") as file:
            try:
                while True:
                    free = self._free()
                    if free <= left:
                        return
                    file.write(bytes(min(free - left, 1 << 20)))
                    file.flush()
            except OSError:
                pass  # it is as full as can be

    def _free(self):
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize

    def trouble(self, load):
        time.sleep(self._moment())
        self.fill()
        begin = time.monotonic()
        while not load.refusals and load.writing() and time.monotonic() - begin < FULL_SECONDS_MAX:
            if self.server.ended(0.05):
                raise Failure(f"a full disk ended it ({self.server.process.returncode}):\n"
                              f"{self.server.log_text()}")
        self.totals["rounds in which points were refused"] += bool(load.refusals)
        time.sleep(self.choose.random())
        if self.choose.random() < 0.4:
            self._kill("full disk")
            self._start_on_full_disk()
            self.ballast.unlink()
            return
        self.ballast.unlink()
        begin = time.monotonic()
        while not self._takes_a_point():
            if time.monotonic() - begin > AGAIN_SECONDS_MAX:
                raise Failure(f"{AGAIN_SECONDS_MAX} s after there was room no point is taken:\n"
                              f"{self.server.log_text()}")
            time.sleep(0.02)
        self.totals["recovered without a restart"] += 1
        self.totals["milliseconds until then, the most"] = max(
            self.totals["milliseconds until then, the most"], (time.monotonic() - begin) * 1000)
        self._load_and_kill(load, self._moment())

    def _takes_a_point(self):
        point = ("crash.m1", (("name", "after"),), int(self.clock()), 1)
        self.ledger.series(*point[:2])
        self.ledger.send([point])
        status, _ = self.server.request(
            "POST", "/api/put",
            '{"metric":"crash.m1","timestamp":%d,"value":1,"tags":{"name":"after"}}' % point[2])
        if status == 204:
            self.ledger.acknowledge([point])
        return status == 204

    def _start_on_full_disk(self):
        """It starts, or says what it wants; either way nothing is lost."""
        self._launch()
        try:
            if self.server.listens():
                self.totals["starts on a full disk"] += 1
                self._kill("full disk")
        except ServerTrouble as refused:
            if "o space left" not in str(refused) and "disk is full" not in str(refused):
                raise Failure(f"refused to start, but not for the disk:\n{refused}") from refused
            self.totals["starts that a full disk refused"] += 1

    def close(self, keep):
        super().close(keep=True)
        if keep:
            return
        unmount(self.path)
