#!/usr/bin/env python3
"""Makes the tarball for arm64 on an amd64 machine, in a root of Debian 12 with amd64 compilers and arm64 libraries.

python3 deploy/cross.py --into build/package PACKAGE...

The packages are what a build needs. Those with headers and libraries, whose names end with -dev, are installed for arm64.
"""

import argparse
import pathlib
import shutil
import sys

import roots

SOURCE = pathlib.Path(__file__).resolve().parents[1]
ROOT = roots.System("bookworm", name="cross-arm64")
OF_BOOKWORM = {"libboost-dev": "libboost1.81-dev", "libboost-json-dev": "libboost-json1.81-dev"}  # ./dev's names are this machine's
ALSO = ["libstdc++-12-dev:arm64", "binutils", "binutils-aarch64-linux-gnu"]
SCRIPT = """
dpkg --add-architecture arm64
apt-get -q update
DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends {packages}
cmake --preset arm64
cmake --build --preset arm64 --target halite
rm -rf build/package
python3 deploy/package --build build/arm64 --into build/package --only tarball --architecture arm64
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory for the tarball")
    parser.add_argument("--roots", type=pathlib.Path, default=SOURCE / "build/roots", help="where roots are kept")
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    options = parser.parse_args()
    if not roots.may():
        raise SystemExit("this needs root and debootstrap")
    roots.emulate_arm64()  # the server, which prints its help
    root = roots.made(ROOT, options.roots.resolve())
    names = [OF_BOOKWORM.get(name, name) for name in options.packages]
    packages = ALSO + [f"{name}:arm64" if name.endswith("-dev") else name for name in names]
    build = SOURCE / "build/cross-arm64"
    if roots.work_in(root, SOURCE, build, SCRIPT.format(packages=" ".join(packages))) != 0:
        return 1
    options.into.mkdir(parents=True, exist_ok=True)
    for old in options.into.glob("halite-*-arm64.tar.gz"):
        old.unlink()
    for package in (build / "package").glob("*.tar.gz"):
        shutil.copy(package, options.into)
        print(options.into / package.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
