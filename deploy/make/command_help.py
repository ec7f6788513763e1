"""Reads what `halite --help` and the `--help` of every subcommand say."""

import dataclasses
import os
import re
import subprocess
import sys

COLUMN = 30  # where CLI11 begins descriptions
SECTIONS = ("Positionals:", "Options:", "Subcommands:")


@dataclasses.dataclass
class Entry:
    """An option, a positional argument or a subcommand."""
    names: list  # ["-h", "--help"], ["files"] or ["serve"]
    value: str  # "TEXT"; empty = a flag, or a subcommand
    notes: str  # "REQUIRED", "Needs: --url"
    choices: list  # of a flag with an optional value
    text: str


@dataclasses.dataclass
class Command:
    path: tuple  # () of `halite` itself, ("auth", "user")
    text: str
    usage: str
    positionals: list
    options: list
    subcommands: list
    footer: list  # lines

    def name(self):
        return " ".join(("halite", *self.path))


def version(binary):
    """`halite 0.1.0 (revision ...)` without the revision."""
    return ask(binary, "--version").split(" (")[0].removeprefix("halite ").strip()


def read_all(binary):
    """All commands, each before its subcommands."""
    found = []

    def walk(path):
        command = _parse(path, ask(binary, *path, "--help"))
        found.append(command)
        for each in command.subcommands:
            walk((*path, each.names[0]))

    walk(())
    return found


def ask(binary, *words):
    # Nothing of this machine's settings may be in the answer.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HALITE_")}
    asked = subprocess.run([binary, *words], capture_output=True, text=True, check=False, env=environment)
    if asked.returncode != 0:
        sys.exit(f"{binary} {' '.join(words)} ended with {asked.returncode}: {asked.stderr}")
    return asked.stdout


def _entry(left, text):
    choices = []
    flag = re.search(r"\{(\w+)\} :\{([\w,]+)\}", left)  # --print-config{text} :{text,markdown}
    if flag:
        choices = flag[2].split(",")
        left = left.replace(flag[0], "")
    names, *words = left.split()
    if words and words[0] == "Needs:":
        words.insert(0, "")
    value = words.pop(0) if words else ""
    value = value.split(":")[0]  # FLOAT:POSITIVE, UINT:UINT in [0 - 256]
    notes = " ".join(words)
    limits = re.match(r"in \[(.*?) - (.*?)\]", notes)
    if limits:
        notes = f"{limits[1]} to {limits[2]}{notes[limits.end():]}"
    return Entry(names.split(","), value, notes, choices, text)


def _parse(path, text):
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
    command = Command(path, " ".join(lines[:at]), lines[at].removeprefix("Usage: "), [], [], [], [])
    into = {"Positionals:": command.positionals, "Options:": command.options, "Subcommands:": command.subcommands}
    at += 1
    while at < len(lines):
        if lines[at] in SECTIONS:
            entries = into[lines[at]]
            at += 1
            while at < len(lines) and lines[at].startswith("  "):
                line = lines[at]
                at += 1
                if len(line) <= COLUMN or line[COLUMN - 1] != " ":  # too long for a description beside it
                    left, description = line, lines[at].strip() if at < len(lines) else ""
                    at += 1
                    if not lines[at - 1].startswith(" " * COLUMN):
                        sys.exit(f"{command.name()} --help: no description of {line.strip()}")
                else:
                    left, description = line[:COLUMN], line[COLUMN:]
                entries.append(_entry(left, description))
        elif lines[at]:
            break
        else:
            at += 1
    command.footer = lines[at:]
    return command
