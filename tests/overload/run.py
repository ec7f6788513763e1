"""One run: before, under load, after, and what is stored then."""

import pathlib
import random
import sys
import time

import clients_floods
import clients_good
import clients_slow
import crew
import ledger
import limits
import load
import report
import watch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from server_process import ServerProcess, ServerTrouble as Trouble  # noqa: E402

DAY_S = 86_400
END_SECONDS = 120  # for clients that are told to stop: what they wait for comes within that
RECOVERY_S = 10
RATE_SHARE = 0.8
FLOOD_STEPS = 5000  # of a thousand series: five million points


class Run:
    def __init__(self, options, settings, path):
        self.options = options
        self.settings = settings
        self.path = path
        self.choose = random.Random(options.seed)
        self.complaints = []
        self.server = None
        self.load = None
        self.series = []
        # Whole days of which no other client has one.
        self.begin_s = (int(time.time()) // DAY_S - 300) * DAY_S
        self.flood_steps = 50 if options.unhurried else FLOOD_STEPS

    def complain(self, text):
        self.complaints.append(text)

    def all(self):
        self.start(self.settings)
        self.prepare()
        calm = self.good_clients_alone("before")
        rate = self.flood_rate(3)
        before = self.look()
        under, bad = self.overload()
        self.recover(rate)
        calm_again = self.good_clients_alone("after")
        after = self.settle(before)
        report.latencies(self, {"before": calm, "during": under, "after": calm_again})
        report.outcomes(self, crew.merged([calm, under, bad, calm_again]))
        report.counters(self, crew.merged([under, bad]).outcomes, before, after)
        self.cut_alone()
        self.check_points()

    def start(self, settings):
        self.server = ServerProcess(self.options.halite, self.path / "data", "--store", "engine",
                                    environment=limits.environment(settings))
        self.server.launch()
        if not self.server.listens():
            raise Trouble(f"it did not start:\n{self.server.log_text()}")

    def close(self):
        if self.load is not None:
            self.load.end()
        if self.server is not None and self.server.running():
            self.server.kill()

    # ---- before -----------------------------------------------------------------------------

    def prepare(self):
        """What is asked for: a little for good clients, a lot for the others."""
        self.load = load.Load(self)
        self.small = ledger.Series("overload.small", "name", "asked", 1, self.begin_s, 10)
        self.put = ledger.Series("overload.small", "name", "put", 2, self.begin_s + DAY_S)
        self.load.store(self.small, 360)
        self.load.prepare()
        self.series.append(self.small)

    def good_clients(self):
        return crew.Crew("good ones", clients_good.all_of_them(self.server.port, self.put, self.small))

    def taken_over(self, result):
        """The series of a process that has ended are ours, with what became of them there."""
        for series in result["series"]:
            if series.name == self.put.name:
                self.put = series
            else:
                self.series.append(series)
        for text in result["broken"]:
            self.complain(f"a client broke: {text}")
        return result

    def good_clients_alone(self, when):
        print(f"{when}: good clients alone, {self.options.calm_seconds:.0f} s", flush=True)
        good = self.good_clients()
        time.sleep(self.options.calm_seconds)
        return self.taken_over(good.end(END_SECONDS))

    def flood_once(self):
        """Points a second of the processor time that others left; 0 where it was not taken."""
        share = watch.ShareOfMachine(self.server.process.pid)
        taken, clock_rate = self.load.flood.round(self.flood_steps)
        rate = self.flood_steps * clients_floods.FLOOD_SERIES / share.seconds()
        return (rate, clock_rate) if taken else (0, 0)

    def flood_rate(self, rounds):
        rates = sorted(self.flood_once() for _ in range(rounds))
        rate, clock_rate = rates[rounds // 2]
        if rate == 0:
            raise AssertionError("a flood alone was not taken")
        print(f"a short flood alone: {clock_rate / 1e6:.2f} M points a second, {rate / 1e6:.2f} M a "
              "second of processor time that others left", flush=True)
        return rate

    def look(self):
        sockets, others = watch.descriptors(self.server.process.pid)
        return {"sockets": sockets, "others": others, "counters": watch.counters(self.server),
                "status": watch.status(self.server.process.pid)}

    # ---- during -----------------------------------------------------------------------------

    def overload(self):
        print(f"overload, {self.options.seconds:.0f} s", flush=True)
        pid = self.server.process.pid
        memory = watch.MemoryWatch(pid)
        cpu = watch.cpu_seconds(pid)
        good = self.good_clients()
        bad = self.load.start()
        until = crew.now() + self.options.seconds
        while crew.now() < until and self.server.running():
            time.sleep(min(1, max(until - crew.now(), 0)))
        if not self.server.running():
            raise Trouble(f"the server ended with {self.server.process.returncode}:\n"
                          f"{self.server.log_text()[-4000:]}")
        cpu = (watch.cpu_seconds(pid) - cpu) / self.options.seconds
        for one in (good, *bad):
            one.stop.set()
        self.load_ended = crew.now()
        under = self.taken_over(good.end(END_SECONDS))
        results = [self.taken_over(one.end(END_SECONDS)) for one in bad]
        self.load.end()
        self.drained = crew.now()
        highest = max(memory.stop(), watch.status(pid)["VmHWM"])
        report.memory(self, memory, highest, cpu)
        whole = crew.merged(results)
        whole.outcomes.update(self.load.notes.outcomes)
        return under, whole.result()

    # ---- after ------------------------------------------------------------------------------

    def recover(self, rate):
        """A flood that is as fast as before has to succeed soon after the last client has gone."""
        best = best_clock = 0.0
        self.load.flood.finish()
        while crew.now() < self.drained + RECOVERY_S and best < RATE_SHARE * rate:
            best, best_clock = max((best, best_clock), self.flood_once())
        print(f"a short flood {crew.now() - self.drained:.1f} s after the load: "
              f"{best_clock / 1e6:.2f} M points a second, {best / 1e6:.2f} M a second of processor "
              f"time, {100 * best / rate:.0f} % of before (the load's clients were gone "
              f"{self.drained - self.load_ended:.1f} s after they were told)", flush=True)
        if not self.options.unhurried and best < RATE_SHARE * rate:
            self.complain(f"a flood within {RECOVERY_S} s after the load is taken at "
                          f"{100 * best / rate:.0f} % of the rate before, less than "
                          f"{100 * RATE_SHARE:.0f} %")

    def settle(self, before):
        """Descriptors and threads as before, at the latest when idle connections time out."""
        until = crew.now() + self.settings["web.idle_timeout_ms"] / 1000
        while True:
            after = self.look()
            complaints = report.left_behind(before, after)
            if not complaints or crew.now() > until:
                break
            time.sleep(0.5)
        self.complaints += complaints
        print(f"sockets {before['sockets']} -> {after['sockets']}, other descriptors "
              f"{before['others']} -> {after['others']}, threads {before['status']['Threads']} -> "
              f"{after['status']['Threads']}", flush=True)
        return after

    def cut_alone(self):
        """Under load others hide whether an answer that is cut off counts as one."""
        before = watch.counters(self.server)
        path = clients_floods.heavy_path("overload.heavy", self.begin_s)
        outcome = clients_slow.cut_alone(self.server.port, path, self.settings)
        late = "halite_web_timeouts_total"
        counted = watch.counters(self.server)[late] - before[late]
        print(f"one slow reader alone: {outcome}, /metrics counts {counted:.0f}", flush=True)
        if outcome == "cut" and counted == 0:
            self.complain(f"counters: an answer was cut off that nobody read, {late} is as before")
        elif outcome != "cut" and not self.options.unhurried:
            self.complain(f"an answer that nobody read: {outcome}")

    def check_points(self):
        """After a start in order, from what is on the disk, and with room for large questions."""
        if code := self.server.terminate():
            self.complain(f"it stopped with {code}: {self.server.log_text()[-2000:]}")
        self.start(limits.READ_BACK)
        every = [*self.series, self.put, *self.load.flood.series()]
        if self.options.canary == "point":
            every[-1].sent += 1
            every[-1].acknowledged = every[-1].sent
        stored, complaints = ledger.check(self.server, every, int(time.time()) + 10 * DAY_S)
        # overload.never would be among them: no line of it had an end.
        stored_metrics = self.server.get_json("/api/suggest?type=metrics&max=10000")
        complaints += [f"invented: {metric}: never sent" for metric in stored_metrics
                       if metric not in {series.metric for series in every}]
        sent = sum(series.sent for series in every)
        acknowledged = sum(series.acknowledged for series in every)
        print(f"{len(every)} series: {sent:,} points sent, {acknowledged:,} acknowledged, "
              f"{stored:,} stored, {len(complaints)} series wrong", flush=True)
        self.complaints += complaints
        self.server.terminate()
