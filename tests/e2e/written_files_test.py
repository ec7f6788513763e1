#!/usr/bin/env python3
"""Man pages, completions and halite.toml, as deploy/make writes them, name all that the binary knows."""

import pathlib
import re
import subprocess
import sys

import support

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class WrittenFiles(support.HaliteTest):
    def setUp(self):
        super().setUp()
        subprocess.run([sys.executable, ROOT / "deploy/make", "--halite", support.binary(), "--into", self.scratch],
                       check=True)

    def read(self, name):
        return (self.scratch / name).read_text()

    def help(self, *command):
        code, out, err = self.run_halite(*command, "--help")
        self.assertEqual((code, err), (0, ""))
        return out

    def commands(self):
        """{path: text of --help}, of all that have no subcommands."""
        found, left = {}, [()]
        while left:
            path = left.pop()
            out = self.help(*path)
            below = re.findall(r"^  ([a-z-]+) ", out.partition("\nSubcommands:\n")[2], re.MULTILINE)
            left += [(*path, name) for name in below]
            if not below:
                found[path] = out
        self.assertIn(("hbase", "plan"), found)
        return found

    def test_man_page_of_commands(self):
        page = self.read("halite.1").replace("\\-", "-")
        for path, out in self.commands().items():
            name = " ".join(("halite", *path))
            [section] = re.findall(rf'^\.SS "{name}"\n(.*?)(?=^\.S)', page, re.MULTILINE | re.DOTALL)
            options = re.findall(r"^  (?:-h,)?(--[a-z-]+)", out, re.MULTILINE)
            self.assertIn("--help", options)
            for option in options:
                if option != "--help":
                    self.assertIn(f"\\fB{option}\\fR", section, name)
            for word in re.findall(r"^  ([a-z]+) TEXT", out, re.MULTILINE):
                self.assertIn(f"\\fB{word}\\fR", section, name)
            if "Exit status: " in out:
                self.assertIn("Exit status: ", section, name)

    def test_settings(self):
        code, printed, err = self.run_halite("serve", "--print-config")
        self.assertEqual((code, err), (0, ""))
        names = re.findall(r"^([a-z_.0-9]+) = ", printed, re.MULTILINE)
        self.assertGreater(len(names), 200)
        page = self.read("halite.toml.5").replace("\\-", "-")
        self.assertEqual(sorted(re.findall(r"^\.TP\n\.B ([a-z_.0-9]+)$", page, re.MULTILINE)), sorted(names))
        settings = self.read("halite.toml")
        self.assertEqual(sorted(re.findall(r"^#([a-z_.0-9]+) = ", settings, re.MULTILINE)), sorted(names))
        for name in ("halite.bash", "_halite", "halite.fish"):
            missing = set(names) - set(re.findall(r"[a-z_.0-9]+", self.read(name)))
            self.assertEqual(missing, set(), name)

    def test_settings_file_holds_the_defaults(self):
        code, printed, _ = self.run_halite("serve", "--print-config")
        self.assertEqual(code, 0)
        path = self.scratch / "halite.toml"
        commented = path.read_text()
        for text in (commented, re.sub(r"^#(?=[a-z_.0-9]+ = (?!SIZE$))", "", commented, flags=re.MULTILINE)):
            path.write_text(text)
            code, out, err = self.run_halite("serve", "--config", str(path), "--print-config")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(re.sub(r"; from .*", "", out), re.sub(r"; from .*", "", printed))

    def completed(self, *words):
        """What bash offers for the last word."""
        done = subprocess.run(
            ["bash", "-c", 'compopt() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halite; '
             'printf "%s\\n" "${COMPREPLY[@]}"', self.scratch / "halite.bash", "halite", *words],
            capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completions(self):
        for path, out in self.commands().items():
            options = set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", out, re.MULTILINE))
            self.assertEqual(set(self.completed(*path, "--")), options)
            self.assertIn(path[-1], self.completed(*path[:-1], ""))
            for option in options:
                self.assertIn(f"{option}[", self.read("_halite"))
                self.assertIn(f"-l {option[2:]} ", self.read("halite.fish"))
        self.assertEqual(self.completed("auth", "t"), ["token"])
        self.assertEqual(self.completed("serve", "--set", "tls.k"), ["tls.key="])
        self.assertEqual(self.completed("import", "--errors", "fi"), [])  # bash offers files

    def test_no_machine_is_in_them(self):
        environment = {"SOURCE_DATE_EPOCH": "1700000000", "HALITE_LISTEN": "127.0.0.1:1", "PATH": "/usr/bin:/bin"}
        subprocess.run([sys.executable, ROOT / "deploy/make", "--halite", support.binary(), "--into",
                        self.scratch / "again"], check=True, env=environment)
        for path in (self.scratch / "again").iterdir():
            self.assertEqual(path.read_text().replace("2023-11-14", "1970-01-01"), self.read(path.name))


if __name__ == "__main__":
    support.main()
