"""A data directory through its rounds: a server under load is killed (-9), and everything that was ever sent
is read back. The other kinds of trouble are made of this one."""

import pathlib
import random
import shutil
import signal
import subprocess
import tempfile

from backups import Backups
from increment_load import IncrementLoad, Unanswered
from increments import PREFIX, RULES, IncrementLedger
from ledger import Ledger
from load import Load
from many_series import METRICS, ManySeries
from profile import MANY_SERIES, PROFILES, SETTINGS, CrashClock, Forever
from senders import ALL, OPENTSDB
from server import Server, ServerTrouble, environment_of
from views import SETTINGS as VIEW_SETTINGS
from views import ViewCheck

COMPLAINTS_SHOWN = 10
PROTOCOLS_IN_ROUND = 4


class Failure(Exception):
    pass


class Directory:
    kind = "kill"
    profiles = PROFILES
    backups_wanted = True
    increments_wanted = True
    views_wanted = True
    protocols = ALL  # of which each round has some, besides OpenTSDB's
    pace = 0.02  # seconds at most between the batches of a writer

    def __init__(self, options, number, totals):
        self.options = options
        self.totals = totals
        self.choose = random.Random(f"{options.seed} {self.kind} {number}")
        # In a ring many series would expire while they are sent.
        self.profile = Forever() if options.series else self.profiles[number % len(self.profiles)]
        self.clock = CrashClock(self.profile.speed)
        self.ledger = Ledger()
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"halite-crash-{self.kind}-", dir=options.dir))
        self.data = self.path / "data"
        self.settings = SETTINGS | self.profile.settings
        # A restore of many series would take longer than the round.
        self.backups = Backups(self.path / "kept") if self.backups_wanted and not options.series else None
        if self.backups:
            self.settings |= {"ENGINE_BACKUP_DIR": self.backups.path}
        self.increments = self.unanswered = None
        if self.increments_wanted:
            self.increments = IncrementLedger(self.profile)
            self.unanswered = Unanswered(self.clock)
            self.settings |= {"COUNTERS": RULES}
        self.views = None
        # In a ring points expire before the hour of a unit is over; many series want the processor.
        if self.views_wanted and not options.series and isinstance(self.profile, Forever):
            self.views = ViewCheck(self.clock, options.canary == "view")
            self.settings |= VIEW_SETTINGS
        self.many = None
        if options.series:
            self.many = ManySeries(options.point_load, options.series, self.clock())
            self.settings |= MANY_SERIES
        self.server = None
        self.unanswered_points = []  # of the last round, as Load.unanswered

    # ---- what other kinds do otherwise ------------------------------------------------------

    def crash(self, after):
        """What tests/crash/main.cc is told; None: the shipping binary, with nothing put underneath."""
        return None if self.profile.speed == 1 else {"DISK": "real", "CLOCK": self.clock}

    def binary(self, crash):
        return self.options.halite if crash is None else self.options.halite_crash

    def preloaded(self):
        """A library that lies between the binary and the kernel."""
        return None

    def killing_signal(self):
        return signal.SIGKILL

    def end_of_kill(self, code):
        """Whether a process that ended so was killed by us."""
        return code == -signal.SIGKILL

    def tolerates(self, refusal):
        return self.profile.speed != 1 and "retention" in refusal  # a batch that was held up

    def trouble(self, load):
        """Lets the load run, and what goes wrong with it; ends with the server gone."""
        self._load_and_kill(load, self._moment())

    # ---- rounds -----------------------------------------------------------------------------

    def _launch(self, after=0, data=None):
        """Starts a process. after > 0: for kinds whose server ends by itself at that change."""
        crash = self.crash(after)
        self.server = Server(self.binary(crash), data or self.data, self.settings, crash, self.preloaded())
        self.totals["starts"] += 1

    def _kill(self, phase):
        self.server.kill(self.killing_signal())
        self._count(phase)

    def _count(self, phase):
        if not self.end_of_kill(self.server.process.returncode):
            raise Failure(f"it died by itself ({self.server.process.returncode}):\n"
                          f"{self.server.log_text()}")
        if phase == "load" and list((self.data / "engine/chunks").glob("*.new")):
            phase = "flush"  # or sealing, by itself
        self.totals[f"killed in {phase}"] += 1

    def _moment(self):
        longest = self.choose.choice((0.1, 0.5, 2.0))
        # New series take long, so later rounds would have none if all of these were short.
        return longest * self.choose.random() * self._slowness() + 0.1

    def _slowness(self):
        """How much longer starts and loads take with many series, roughly."""
        return 1 + self.options.series / 400_000

    def start(self):
        """Starts it, and kills it again before it listens, at times several times."""
        while self.choose.random() < 0.3:
            self._launch()
            self.server.listens(self.choose.random() * 0.1 * self._slowness())
            self._kill("start")
        self._launch()
        if not self.server.listens():
            raise Failure(f"it did not start:\n{self.server.log_text()}")

    def round(self, number):
        self.start()
        self.check()
        self._count_unanswered()
        increments = None
        if self.increments:
            increments = IncrementLoad(self.server, self.increments, self.unanswered, self.clock, number,
                                       self.choose.getrandbits(32), self.pace, self.options.canary)
        load = Load(self.server, self.ledger, self.profile, self.clock, number,
                    self.choose.getrandbits(32), pace=self.pace, backups=self.backups, increments=increments,
                    settle_pause=0.3 * self._slowness(),
                    senders=(*OPENTSDB, *self.choose.sample(self.protocols, PROTOCOLS_IN_ROUND)))
        if self.many:
            self.many.fill(self.server.port)
        load.start()
        if self.many:
            self.many.start(self.server.port)
        try:
            self.trouble(load)
        finally:
            load.join()
            if self.many:
                self.many.join()
        if self.options.canary == "point":
            self.ledger.claim_unsent()
        if self.options.canary == "increment":
            self.increments.claim_unsent()
        if increments:
            self.totals["requests with keys sent or repeated"] += increments.repeated
            self.totals["answers to requests with keys dropped"] += increments.answers_dropped
        self.totals.update(load.counts)
        self.unanswered_points = load.unanswered
        self.totals["flushes asked for"] += load.flushes
        self.totals["seals asked for"] += load.seals
        for refusal in load.refusals:
            if not self.tolerates(refusal):
                raise Failure(f"refused: {refusal}")
        self._check_backup()

    def _count_unanswered(self):
        """After check(): which points without an answer are there."""
        for protocol, metric, tags, moment in self.unanswered_points:
            values = self.ledger.metrics[metric][tags].get(moment)  # none: it expired
            self.totals[f"{protocol}, read back"] += values is not None and values[-1] is not None
        self.unanswered_points = []

    def _load_and_kill(self, load, moment):
        if self.server.ended(moment):
            load.join()
            self._count(load.phase)
            return
        counters = self.server.counters()
        if self.choose.random() < 0.1:
            refused_before = len(load.refusals)
            self.server.process.send_signal(signal.SIGTERM)
            self.server.ended(self.choose.random() * 0.3)
            self.server.kill(self.killing_signal())
            if self.server.process.returncode != 0:  # it had not come to its end
                self._count("shutdown")
            load.join()
            del load.refusals[refused_before:]  # it was closing
        else:
            self._kill(load.under_way or "load")
        load.join()
        for name, count in counters.items():
            self.totals[name] += count

    def _check_backup(self):
        """The last backup that was made whole while points came, as a server shows it."""
        if not self.backups or not (made := self.backups.take_finished()):
            return
        again = self.path / "again"
        made.restore(self.options.halite, again)
        self._launch(data=again)
        if not self.server.listens():
            raise Failure(f"what was restored does not start:\n{self.server.log_text()}")
        self._compare(*made.ledgers, what="restored: ")
        self.compare_views(made.ledgers[0], "restored, ")
        self.server.kill()
        shutil.rmtree(again)
        self.totals["backups restored"] += 1

    def halite(self, *arguments):
        """A command of the shipping binary, that ended."""
        return subprocess.run([str(self.options.halite), *arguments], capture_output=True, text=True,
                              check=False, env=environment_of(self.settings))

    # ---- looking ----------------------------------------------------------------------------

    def read_back(self, ledger, without=()):
        """Right points, and complaints: of everything that was ever sent, but for these metrics."""
        known = self.server.get_json("/api/suggest?type=metrics&max=1000000")
        complaints = []
        stored_points = 0
        for metric in sorted({*ledger.metrics, *known} - {*without}):
            if metric.startswith(PREFIX) or (self.many and metric in METRICS):
                continue
            now = self.clock()
            stored = self.server.stored(metric, 1, now * 2) if metric in known else {}
            ttl = self.profile.ttl_ms(metric)
            oldest = (now - ttl, self.clock() - ttl) if ttl else (0, 0)
            ledger.metrics.setdefault(metric, {})
            right, wrong = ledger.check(metric, stored, *oldest)
            stored_points += right
            complaints += wrong
        return stored_points, complaints

    def read_sums_back(self, increments, lasting):
        known = self.server.get_json("/api/suggest?type=metrics&max=1000000")
        return increments.check(self.server, self.clock, known, lasting)

    def _compare(self, ledger, increments=None, what="", lasting=frozenset()):
        """lasting: requests with keys that may be repeated later."""
        self.totals["checks"] += 1
        self._judge(*self.read_back(ledger), "points", what)
        if increments:
            self._judge(*self.read_sums_back(increments, lasting), "sums", what)

    def compare_views(self, ledger, what=""):
        """After _compare(): at once, and when all are computed."""
        if not self.views:
            return
        known = self.server.get_json("/api/suggest?type=metrics&max=1000000")
        seen = False
        for when in ("at once", "computed"):
            if when == "computed":
                self.views.wait_until_computed(self.server, known)
            right, from_views, complaints = self.views.check(self.server, ledger, known, what + when)
            self._judge(right, complaints, "answers", "")
            self.totals[f"answers of views {what}{when}"] += from_views
            seen = seen or from_views > 0
        self.totals["checks in which views answered"] += seen

    def _judge(self, right, complaints, noun, what):
        self.totals[f"{noun} read back"] += right
        for kind, _ in complaints:
            self.totals[kind] += 1
        if complaints:
            shown = "\n".join(f"  {kind}: {text}" for kind, text in complaints[:COMPLAINTS_SHOWN])
            log = self.server.log_text() if self.server else ""
            raise Failure(f"{what}{len(complaints)} {noun} are wrong:\n{shown}\n{log}")

    def compare_all(self, full=False):
        """full: all of many series."""
        self._compare(self.ledger, self.increments,
                      lasting=self.unanswered.lasting() if self.unanswered else frozenset())
        self.compare_views(self.ledger)
        if self.many:
            self._judge(*self.many.check(self.server, full), "points of many series", "")

    def check(self, full=False):
        try:
            self.compare_all(full)
        except (OSError, ServerTrouble) as error:
            raise Failure(f"reading back: {error}\n{self.server.log_text()}") from error

    def finish(self):
        """A last look; then it has to stop in order, and to have everything after that, too."""
        for last in (False, True):
            self._launch()
            if not self.server.listens():
                raise Failure(f"it did not start:\n{self.server.log_text()}")
            self.check(full=last)
            self._count_unanswered()
            if code := self.server.terminate():
                raise Failure(f"exit code {code}:\n{self.server.log_text()}")

    def close(self, keep):
        if self.server is not None:
            self.server.kill()
        self.totals["sent"] += self.ledger.sent
        self.totals["acknowledged"] += self.ledger.acknowledged
        self.totals["deleted"] += self.ledger.deleted
        if self.increments:
            self.totals["increments sent"] += self.increments.sent
            self.totals["increments acknowledged"] += self.increments.acknowledged
        if self.many:
            self.totals["acknowledged of many series"] += self.many.points
        if not keep:
            shutil.rmtree(self.path)
