"""Makes the packages of a built server: python3 deploy/package --build build/release --into build/package

docs/decisions/0096-packages.md says why they are as they are.
"""

import argparse
import dataclasses
import datetime
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import container  # noqa: E402
import deb  # noqa: E402
import tarball  # noqa: E402
import tree  # noqa: E402


@dataclasses.dataclass
class Commit:
    revision: str
    seconds: int  # when it was made: the time of all that is in the packages
    version: str  # as Debian sorts it: 0.1.0 < 0.1.0+20261128055600.4b84b50d < 0.2.0


def git(*words):
    return tree.run("git", "-C", tree.SOURCE, *words).strip()


def commit():
    [number] = re.findall(r"project\(halite VERSION ([\d.]+)", (tree.SOURCE / "CMakeLists.txt").read_text())
    revision = git("rev-parse", "--short=8", "HEAD")
    seconds = int(git("show", "-s", "--format=%ct", "HEAD"))
    if f"v{number}" in git("tag", "--points-at", "HEAD").split():
        return Commit(revision, seconds, number)
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return Commit(revision, seconds, f"{number}+{when:%Y%m%d%H%M%S}.{revision}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the directory of the build")
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory for the packages")
    parser.add_argument("--architecture", choices=["amd64", "arm64"], help="of the build (default: this machine's)")
    parser.add_argument("--version", help="the version of the packages (default: by the commit)")
    parser.add_argument("--only", choices=["deb", "tarball", "container"], action="append", help="(default: all)")
    options = parser.parse_args()
    made_from = commit()
    if options.version:
        made_from.version = options.version
    if git("status", "--porcelain", "--untracked-files=no"):
        print("package: the source has changes that are in no commit", file=sys.stderr)
    os.environ.update(SOURCE_DATE_EPOCH=str(made_from.seconds), TZ="UTC", LC_ALL="C.UTF-8")
    os.umask(0o022)
    build, into = options.build.resolve(), options.into.resolve()
    architecture = options.architecture or tree.native()
    wanted = options.only or ["deb", "tarball", "container"]
    packages = []
    if "deb" in wanted:
        packages += deb.make(build, into / "work/deb", made_from)
    if "tarball" in wanted:
        packages.append(tarball.make(build, into / "work/tarball", made_from, architecture))
    if "container" in wanted:
        packages.append(container.make(build, into / "work/container", made_from, architecture))
    for package in packages:
        shutil.copyfile(package, into / package.name)
        print(f"{into / package.name}: {package.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
