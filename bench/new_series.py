#!/usr/bin/env python3
"""A million series that a server has never seen, by telnet: what a second of its processor buys.

One metric, each host with a name of its own and tags that hosts share. Counted is the server's own
processor time until the points are durable, then until all is flushed ("settled"), then the same
for a second point of each series, and for the first round after a restart.

    python3 bench/new_series.py --halite build/release/halite [--series 1000000] [--tags 3]
"""

import argparse
import http.client
import pathlib
import socket
import tempfile

from server_bench import START_S, Server, host_tags

LINES_AT_ONCE = 2000


def lines_of(begin, end, tags, time_s):
    for host in range(begin, end):
        pairs = list(host_tags(host).items())[:tags]
        text = " ".join(f"{key}={value}" for key, value in pairs)
        yield f"put cpu.usage_user {time_s} {host % 100} {text}\n"


def send(port, series, tags, time_s, connections):
    """All series once, each connection a part of them, in turns; returns when all is durable."""
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    part = -(-series // connections)
    begins = [i * part for i in range(connections)]
    ends = [min((i + 1) * part, series) for i in range(connections)]
    while any(begin < end for begin, end in zip(begins, ends)):
        for i, sock in enumerate(sockets):
            until = min(begins[i] + LINES_AT_ONCE, ends[i])
            sock.sendall("".join(lines_of(begins[i], until, tags, time_s)).encode())
            begins[i] = until
    for sock in sockets:
        sock.sendall(b"sync\n")
        answer = sock.makefile().readline()
        assert answer == "synced\n", answer
        sock.close()


def post(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", path)
    response = connection.getresponse()
    body = response.read()
    assert response.status < 300, (response.status, body)


def report(what, points, seconds):
    print(f"{what:34} {points / seconds / 1000:9.0f} K points/CPU-s {seconds:7.2f} s"
          f" {seconds / points * 1e6:6.2f} us/point", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halite", required=True)
    parser.add_argument("--series", type=int, default=1_000_000)
    parser.add_argument("--tags", type=int, default=3, help="1 to 10")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--dir", help="where the data goes; default: a temporary directory")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.dir) as parent:
        data_dir = pathlib.Path(parent) / "data"
        for life in ("a new store", "after a restart"):
            server = Server(args.halite, "engine", data_dir)
            for round_number in (1, 2):
                before = server.cpu_seconds()
                time_s = START_S + 10 * round_number + (0 if life == "a new store" else 60)
                send(server.port, args.series, args.tags, time_s, args.connections)
                durable = server.cpu_seconds()
                post(server.port, "/api/admin/flush")
                settled = server.cpu_seconds()
                report(f"{life}, round {round_number}", args.series, durable - before)
                report(f"{life}, round {round_number}, settled", args.series, settled - before)
            server.stop()


if __name__ == "__main__":
    main()
