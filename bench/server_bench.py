"""The whole server under load: what a second of its processor buys, and what a point costs on disk.

The load is modelled on a fleet of hosts that each send one metric with ten tags every ten seconds.
It is made on the fly; only the server's own processor time is counted, so what the generator costs
does not matter. Wall-clock numbers are left out: on a shared machine they say nothing.
"""

import dataclasses
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

STEP_S = 10
START_S = 1_767_225_600  # 2026-01-01
METRIC = "cpu.usage_user"
CONNECTIONS = 4
JSON_BATCH_POINTS = 1000
IDLE_SECONDS = 2


def host_tags(host):
    """Ten tags, most of them shared by many hosts, as TSBS has them."""
    return {
        "hostname": f"host_{host}",
        "region": f"region-{host % 9}",
        "datacenter": f"region-{host % 9}{'abc'[host % 3]}",
        "rack": str(host % 100),
        "os": ("Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10")[host % 3],
        "arch": ("x64", "x86")[host % 2],
        "team": ("SF", "NYC", "LON", "CHI")[host % 4],
        "service": str(host % 20),
        "service_version": str(host % 2),
        "service_environment": ("production", "staging", "test")[host % 3],
    }


def value(host, step):
    """A whole number that wanders, the same in every run."""
    return (host * 37 + step * (1 + host % 7) + (step * step) % 13) % 100


@dataclasses.dataclass
class Size:
    hosts: int
    steps: int
    json_steps: int
    wide_hosts: int  # with a point a minute, for a day

    @property
    def points(self):
        return self.hosts * self.steps

    @property
    def json_points(self):
        return self.hosts * self.json_steps


FULL = Size(hosts=1000, steps=12 * 360, json_steps=2 * 360, wide_hosts=10_000)
QUICK = Size(hosts=1000, steps=360, json_steps=60, wide_hosts=1000)


class Server:
    def __init__(self, binary, store, data_dir, *settings):
        self.data_dir = pathlib.Path(data_dir)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALITE_")}
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(data_dir),
             "--store", store, "--set", "self_metrics.enabled=false", *settings],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
        self.port = None
        for line in self.process.stderr:
            found = re.search(rb"listening on \S*:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        if self.port is None:
            raise SystemExit("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

    def forget_peak(self):
        """peak_mib() counts from now on; returns what is resident now."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self.peak_mib()

    def settle(self):
        """Waits until it uses less than 5% of a processor for a while."""
        for _ in range(60):
            before = self.cpu_seconds()
            time.sleep(IDLE_SECONDS)
            if self.cpu_seconds() - before < 0.05 * IDLE_SECONDS:
                return

    def bytes_on_disk(self):
        return sum(f.stat().st_size for f in self.data_dir.rglob("*") if f.is_file())

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path):
        return self.ask("POST", path)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, body)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status not in (200, 204):
            raise SystemExit(f"{method} {path}: {answer.status} {body[:500]}")
        return body

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(120) != 0:
            raise SystemExit("the server did not stop well")


def send_telnet(port, hosts, steps, step_s=STEP_S):
    tags = [" ".join(f"{k}={v}" for k, v in host_tags(host).items()) for host in hosts]
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for step in range(steps):
            head = f"put {METRIC} {START_S + step * step_s} "
            lines = [f"{head}{value(host, step)} {tag}\n" for host, tag in zip(hosts, tags)]
            connection.sendall("".join(lines).encode())
        connection.shutdown(socket.SHUT_WR)
        if said := connection.recv(65536):  # ends when every line was read
            raise SystemExit(f"the server refused: {said.decode()}")


def send_telnet_minutes(port, hosts, steps):
    send_telnet(port, hosts, steps, 60)


def send_json(port, hosts, steps, begin_s=START_S):
    tags = [json.dumps(host_tags(host), separators=(",", ":")) for host in hosts]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    batch = []

    def send():
        connection.request("POST", "/api/put", "[" + ",".join(batch) + "]")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 204:
            raise SystemExit(f"put: {answer.status} {body[:500]}")
        batch.clear()

    for step in range(steps):
        second = begin_s + step * STEP_S
        for host, tag in zip(hosts, tags):
            batch.append(f'{{"metric":"{METRIC}","timestamp":{second},'
                         f'"value":{value(host, step)},"tags":{tag}}}')
            if len(batch) == JSON_BATCH_POINTS:
                send()
    if batch:
        send()
    connection.close()


def load(send, server, size, steps):
    """All hosts over some connections, a process each. Returns the server's CPU seconds."""
    before = server.cpu_seconds()
    senders = [
        multiprocessing.Process(target=send,
                                args=(server.port, range(i, size.hosts, CONNECTIONS), steps))
        for i in range(CONNECTIONS)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
        if sender.exitcode != 0:
            raise SystemExit("the load failed")
    return server.cpu_seconds() - before


def count(server, size, steps):
    """Points stored, counted by the server."""
    end = START_S + steps * STEP_S - 1
    m = urllib.parse.quote(f"sum:0all-count:{METRIC}", safe="")
    answers = json.loads(server.get(f"/api/query?start={START_S}&end={end + 1}&m={m}"))
    return round(sum(sum(answer["dps"].values()) for answer in answers))


def ask(server, expression, start, end, times):
    """CPU milliseconds of the server and milliseconds on the clock, for one question."""
    path = f"/api/query?start={start}&end={end}&m={urllib.parse.quote(expression, safe='')}"
    server.get(path)  # once to open files
    before = server.cpu_seconds()
    clock = []
    for _ in range(times):
        started = time.monotonic()
        server.get(path)
        clock.append((time.monotonic() - started) * 1000)
    return (server.cpu_seconds() - before) * 1000 / times, statistics.median(clock)


def measure_load(binary, store, send, size, steps):
    points = size.hosts * steps
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = Server(binary, store, scratch)
        try:
            loaded = load(send, server, size, steps)
            stored = count(server, size, steps)
            if stored != points:
                raise SystemExit(f"{points} points were sent, {stored} are there")
            server.settle()
            settled = server.cpu_seconds()
            rows = {
                "points": points,
                "points a CPU-second": points / loaded,
                "points a CPU-second, settled": points / settled,
                "bytes a point": server.bytes_on_disk() / points,
                "peak memory, MiB": server.peak_mib(),
            }
            questions = measure_questions(server, steps) if send is send_telnet else []
            server.stop()
        finally:
            server.kill()
        rows["bytes a point, stopped"] = server.bytes_on_disk() / points
        return rows, questions


def measure_questions(server, steps):
    end = START_S + steps * STEP_S - 1
    hours = min(12, steps // 360)
    questions = [
        (f"one host over {hours} h, every point", f"sum:{METRIC}{{hostname=host_7}}", hours, 50),
        (f"one host over {hours} h, 1 h averages", f"sum:1h-avg:{METRIC}{{hostname=host_7}}",
         hours, 50),
        ("1000 hosts over 1 h, grouped, 1 min maxima", f"max:1m-max:{METRIC}{{hostname=*}}", 1, 5),
        ("1000 hosts over 1 h, one sum of 1 min averages", f"sum:1m-avg:{METRIC}", 1, 5),
    ]
    return [
        (name, *ask(server, expression, end + 1 - span * 3600, end, times))
        for name, expression, span, times in questions
    ]


def measure_wide(binary, store, size):
    """Questions over many series for a day: their cost, the server's memory before, and what they
    add to it while they are answered, the cache of what they read included."""
    day_s, minutes = 86_400, 1440
    rows = []
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = Server(binary, store, scratch)
        try:
            wide = dataclasses.replace(size, hosts=size.wide_hosts)
            load(send_telnet_minutes, server, wide, minutes)
            server.settle()
            for what, expression in (("every point summed", f"sum:{METRIC}"),
                                     ("1 h averages", f"sum:1h-avg:{METRIC}"),
                                     ("1 h averages, grouped", f"sum:1h-avg:{METRIC}{{hostname=*}}")):
                before = server.forget_peak()
                cpu, clock = ask(server, expression, START_S, START_S + day_s - 1, 1)
                rows.append((f"{wide.hosts:,} hosts over a day, {what}", cpu, clock, before,
                             server.peak_mib() - before))
            server.stop()
        finally:
            server.kill()
    return rows


def run(binary, store, quick):
    size = QUICK if quick else FULL
    telnet, questions = measure_load(binary, store, send_telnet, size, size.steps)
    put, _ = measure_load(binary, store, send_json, size, size.json_steps)
    print(f"\n| | telnet | HTTP JSON |\n|---|---|---|")
    for name, number in telnet.items():
        shown = [f"{n:,.0f}" if n >= 1000 else f"{n:.1f}" for n in (number, put[name])]
        print(f"| {name} | {shown[0]} | {shown[1]} |")
    print("\n| question | server CPU, ms | on the clock, ms |\n|---|---|---|")
    for name, cpu, clock in questions:
        print(f"| {name} | {cpu:.1f} | {clock:.1f} |", flush=True)
    print("\n| question | server CPU, ms | on the clock, ms | resident before, MiB | added, MiB |")
    print("|---|---|---|---|---|")
    for name, cpu, clock, before, added in measure_wide(binary, store, size):
        print(f"| {name} | {cpu:,.0f} | {clock:,.0f} | {before:,.0f} | {added:,.0f} |")
