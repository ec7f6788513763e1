#!/usr/bin/env python3
"""Checks code blocks of all pages without running them: what their language says they are, they must be.

  sh, bash   bash can read them. Commands `halite` and `./dev`, also in blocks without a language,
             have the sub-commands and options that the binary and ./dev have
  toml       parses; settings of Halite are accepted by `halite serve --print-config`
  json, yaml, python
             parse

What is run, with the answers that the pages show, is in tests/e2e: docs_test.py, reference_test.py."""

import argparse
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
COMMANDS = ("halite", "./dev", "build/release/halite")
OPTION = re.compile(r"--[a-z][a-z0-9-]*")


class Blocks:
    def __init__(self, halite):
        self.halite = halite
        self.checked = 0
        self.wrong = []

    def check_page(self, path):
        text = path.read_text()
        for found in BLOCK.finditer(text):
            indent, language, block = found.groups()
            block = "".join(line.removeprefix(indent) for line in block.splitlines(keepends=True))
            where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            try:
                self.check_block(language, block)
            except Exception as error:  # of any parser
                self.wrong.append(f"{where}: {language or 'commands'}: {error}")

    def check_block(self, language, block):
        first = block.lstrip().split(" ")[0].split("\n")[0]
        if language in ("sh", "bash"):
            read = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
            if read.returncode != 0:
                raise ValueError(read.stderr.strip())
            self.check_commands(block)
        elif not language and first in COMMANDS:  # what they print may follow
            self.check_commands(block)
        elif language == "toml":
            self.check_toml(block)
        elif language == "json":
            rest = block.strip()
            while rest:  # answers of several requests
                rest = rest[json.JSONDecoder().raw_decode(rest)[1]:].strip()
        elif language == "yaml":
            yaml.safe_load(block)
        elif language == "python":
            compile(block, "block", "exec")
        else:
            return
        self.checked += 1

    def check_commands(self, block):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"\||&&|;|\$\(", line):
                try:
                    words = shlex.split(part, comments=True)
                except ValueError:
                    continue  # a part of a quoted text: bash has read the whole
                while words and (words[0] in ("sudo", "exec", "time") or "=" in words[0]):
                    del words[0]
                if words and words[0] in COMMANDS:
                    self.check_command(words)

    def check_command(self, words):
        if words[0] == "./dev":
            known = subprocess.run(["./dev", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
            if len(words) > 1 and f"\n  {words[1]} " not in known.stdout:
                raise ValueError(f"./dev has no command {words[1]}")
            return
        command = []
        for word in words[1:]:
            if re.fullmatch("[a-z-]+", word) and not word.startswith("-") and self.help_of((*command, word)):
                command.append(word)
            else:
                break
        if not command and len(words) > 1 and re.fullmatch("[a-z-]+", words[1]) and words[1][0] != "-":
            raise ValueError(f"halite has no command {words[1]}")
        options = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
        text = self.help_of(tuple(command))
        for option in options:
            if option not in ("--help", "--version") and option not in OPTION.findall(text):
                raise ValueError(f"halite {' '.join(command)} has no option {option}")

    @functools.cache
    def help_of(self, command):
        """The text of --help; empty if there is no such command."""
        done = subprocess.run([self.halite, *command, "--help"], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    @functools.cached_property
    def sections(self):
        printed = subprocess.run([self.halite, "serve", "--print-config"], capture_output=True, text=True,
                                 check=True)
        return set(tomllib.loads(printed.stdout)) | {"views", "counters"}

    def check_toml(self, block):
        if not set(tomllib.loads(block)) <= self.sections:
            return  # of another program
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(block)
            file.flush()
            done = subprocess.run([self.halite, "serve", "--config", file.name, "--print-config"],
                                  capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halite", type=pathlib.Path, required=True)
    blocks = Blocks(parser.parse_args().halite.resolve())
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        blocks.check_page(path)
    print("\n".join(blocks.wrong) or f"{blocks.checked} code blocks are what they say", file=sys.stderr)
    sys.exit(1 if blocks.wrong else 0)


if __name__ == "__main__":
    main()
