#!/usr/bin/env python3
"""Makes the data directories of a version in tests/compat/VERSION, one of each kind:

  tests/compat/make.py --halite BINARY [--into DIRECTORY]

The server is killed, so that its log is needed. The answers are those of the same binary after that; if
they differ from those before, nothing is kept. ./dev release does this for a new version."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import content
from server_process import clean_environment

KEPT_BYTES_MAX = 300 << 10  # of one version, in git for ever


def said_version(binary):
    """(version, revision) as the binary says them."""
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True,
                          env=clean_environment()).stdout
    version = re.search(r"\b(\d+\.\d+\.\d+\S*)", said)
    revision = re.search(r"\b([0-9a-f]{7,40})\b", said)
    if not version or not revision:
        sys.exit(f"{binary} --version says neither version nor revision: {said}")
    return version.group(1), revision.group(1)


def copied(data):
    """A copy of a data directory, and nothing in it that a process holds."""
    copy = data.parent / "copy"
    shutil.copytree(data, copy)
    return copy


def make(binary, kind, scratch):
    """The directory of a killed server, and what it answers."""
    data = scratch / kind / "data"
    data.parent.mkdir()
    server = content.Server(binary, data, kind).start()
    try:
        content.write(server)
        asked = content.questions(kind)
        before = content.answers(server, asked)
    finally:
        server.kill()
    again = content.Server(binary, copied(data), kind).start()
    try:
        wrong = content.differences(again, before)
        found = content.answers(again, asked)
    finally:
        again.kill()
    if wrong:
        sys.exit(f"{kind}: answers differ after kill -9:\n" + "\n".join(wrong))
    for path, status, body in found:
        if status != 200 or body in ("", "[]"):
            sys.exit(f"{kind}: {path} answers nothing: {status} {body}")
    return data, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halite", type=pathlib.Path, required=True, help="a released binary")
    parser.add_argument("--into", type=pathlib.Path, default=content.HERE,
                        help="where the folder of the version is made (tests/compat)")
    options = parser.parse_args()
    binary = options.halite.resolve()
    version, revision = said_version(binary)
    into = options.into / version
    if into.exists():
        sys.exit(f"{into} exists: the directories of a released version do not change")
    with tempfile.TemporaryDirectory(prefix="halite-compat-") as scratch:
        made = {kind: make(binary, kind, pathlib.Path(scratch)) for kind in content.KINDS}
        into.mkdir(parents=True)
        for kind, (data, found) in made.items():
            with tarfile.open(into / f"{kind}.tar.xz", "w:xz", preset=9) as kept:
                kept.add(data, "data")
            (into / f"{kind}.answers").write_text(content.to_text(found))
    (into / "made_by.json").write_text(json.dumps({"version": version, "revision": revision}) + "\n")
    size = sum(file.stat().st_size for file in into.iterdir() if file.suffix == ".xz")
    print(f"{into}: {size >> 10} KiB of {len(made)} directories")
    if size > KEPT_BYTES_MAX:
        sys.exit(f"these are more than {KEPT_BYTES_MAX >> 10} KiB")


if __name__ == "__main__":
    main()
