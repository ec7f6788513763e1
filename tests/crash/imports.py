"""Imports that are killed, or whose power is cut, and resumed until they end: then the directory has exactly what
the files say and what it had before, and the file of refused lines has each of them once."""

import json
import re
import subprocess
import time

from directory import COMPLAINTS_SHOWN, Directory, Failure
from import_files import ImportFiles
from load import Load
from power import PowerDirectory, PreloadedDirectory
from profile import Forever
from server import CUT, environment_of

ALL_STORED, SOME_REFUSED = 0, 1
END_SECONDS = 300  # of an import that is not killed


def points_of_lines(lines):
    """{metric: {tags as a sorted tuple: {ms: value}}}; each point may come once."""
    found = {}
    for line in lines:
        metric, time, value, *tags = line.split(" ")
        series = found.setdefault(metric, {}).setdefault(
            tuple(sorted(tuple(tag.split("=", 1)) for tag in tags)), {})
        moment = int(time) if len(time) > 10 else int(time) * 1000
        if moment in series:
            raise Failure(f"a point is stored twice: {line}")
        series[moment] = int(value) if re.fullmatch(r"-?\d+", value) else float(value)
    return found


class ImportRounds:
    """The rounds of a Directory, with imports."""

    profiles = (Forever(),)
    backups_wanted = False
    increments_wanted = False
    views_wanted = False
    may_tear = False  # an interruption may leave ends of files that the next start removes

    def __init__(self, options, number, totals):
        super().__init__(options, number, totals)
        # This folder is on the disk that loses what was not synced.
        self.disk = self.path / "disk"
        self.data = self.disk / "data"
        self.input = self.path / "input"
        for made in (self.input, self.disk / "import", self.disk / "errors"):
            made.mkdir(parents=True)
        self.checkpoint = self.disk / "import" / "checkpoint"

    def cut_in_import(self):
        """The change of the disk at which the power fails; 0: none."""
        return 0

    # ---- rounds -----------------------------------------------------------------------------

    def round(self, number):
        if self.choose.random() < 0.5:
            self._serve(number)
        files = ImportFiles(self.input, self.choose, self.ledger, self.profile, number, self.clock())
        errors = self.disk / "errors" / f"refused{number}" if self.choose.random() < 0.8 else None
        self.ledger.send(files.points)
        self._import_until_done(files, errors)
        self.ledger.acknowledge(files.points)
        self.totals["imports"] += 1
        self.totals["lines imported"] += files.lines
        self.totals["lines refused"] += len(files.refused)
        if self.options.canary == "point":
            self.ledger.claim_unsent()
        if errors:
            self._check_errors(files, errors)
        self._check_tool()
        self._compare_export()
        self._look()
        for path in files.paths:
            path.unlink()

    def _serve(self, number):
        """A server that takes points, and is stopped or killed."""
        self.start()
        load = Load(self.server, self.ledger, self.profile, self.clock, number,
                    self.choose.getrandbits(32), pace=self.pace)
        load.start()
        if self.choose.random() < 0.5:
            self.server.ended(self._moment())
            running = list(load.refusals)
            self._stop()
            load.join()
        else:
            self.trouble(load)
            running = load.refusals
        if running:
            raise Failure(f"refused: {running[0]}")

    def _stop(self):
        """In order, unless a power cut is to come."""
        code = self.server.terminate()
        if code == CUT:
            self._count("shutdown")
        elif code != 0:
            raise Failure(f"exit code {code}:\n{self.server.log_text()}")

    def _look(self):
        """A server shows everything, too."""
        self.start()
        self.check()
        if self.choose.random() < 0.5:
            self._stop()
        else:
            self._kill("idle")

    # ---- the import -------------------------------------------------------------------------

    def _arguments(self, files, errors):
        seconds = self.choose.choice((0, 0.5, 1, 2))  # that it takes at least
        return [
            "import", "--data-dir", self.data, "--quiet", "--checkpoint", self.checkpoint,
            "--checkpoint-interval", self.choose.choice((0.01, 0.05, 0.05, 20)),
            "--jobs", self.choose.choice((1, 2, 4)),
            "--rate", int(len(files.points) / seconds) if seconds else 0,
            "--format", self.choose.choice(("auto", files.format)),
            *(("--errors", errors) if errors else ()), *files.paths]

    def _import_until_done(self, files, errors):
        resume = self.choose.random() < 0.3
        kills = self.choose.choice((1, 1, 2, 3, 5))
        while True:
            arguments = self._arguments(files, errors) + ["--resume"] * resume
            code, out, err = self._run_import(arguments, may_end=kills == 0)
            if code in (ALL_STORED, SOME_REFUSED):
                break
            if not self.end_of_kill(code):
                raise Failure(f"the import ended with {code}: {' '.join(map(str, arguments))}\n{err}")
            self._count_import(err)
            kills -= 1
            resume = True
            if self.choose.random() < 0.2:
                self._check_tool(interrupted=True)
            if self.choose.random() < 0.2:
                self._look()
                self.ledger.send(files.points)  # any may be stored once more
        refused = len(files.refused)
        wanted = (f"{len(files.points)} point{'s' * (len(files.points) != 1)} stored, "
                  f"{refused} line{'s' * (refused != 1)} refused")
        if code != (SOME_REFUSED if refused else ALL_STORED) or wanted not in out:
            raise Failure(f"the import ended with {code}, and not with {wanted}: {out}{err}")
        if self.checkpoint.exists():
            raise Failure(f"an import that ended left {self.checkpoint}")

    def _run_import(self, arguments, may_end):
        """Its exit code, output and errors; it may have been killed."""
        crash = self.crash(0 if may_end else self.cut_in_import())
        process = subprocess.Popen(
            [str(word) for word in (self.binary(crash), *arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment_of(self.settings, crash, self.preloaded()))
        self.totals["starts of imports"] += 1
        if not may_end and self.choose.random() < 0.4:
            self._wait_for_checkpoint(process)
        try:
            out, err = process.communicate(timeout=END_SECONDS if may_end else self._import_moment())
        except subprocess.TimeoutExpired:
            process.send_signal(self.killing_signal())
            out, err = process.communicate()
            if may_end:
                raise Failure(f"the import did not end: {err}") from None
        return process.returncode, out, err

    def _wait_for_checkpoint(self, process):
        """A new one, or its end."""
        before = self._written()
        while process.poll() is None and self._written() == before:
            time.sleep(0.002)

    def _written(self):
        """When; 0: none, or the first one, of which nothing is stored."""
        try:
            checkpoint = json.loads(self.checkpoint.read_text())
            stored = checkpoint["file"] or checkpoint["offset"]
            return self.checkpoint.stat().st_mtime_ns if stored else 0
        except FileNotFoundError:
            return 0

    def _import_moment(self):
        return self.choose.choice((0.1, 0.5, 2)) * self.choose.random()

    def _count_import(self, err):
        place = "before a checkpoint"
        if self._written():
            checkpoint = json.loads(self.checkpoint.read_text())
            place = "after a checkpoint"
            if checkpoint["file"] == len(checkpoint["inputs"]) or "final form" in err:
                place = "after the last checkpoint"
        self.totals[f"imports killed {place}"] += 1
        self.totals["imports killed or cut"] += 1
        if "the power fails at" in err:
            self.totals["power cut at a change of an import"] += 1

    # ---- looking ----------------------------------------------------------------------------

    def _check_errors(self, files, path):
        found = []
        for row in path.read_text().splitlines():
            name, line, _, text = row.split("\t")
            found.append((name, int(line), text))
        if found == files.refused:
            return
        missing = [row for row in files.refused if row not in found]
        more = [row for row in found if row not in files.refused]
        raise Failure(f"{path} has {len(found)} lines, not {len(files.refused)}; missing: "
                      f"{missing[:COMPLAINTS_SHOWN]}, not refused: {more[:COMPLAINTS_SHOWN]}")

    def _check_tool(self, interrupted=False):
        if not self.data.exists():
            return  # it was killed before it made one
        checked = self.halite("check", "--data-dir", str(self.data))
        torn = interrupted and checked.returncode == 1 and self._only_torn(checked.stdout)
        if checked.returncode != 0 and not torn:
            raise Failure(f"halite check: {checked.returncode} {checked.stdout}{checked.stderr}")
        self.totals["of them with torn ends alone"] += torn
        self.totals["directories checked by halite check"] += 1

    def _only_torn(self, report):
        """Whether all damage is what a power cut may leave."""
        places = int(re.search(r"^damaged places: (\d+)$", report, re.M).group(1))
        return self.may_tear and report.count(", or an incomplete write after a power failure)") == places

    def _compare_export(self):
        """What a tool reads, before a server has touched it."""
        exported = self.halite("export", "--data-dir", str(self.data), "--quiet")
        if exported.returncode != 0:
            raise Failure(f"halite export: {exported.returncode} {exported.stderr}")
        stored = points_of_lines(exported.stdout.splitlines())
        right, complaints = 0, []
        for metric in sorted({*self.ledger.metrics, *stored}):
            ttl = self.profile.ttl_ms(metric)
            oldest = self.clock() - ttl if ttl else 0
            self.ledger.metrics.setdefault(metric, {})
            found, wrong = self.ledger.check(metric, stored.get(metric, {}), oldest, oldest)
            right += found
            complaints += wrong
        self._judge(right, complaints, "points", "exported: ")
        self.totals["exports compared"] += 1


class ImportDirectory(ImportRounds, Directory):
    kind = "import"


class ImportPowerDirectory(ImportRounds, PreloadedDirectory):
    """With a library for the preload, that lies beneath every other process, with checkpoint and refused lines on
    its disk; else, and beneath the others, it is the disk of halite_crash."""

    kind = "import-power"
    places = ("", "", "engine/chunks", "engine/chunks", "rocksdb", "disk/import", "disk/errors")
    lies_at = "engine/chunks"
    may_tear = True

    def crash(self, after):
        self.beneath = self.options.preload is not None and self.choose.random() < 0.5
        if not self.beneath:
            return PowerDirectory.crash(self, after)
        return super().crash(after) | {"DIR": self.disk.resolve()}

    def binary(self, crash):
        return self.options.halite if self.beneath else self.options.halite_crash

    def preloaded(self):
        return super().preloaded() if self.beneath else None

    def cut_in_import(self):
        return 0 if self.choose.random() < 0.5 else int(16 * 2 ** (self.choose.random() * 7))
