"""Reads what `halite serve --print-config=markdown` says: docs/reference/settings.md."""

import dataclasses
import re
import sys

import command_help


@dataclasses.dataclass
class Setting:
    name: str
    type: str  # "size", "number (threads)"
    default: str  # empty = an empty text
    range: str
    change: str
    text: str

    def computed(self):
        """Whether the default is a rule, not a value: `2/16 of memory.limit, 4 MiB to 16 GiB`."""
        return self.type == "size" and not re.fullmatch(r"\d+ (B|[KMGT]iB)|0", self.default)


@dataclasses.dataclass
class Group:
    title: str
    text: str
    settings: list


@dataclasses.dataclass
class Reference:
    head: list  # lines of Markdown before the first group
    groups: list

    def settings(self):
        return [setting for group in self.groups for setting in group.settings]


def plain(markdown):
    """The text of a line of Markdown: no links, no code, no emphasis."""
    text = re.sub(r"\[([^\[\]]+)\]\(([^)]*)\)", r"\1", markdown)
    return re.sub(r"\*\*(.+?)\*\*|(?<!\*)\*([^*]+)\*(?!\*)", lambda found: found[1] or found[2], text).replace("`", "")


def read(binary):
    lines = command_help.ask(binary, "serve", "--print-config=markdown").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("## "))
    reference = Reference([line for line in lines[:first] if not line.startswith(("# ", "<!--"))], [])
    for line in lines[first:]:
        if line.startswith("## "):
            reference.groups.append(Group(plain(line.removeprefix("## ")), "", []))
        elif line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) != 6:
                sys.exit(f"not a setting: {line}")
            name, kind, default, span, change, text = cells
            default = "" if default == "empty" else default.removeprefix("`").removesuffix("`")
            reference.groups[-1].settings.append(Setting(name.strip("`"), kind, default, plain(span), change, text))
        elif line and not line.startswith("|"):
            reference.groups[-1].text += plain(line)
    return reference
