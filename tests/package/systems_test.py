#!/usr/bin/env python3
"""Halite built and tested on other systems than it ships for, with their compilers and libraries: RocksDB among them,
whose formats differ from version to version. Each root is kept with what has been installed and built.

python3 tests/package/systems_test.py --tarball HALITE-LINUX.tar.gz [--roots DIRECTORY] [SYSTEM...]
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "deploy"))

import roots  # noqa: E402

SYSTEMS = {system.suite: system for system in (roots.TRIXIE, roots.NOBLE)}
# Directories that RocksDB 7.8 wrote: those of released versions, and those that the binary which ships and the one that
# was built here write in turn.
SCRIPT = """
./dev test --preset release
cmake --build --preset release --target e2e_programs
ctest --test-dir build/release -R '^(e2e_compat|e2e_kill9|e2e_written_files)$' --output-on-failure --no-tests=error
python3 tests/compat/go_back.py --old build/shipped/bin/halite --new build/release/halite
"""


def unpack(tarball, into):
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", tarball, "-C", into, "--strip-components=1"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tarball", type=pathlib.Path, required=True, help="what ships, with its libraries")
    parser.add_argument("--roots", type=pathlib.Path, default=SOURCE / "build/roots", help="where roots are kept")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(SYSTEMS)}; all by default")
    options = parser.parse_args()
    if unknown := set(options.systems) - set(SYSTEMS):
        parser.error(f"there is no system {', '.join(sorted(unknown))}: they are {', '.join(SYSTEMS)}")
    if not roots.may():
        raise SystemExit("this needs root and debootstrap")
    failed = []
    for name in options.systems or SYSTEMS:
        print(f"######## {name}", flush=True)
        root = roots.made(SYSTEMS[name], options.roots.resolve())
        build = SOURCE / "build/systems" / name
        unpack(options.tarball, build / "shipped")
        if roots.work_in(root, SOURCE, build, SCRIPT) != 0:
            failed.append(name)
    if failed:
        raise SystemExit(f"failed on {', '.join(failed)}")


if __name__ == "__main__":
    sys.exit(main())
