"""halite(1) and halite.toml(5) in the language of man(7)."""

import dataclasses
import re

import settings_reference


@dataclasses.dataclass
class Head:
    date: str
    version: str


def escape(text):
    """Text that is shown as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def prose(text):
    """Escaped text whose hyphens may be hyphens, but not those of options."""
    return re.sub(r"(?<=\w)\\-(?=\w)", "-", escape(text))


def title(name, section, head, manual):
    return f'.TH {name} {section} {head.date} "Halite {head.version}" "{manual}"\n.nh\n.ad l\n'


def option(entry):
    """`-h, --help` or `--config TEXT`."""
    shown = ", ".join(f"\\fB{escape(name)}\\fR" for name in entry.names)
    if entry.choices:
        return f"{shown}[={'|'.join(entry.choices)}]"
    many = "\\~..." if entry.notes.startswith("...") else ""
    return f"{shown} \\fI{escape(entry.value)}\\fR{many}" if entry.value else shown


def entries(found):
    out = ""
    for entry in found:
        notes = entry.notes.removeprefix("...").strip()
        notes = f" ({prose(notes)})" if notes else ""
        out += f".TP\n{option(entry)}\n{prose(entry.text)}{notes}\n"
    return out


def footer(lines):
    """Paragraphs; those with indented lines as they are."""
    out = ""
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        if not paragraph:
            continue
        inside = paragraph.split("\n")
        if any(line.startswith("  ") for line in inside):
            shown = "\n".join(escape(line) for line in inside)
            out += f".PP\n.nf\n{shown}\n.fi\n"
        else:
            out += ".PP\n" + prose(" ".join(inside)) + "\n"
    return out


def commands_page(head, commands):
    top = commands[0]
    out = title("HALITE", 1, head, "Halite")
    out += ".SH NAME\nhalite \\- time-series database that is compatible with OpenTSDB\n.SH SYNOPSIS\n"
    for command in commands[1:]:
        if not command.subcommands:
            out += f".B {escape(command.name())}\n{escape(command.usage.removeprefix(command.name()).strip())}\n.br\n"
    out += f".SH DESCRIPTION\n{prose(top.text)}\nEach task is a subcommand.\n.SH OPTIONS\n{entries(top.options)}"
    out += ".SH COMMANDS\n"
    for command in commands[1:]:
        out += f'.SS "{escape(command.name())}"\n{prose(command.text)}.\n'
        if command.subcommands:
            continue
        out += entries(command.positionals + [each for each in command.options if "--help" not in each.names])
        out += footer(command.footer)
    out += r""".SH ENVIRONMENT
.TP
.B HALITE_CONFIG
The settings file, where
.B \-\-config
names none.
.TP
.BI HALITE_ NAME
The setting of that name: HALITE_WEB_BODY_BYTES_MAX is web.body_bytes_max. It overrides the settings file.
.SH FILES
Of the Debian package:
.TP
.I /etc/halite/halite.toml
Settings; see
.BR halite.toml (5).
.TP
.I /var/lib/halite
The stored points.
.TP
.I /usr/share/doc/halite
The documentation.
.SH SEE ALSO
.BR halite.toml (5)
"""
    return out


def markdown(lines):
    """The head of the settings reference. Its lists and paragraphs end with an empty line."""
    out = ""
    for line in lines:
        item = re.match(r"(\d+\.|-) (.*)", line)
        if item:
            mark = item[1] if item[1] != "-" else "\\(bu"
            out += f".IP {mark} 4\n{prose(settings_reference.plain(item[2]))}\n"
        elif line:
            out += prose(settings_reference.plain(line)) + "\n"
        else:
            out += ".PP\n"
    out = re.sub(r"(\.PP\n)+", ".PP\n", out)
    return re.sub(r"\.PP\n(?=\.IP)", "", out).removeprefix(".PP\n").removesuffix(".PP\n")


def settings_page(head, reference):
    out = title("HALITE.TOML", 5, head, "Halite")
    out += ".SH NAME\nhalite.toml \\- settings of the time-series database Halite\n.SH DESCRIPTION\n"
    out += markdown(reference.head)
    out += r""".PP
The file is TOML. A name with dots may stand as it is, or below the table of its first word:
.PP
.nf
web.body_bytes_max = "64 MiB"

[storage]
ttl_ms = "90d"
.fi
.SH SETTINGS
"""
    for group in reference.groups:
        out += f'.SS "{prose(group.title)}"\n'
        if group.text:
            out += prose(group.text) + "\n"
        for setting in group.settings:
            notes = [setting.type, f"default {setting.default or 'empty'}"]
            if setting.range:
                notes.append(setting.range)
            notes.append(f"change: {setting.change}")
            out += f".TP\n.B {escape(setting.name)}\n{prose(setting.text)}\n.br\n{prose('; '.join(notes))}\n"
    return out + """.SH SEE ALSO
.BR halite (1)
"""
