#!/usr/bin/env python3
"""docs/reference against the real binary: the examples of http.md and telnet.md are answered as shown,
and telnet.md and command-line.md name the commands and options that the binary has."""

import json
import pathlib
import re
import shlex
import urllib.parse

import support

REFERENCE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "reference"

def shape(value):
    """A JSON value without what differs from run to run: names of fields and types stay."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    if isinstance(value, bool) or value is None:
        return value
    return "text" if isinstance(value, str) else "number"


def alike(one, other):
    """Whether two shapes fit. What a list holds may depend on what the server did before."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return all(alike(left, right) for left, right in zip(one, other))
    return one == other


class Http(support.HaliteTest):
    def test_examples_are_answered_as_shown(self):
        server = self.server(*support.everything_on(self.scratch)).start()
        text = (REFERENCE / "http.md").read_text()
        examples = re.findall(r"```sh\n(curl .*?)\n```\n```(json|text)\n(.*?)\n```", text, re.S)
        self.assertGreater(len(examples), 40)
        for command, kind, shown in examples:
            with self.subTest(command=command):
                self.check(server, shlex.split(command), kind, shown)

    def check(self, server, words, kind, shown):
        method = "HEAD" if "-I" in words else "GET"
        body = None
        if "-d" in words:
            method, body = "POST", words[words.index("-d") + 1].encode()
        if "-X" in words:
            method = words[words.index("-X") + 1]
        url = next(word for word in words if word.startswith("http://localhost:4242/"))
        target = url.removeprefix("http://localhost:4242")
        if target.startswith("/api/tree/branch"):
            self.sort_a_series(server)
        if target.startswith("/api/uid/tsmeta"):
            self.eventually("TSMeta", lambda: server.request("GET", target)[0] == 200)
        status, answer = server.request(method, urllib.parse.quote(target, safe="/?&=:,%+"), body)
        if kind == "json":
            answer, shown = json.loads(answer), json.loads(shown)
            wanted = shown.get("error", {}).get("code") if isinstance(shown, dict) else None
            self.assertIn(status, (wanted,) if wanted else range(200, 300))
            if not alike(shape(answer), shape(shown)):
                self.assertEqual(shape(answer), shape(shown))
        elif shown == "204":
            self.assertEqual((status, answer), (204, b""))
        else:
            self.assertEqual(status, 200)

    def sort_a_series(self, server):
        """A new one, so that the tree has a branch."""
        server.put([{"metric": "sys.mem", "timestamp": 1356998400, "value": 1,
                     "tags": {"host": "web03"}}])
        self.eventually("a branch",
                        lambda: server.request("GET", "/api/tree/branch?treeid=1")[0] == 200)


class Telnet(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.server_ = self.server(*support.everything_on(self.scratch)).start()
        self.text = (REFERENCE / "telnet.md").read_text()

    def test_examples_are_answered_as_shown(self):
        examples = re.findall(r"```\n(> .*?)\n```", self.text, re.S)
        self.assertGreater(len(examples), 8)
        for example in examples:
            lines = example.split("\n")
            sent = [line[2:] for line in lines if line.startswith("> ")]
            shown = [line[2:] for line in lines if line.startswith("< ")]
            with self.subTest(sent=sent):
                said = self.server_.telnet_lines(sent).splitlines()
                if shown and shown[-1] == "...":
                    shown.pop()
                    said = said[:len(shown)]
                if sent[0] in ("version", "stats"):  # another build, another time
                    said = [line.split()[0] for line in said]
                    shown = [line.split()[0] for line in shown]
                self.assertEqual(said, shown)

    def test_each_command_has_a_section(self):
        sections = re.findall(r"^## ([a-z]+)$", self.text, re.M)
        offered = self.server_.telnet_lines(["help"]).split(":")[1].split()
        self.assertEqual(sorted(sections), sorted([*offered, "auth"]))
        self.assertEqual(sections, re.findall(r"^\| \[`([a-z]+)`\]", self.text, re.M))


class CommandLine(support.HaliteTest):
    def sections(self):
        """{("hbase", "regions"): its text}"""
        text = (REFERENCE / "command-line.md").read_text()
        for title, body in re.findall(r"^## (halite .*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
            for command in title.split(" and "):
                yield tuple(command.split()[1:]), body

    def help_of(self, *command):
        code, out, _ = self.run_halite(*command, "--help")
        self.assertEqual(code, 0)
        return out

    def subcommands(self, *command):
        _, found, listed = self.help_of(*command).partition("Subcommands:\n")
        return re.findall(r"^  ([a-z-]+)", listed, re.M) if found else []

    def test_each_subcommand_has_a_section(self):
        known = []
        for name in self.subcommands():
            known += [(name, below) for below in self.subcommands(name)] or [(name,)]
        self.assertEqual(sorted(known), sorted(command for command, _ in self.sections()))

    def test_each_option_is_described(self):
        for command, body in self.sections():
            with self.subTest(command=command):
                offered = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help_of(*command), re.M))
                rows = "\n".join(re.findall(r"^\| (`.*?) \|", body, re.M))
                described = set(re.findall(r"`(--[a-z-]+)", rows))
                self.assertEqual(offered - {"--help"}, described)

    def test_each_setting_that_is_named_exists(self):
        code, out, _ = self.run_halite("serve", "--print-config")
        self.assertEqual(code, 0)
        known = set(re.findall(r"^([a-z_.]+) =", out, re.M))
        sections = {name.split(".")[0] for name in known if "." in name}
        self.assertGreater(len(known), 200)
        for page in ("http.md", "telnet.md", "limits.md", "command-line.md"):
            named = re.findall(r"`([a-z_]+)\.([a-z_]+)(?: = [^`]*)?`", (REFERENCE / page).read_text())
            unknown = {f"{section}.{name}" for section, name in named if section in sections} - known
            self.assertEqual(unknown, set(), page)


if __name__ == "__main__":
    support.main()
