"""What `halite import` costs, beside the same points by telnet, and beside VictoriaMetrics' import of
the same JSON lines if its binary is given: CPU seconds a million points, user and system, of the whole
process until the points are in their final form on disk. All are measured in turn, so that what else
the machine does meets all of them alike.

The points are those of ten metrics of each host, six hours of a point in ten seconds, with two
decimals.
"""

import dataclasses
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse

from growth_bench import VictoriaMetrics
from scale_bench import expect
from server_bench import CONNECTIONS, START_S, STEP_S, Server, host_tags

FIELDS = ("user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
WALK = 100_003  # values of which each series has a part
WALK_STRIDE = 7919
VM_FLUSH_S = 6  # then VictoriaMetrics has begun to write what it has in memory
POST_BYTES = 32 << 20
QUERY_STEPS = 360
QUERY_ALONE_S = 20
QUERY_PAUSE_S = 0.02
LONG_TAGS = ("service_environment", "team")  # left out: a line has some 150 bytes


@dataclasses.dataclass
class Size:
    hosts: int
    steps: int
    rounds: int

    @property
    def points(self):
        return self.hosts * len(FIELDS) * self.steps


FULL = Size(hosts=1000, steps=6 * 360, rounds=3)
QUICK = Size(hosts=100, steps=360, rounds=1)


def walk():
    """Texts of a value that wanders between 0 and 100, the same in every run."""
    values, value, state = [], 50.0, 1
    for _ in range(WALK):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        value = min(100.0, max(0.0, value + (state >> 40) / 2**23 - 1))
        values.append(f"{value:.2f}")
    return values


def series_of(hosts):
    """(number, metric, tags) of each series, in the order of a host's ten metrics."""
    return [(host * len(FIELDS) + at, f"cpu.usage_{field}",
             {key: tag for key, tag in host_tags(host).items() if key not in LONG_TAGS})
            for host in hosts for at, field in enumerate(FIELDS)]


def texts_of_steps(hosts, steps, command):
    """OpenTSDB's lines, step by step."""
    values = walk()
    series = [(number * WALK_STRIDE, f"{command}{metric} ",
               " " + " ".join(f"{key}={tag}" for key, tag in tags.items()) + "\n")
              for number, metric, tags in series_of(hosts)]
    for step in range(steps):
        second = f"{START_S + step * STEP_S} "
        yield "".join([head + second + values[(begin + step) % WALK] + tail
                       for begin, head, tail in series])


def write_opentsdb(path, size):
    with open(path, "w", encoding="ascii") as file:
        for text in texts_of_steps(range(size.hosts), size.steps, ""):
            file.write(text)


def write_vmjson(path, size):
    values = walk()
    times = ",".join(str((START_S + step * STEP_S) * 1000) for step in range(size.steps))
    with open(path, "w", encoding="ascii") as file:
        for number, metric, tags in series_of(range(size.hosts)):
            named = json.dumps({"__name__": metric, **tags}, separators=(",", ":"))
            own = ",".join([values[(number * WALK_STRIDE + step) % WALK] for step in range(size.steps)])
            file.write(f'{{"metric":{named},"values":[{own}],"timestamps":[{times}]}}\n')


def send_telnet(port, hosts, steps):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for text in texts_of_steps(hosts, steps, "put "):
            connection.sendall(text.encode())
        connection.shutdown(socket.SHUT_WR)
        if said := connection.recv(65536):  # ends when every line was read
            raise SystemExit(f"the server refused: {said.decode()}")


def check(halite, data_dir, size):
    server = Server(halite, "engine", data_dir)
    try:
        stored = 0
        for field in FIELDS:
            m = urllib.parse.quote(f"sum:0all-count:cpu.usage_{field}", safe="")
            end = START_S + size.steps * STEP_S
            answers = json.loads(server.get(f"/api/query?start={START_S}&end={end}&m={m}"))
            stored += round(sum(sum(answer["dps"].values()) for answer in answers))
        expect("points stored", stored, size.points)
    finally:
        server.kill()


def figures(size, cpu_s, wall_s, peak_mib, data_dir):
    stored = sum(f.stat().st_size for f in pathlib.Path(data_dir).rglob("*") if f.is_file())
    return {"CPU s a million points": cpu_s * 1e6 / size.points,
            "points a CPU-second": size.points / cpu_s, "points a second": size.points / wall_s,
            "peak memory, MiB": peak_mib, "bytes a point": stored / size.points}


def measure_import(halite, file, size, checked):
    with tempfile.TemporaryDirectory(prefix="halite-bench-", dir=file.parent) as scratch:
        data_dir = scratch + "/data"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALITE_")}
        started = time.monotonic()
        process = subprocess.Popen([halite, "import", "--data-dir", data_dir, "--quiet", str(file)],
                                   cwd=scratch, env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - started
        if process.returncode != 0:
            raise SystemExit(f"the import failed: {said}")
        found = figures(size, usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024, data_dir)
        if checked:
            check(halite, data_dir, size)
        return found


def measure_telnet(halite, size, folder):
    with tempfile.TemporaryDirectory(prefix="halite-bench-", dir=folder) as scratch:
        server = Server(halite, "engine", scratch)
        try:
            started = time.monotonic()
            senders = [multiprocessing.Process(target=send_telnet, args=(
                server.port, range(i * size.hosts // CONNECTIONS, (i + 1) * size.hosts // CONNECTIONS),
                size.steps)) for i in range(CONNECTIONS)]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
                if sender.exitcode != 0:
                    raise SystemExit("the load failed")
            wall_s = time.monotonic() - started
            server.post("/api/admin/flush")
            server.post("/api/admin/seal")
            server.settle()
            return figures(size, server.cpu_seconds(), wall_s, server.peak_mib(), scratch)
        finally:
            server.kill()


def measure_victoria_metrics(binary, file, size):
    with tempfile.TemporaryDirectory(prefix="halite-bench-", dir=file.parent) as scratch:
        server = VictoriaMetrics(binary, scratch)
        try:
            begun = server.cpu_seconds()
            started = time.monotonic()
            with open(file, "rb") as lines:
                while body := lines.read(POST_BYTES):
                    server.ask("POST", "/api/v1/import", body + lines.readline())
            wall_s = time.monotonic() - started
            time.sleep(VM_FLUSH_S)
            server.settle_on_disk()
            cpu_s = server.cpu_seconds() - begun
            query = urllib.parse.urlencode({
                "query": 'sum(count_over_time({__name__=~"cpu.usage_.*"}[1d]))', "nocache": 1,
                "time": START_S + size.steps * STEP_S})
            [answer] = json.loads(server.get(f"/api/v1/query?{query}"))["data"]["result"]
            expect("points stored", int(answer["value"][1]), size.points)
            return figures(size, cpu_s, wall_s, server.peak_mib(), scratch)
        finally:
            server.kill()


def asked_while(server, path, running):
    """Seconds of each answer, asked one after the other while `running`."""
    seconds = []
    while running():
        begun = time.monotonic()
        server.get(path)
        seconds.append(time.monotonic() - begun)
        time.sleep(QUERY_PAUSE_S)
    return seconds


def measure_queries(halite, file, size):
    """How long queries take, alone and while `import --url` fills the same server: p95 in ms."""
    with tempfile.TemporaryDirectory(prefix="halite-bench-", dir=file.parent) as scratch:
        server = Server(halite, "engine", scratch + "/data")
        try:
            send_telnet(server.port, range(size.hosts), QUERY_STEPS)
            server.settle()
            end = START_S + QUERY_STEPS * STEP_S
            paths = {name: f"/api/query?start={START_S}&end={end}&m=" + urllib.parse.quote(m, safe="")
                     for name, m in (("one series", "sum:1m-avg:cpu.usage_user{hostname=host_1}"),
                                     (f"{size.hosts} series", "sum:1m-avg:cpu.usage_user"))}
            for name, path in paths.items():
                until = time.monotonic() + QUERY_ALONE_S
                alone = asked_while(server, path, lambda: time.monotonic() < until)
                environment = {k: v for k, v in os.environ.items() if not k.startswith("HALITE_")}
                importing = subprocess.Popen(
                    [halite, "import", "--url", f"http://127.0.0.1:{server.port}", "--quiet", str(file)],
                    cwd=scratch, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                begun = time.monotonic()
                during = asked_while(server, path, lambda: importing.poll() is None)
                rate = size.points / (time.monotonic() - begun)
                if importing.returncode != 0:
                    raise SystemExit("the import failed")
                p95 = [1000 * statistics.quantiles(seconds, n=20)[-1] for seconds in (alone, during)]
                print(f"{name}: p95 {p95[0]:.2f} ms alone, {p95[1]:.2f} ms during an import of "
                      f"{rate:,.0f} points a second, {p95[1] / p95[0]:.2f} times", flush=True)
        finally:
            server.kill()


def run(halite, quick, victoria_metrics, parts=None):
    """`parts`: names of columns, or "queries"; None measures all columns."""
    size = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="import-bench-") as folder:
        opentsdb, vmjson = pathlib.Path(folder) / "points.txt", pathlib.Path(folder) / "points.json"
        write_opentsdb(opentsdb, size)
        if parts == ["queries"]:
            measure_queries(halite, opentsdb, size)
            return
        write_vmjson(vmjson, size)
        measures = {
            "import, OpenTSDB text": lambda first: measure_import(halite, opentsdb, size, first),
            "telnet, sealed": lambda first: measure_telnet(halite, size, folder),
            "import, vmjson": lambda first: measure_import(halite, vmjson, size, first)}
        if victoria_metrics:
            measures["VictoriaMetrics, vmjson"] = lambda first: measure_victoria_metrics(
                victoria_metrics, vmjson, size)
        found = {name: [] for name in measures if parts is None or name in parts}
        for number in range(size.rounds):
            for name, rounds in found.items():
                rounds.append(measures[name](number == 0))
        print(f"\n{size.hosts * len(FIELDS):,} series, {size.points:,} points, "
              f"{opentsdb.stat().st_size / size.points:.0f} bytes a line, "
              f"medians of {size.rounds}\n")
    print(f"| | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
    for key in next(iter(found.values()))[0]:
        shown = []
        for rounds in found.values():
            number = statistics.median(one[key] for one in rounds)
            shown.append(f"{number:,.0f}" if number >= 100 else f"{number:.3f}")
        print(f"| {key} | {' | '.join(shown)} |", flush=True)
