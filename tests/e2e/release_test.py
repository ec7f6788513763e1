#!/usr/bin/env python3
"""The checklist of a release, deploy/release.py, in a small repository of its own: it names what is missing,
and tags only when nothing is. The binary is the one under test, as a version of its own."""

import json
import pathlib
import shutil
import subprocess

import support

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## {0}, {1}\n\n- Something.\n\n## 0.0.1\n\n- First.\n"


class ReleaseTest(support.HaliteTest):
    def setUp(self):
        super().setUp()
        said = self.run_halite("--version")[1].split()
        self.version = said[1]
        self.place = self.scratch / "repository"
        for folder in ("deploy", "build/release", "docs/reference", "tests/compat/0.0.1"):
            (self.place / folder).mkdir(parents=True)
        shutil.copy(ROOT / "deploy/release.py", self.place / "deploy")
        for file in ("content.py", "make.py"):
            shutil.copy(ROOT / "tests/compat" / file, self.place / "tests/compat")
        (self.place / "tests/support").symlink_to(ROOT / "tests/support")
        (self.place / "build/release/halite").symlink_to(support.binary())
        (self.place / ".gitignore").write_text("build\n__pycache__\n")
        (self.place / "tests/compat/0.0.1/made_by.json").write_text(json.dumps({"version": "0.0.1"}))
        (self.place / "CMakeLists.txt").write_text(f"project(halite VERSION {self.version} LANGUAGES CXX)\n")
        (self.place / "CHANGELOG.md").write_text(CHANGELOG.format(self.version, "2026-12-24"))
        for name, command in (("settings", ("serve", "--print-config=markdown")), ("metrics", ("metrics",))):
            (self.place / f"docs/reference/{name}.md").write_text(self.run_halite(*command)[1])
        self.git("init", "-q", "-b", "main")
        self.commit()

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], cwd=self.place,
            capture_output=True, text=True, check=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")

    def release(self, *arguments):
        """(exit code, what it said); the checks that build and test are left out."""
        skips = [word for check in ("build", "docs", "ci", "nightly", "package") for word in ("--skip", check)]
        done = subprocess.run(
            ["python3", "deploy/release.py", self.version, *skips, *arguments], cwd=self.place,
            capture_output=True, text=True, check=False,
            env=support.clean_environment(GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org",
                                          GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org"))
        return done.returncode, done.stdout + done.stderr

    def test_tags_and_keeps_the_directories(self):
        code, said = self.release("--dry-run", "--skip", "directories")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.git("tag"), "")
        self.assertEqual(self.git("status", "--porcelain"), "")
        revision = self.git("rev-parse", "HEAD")
        code, said = self.release()
        self.assertEqual(code, 0, said)
        self.assertIn("skipped: build, docs, ci, nightly, package", said)
        self.assertEqual(self.git("rev-parse", f"v{self.version}^{{commit}}"), revision)
        self.assertEqual(self.git("rev-parse", "HEAD~"), revision)
        self.assertIn(f"tests/compat/{self.version}/engine.tar.xz", self.git("ls-files"))
        code, said = self.release()
        self.assertEqual(code, 1)
        self.assertIn(f"the tag v{self.version} exists", said)

    def test_names_what_is_missing(self):
        changes = (
            ("CHANGELOG.md", "- Something.", "", "has no entries for"),
            ("CHANGELOG.md", ", 2026-12-24", "", "the newest section of CHANGELOG.md is"),
            ("CHANGELOG.md", "2026-12-24", "2026-12-32", "the date of"),
            ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n- More.\n", "has entries under ## Unreleased"),
            ("CMakeLists.txt", self.version, "7.0.0", "CMakeLists.txt has the version 7.0.0"),
            ("CHANGELOG.md", "## 0.0.1", "## 0.0.2", "tests/compat has no directories of 0.0.2"),
            ("docs/reference/metrics.md", "halite_", "halite__", "docs/reference/metrics.md is not current"),
        )
        for file, text, by, wanted in changes:
            with self.subTest(wanted):
                before = (self.place / file).read_text()
                (self.place / file).write_text(before.replace(text, by, 1))
                others = () if "reference" in file else ("--skip", "references")
                code, said = self.release("--skip", "directories", *others)
                self.assertEqual(code, 1, said)
                self.assertIn(wanted, said)
                self.assertIn("not everything is committed", said)
                (self.place / file).write_text(before)
        self.assertEqual(self.git("tag"), "")


if __name__ == "__main__":
    support.main()
