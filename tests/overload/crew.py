"""Clients in a process of their own, so that no other's work holds up what they measure."""

import collections
import multiprocessing
import threading
import time
import traceback

FORK = multiprocessing.get_context("fork")


class Notes:
    """What the clients of one process saw. Safe to use from all its threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.outcomes = collections.Counter()  # (client, outcome): how often
        self.latencies = collections.defaultdict(list)  # client: seconds of what succeeded
        self.gaps = collections.defaultdict(float)  # client: longest time without a success
        self.figures = {}  # what is worth a line of the report
        self.series = []  # ledger.Series
        self.broken = []  # clients that ended by an exception

    def saw(self, client, outcome, count=1):
        with self.lock:
            self.outcomes[client, outcome] += count

    def took(self, client, seconds):
        with self.lock:
            self.latencies[client].append(seconds)

    def waited(self, client, seconds):
        with self.lock:
            self.gaps[client] = max(self.gaps[client], seconds)

    def result(self):
        with self.lock:
            return {"outcomes": self.outcomes, "latencies": dict(self.latencies),
                    "gaps": dict(self.gaps), "figures": self.figures,
                    "series": self.series, "broken": self.broken}


class Crew:
    """clients: functions of (notes, stop), each a thread of the process."""

    def __init__(self, name, clients):
        self.name = name
        self.stop = FORK.Event()
        self.ours, theirs = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=self._run, args=(clients, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def _run(self, clients, pipe):
        notes = Notes()

        def run(client):
            try:
                client(notes, self.stop)
            except Exception:  # told to whoever started us: the run fails
                notes.broken.append(traceback.format_exc())

        threads = [threading.Thread(target=run, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        notes.figures[f"processor of {self.name}, s"] = round(time.process_time(), 1)
        pipe.send(notes.result())

    def end(self, seconds):
        """Tells the clients to stop, and returns what they saw."""
        self.stop.set()
        if not self.ours.poll(seconds):
            self.process.kill()
            raise AssertionError(f"clients did not end within {seconds} s")
        result = self.ours.recv()
        self.process.join()
        return result


def merged(results):
    whole = Notes()
    for result in results:
        whole.outcomes.update(result["outcomes"])
        for client, latencies in result["latencies"].items():
            whole.latencies[client] += latencies
        for client, gap in result["gaps"].items():
            whole.gaps[client] = max(whole.gaps[client], gap)
        whole.figures |= result["figures"]
        whole.series += result["series"]
        whole.broken += result["broken"]
    return whole


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def now():
    return time.monotonic()
