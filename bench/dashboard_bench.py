"""How long a Grafana dashboard takes to load: twenty panels, each over a thousand series and six hours,
asked at once.

Each panel has a metric of its own, a point every ten seconds, half with two decimals, half whole. The
panels are asked as Grafana asks: a POST or GET each, all at the same time over connections of their
own, gzip accepted, under /grafana. What is counted is the time until the last byte of the last panel is
here, the server's processor time for all of them, and bytes on the wire. The asking side only drains
sockets; what it reads is compared with what was sent once, before times count.
"""

import dataclasses
import gzip
import json
import multiprocessing
import shutil
import socket
import statistics
import tempfile
import threading
import time
import urllib.parse

from server_bench import CONNECTIONS, START_S, STEP_S, Server, host_tags

HOURS = 6


@dataclasses.dataclass(frozen=True)
class Size:
    panels: int
    series: int
    times: int


FULL = Size(panels=20, series=1000, times=7)
QUICK = Size(panels=4, series=100, times=2)

# (name, aggregator, downsample, tag to split by): 30 s is what Grafana asks for over six hours on a
# panel of half a screen's width, 1 m on one of a quarter's.
SHAPES = (
    ("one line a panel, mean of all, 30 s", "avg", "30s-avg", None),
    ("20 lines a panel, a service each, 30 s", "avg", "30s-avg", "service"),
    ("1000 lines a panel, 5 min means", "avg", "5m-avg", "hostname"),
    ("1000 lines a panel, 1 min means", "avg", "1m-avg", "hostname"),
    ("1000 lines a panel, 30 s means", "avg", "30s-avg", "hostname"),
    ("1000 lines a panel, 30 s maxima", "max", "30s-max", "hostname"),
)


def metric_of(panel):
    return f"panel{panel:02}.load"


def value_of(panel, series, step):
    """Wanders; with two decimals in every other panel."""
    number = (series * 3701 + step * (1 + series % 7) + (step * step) % 13 + panel * 17) % 10_000
    return number if panel % 2 else number / 100


def send(port, panels, series):
    steps = HOURS * 3600 // STEP_S
    tags = [" ".join(f"{k}={v}" for k, v in host_tags(one).items()) for one in range(series)]
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for panel in panels:
            for step in range(steps):
                head = f"put {metric_of(panel)} {START_S + step * STEP_S} "
                connection.sendall("".join(
                    f"{head}{value_of(panel, one, step)} {tags[one]}\n"
                    for one in range(series)).encode())
        connection.shutdown(socket.SHUT_WR)
        if said := connection.recv(65536):
            raise SystemExit(f"the server refused: {said.decode()}")


def load(server, size):
    senders = [multiprocessing.Process(
        target=send, args=(server.port, range(i, size.panels, CONNECTIONS), size.series))
        for i in range(CONNECTIONS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
        if sender.exitcode != 0:
            raise SystemExit("the load failed")


def request_of(panel, shape, method, prefix, gzip_too):
    """The bytes of one panel's request."""
    _, aggregator, downsample, tag = shape
    begin, end = START_S, START_S + HOURS * 3600 - 1
    accept = "Accept-Encoding: gzip\r\n" if gzip_too else ""
    if method == "GET":
        split = f"{{{tag}=*}}" if tag else ""
        m = urllib.parse.quote(f"{aggregator}:{downsample}:{metric_of(panel)}{split}", safe="")
        return (f"GET {prefix}/api/query?start={begin}&end={end}&m={m} HTTP/1.1\r\n"
                f"Host: bench\r\n{accept}Connection: close\r\n\r\n").encode()
    filters = [{"type": "wildcard", "tagk": tag, "filter": "*", "groupBy": True}] if tag else []
    body = json.dumps({"start": begin, "end": end, "queries": [
        {"metric": metric_of(panel), "aggregator": aggregator, "downsample": downsample,
         "filters": filters}]})
    return (f"POST {prefix}/api/query HTTP/1.1\r\nHost: bench\r\n{accept}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}").encode()


def fetch(port, request, into, index, keep):
    """Reads an answer to its end; `into[index]` is its size, or all of it where it is kept."""
    buffer = bytearray(1 << 20)
    pieces, size = [], 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        while n := connection.recv_into(buffer):
            if size == 0 and not buffer.startswith(b"HTTP/1.1 200 "):
                into[index] = SystemExit(f"the server answered {bytes(buffer[:300])!r}")
                return
            size += n
            if keep:
                pieces.append(bytes(buffer[:n]))
    into[index] = b"".join(pieces) if keep else size


def ask_all(port, requests, keep=False):
    """(seconds until the last answer is complete, answers or their sizes)"""
    answers = [None] * len(requests)
    threads = [threading.Thread(target=fetch, args=(port, one, answers, i, keep))
               for i, one in enumerate(requests)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    for answer in answers:
        if isinstance(answer, SystemExit):
            raise answer
    return seconds, answers


def body_of(answer):
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"chunked" in head:
        body = b""
        while (length := int(rest[:rest.index(b"\r\n")], 16)) > 0:
            at = rest.index(b"\r\n") + 2
            body += rest[at:at + length]
            rest = rest[at + length + 2:]
    else:
        body = rest
    return gzip.decompress(body) if b"gzip" in head else body


def check(answer, panel, shape, size):
    """Every series is there with all its buckets; of a few, every value is right."""
    _, aggregator, downsample, tag = shape
    per = {"30s": 3, "1m": 6, "5m": 30}[downsample.split("-")[0]]
    steps = HOURS * 3600 // STEP_S
    answers = json.loads(body_of(answer))
    wanted = {None: 1, "service": min(20, size.series), "hostname": size.series}[tag]
    if len(answers) != wanted or any(len(one["dps"]) != steps // per for one in answers):
        raise SystemExit(f"{shape[0]}: {len(answers)} series, not {wanted}, or points are missing")
    if tag != "hostname":
        return
    for one in answers[::max(1, size.series // 10)]:
        host = int(one["tags"]["hostname"].split("_")[1])
        for bucket in range(0, steps // per, 17):
            values = [value_of(panel, host, step) for step in range(bucket * per, (bucket + 1) * per)]
            right = max(values) if aggregator == "max" else sum(values) / per
            told = one["dps"][str(START_S + bucket * per * STEP_S)]
            if abs(told - right) > 1e-9 * max(1, right):
                raise SystemExit(f"{shape[0]}: {told} is not {right}")


def measure(server, shape, size, method="POST", prefix="/grafana", gzip_too=True):
    """Medians of seconds until all is here and of the server's CPU seconds; megabytes sent."""
    requests = [request_of(panel, shape, method, prefix, gzip_too) for panel in range(size.panels)]
    seconds, cpu, sizes = [], [], []
    for _ in range(size.times):
        before = server.cpu_seconds()
        took, answers = ask_all(server.port, requests)
        cpu.append(server.cpu_seconds() - before)
        seconds.append(took)
        sizes = answers
    return statistics.median(seconds), statistics.median(cpu), sum(sizes) / 1e6


def ways_of(shape):
    """How it is asked: every way for the heaviest shape, Grafana's own for the others."""
    grafana = ("POST", "/grafana", True)
    if shape is not SHAPES[4]:
        return [grafana]
    return [grafana, ("GET", "/grafana", True), ("POST", "", True), ("POST", "/grafana", False)]


def fill(binary, size, directory):
    server = Server(binary, "engine", directory)
    try:
        load(server, size)
        server.post("/api/admin/flush")
        server.post("/api/admin/seal")
        server.settle()
        server.stop()
    finally:
        server.kill()


def run(binary, quick, beside=None):
    """`beside`: another build of the server, measured in turn with this one on the same points."""
    size = QUICK if quick else FULL
    binaries = [binary] + ([beside] if beside else [])
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        fill(binary, size, f"{scratch}/0")
        if beside:
            shutil.copytree(f"{scratch}/0", f"{scratch}/1")
        servers = []
        try:
            for i, one in enumerate(binaries):
                servers.append(Server(one, "engine", f"{scratch}/{i}"))
            print(f"\n{size.panels} panels, {size.series} series each, {HOURS} h of points every "
                  f"{STEP_S} s, asked at once; medians of {size.times}"
                  f"{'; in brackets the other build' if beside else ''}\n")
            print("| panels | seconds, all of them | server CPU, s | MB sent |\n|---|--:|--:|--:|")
            for shape in SHAPES:
                for server in servers:
                    request = request_of(0, shape, "POST", "/grafana", True)
                    check(ask_all(server.port, [request], keep=True)[1][0], 0, shape, size)
                for method, prefix, gzip_too in ways_of(shape):
                    told = [measure(server, shape, size, method, prefix, gzip_too)
                            for server in servers]
                    how = "" if (method, prefix, gzip_too) == ways_of(shape)[0] else (
                        f" ({method} {prefix}/api/query{'' if gzip_too else ', not compressed'})")
                    cells = [f"{told[0][i]:.{digits}f}"
                             + (f" ({told[1][i]:.{digits}f})" if beside else "")
                             for i, digits in ((0, 2), (1, 2), (2, 1))]
                    print(f"| {shape[0]}{how} | {' | '.join(cells)} |", flush=True)
            for server in servers:
                server.stop()
        finally:
            for server in servers:
                server.kill()
