"""Clients that let the server wait: slow readers, slow writers, and those who say nothing."""

import errno
import select
import socket
import threading
import time

import crew
import wire

# Until a client looks what became of its answer: the server's own patience begins once it has
# filled the buffers between the two, which takes its time under load.
PATIENCE_S = 8
WHOLE = "whole, though nobody read it in time"


def _drip(stop, opened, text):
    """A byte a second, until there is an answer before its time."""
    for byte in text:
        if stop.is_set():
            return
        opened.sendall(bytes((byte,)))
        if select.select([opened], [], [], 1)[0]:
            return


def _first_line(opened):
    """Of what was said; empty where it closed without a word."""
    said = b""
    while b"\r\n" not in said:
        came = opened.recv(4096)
        if not came:
            break
        said += came
    return said.split(b"\r\n")[0]


def slow_reader(port, path, settings, trickles):
    """Asks for much, and reads nothing of it or 16 bytes a second."""
    patience = settings["web.write_timeout_ms"] / 1000 + PATIENCE_S

    def run(notes, stop):
        while not stop.is_set():
            connection = wire.Connection(port, receive_bytes=4096)
            outcome = _read_slowly(connection, stop, path, patience, trickles)
            notes.saw("slow reader", outcome)
            connection.close()
            stop.wait(0.2)

    return run


def _read_slowly(connection, stop, path, patience, trickles):
    try:
        connection.open()
        connection.socket.sendall(wire.request_bytes("GET", path))
        status = connection.read_head()
    except TimeoutError:
        return "no answer"
    except OSError:
        return "refused"
    if status != 200:
        return connection.outcome(status)
    try:
        until = crew.now() + patience
        while wire.pause(stop, min(until, crew.now() + 1)) and crew.now() < until:
            if trickles:
                connection.early += connection.socket.recv(16)
        if stop.is_set():
            return "left"
        connection.read_body(status)
    except TimeoutError:
        return "no answer"
    except (OSError, wire.Cut):
        return "cut"
    return WHOLE


def cut_alone(port, path, settings):
    """How an answer ends that nobody reads, while nobody else asks for anything."""
    connection = wire.Connection(port, receive_bytes=4096)
    patience = settings["web.write_timeout_ms"] / 1000 + 4
    outcome = _read_slowly(connection, threading.Event(), path, patience, False)
    connection.close()
    return outcome


def slow_sender(port, name, first, rest, timeout_ms, silent=False):
    """Sends `first` at once and `rest` a byte a second (empty: nothing more ever).

    silent: after the timeout it is closed without a word; sooner, it had no place.
    """
    def run(notes, stop):
        while not stop.is_set():
            began = crew.now()
            outcome = _send_slowly(port, stop, first, rest)
            if outcome == "refused" and silent and crew.now() - began >= timeout_ms / 1000:
                outcome = "closed"
            notes.saw(name, outcome)
            stop.wait(0.2)

    return run


def _send_slowly(port, stop, first, rest):
    try:
        with wire.open_socket(port) as opened:
            try:
                opened.sendall(first)
                _drip(stop, opened, rest)
            except OSError:
                pass  # what it said before is still to be read
            until = crew.now() + wire.ANSWER_SECONDS
            while not select.select([opened], [], [], 0.5)[0]:
                if stop.is_set():
                    return "left"
                if crew.now() > until:
                    return "no answer"
            line = _first_line(opened)
    except OSError:
        line = b""
    if line.startswith(b"HTTP/"):
        return line.split(b" ")[1].decode()
    return f"said {line[:60]!r}" if line else "refused"


def slow_put_lines(port, series):
    """A put line at a byte a tenth of a second; it counts, once its end has come."""
    def run(notes, stop):
        while not stop.is_set():
            series.sent = series.acknowledged + 1
            try:
                with wire.open_socket(port) as opened:
                    for byte in series.lines(series.acknowledged, series.sent):
                        opened.sendall(bytes((byte,)))
                        time.sleep(0.02 if stop.is_set() else 0.1)
                    opened.sendall(b"sync\n")
                    said = opened.recv(4096)
                outcome = "synced" if said == b"synced\n" else f"said {said[:60]!r}"
                outcome = outcome if said else "refused"
            except TimeoutError:
                outcome = "no answer"
            except OSError:
                outcome = "refused"
            notes.saw("slow put line", outcome)
            if outcome == "synced":
                series.acknowledged = series.sent
            stop.wait(0.1)
        notes.series.append(series)

    return run


class Idlers:
    """Connections that never say a word, from several addresses; in a tide that leaves room at ebb.

    At flood there are more of them than web.connections_max, at ebb half of what is allowed.
    """

    NAME = "idle connection"
    TIDE_S = 10
    ROUND_S = 0.02
    OPENED_A_ROUND = 100  # until most are there; then 10: who is refused comes again, and again

    def __init__(self, port, most, allowed, of_address, idle_timeout_ms):
        self.port = port
        self.levels = (most, allowed // 2)
        self.sources = [f"127.0.0.{2 + n}" for n in range(-(-most // (of_address * 9 // 10)))]
        self.idle_s = idle_timeout_ms / 1000
        self.poll = None  # made in its process
        self.open = {}  # descriptor: (socket, since)
        self.next = 0

    def __call__(self, notes, stop):
        self.poll = select.epoll()
        began = crew.now()
        held_most = 0
        due = began
        while not stop.is_set():
            self._look(notes, max(due - crew.now(), 0))
            if crew.now() < due:
                continue
            due = crew.now() + self.ROUND_S
            wanted = self.levels[int((crew.now() - began) / self.TIDE_S) % 2]
            missing = max(wanted - len(self.open), 0)
            for _ in range(min(missing, self.OPENED_A_ROUND if missing > wanted // 4 else 10)):
                self._open_one(notes)
            while len(self.open) > wanted:
                self._leave(notes, next(iter(self.open)))
            held_most = max(held_most, len(self.open))
        for descriptor in list(self.open):
            self._leave(notes, descriptor)
        notes.figures["idle connections at once, at most"] = held_most

    def _open_one(self, notes):
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        opened.setblocking(False)
        try:
            opened.bind((self.sources[self.next % len(self.sources)], 0))
            self.next += 1
            opened.connect_ex(("127.0.0.1", self.port))
        except OSError as error:
            opened.close()
            if error.errno != errno.EADDRINUSE:
                raise
            return
        self.poll.register(opened.fileno(), select.EPOLLIN | select.EPOLLRDHUP)
        self.open[opened.fileno()] = (opened, crew.now())

    def _look(self, notes, seconds):
        for descriptor, _ in self.poll.poll(seconds):
            opened, since = self.open.pop(descriptor)
            self.poll.unregister(descriptor)
            try:
                said = opened.recv(100)
            except OSError:
                said = b""
            opened.close()
            notes.saw(self.NAME, f"said {said!r}" if said else self._why_closed(since))

    def _leave(self, notes, descriptor):
        opened, since = self.open.pop(descriptor)
        self.poll.unregister(descriptor)
        try:
            opened.recv(100)
            notes.saw(self.NAME, self._why_closed(since))  # before we could leave
        except BlockingIOError:
            notes.saw(self.NAME, "left")
        except OSError:
            notes.saw(self.NAME, self._why_closed(since))
        opened.close()

    def _why_closed(self, since):
        return "refused" if crew.now() - since < self.idle_s else "idle"
