"""The words of Prometheus' evaluation scripts: durations, numbers, quoted strings, labels, and values
of a series one step apart: 1+2x3 is 1 3 5 7, _ is no value, stale a marker, {{...}} a native histogram."""

import math
import re
import struct

STALE = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]
STALE_BITS = struct.pack("<Q", 0x7FF0000000000002)
OMITTED = None  # in the place of a value

UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
            "y": 31_536_000_000}
DURATION = re.compile(r"(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?")
DURATION_UNITS = ("y", "w", "d", "h", "m", "s", "ms")

NUMBER = r"(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF]|[nN][aA][nN])"
ITEM = re.compile(rf"(?P<value>stale|[+-]?{NUMBER})(?P<step>[+-]{NUMBER})?(?:x(?P<times>\d+))?")
OMITTED_ITEM = re.compile(r"_(?:x(?P<times>\d+))?")
HISTOGRAM_ITEM = re.compile(r"(?P<value>\{\{.*?\}\})(?:[+-]\{\{.*?\}\})?(?:x(?P<times>\d+))?")
QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
LABEL = re.compile(rf"\s*(?:(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)|(?P<quoted>{QUOTED}))"
                   rf"(?:\s*=\s*(?P<value>{QUOTED}))?\s*(?P<end>[,}}])")
METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
ESCAPE = re.compile(rb"\\(?:([abfnrtv\\'\"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})"
                    rb"|U([0-9a-fA-F]{8}))")
ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class ScriptError(Exception):
    """A script that this language does not allow."""


class Histogram(str):
    """A native histogram as the script writes it. It has no value here."""


def is_stale(value):
    return isinstance(value, float) and struct.pack("<d", value) == STALE_BITS


def duration_ms(text):
    found = DURATION.fullmatch(text)
    if text == "0":
        return 0
    if not text or not found:
        raise ScriptError(f"bad duration {text!r}")
    return sum(int(count) * UNITS_MS[unit]
               for count, unit in zip(found.groups(), DURATION_UNITS) if count)


def number(text):
    """As a scalar result is written; ValueError if this is none."""
    try:
        return float(int(text, 0))
    except ValueError:
        return float(text)


def unquote(text):
    """What a quoted string of Go or PromQL says."""
    if text[0] == "`":
        return text[1:-1]

    def escaped(found):
        plain, two, octal, four, eight = found.groups()
        if plain:
            return ESCAPED.get(plain, plain)
        if two or octal:
            return bytes([int(two, 16) if two else int(octal, 8)])
        return chr(int(four or eight, 16)).encode()

    return ESCAPE.sub(escaped, text[1:-1].encode()).decode()


def parse_labels(text):
    """Labels of `name{a="b"}`, with __name__ among them, and the text after it."""
    found = METRIC.match(text)
    labels = {"__name__": found.group()} if found else {}
    rest = text[found.end():] if found else text
    if not rest.lstrip().startswith("{") or rest.lstrip().startswith("{{"):
        if not found:
            raise ScriptError(f"no series in {text!r}")
        return labels, rest
    rest = rest.lstrip()[1:].lstrip()
    while not rest.startswith("}"):
        found = LABEL.match(rest)
        if not found:
            raise ScriptError(f"bad labels in {text!r}")
        name, quoted, value, end = found.group("name", "quoted", "value", "end")
        if value is None:
            if not quoted:
                raise ScriptError(f"a label without a value in {text!r}")
            labels["__name__"] = unquote(quoted)
        else:
            labels[name or unquote(quoted)] = unquote(value)
        rest = rest[found.end() - 1:] if end == "}" else rest[found.end():].lstrip()
    return {name: value for name, value in labels.items() if value}, rest[1:]


def parse_values(text):
    """[float, OMITTED or Histogram], one a step."""
    values = []
    while text := text.lstrip():
        if found := OMITTED_ITEM.match(text):
            values += [OMITTED] * int(found["times"] or 1)
        elif found := HISTOGRAM_ITEM.match(text):
            values += [Histogram(found["value"])] * (int(found["times"] or 0) + 1)
        elif found := ITEM.match(text):
            value = STALE if found["value"] == "stale" else float(found["value"])
            if not found["step"]:
                values += [value] * (int(found["times"] or 0) + 1)
            elif not found["times"]:
                raise ScriptError(f"a step without a count in {text!r}")
            else:
                for _ in range(int(found["times"]) + 1):  # added up, as Prometheus does
                    values.append(value)
                    value += float(found["step"])
        else:
            raise ScriptError(f"bad values: {text!r}")
        if found.end() < len(text) and not text[found.end()].isspace():
            raise ScriptError(f"bad values: {text!r}")
        text = text[found.end():]
    return values


def parse_series(line):
    """(labels, values)"""
    labels, rest = parse_labels(line)
    if rest and not rest[0].isspace():
        raise ScriptError(f"bad series {line!r}")
    return labels, parse_values(rest)


def equal(expected, got, epsilon=1e-6):
    """As Prometheus' util/almost: a relative difference below epsilon; NaN equals NaN."""
    if is_stale(expected) or is_stale(got):
        return is_stale(expected) and is_stale(got)
    if math.isnan(expected) and math.isnan(got) or expected == got:
        return True
    smallest_normal, largest = 2.0 ** -1022, 1.7976931348623157e308
    total, difference = abs(expected) + abs(got), abs(expected - got)
    if expected == 0 or got == 0 or total < smallest_normal:
        return difference < epsilon * smallest_normal
    return difference / min(total, largest) < epsilon
