"""What the system and /metrics say of the server, and whether it fits what the clients saw."""

import os
import pathlib
import re
import resource
import threading
import time


def status(pid):
    """{VmRSS: bytes, VmHWM: bytes, Threads: n}"""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    found = {name: int(value) << 10 for name, value in re.findall(r"(Vm\w+):\s+(\d+) kB", text)}
    return found | {"Threads": int(re.search(r"Threads:\s+(\d+)", text).group(1))}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ShareOfMachine:
    """Processor time that others left to the server and its clients since this was made.

    On a machine that others use, too, work is as fast as they allow; so rates are per second of it.
    """

    def __init__(self, pid):
        self.pid = pid
        self.began = time.monotonic(), self._ours(), self._all_busy()

    def _ours(self):
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cpu_seconds(self.pid) + ended.ru_utime + ended.ru_stime

    @staticmethod
    def _all_busy():
        user, nice, system, _, _, irq, softirq, steal = map(
            int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    def seconds(self):
        """Of one processor."""
        then, ours, all_busy = self.began
        took = time.monotonic() - then
        others = max(self._all_busy() - all_busy - (self._ours() - ours), 0)
        return max(took * os.cpu_count() - others, took * 0.1)


def descriptors(pid):
    """(sockets, others)"""
    sockets = others = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            is_socket = os.readlink(entry.path).startswith("socket:")
        except FileNotFoundError:
            continue
        sockets += is_socket
        others += not is_socket
    return sockets, others


class MemoryWatch:
    """Looks ten times a second, and keeps what was highest."""

    def __init__(self, pid):
        self.pid = pid
        self.highest = 0
        self.minutes = []  # the highest of each
        self.connections = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        began = time.monotonic()
        while not self.done.wait(0.1):
            try:
                resident = status(self.pid)["VmRSS"]
                self.highest = max(self.highest, resident)
                if time.monotonic() - began > 60 * len(self.minutes):
                    self.minutes.append(0)
                self.minutes[-1] = max(self.minutes[-1], resident)
                self.connections = max(self.connections, descriptors(self.pid)[0])
            except (FileNotFoundError, ProcessLookupError, KeyError):
                return  # it has ended: others tell that

    def stop(self):
        self.done.set()
        self.thread.join()
        return self.highest


def counters(server):
    """{name with labels: value}"""
    answer, body = server.request("GET", "/metrics")
    if answer != 200:
        raise AssertionError(f"/metrics: {answer}")
    return {name: float(value)
            for name, value in re.findall(r"^(halite_\S+) (\S+)$", body.decode(), re.M)}


def answered(before, after, code):
    """HTTP answers of this status, of all endpoints."""
    def count(all_counters):
        return sum(value for name, value in all_counters.items()
                   if name.startswith("halite_web_requests_total") and f'status="{code}"' in name)
    return int(count(after) - count(before))


def compare(outcomes, before, after, accepts_late):
    """[(what, counted by the clients, counted by the server, whether that fits)]

    accepts_late: a server so slow that a connection waits longer to be accepted than it may be idle. The clients
    then take for idle, or leave, what the server refuses.
    """
    def seen(*wanted, client=""):
        return sum(count for (name, outcome), count in outcomes.items()
                   if outcome.split(" ")[0] in wanted and client in name)

    # Refusals whose connection was reset before their client had read them.
    unread = seen("reset", "closed")
    rows = []
    for code in ("413", "429", "503"):
        clients, counted = seen(code), answered(before, after, code)
        rows.append((f"answers {code}", clients, counted, clients <= counted <= clients + unread))
    left = seen("left", client="slow") + seen("left", client="half")
    clients, counted = seen("408"), answered(before, after, "408")
    rows.append(("answers 408", clients, counted, clients <= counted <= clients + unread + left))
    rejected = "halite_web_connections_rejected_total"
    clients, counted = seen("refused"), int(after[rejected] - before[rejected])
    # A round of the telnet flood does not tell how many of its four were.
    slack = 10 + 4 * outcomes["telnet flood", "not taken whole"]
    mistaken = max(counted - clients, 0) if accepts_late else 0
    perhaps = seen("idle") + seen("left", client="idle") if accepts_late else 0
    rows.append(("connections refused", clients, counted,
                 clients - slack <= counted <= clients + slack + perhaps))
    late = "halite_web_timeouts_total"
    counted = int(after[late] - before[late])
    clients = (seen("idle") + seen("408", client="slow") + seen("408", client="half")
               + seen("closed", client="half a put line"))
    slack = 5 + clients // 500
    rows.append(("connections too slow", clients, counted, clients <= counted + slack + mistaken))
    return rows
