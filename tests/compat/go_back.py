#!/usr/bin/env python3
"""Whether one may go back: an old binary opens what a new one has written since, answers alike and goes on.

  tests/compat/go_back.py --old BINARY --new BINARY

For each kind of directory of the old binary's version, or of the last released one before it: the new one writes and ends, cleanly or by
kill -9, sealed or not; the old one must answer what it answered and what the new one answered, write,
and pass its own check; then the new one again. A directory with a view must be refused by the old binary,
by name, if that has no views, and open again once the view is gone. ./dev go-back builds the old binary."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import content
import make
from server_process import START_SECONDS, ServerTrouble, clean_environment

WRITTEN = content.WRITTEN
VIEW = '[[views]]\nname = "v"\nmetrics = "compat.ints"\ninterval = "1h"\nfunctions = ["sum"]\n'
ASKED = [f"/api/query?start={WRITTEN}&end={WRITTEN + 90_000}&m={m}" for m in (
    "none:compat.ints", "none:written.new", "sum:1h-sum:written.long", "sum:rollup_raw:1h-max:written.long")]


class Failure(Exception):
    pass


def points_of_new(begin):
    known = [content.point("compat.ints", begin + i, i, host="a", dc="x") for i in range(20)]
    fresh = [content.point("written.new", begin + i, i / 4, host=f"w{i % 3}", dc="x") for i in range(30)]
    return known + fresh + [content.point("written.long", begin + 5 * i, i * 7919 % 1009, host="w", dc="x")
                            for i in range(12_000)]


def checked(binary, data):
    done = subprocess.run([binary, "check", "--data-dir", str(data)], capture_output=True, text=True,
                          env=clean_environment(), check=False)
    if done.returncode != 0:
        raise Failure(f"{binary} check: {done.stdout}{done.stderr}")


def end(server, kill):
    if kill:
        server.kill()
    elif server.terminate() != 0:
        raise Failure(f"it did not end well:\n{server.log_text()}")


def alike(server, expected):
    wrong = content.differences(server, expected)
    if wrong:
        raise Failure("\n".join(wrong) + "\n" + server.log_text())


def go_back(old, new, kind, data, expected, seal, kill):
    server = content.Server(new, data, kind).start()
    server.put(points_of_new(WRITTEN))
    if seal and kind != "rocksdb":
        server.ask("POST", "/api/admin/seal")
        server.put([content.point("compat.ints", WRITTEN + 7, 70, host="a", dc="x")])  # late
    written = content.answers(server, ASKED)
    end(server, kill)
    expected = [one for one in expected if not one[0].startswith("/api/suggest?type=tag")]
    server = content.Server(old, data, kind).start()
    alike(server, expected + written)
    server.put([content.point("compat.ints", WRITTEN + 100 + i, i, host="a", dc="x") for i in range(9)]
               + [content.point("written.old", WRITTEN + i, i, host="old", dc="x") for i in range(9)])
    asked = [*ASKED, f"/api/query?start={WRITTEN}&end={WRITTEN + 90_000}&m=none:written.old"]
    written = content.answers(server, asked)
    end(server, kill)
    checked(old, data)
    server = content.Server(new, data, kind).start()
    alike(server, expected + written)
    end(server, False)
    checked(new, data)


def go_back_with_a_view(old, new, kind, data):
    """'refused' or 'opened': what the old binary does with a directory that has a view."""
    rules = data.parent / "views.toml"
    rules.write_text(VIEW)
    server = content.Server(new, data, kind, "--config", str(rules)).start()
    end(server, False)
    refused = content.Server(old, data, kind, "--config", str(rules))
    refused.launch()
    try:
        refused.process.wait(START_SECONDS)
        said = refused.log_text()
    except subprocess.TimeoutExpired:
        said = ""
    finally:
        refused.kill()
    opened = refused.port is not None
    if not opened and 'has the format "' not in said and "views" not in said:
        raise Failure(f"the old binary does not say why it refuses:\n{said}")
    end(content.Server(new, data, kind).start(), False)  # without the rule: the view is removed
    server = content.Server(old, data, kind).start()
    end(server, False)
    return "opened" if opened else "refused"


def kept_version(version):
    """This one, if its directories are kept; else the last of those that are."""
    kept = [one.name for one in content.HERE.iterdir() if re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", one.name)]
    return version if version in kept else max(kept, key=lambda one: [int(part) for part in one.split(".")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=pathlib.Path, required=True)
    parser.add_argument("--new", type=pathlib.Path, required=True)
    options = parser.parse_args()
    old, new = options.old.resolve(), options.new.resolve()
    version = kept_version(make.said_version(old)[0])
    failed = 0
    for kind in content.KINDS:
        kept = content.HERE / version / f"{kind}.tar.xz"
        expected = content.from_text((content.HERE / version / f"{kind}.answers").read_text())
        cases = [(f"{'sealed' if seal else 'not sealed'}, {'kill -9' if kill else 'clean end'}",
                  lambda data, seal=seal, kill=kill: go_back(old, new, kind, data, expected, seal, kill))
                 for seal in (False, True) for kill in (False, True)]
        cases.append(("with a view", lambda data: go_back_with_a_view(old, new, kind, data)))
        for name, run in cases:
            with tempfile.TemporaryDirectory(prefix="halite-back-") as scratch:
                shutil.unpack_archive(kept, scratch)
                try:
                    print(f"{version} {kind}, {name}: {run(pathlib.Path(scratch) / 'data') or 'ok'}", flush=True)
                except (Failure, ServerTrouble) as trouble:
                    failed += 1
                    print(f"{version} {kind}, {name}: FAILED\n{trouble}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
