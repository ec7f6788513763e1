#!/usr/bin/env python3
"""Runs every *_bench program of a build, then the whole server under load; prints tables as
docs/internals/benchmarks.md has them."""

import argparse
import json
import pathlib
import platform
import subprocess

import churn_bench
import counters_bench
import dashboard_bench
import promql_bench
import protocols_bench
import growth_bench
import history_bench
import import_bench
import page_bench
import scale_bench
import server_bench
import soak_bench
import stage_bench
import views_bench

ROOT = pathlib.Path(__file__).resolve().parent.parent


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def run_programs(build, pattern):
    for program in sorted(build.glob("*_bench")):
        command = [str(program), "--benchmark_format=json"]
        if pattern:
            command.append(f"--benchmark_filter={pattern}")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{program.name}: {done.stderr.decode()}")
        benchmarks = json.loads(done.stdout or b'{"benchmarks":[]}')["benchmarks"]
        if not benchmarks:
            continue
        print_table(program.name, benchmarks)


def print_table(title, benchmarks):
    # Only query_bench tells it: the most memory that its process has held so far.
    peak = any("peak_MiB" in one for one in benchmarks)
    print(f"\n{title}\n\n| | CPU ns an item | items a CPU-second |{' peak MiB |' * peak}\n"
          f"|---|---|---|{'---|' * peak}")
    for one in benchmarks:
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[one["time_unit"]]
        items = one.get("items_per_second", 1e9 / (one["cpu_time"] * scale))
        memory = f" {one['peak_MiB']:,.0f} |" if peak else ""
        print(f"| {one['name']} | {1e9 / items:,.0f} | {items:,.0f} |{memory}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=("programs", "server", "scale", "growth", "churn", "counters", "history", "import", "protocols", "promql", "dashboard", "page", "soak", "views"))
    parser.add_argument("--stages", action="store_true",
                        help="only what a point costs on its way in, stage by stage")
    parser.add_argument("--part", action="append", choices=(*scale_bench.PARTS, "curves", "queries", *protocols_bench.PROTOCOLS, *promql_bench.NAMES, *promql_bench.DASHBOARDS),
                        help="of --only scale; queries of --only import; protocols of --only protocols, and remote_write_1 of --only growth; questions of --only promql; may be repeated; all by default")
    parser.add_argument("--filter", help="only benches whose name this regular expression finds")
    parser.add_argument("--quick", action="store_true", help="few points, to see that it works")
    parser.add_argument("--store", choices=("engine", "rocksdb"), default="engine", help="of the server")
    parser.add_argument("--victoria-metrics", help="its binary, for --only growth, churn, history, import, protocols and promql: measured beside ours")
    parser.add_argument("--prometheus", help="its binary, for --only promql: measured beside ours")
    parser.add_argument("--minutes", type=float, default=70, help="of --only soak, which runs when it is named alone")
    parser.add_argument("--canary", action="store_true", help="of --only soak: it claims a point that nobody sent, and must miss it")
    parser.add_argument("--beside", help="another halite binary, of --only dashboard or page: in turn with the build's")
    options = parser.parse_args()
    build = options.build.resolve()
    print(f"{processor()}, {platform.system()} {platform.release()}")
    if options.stages:
        stage_bench.run(build, options.quick)
        return
    if options.only in (None, "programs"):
        run_programs(build, options.filter)
    if options.only in (None, "scale"):
        scale_bench.run(build, options.quick, options.part, ROOT / "docs/images")
    if options.only in (None, "dashboard"):
        dashboard_bench.run(str(build / "halite"), options.quick, options.beside)
    if options.only == "growth":  # by name alone: it takes up to an hour
        remote_write = "remote_write_1" in (options.part or ())
        growth_bench.run(build, options.quick, options.victoria_metrics, remote_write,
                         None if options.quick or remote_write else ROOT / "docs/images")
    if options.only == "counters":
        counters_bench.run(build, options.quick)
    if options.only == "views":  # by name alone: it stores 170 million points
        views_bench.run(build, options.quick)
    if options.only == "churn":  # by name alone: it takes half an hour
        churn_bench.run(build, options.quick, options.victoria_metrics)
    if options.only == "history":  # by name alone: it takes ten minutes
        history_bench.run(build, options.quick, options.victoria_metrics)
    if options.only == "import":  # by name alone: it takes ten minutes
        import_bench.run(str(build / "halite"), options.quick, options.victoria_metrics, options.part)
    if options.only == "protocols":  # by name alone: it takes five minutes
        protocols_bench.run(str(build / "halite"), options.quick, options.victoria_metrics, options.part)
    if options.only == "promql":  # by name alone: it takes ten minutes
        promql_bench.run(str(build / "halite"), options.quick, options.victoria_metrics, options.prometheus, options.part)
    if options.only == "soak":
        soak_bench.run(build, options.minutes, options.canary)
    if options.only == "page":  # by name alone: it wants a browser
        page_bench.run(str(build / "halite"), options.quick, options.beside)
    if options.only in (None, "server"):
        server_bench.run(str(build / "halite"), options.store, options.quick)


if __name__ == "__main__":
    main()
