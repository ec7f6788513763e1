"""Power cuts: the server keeps its files on a disk that forgets what was not synced (main.cc)."""

import re
import shutil
import signal

from directory import Directory, Failure
from profile import Forever
from senders import ANSWERED
from server import CUT, ServerTrouble


class PowerDirectory(Directory):
    kind = "power"
    backups_wanted = False  # they are not on that disk
    places = ("", "", "engine/log", "engine/chunks", "engine/chunks", "rocksdb")  # where the power fails
    lies_at = "engine/log"  # which syncs a disk that lies ignores

    def crash(self, after):
        return {
            "DISK": self.options.disk,
            "LIES_AT": self.lies_at,
            "SEED": self.choose.getrandbits(31),
            "AFTER": after,
            "AT": self.choose.choice(self.places),
            "CLOCK": self.clock,
        }

    def killing_signal(self):
        return signal.SIGUSR1 if self.choose.random() < 0.7 else signal.SIGKILL

    def end_of_kill(self, code):
        # By SIGUSR1 itself where it had not come so far as to wait for it.
        return code in (-signal.SIGKILL, -signal.SIGUSR1, CUT)

    def _count(self, phase):
        super()._count(phase)
        for line in self.server.log:
            if line.startswith("the power fails at "):
                place = re.search("engine/log|engine/chunks|rocksdb|$", line).group() or "/"
                self.totals[f"power cut at a change of {place}"] += 1

    def start(self):
        while self.choose.random() < 0.3:
            if self.choose.random() < 0.7:
                self._launch(after=self.choose.randrange(1, 120))
                if self.server.listens():
                    self._kill("start")  # it needed fewer changes
                    continue
                self._count("start")
            else:
                self._launch()
                self.server.listens(self.choose.random() * 0.1 * self._slowness())
                self._kill("start")
        self._launch(after=self._cut_under_load())
        while not self.server.listens():
            self._count("start")
            self._launch()

    def _cut_under_load(self):
        return 0 if self.choose.random() < 0.5 else int(100 * 2 ** (self.choose.random() * 6))

    def check(self, full=False):
        try:
            self.compare_all(full)
        except (OSError, ServerTrouble) as error:
            if self.server.ended(1) and self.server.process.returncode == CUT:
                self._count("reading")  # a power cut that was still to come
                self.start()
                self.check(full)
                return
            raise Failure(f"reading back: {error}\n{self.server.log_text()}") from error


class PreloadedDirectory(PowerDirectory):
    """The same for the shipping binary: forgetful_disk.cc lies between it and the kernel."""

    kind = "preloaded"
    profiles = (Forever(),)  # a clock of our own would want another binary

    def crash(self, after):
        saved = self.path / "saved"
        shutil.rmtree(saved, ignore_errors=True)  # of a process that is gone: names there come anew
        saved.mkdir()
        return super().crash(after) | {"DIR": self.data.resolve(), "SAVED": saved.resolve()}

    def binary(self, crash):
        return self.options.halite

    def preloaded(self):
        return self.options.preload


class SyncDirectory(PowerDirectory):
    """The disk says of a sync that it failed, and has lost what that was to write. From then on
    nothing may be acknowledged until a start has looked at what there is."""

    kind = "sync"
    protocols = ANSWERED  # Graphite's senders wait as long as nothing can be stored
    views_wanted = False  # after a failed sync none is computed

    def crash(self, after):
        return super().crash(0) | {"SYNC_FAILS": self.choose.choice((0.0005, 0.002, 0.01))}

    def tolerates(self, refusal):
        return True  # the server says what the disk says

    def end_of_kill(self, code):
        # It may have come to the end of a stop in order, which a failed sync makes an error.
        return super().end_of_kill(code) or (code == 1 and "input/output error" in self.server.log_text())

    def start(self):
        while True:
            self._launch()
            try:
                if self.server.listens():
                    return
            except ServerTrouble as refused:
                # A start writes, too: one that meets the failure is refused, and changes nothing.
                if "input/output error" not in str(refused):
                    raise
                self.totals["starts that a failed sync ended"] += 1

    def trouble(self, load):
        super().trouble(load)
        self.totals["rounds in which a sync failed"] += bool(load.refusals)

    def finish(self):
        for _ in range(2):
            self.start()
            self.check()
            self.server.kill()
