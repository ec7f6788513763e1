"""Bits flipped in what a server left: nothing may be answered that was never sent, and what is missing must
have been told by `halite check`."""

import re

from directory import COMPLAINTS_SHOWN, Directory, Failure
from profile import Forever
from load import Load
from server import ServerTrouble

SILENT = re.compile(r"LOCK$|IDENTITY$|OPTIONS-|LOG$|LOG\.old|spare-|\.new$|\.tmp$|lock$")
PLACE = re.compile("engine/log|engine/chunks|rocksdb|$")
TOLD = (424, 500, 503)  # how a question says that it needs what is damaged


class FlipsDirectory(Directory):
    kind = "flips"
    profiles = (Forever(),)
    backups_wanted = False
    increments_wanted = False
    views_wanted = False
    protocols = ()

    def round(self, number):
        self._launch()
        if not self.server.listens():
            raise Failure(f"it did not start:\n{self.server.log_text()}")
        load = Load(self.server, self.ledger, self.profile, self.clock, number,
                    self.choose.getrandbits(32), rewrites=False)
        load.start()
        if self.server.ended(self._moment() + 1):
            load.join()
            raise Failure(f"it died by itself:\n{self.server.log_text()}")
        if self.choose.random() < 0.5:
            self._kill("load")
        else:
            self.server.terminate()
        load.join()
        if load.refusals:
            raise Failure(f"refused: {load.refusals[0]}")
        if self.options.canary:
            self.ledger.claim_unsent()
        else:
            self._flip()
        self._look()

    def _flip(self):
        places = {}
        for file in sorted(self.data.rglob("*")):
            if file.is_file() and file.stat().st_size and not SILENT.search(file.name):
                places.setdefault(PLACE.search(str(file.relative_to(self.data))).group(), []).append(file)
        for _ in range(self.choose.choice((1, 1, 3))):
            place = self.choose.choice(sorted(places))
            file = self.choose.choice(places[place])
            at = self.choose.randrange(file.stat().st_size)
            with open(file, "r+b") as opened:
                opened.seek(at)
                byte = opened.read(1)[0]
                opened.seek(at)
                opened.write(bytes([byte ^ 1 << self.choose.randrange(8)]))
            self.totals[f"bits flipped in {place or 'other files'}"] += 1

    def _look(self):
        checked = self.halite("check", "--data-dir", str(self.data), "--json")
        if checked.returncode not in (0, 1):
            raise Failure(f"halite check: {checked.returncode} {checked.stderr}")
        told = checked.returncode == 1
        self.totals["damage told by the check"] += told
        if not self._starts_or_is_repaired(told):
            return
        right, complaints = self._read_what_can_be_read()
        self.totals["checks"] += 1
        self.totals["points read back"] += right
        missing = [text for kind, text in complaints if kind == "lost"]
        wrong = [text for kind, text in complaints if kind != "lost"]
        if missing and not told:
            wrong += missing
        self.totals["lost, and told"] += len(missing) if told else 0
        if wrong:
            self.totals["lost"] += len(missing) if not told else 0
            shown = "\n".join(f"  {'lost' if text in missing else 'wrong'}: {text}"
                              for text in wrong[:COMPLAINTS_SHOWN])
            raise Failure(f"{len(wrong)} points are wrong, the check said {checked.stdout[:2000]}\n"
                          f"{shown}\n{self.server.log_text()}")
        self.server.kill()

    def _starts_or_is_repaired(self, told):
        for attempt in ("at once", "repaired"):
            self._launch()
            try:
                if self.server.listens():
                    self.totals[f"started {attempt}"] += 1
                    return True
            except ServerTrouble as refused:
                if not told:
                    raise Failure(f"refused to start where the check found nothing:\n{refused}") from refused
            if attempt == "at once":
                repaired = self.halite("repair", "--data-dir", str(self.data))
                if repaired.returncode not in (0, 1, 2):
                    raise Failure(f"halite repair: {repaired.returncode} {repaired.stderr}")
        self.totals["only a copy helps"] += 1
        return False

    def _read_what_can_be_read(self):
        """As read_back(); a metric whose question says that it is damaged is left out."""
        damaged = set()
        for metric in list(self.ledger.metrics):
            status, body = self.server.request(
                "GET", f"/api/query?start=1&end={self.clock() * 2}&ms=true&m=none:{metric}")
            if status in TOLD:
                damaged.add(metric)
                self.totals["questions that told of damage"] += 1
            elif status != 200 and not (status == 400 and b"No such name" in body):
                raise Failure(f"{metric}: {status} {body[:1000]!r}\n{self.server.log_text()}")
        try:
            return self.read_back(self.ledger, without=damaged)
        except (OSError, ServerTrouble) as error:
            raise Failure(f"reading back: {error}\n{self.server.log_text()}") from error

    def finish(self):
        """Each round has a directory of its own; what it is in the end was looked at."""
