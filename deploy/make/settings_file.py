"""halite.toml with every setting as a comment."""

import json
import textwrap

HEAD = """\
# Settings of Halite: halite.toml(5) describes this file.
#
# Each setting stands here with its default, as a comment. To change one, remove the # before its
# name and write the new value, then: systemctl restart halite
# `halite serve --config FILE --print-config` checks a file and prints the values that hold.
#
# halite.service sets data_dir to /var/lib/halite, whatever this file says.
"""


def value(setting):
    if setting.computed():
        return "SIZE"
    if setting.type in ("text", "choice") or " " in setting.default or setting.default[-1:].isalpha():
        if setting.type != "boolean":
            return json.dumps(setting.default)
    return setting.default


def make(reference):
    out = [HEAD]
    for group in reference.groups:
        out.append(f"\n# ---- {group.title} " + "-" * max(4, 93 - len(group.title)) + "\n")
        for setting in group.settings:
            notes = [setting.type]
            if setting.range:
                notes.append(setting.range)
            if setting.computed():
                notes.append(f"by default {setting.default}")
            if setting.change != "restart":
                notes.append(f"change: {setting.change}")
            text = f"{setting.text} ({'; '.join(notes)})"
            out.append("\n" + "\n".join(f"# {line}" for line in textwrap.wrap(text, 98)))
            out.append(f"\n#{setting.name} = {value(setting)}\n")
    return "".join(out)
