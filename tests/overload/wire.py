"""HTTP and telnet by hand: what became of an exchange, in one word, however it ended."""

import socket
import time

ANSWER_SECONDS = 60  # nobody waits longer; then there was no answer


def open_socket(port, source=None, receive_bytes=None, timeout=ANSWER_SECONDS):
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.settimeout(timeout)
        if receive_bytes is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if source is not None:
            opened.bind((source, 0))
        opened.connect(("127.0.0.1", port))
    except OSError:
        opened.close()
        raise
    return opened


def request_bytes(method, path, body=b"", close=False):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    if body or method == "POST":
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    if close:
        head += "Connection: close\r\n"
    return head.encode() + b"\r\n" + body


class Cut(Exception):
    """The connection ended inside of an answer."""


class Connection:
    """One that is made anew when the server closed it. Not for two threads at once."""

    def __init__(self, port, source=None, receive_bytes=None):
        self.port = port
        self.source = source
        self.receive_bytes = receive_bytes
        self.socket = None
        self.fresh = True  # nothing was answered on it
        self.early = b""
        self.head = b""

    def open(self):
        if self.socket is None:
            self.socket = open_socket(self.port, self.source, self.receive_bytes)
            self.fresh = True
            self.early = b""

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def ask(self, method, path, body=b"", close=False):
        """(outcome, body of the answer)"""
        broken = False
        try:
            self.open()
            try:
                self.socket.sendall(request_bytes(method, path, body, close))
            except (BrokenPipeError, ConnectionResetError):
                broken = True  # it may have answered before
            status = self.read_head()
            answer = self.read_body(status)
        except TimeoutError:
            self.close()
            return "no answer", b""
        except Cut:
            self.close()
            return "cut", b""
        except OSError:
            fresh = self.fresh
            self.close()
            if broken and not fresh:
                return "reset while sending", b""
            return ("refused" if fresh else "closed"), b""
        self.fresh = False
        outcome = self.outcome(status)
        if close or b"\r\nconnection: close\r\n" in self.head.lower() or broken:
            self.close()
        return outcome, answer

    def outcome(self, status):
        if status in (429, 503) and b"\r\nretry-after: " not in self.head.lower():
            return f"{status} without Retry-After"
        return str(status)

    def _more(self):
        came = self.socket.recv(1 << 18)
        if not came:
            raise ConnectionResetError
        return came

    def read_head(self):
        """The status. ConnectionResetError: it closed without a word. Cut: inside of the head."""
        while b"\r\n\r\n" not in self.early:
            try:
                self.early += self._more()
            except ConnectionResetError:
                if self.early:
                    raise Cut from None
                raise
        self.head, self.early = self.early.split(b"\r\n\r\n", 1)
        self.head += b"\r\n"
        return int(self.head.split(b" ", 2)[1])

    def read_body(self, status):
        if status == 204:
            return b""
        try:
            for line in self.head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    return self._read_counted(int(line.split(b":")[1]))
            return self._read_chunks()
        except ConnectionResetError:
            raise Cut from None

    def _read_counted(self, count):
        pieces, have = [self.early], len(self.early)
        while have < count:
            pieces.append(self._more())
            have += len(pieces[-1])
        whole = b"".join(pieces)
        self.early = whole[count:]
        return whole[:count]

    def _read_chunks(self):
        """An answer in chunks is only told from a cut one: no client here looks at its bytes."""
        end = self.early
        while not end.endswith(b"\r\n0\r\n\r\n"):
            end = end[-16:] + self._more()
        self.early = b""
        return b""


def telnet_points(port, lines, source=None):
    """Puts lines on a connection of their own; how that ended."""
    opened = None
    said = b""
    try:
        opened = open_socket(port, source)
        opened.sendall(lines + b"sync\n")
        while not said.endswith(b"\n"):
            came = opened.recv(4096)
            if not came:
                break
            said += came
    except TimeoutError:
        return "no answer"
    except OSError:
        pass
    finally:
        if opened is not None:
            opened.close()
    if not said:
        return "refused"
    return "synced" if said == b"synced\n" else f"said {said[:100]!r}"


def pause(stop, until):
    """Sleeps until that time.monotonic(), or until stop is set; whether to go on."""
    return not stop.wait(max(until - time.monotonic(), 0))
