"""A server under steady load for long: whether memory grows, what the slowest puts wait, whether a point is missing.

Half load is as many points a second as take half of the processors, of server and sender together, from the line that
is sent to the sealed chunk; and so on. How many that is a first load tells, as each load does for the next. They come by
telnet with the time of the clock: an hour sends an hour, so each of the 100,000 series has a point every 10 to 50 ms.
Meanwhile an agent puts ten points by HTTP ten times a second and somebody asks two questions a second.

It fails when something is refused or missing, when at half load one put in a hundred takes longer than 50 ms, and, of a
load of half an hour or more, when memory was 5 % more in the last third of the time than in the one before.
"""

import http.client
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from server_bench import Server

SERIES = 100_000
METRICS = 10  # of bench/point_load.cc
AGENT_POINTS = 10  # a request
CALIBRATION_STEPS = 300  # of a second
SAMPLE_SECONDS = 5
WARM_PART = 1 / 3  # of the time, in which caches and the head fill: memory is compared after it
LOADS = ((0.4, 0.04), (0.5, 0.1), (0.8, 0.86))  # of the machine, and for how much of the time
PUT_MS_MAX = 50  # for 99 of 100, at half load
JUDGED_PUTS = 500  # of fewer, one in a hundred is an accident
JUDGED_MINUTES = 30  # from here on memory has to be flat
GROWTH_MAX = 1.05  # of the last third over the one before: more than it goes up and down
HOUR_S = 3600  # a question reads all of the hours that it touches
# Of a metric's series: so that a question reads some hundred million points at most.
PARTS = {"cpu.usage_user": [f"{{}}{{hostname=regexp({digit}$)}}" for digit in range(10)], "soak.agent": [""]}
CANARY = r"soak\.agent: 1 of [0-9,]+ points missing"


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def mean(values):
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def anonymous_mib(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def sender(build, server, begin_s, steps, step, rate):
    return subprocess.Popen([str(build / "point_load"), str(server.port), str(SERIES), str(begin_s), str(steps),
                             step, "2", str(rate)], stdout=subprocess.DEVNULL)


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def finish(process):
    if process.wait() != 0:
        raise SystemExit("the sender failed: a line was refused, or the connection ended")


def first_rate(build, server, begin_s):
    """About how many points a second would take all processors: it is dearer to make series and to seal few points of each."""
    cpu, of_senders = server.cpu_seconds(), children_cpu_seconds()
    finish(sender(build, server, begin_s, CALIBRATION_STEPS, "1", 0))
    for what in ("flush", "seal"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        connection.request("POST", f"/api/admin/{what}")
        answer = connection.getresponse()
        if answer.status >= 300:
            raise SystemExit(f"{what}: {answer.status} {answer.read()[:200]!r}")
    used = server.cpu_seconds() - cpu + children_cpu_seconds() - of_senders
    return CALIBRATION_STEPS * SERIES * os.cpu_count() / used


class Agent:
    """Somebody who does one thing so many times a second until stop(), and notes how long after it was due it was done:
    what waits behind another waited, too."""

    def __init__(self, per_second, connection, act):
        self.pause = 1 / per_second
        self.connection = connection
        self.act = act  # of a connection, a number and the Unix milliseconds it is due; returns an error text, or None
        self.seconds = []
        self.errors = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        number, due = 0, time.monotonic()
        unix_offset = time.time() - due
        while not self.stopping.wait(max(0.0, due - time.monotonic())):
            try:
                error = self.act(self.connection, number, round((due + unix_offset) * 1000))
            except (OSError, http.client.HTTPException) as failed:
                error = repr(failed)
                self.connection.close()  # the next one makes it anew
            self.seconds.append(time.monotonic() - due)
            if error:
                self.errors.append(error)
            number, due = number + 1, due + self.pause

    def stop(self):
        self.stopping.set()
        self.thread.join()


def put(connection, number, due_ms):
    """Ten points of the time they are due, for two that catch up can be sent in one millisecond; answered with a 204."""
    points = [{"metric": "soak.agent", "timestamp": due_ms, "value": number, "tags": {"n": str(n)}}
              for n in range(AGENT_POINTS)]
    connection.request("POST", "/api/put", json.dumps(points))
    answer = connection.getresponse()
    body = answer.read()
    return None if answer.status == 204 else f"put: {answer.status} {body[:200]!r}"


def ask(connection, number, _):
    """One host's last hour."""
    m = urllib.parse.quote(f"max:1m-max:cpu.usage_user{{hostname=host_{number % 1000}}}", safe="")
    connection.request("GET", f"/api/query?start=1h-ago&m={m}")
    answer = connection.getresponse()
    body = answer.read()
    return None if answer.status == 200 else f"query: {answer.status} {body[:200]!r}"


def slope_mib_per_hour(samples):
    """Of (seconds, MiB): least squares."""
    mean_t = mean(t for t, _ in samples)
    mean_m = mean(m for _, m in samples)
    above = sum((t - mean_t) * (m - mean_m) for t, m in samples)
    below = sum((t - mean_t) ** 2 for t, _ in samples)
    return 3600 * above / below if below else 0.0


def soak(build, server, rate, share, minutes):
    """Prints a row; returns points of the flood and of the agent, errors, and points a second that would take all processors."""
    step_ms = max(1, round(1000 * SERIES / (rate * share)))
    steps = max(1, int(minutes * 60_000 / step_ms))
    began = time.monotonic()
    begin_s = int(time.time()) + 1
    flood = sender(build, server, begin_s, steps, f"{step_ms}ms", 1000 * SERIES // step_ms)
    agents = [Agent(per_second, http.client.HTTPConnection("127.0.0.1", server.port, timeout=60), act)
              for per_second, act in ((10, put), (2, ask))]
    cpu, of_senders = server.cpu_seconds(), children_cpu_seconds()
    samples = []
    try:
        while flood.poll() is None:
            time.sleep(SAMPLE_SECONDS)
            samples.append((time.monotonic() - began, anonymous_mib(server)))
        took = time.monotonic() - began
    finally:
        for agent in agents:
            agent.stop()
    finish(flood)
    while time.time() < begin_s + steps * step_ms / 1000:
        time.sleep(0.1)  # a later load has later times
    used = server.cpu_seconds() - cpu
    sent = steps * SERIES
    busy = (used + children_cpu_seconds() - of_senders) / took / os.cpu_count()
    late = [sample for sample in samples if sample[0] > took * WARM_PART]
    memory = [mib for _, mib in late]
    tenths = ([mib for t, mib in samples if part <= 10 * t / took < part + 1] for part in range(10))
    print("RssAnon by tenths of the time, MiB:", *(f"{mean(one):.0f}" for one in tenths if one), file=sys.stderr)
    puts = agents[0].seconds
    print(f"| {share:.0%} | {busy:.0%} | {took / 60:.1f} | {sent / took:,.0f} | {used / took:.2f} | "
          f"{percentile(puts, 0.5) * 1000:.1f} / {percentile(puts, 0.99) * 1000:.1f} / {max(puts) * 1000:.0f} | "
          f"{percentile(agents[1].seconds, 0.99) * 1000:.1f} | {min(memory):.0f} to {max(memory):.0f} | "
          f"{slope_mib_per_hour(late):+.0f} |", flush=True)
    errors = agents[0].errors + agents[1].errors
    if share <= 0.5 and len(puts) >= JUDGED_PUTS and percentile(puts, 0.99) * 1000 > PUT_MS_MAX:
        errors.append(f"of 100 puts one took {percentile(puts, 0.99) * 1000:.0f} ms at half load")
    before, after = (mean(mib for t, mib in samples if low <= 3 * t / took < low + 1) for low in (1, 2))
    if minutes >= JUDGED_MINUTES and after > before * GROWTH_MAX:
        errors.append(f"memory: {after:.0f} MiB in the last third of the time, {before:.0f} before")
    return sent, len(puts) * AGENT_POINTS, errors, sent / took / busy


def stored_points(server, metric, begin_s, end_s):
    hours = range(begin_s // HOUR_S * HOUR_S, end_s, HOUR_S)
    return sum(count(server, metric + part, max(begin_s, at_s), min(at_s + HOUR_S, end_s))
               for at_s in hours for part in PARTS[metric])


def count(server, series, begin_s, end_s):
    """From `begin_s` up to `end_s`, which is not in it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    m = urllib.parse.quote(f"sum:0all-count:{series}", safe="")
    connection.request("GET", f"/api/query?start={1000 * begin_s}&end={1000 * end_s - 1}&m={m}")
    answer = connection.getresponse()
    body = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(f"counting: {answer.status} {body}")
    return sum(sum(one["dps"].values()) for one in body)


def run(build, minutes, canary):
    """canary: claims a point that nobody sent; that it is missed, and nothing else is wrong, is then what is wanted."""
    with tempfile.TemporaryDirectory(prefix="halite-soak-") as directory:
        server = Server(str(build / "halite"), "engine", directory)
        try:
            errors = soak_all(build, server, minutes, int(canary))
            server.process.terminate()
            if code := server.process.wait():
                errors.append(f"exit code {code}")
        finally:
            server.process.kill()
    for error in errors[:10]:
        print(error)
    if canary:
        errors = [] if len(errors) == 1 and re.fullmatch(CANARY, errors[0]) else ["not the canary alone", *errors]
    if errors:
        raise SystemExit(f"{len(errors)} errors")


def soak_all(build, server, minutes, claimed):
    """Returns errors."""
    first_s = int(time.time())
    rate = first_rate(build, server, first_s - CALIBRATION_STEPS)
    print(f"\n{SERIES:,} series, {os.cpu_count()} processors\n")
    print("| load | as it came | minutes | points/s | server's cores | put ms p50 / p99 / max | query ms p99 | RssAnon MiB | "
          "MiB an hour |")
    print("|---|---|---|---|---|---|---|---|---|")
    points, puts, errors = 0, claimed, []
    for share, part in LOADS:
        sent, put, failed, rate = soak(build, server, rate, share, minutes * part)
        points, puts, errors = points + sent, puts + put, errors + failed
    end_s = int(time.time()) + 1
    for metric, expected in (("cpu.usage_user", points // METRICS), ("soak.agent", puts)):
        try:
            found = stored_points(server, metric, first_s, end_s)
        except RuntimeError as failed:
            errors.append(str(failed))
            continue
        print(f"{metric}: {expected:,} points acknowledged, {found:,.0f} stored")
        if found != expected:
            errors.append(f"{metric}: {expected - found:,.0f} of {expected:,} points missing")
    return errors
