"""What a point costs on its way in, stage by stage, of a real load: the CPU time of the server's
threads, that of web threads divided by where perf found them. The stages add up to what the whole
server took, because they are shares of it.

Without perf (Debian: linux-perf) web threads stay one number.
"""

import collections
import functools
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import server_bench
from server_bench import START_S, Server

SERIES = 10_000
BUDGET = {"recv": 45, "scan": 45, "cache": 40, "head": 15, "log": 30, "flush": 20, "seal": 35}
JSON_POINTS = 500  # a request

# Where a web thread was, by the function's name; the first that fits.
PLACES = (
    ("cache", re.compile(r"SeriesCache|CachedKey|XXH3|Table::|memcmp")),
    ("scan", re.compile(r"halite::ingest|LineSplitter|simdjson|PointBatch|IngestBatch|memchr")),
    ("log", re.compile(r"log_records|log_format|storage::Log|append_column|crc32")),
    ("head", re.compile(r"storage::Head|Arena|encode_point|storage::engine|SeriesTable")),
    ("recv", re.compile(r"boost::|halite::web|epoll|recv|send|pthread|syscall|clock_gettime")),
)


def cpu_by_thread(server):
    """CPU seconds by the thread's name, user and system apart."""
    found = collections.Counter()
    for stat in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/stat"):
        name, fields = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        user, system = (int(n) / 100 for n in fields.split()[11:13])
        found[name, "user"] += user
        found[name, "system"] += system
    return found


def shares(recorded):
    """Of the samples in web threads, the part of each stage."""
    text = subprocess.run(["perf", "script", "-i", recorded, "-F", "comm,ip,sym,dso"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    counts = collections.Counter()
    for line in text.decode(errors="replace").splitlines():
        words = line.split(None, 2)
        if len(words) < 3 or words[0] != "web":
            continue
        kernel = "kernel" in words[2]
        stage = next((name for name, rule in PLACES if rule.search(words[2])), "memory, copies, rest")
        counts["recv" if kernel else stage] += 1
    total = sum(counts.values())
    return {stage: count / total for stage, count in counts.items()} if total else {"web": 1}


def measure(binary, send, steps):
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        server = Server(binary, "engine", pathlib.Path(scratch) / "data")
        recorded = str(pathlib.Path(scratch) / "perf.data")
        try:
            send(server, START_S, 2)  # makes the series
            before = cpu_by_thread(server)
            perf = None
            if shutil.which("perf"):
                perf = subprocess.Popen(["perf", "record", "-q", "-F", "499", "-o", recorded, "-p",
                                         str(server.process.pid)], stderr=subprocess.DEVNULL)
            points = send(server, START_S + 20, steps)
            took = cpu_by_thread(server) - before
            if perf:
                perf.send_signal(signal.SIGINT)
                perf.wait()
            stages = collections.Counter()
            web = sum(took[name, kind] for name, kind in took if name == "web")
            for stage, share in (shares(recorded) if perf else {"web": 1}).items():
                stages[stage] += share * web
            stages["log"] += sum(took[name, kind] for name, kind in took if name == "log")
            stages["flush"] += sum(took[name, kind] for name, kind in took if name == "maintenance")
            stages["memory, copies, rest"] += sum(
                took[name, kind] for name, kind in took if name not in ("web", "log", "maintenance"))
            for stage in ("flush", "seal"):
                before_s = server.cpu_seconds()
                server.post(f"/api/admin/{stage}")
                stages[stage] += server.cpu_seconds() - before_s
            server.stop()
        finally:
            server.kill()
    return {stage: seconds * 1e9 / points for stage, seconds in stages.items()}


def send_telnet(loader, server, begin_s, steps):
    command = [loader, str(server.port), str(SERIES), str(begin_s), str(steps), "10", "4"]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def send_json(server, begin_s, steps):
    size = server_bench.Size(hosts=SERIES, steps=steps, json_steps=steps, wide_hosts=0)
    server_bench.JSON_BATCH_POINTS = JSON_POINTS
    server_bench.load(functools.partial(send_json_from, begin_s), server, size, steps)
    return SERIES * steps


def send_json_from(begin_s, port, hosts, steps):
    server_bench.send_json(port, hosts, steps, begin_s)


def run(build, quick):
    binary, loader = str(build / "halite"), str(build / "point_load")
    telnet = measure(binary, functools.partial(send_telnet, loader), 200 if quick else 2000)
    put = measure(binary, send_json, 10 if quick else 200)
    print(f"\nCPU ns a point, {SERIES:,} known series\n\n| stage | budget | telnet | HTTP JSON, {JSON_POINTS} a request |\n"
          "|---|---|---|---|")
    for stage in dict.fromkeys([*BUDGET, *telnet, *put]):
        print(f"| {stage} | {BUDGET.get(stage, '')} | {telnet.get(stage, 0):.0f} | {put.get(stage, 0):.0f} |")
    print(f"| all | {sum(BUDGET.values())} | {sum(telnet.values()):.0f} | {sum(put.values()):.0f} |")
