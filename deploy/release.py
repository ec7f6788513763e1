#!/usr/bin/env python3
"""The checklist of a release: ./dev release VERSION. Every check is made even when an earlier one failed;
only when all passed, the version is tagged.

  tree        nothing is changed or unknown to git, the branch is main, the tag does not exist
  changelog   CHANGELOG.md begins with `## VERSION, YYYY-MM-DD`; nothing stands under `## Unreleased`
  cmake       CMakeLists.txt has the version
  compat      tests/compat has the directories of the version before
  build       ./dev build; the binary says the version and the revision
  references  docs/reference is what the binary writes
  docs        ./dev docs
  ci          .ci/run
  nightly     .ci/run nightly; with ./dev go-back, which opens what is written by the binary of the version before
  package     ./dev package, and ./dev package-arm64
  directories tests/compat/make.py makes the data directories of the version

Then the tag vVERSION, and after it a commit with the directories, which name the tagged revision. Nothing is
pushed. --skip CHECK leaves one out, and says so. --dry-run makes the checks that take seconds, builds, makes the
directories in a temporary folder, and changes nothing."""

import argparse
import datetime
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LONG = ("docs", "ci", "nightly", "package")  # not in a dry run


class Refusal(Exception):
    """Why there is no release yet."""


class Release:
    def __init__(self, root, version, dry_run=False):
        self.root = root
        self.version = version
        self.dry_run = dry_run
        self.halite = root / "build/release/halite"
        self.made = None  # where the directories are

    def run(self, *command):
        if subprocess.run(command, cwd=self.root, stdin=subprocess.DEVNULL, check=False).returncode != 0:
            raise Refusal(f"{' '.join(command)} failed")

    def said(self, *command):
        try:
            done = subprocess.run(command, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False)
        except OSError as error:
            raise Refusal(f"{command[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise Refusal(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
        return done.stdout

    def sections(self):
        """[(heading, text)] of the changelog, in order."""
        parts = re.split(r"^## (.*)$", (self.root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
        return list(zip(parts[::2], parts[1::2]))

    # ---- checks, in order --------------------------------------------------------------------------

    def tree(self):
        changed = self.said("git", "status", "--porcelain")
        if changed:
            raise Refusal(f"not everything is committed:\n{changed.rstrip()}")
        branch = self.said("git", "rev-parse", "--abbrev-ref", "HEAD").strip()
        if branch != "main":
            raise Refusal(f"the branch is {branch}, not main")
        if self.said("git", "tag", "--list", f"v{self.version}"):
            raise Refusal(f"the tag v{self.version} exists")

    def changelog(self):
        sections = self.sections()
        if sections and sections[0][0] == "Unreleased":
            if sections[0][1].strip():
                raise Refusal("CHANGELOG.md has entries under ## Unreleased")
            sections = sections[1:]
        heading, text = sections[0] if sections else ("", "")
        found = re.fullmatch(re.escape(self.version) + r", (\d{4}-\d\d-\d\d)", heading)
        if not found:
            raise Refusal(f"the newest section of CHANGELOG.md is \"## {heading}\", "
                          f"not \"## {self.version}, YYYY-MM-DD\"")
        try:
            datetime.date.fromisoformat(found.group(1))
        except ValueError as error:
            raise Refusal(f"the date of {self.version} in CHANGELOG.md: {error}") from error
        if not text.strip():
            raise Refusal(f"CHANGELOG.md has no entries for {self.version}")

    def cmake(self):
        found = re.search(r"^project\(halite VERSION (\S+)", (self.root / "CMakeLists.txt").read_text(), re.MULTILINE)
        if not found or found.group(1) != self.version:
            raise Refusal(f"CMakeLists.txt has the version {found.group(1) if found else '(none)'}")

    def compat(self):
        """Of each released version; the newest is the one before this."""
        versions = [heading.split(",")[0] for heading, _ in self.sections() if heading[0].isdigit()]
        before = [version for version in versions if version != self.version]
        if not before:
            raise Refusal("CHANGELOG.md names no version before this one")
        for version in before:
            if not (self.root / "tests/compat" / version / "made_by.json").exists():
                raise Refusal(f"tests/compat has no directories of {version}")

    def build(self):
        self.run("./dev", "build")
        said = self.said(self.halite, "--version").strip()
        revision = self.said("git", "rev-parse", "--short", "HEAD").strip()
        if said != f"halite {self.version} (revision {revision})":
            raise Refusal(f"the binary is \"{said}\", the revision is {revision}")

    def references(self):
        for name, command in (("settings", ("serve", "--print-config=markdown")), ("metrics", ("metrics",))):
            file = f"docs/reference/{name}.md"
            if self.said(self.halite, *command) != (self.root / file).read_text():
                raise Refusal(f"{file} is not current: halite {' '.join(command)} > {file}")

    def docs(self):
        self.run("./dev", "docs")

    def ci(self):
        self.run(".ci/run")

    def nightly(self):
        self.run(".ci/run", "nightly")

    def package(self):
        self.run("./dev", "package")
        self.run("./dev", "package-arm64")

    def directories(self):
        into = pathlib.Path(tempfile.mkdtemp(prefix="halite-release-"))
        try:
            self.run("python3", "tests/compat/make.py", "--halite", str(self.halite), "--into", str(into))
            self.made = into / self.version
            if not self.made.exists():
                raise Refusal(f"{self.halite} made directories of {', '.join(one.name for one in into.iterdir())}")
        finally:
            if self.dry_run:
                shutil.rmtree(into)

    # ---- the release -------------------------------------------------------------------------------

    def tag(self):
        self.tree()  # nothing has changed meanwhile
        self.run("git", "tag", "-a", f"v{self.version}", "-m", f"Halite {self.version}")
        if self.made:
            into = f"tests/compat/{self.version}"
            shutil.move(self.made, self.root / into)
            self.run("git", "add", into)
            self.run("git", "commit", "-q", "-m", f"tests: data directories of version {self.version}")


CHECKS = ("tree", "changelog", "cmake", "compat", "build", "references", "docs", "ci", "nightly", "package",
          "directories")


def check_all(release, skipped):
    """The names of the checks that failed."""
    failed = []
    for name in CHECKS:
        if name in skipped or (release.dry_run and name in LONG):
            print(f"-- {name}: skipped", flush=True)
            continue
        print(f"== {name}", flush=True)
        try:
            getattr(release, name)()
        except Refusal as why:
            failed.append(name)
            print(f"   FAILED: {why}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--skip", action="append", default=[], choices=CHECKS, metavar="CHECK")
    options = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
        parser.error(f"{options.version} is no version: 1.2.3")
    release = Release(pathlib.Path(__file__).resolve().parent.parent, options.version, options.dry_run)
    failed = check_all(release, options.skip)
    if failed:
        sys.exit(f"no release of {options.version}: {', '.join(failed)}")
    if options.dry_run:
        print(f"a dry run: v{options.version} is not tagged")
        return
    release.tag()
    print(f"v{options.version} is tagged; skipped: {', '.join(options.skip) or 'nothing'}.\n"
          f"git push origin main v{options.version} publishes it")


if __name__ == "__main__":
    main()
