#!/usr/bin/env python3
"""Sorts C++ sources into batches that can be read as one file: batches.py MAX FILE...

Prints a batch a line, its files parted by ';'. Two files that call different things by one name share no batch:
what stands in anonymous namespaces (kNow, refuse), and what `using` and `namespace a = b` bring in. That is
guessed from the text; where the guess misses, the compiler says so.
"""

import re
import sys
from pathlib import Path

NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
ANONYMOUS = re.compile(r"^namespace \{", re.M)
BROUGHT = re.compile(r"^(?:using ([\w:]*::(\w+));|namespace (\w+) = ([\w:]+);)", re.M)
NAMED = re.compile(r"(?:template ?<.*> )?(?:class|struct|union|enum(?: class)?|using) (\w+)")
# What is declared stands before the first bracket or value.
DECLARED = re.compile(r"(~?\w+)(?: ?\[[^=]*\])? ?(?:[({=;]|$)")
NO_NAME = re.compile(r"namespace |using (?!\w+ =)|(?:INSTANTIATE_)?TEST")


def outline(text, begin):
    """What stands right inside the braces that open before `begin`, with {} for deeper ones."""
    depth, kept, at = 1, [], begin
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 1:
            kept.append("{};" if text[at] == "}" else text[at])
        at += 1
    return "".join(kept)


def meanings(file):
    """What each name means in the file: what it was brought in from, or something of the file's own."""
    text = NOISE.sub(" ", Path(file).read_text(encoding="utf-8"))
    found = {used or alias: origin or target for origin, used, alias, target in BROUGHT.findall(text)}
    for opened in ANONYMOUS.finditer(text):
        for statement in outline(text, opened.end()).split(";"):
            statement = " ".join(statement.split())
            name = NAMED.match(statement) or DECLARED.search(statement)
            if name and not NO_NAME.match(statement):
                found[name[1]] = file
    return found


def main():
    most = int(sys.argv[1])
    batches = []  # of files, and of what names mean in them
    for file in sys.argv[2:]:
        here = meanings(file)
        for files, there in batches:
            if len(files) < most and all(there.get(name, meant) == meant for name, meant in here.items()):
                break
        else:
            files, there = [], {}
            batches.append((files, there))
        files.append(file)
        there.update(here)
    for files, _ in batches:
        print(";".join(files))


main()
