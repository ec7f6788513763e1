"""Prometheus' evaluation scripts (promql/promqltest/testdata/*.test) as data: segments between
`clear`s, each a list of loads and evals in order."""

import dataclasses
import re

from script_values import (Histogram, ScriptError, duration_ms, number, parse_series, unquote)

LOAD = re.compile(r"load(?:_(with_nhcb))?\s+(.+?)")
EVAL_INSTANT = re.compile(r"eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(.+?))?\s+(.+)")
EVAL_RANGE = re.compile(r"eval(?:_(fail|warn|info))?\s+range\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+?)\s+(.+)")
EXPECT = re.compile(r"expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?")
EXPECT_RANGE = re.compile(r"expect range vector\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+)")


@dataclasses.dataclass
class Expectation:
    """A text that a message must be, a pattern that it must hold, or neither: any message."""
    text: str = None
    pattern: str = None

    def matches(self, message):
        if self.text is not None:
            return message == self.text
        return self.pattern is None or re.search(self.pattern, message) is not None

    def __str__(self):
        return repr(self.text) if self.text is not None else f"/{self.pattern or ''}/"


@dataclasses.dataclass
class Load:
    series: list  # of (labels, [(value, ms)])
    native: list  # labels of native histograms that it makes; they are not loaded
    start_timestamps: bool


@dataclasses.dataclass
class Eval:
    line: int
    expression: str
    start_ms: int
    end_ms: int
    step_ms: int
    instant: bool  # at end_ms; a range vector that it gives has start, end and step
    ordered: bool = False
    fail: Expectation = None
    expected: list = dataclasses.field(default_factory=list)  # (labels, values), one a step
    scalar: float = None
    string: str = None
    range_vector: bool = False
    notices: dict = dataclasses.field(default_factory=dict)  # warn, no_warn, info, no_info
    needs: str = None  # these two: script_classes.classify
    why: str = None

    def expects_histogram(self):
        return any(isinstance(value, Histogram) for _, values in self.expected for value in values)


def parse_script(text):
    """[[Load or Eval]], one list a segment."""
    lines = [("" if line.strip().startswith("#") else line.strip()) for line in text.split("\n")]
    segments, at = [[]], 0
    while at < len(lines):
        line = lines[at]
        block = [line]
        word = re.split(r"[\t ]+", line, maxsplit=1)[0].lower()
        try:
            if word == "clear":
                segments.append([])
            elif word.startswith("load") or word.startswith("eval"):
                while at + len(block) < len(lines) and lines[at + len(block)]:
                    block.append(lines[at + len(block)])
                if word.startswith("load"):
                    segments[-1].append(parse_load(block))
                else:
                    made, used = parse_eval(block, at + 1)
                    segments[-1].append(made)
                    block = block[:used]
            elif line:
                raise ScriptError(f"unknown command {line!r}")
        except (ScriptError, ValueError) as trouble:
            raise ScriptError(f"line {at + 1}: {trouble}") from trouble
        at += len(block)
    return [segment for segment in segments if segment]


def parse_load(block):
    found = LOAD.fullmatch(block[0])
    if not found:
        raise ScriptError(f"bad load {block[0]!r}")
    gap = duration_ms(found[2])
    series, start_timestamps, native = {}, False, []
    for line in block[1:]:
        if line.split()[0].endswith("@st"):
            start_timestamps = True
            continue
        labels, values = parse_series(line)
        if any(isinstance(value, Histogram) for value in values):
            native.append(labels)
        elif found[1]:
            native += converted(labels)
        series[tuple(sorted(labels.items()))] = (labels, [
            (value, index * gap) for index, value in enumerate(values)
            if isinstance(value, float)])
    return Load(list(series.values()), native, start_timestamps)


def converted(labels):
    """The native histogram that load_with_nhcb makes of a classic one."""
    for suffix in ("_bucket", "_count", "_sum"):
        if labels.get("__name__", "").endswith(suffix):
            return [{name: value.removesuffix(suffix) if name == "__name__" else value
                     for name, value in labels.items() if name != "le"}]
    return []


def parse_eval(block, line):
    """The Eval, and how many lines it takes."""
    instant, over = EVAL_INSTANT.fullmatch(block[0]), EVAL_RANGE.fullmatch(block[0])
    if instant:
        manner, time_ms = instant[1], duration_ms(instant[2])
        made = Eval(line, instant[3], time_ms, time_ms, 0, True)
    elif over:
        manner = over[1]
        made = Eval(line, over[5], *(duration_ms(over[part]) for part in (2, 3, 4)), False)
    else:
        raise ScriptError(f"bad eval {block[0]!r}")
    made.ordered = manner == "ordered"
    if manner == "fail":
        made.fail = Expectation()
    elif manner in ("warn", "info"):
        made.notices["any_" + manner] = True
    for index, text in enumerate(block[1:], start=1):
        if made.fail and text.startswith("expected_fail_message"):
            made.fail = Expectation(text=text.removeprefix("expected_fail_message").strip())
            return made, index + 1
        if made.fail and text.startswith("expected_fail_regexp"):
            made.fail = Expectation(pattern=text.removeprefix("expected_fail_regexp").strip())
            return made, index + 1
        if text.split(" ")[0] == "expect":
            parse_expect(made, text)
            continue
        try:
            made.scalar, made.expected = number(text), []
            return made, index + 1
        except ValueError:
            pass
        labels, values = parse_series(text)
        if len(values) > 1 and made.instant and not made.range_vector:
            raise ScriptError(f"several values of one time: {text!r}")
        made.scalar = None
        made.expected.append((labels, values))
    return made, len(block)


def parse_expect(made, text):
    if text.startswith("expect string"):
        made.string = unquote(text.removeprefix("expect string").strip())
        return
    if found := EXPECT_RANGE.fullmatch(text):
        made.start_ms, made.end_ms, made.step_ms = map(duration_ms, found.groups())
        made.range_vector = True
        return
    found = EXPECT.fullmatch(text)
    if not found:
        raise ScriptError(f"bad expectation {text!r}")
    what, kind, rest = found.groups()
    wanted = Expectation(**{"regex": {"pattern": (rest or "").strip()},
                            "msg": {"text": (rest or "").strip()}, None: {}}[kind])
    if what == "ordered":
        made.ordered = True
    elif what == "fail":
        made.fail = wanted
    else:
        made.notices.setdefault(what, []).append(wanted)
