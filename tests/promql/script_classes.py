"""What an eval needs of a server: what Prometheus 3.14 answers with its default flags from series of
floats (core), a feature that is behind a flag (exp), or native histograms (nh)."""

import re

from script_values import QUOTED, unquote

CLASSES = ("core", "exp", "nh")

EXPERIMENTAL_FUNCTIONS = {
    "double_exponential_smoothing", "end", "histogram_quantiles", "info", "limit_ratio", "limitk",
    "mad_over_time", "max_of", "min_of", "range", "sort_by_label", "sort_by_label_desc", "start",
    "start_timestamp", "step", "ts_of_first_over_time", "ts_of_last_over_time",
    "ts_of_max_over_time", "ts_of_min_over_time"}
# Lines of module v0.314.0 whose answers need --enable-feature=promql-delayed-name-removal: a name that is
# dropped at the end, so that until then it tells series apart.
DELAYED_NAMES = {"name_label_dropping.test": (59, 64, 69, 74, 89, 115, 119, 123),
                 "type_and_unit.test": (77, 92, 222, 237)}
FILLS = {"fill", "fill_left", "fill_right"}
EXTENDED = {"anchored", "smoothed"}
LABEL_LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
TOKEN = re.compile(rf"(?P<string>{QUOTED})|(?P<word>[a-zA-Z_:][a-zA-Z0-9_:]*)"
                   r"|(?P<number>[0-9.][0-9a-zA-Z_.]*)|(?P<op>=~|!~|!=|==|[^\s])")


def tokens(expression):
    return [(found.lastgroup, found.group()) for found in TOKEN.finditer(expression)]


def closing(words, at):
    """Where the bracket at `at` ends."""
    depth = 0
    for index in range(at, len(words)):
        if words[index][1] in ("(", "{", "["):
            depth += 1
        elif words[index][1] in (")", "}", "]"):
            depth -= 1
            if depth == 0:
                return index
    return len(words) - 1


def matchers(words):
    """[(name, operator, value)] of what is in braces."""
    found, at = [], 0
    while at < len(words):
        kind, text = words[at]
        if at + 2 < len(words) and words[at + 1][1] in ("=", "!=", "=~", "!~"):
            name = unquote(text) if kind == "string" else text
            found.append((name, words[at + 1][1], unquote(words[at + 2][1])))
            at += 3
        else:
            if kind == "string":
                found.append(("__name__", "=", unquote(text)))
            at += 1
    return found


def selectors(expression):
    """The matchers of each selector. Keywords such as `offset` pass for metrics, which matters to no script."""
    words, found, at = tokens(expression), [], 0
    while at < len(words):
        kind, text = words[at]
        after = words[at + 1][1] if at + 1 < len(words) else ""
        if kind == "word" and text.lower() in LABEL_LISTS and after == "(":
            at = closing(words, at + 1) + 1
            continue
        if text == "[":
            at = closing(words, at) + 1
            continue
        aggregates = after == "(" or after.lower() in ("by", "without")
        if kind == "word" and not aggregates or text == "{":
            name = [("__name__", "=", text)] if kind == "word" else []
            opening = at if text == "{" else at + 1
            end = closing(words, opening) if text == "{" or after == "{" else at
            found.append(name + matchers(words[opening + 1:end]))
            at = end
        at += 1
    return found


def matches(wanted, labels):
    for name, operator, value in wanted:
        got = labels.get(name, "")
        if operator in ("=", "!="):
            same = got == value
        else:
            same = re.fullmatch(value, got, re.DOTALL) is not None
        if same != (operator in ("=", "=~")):
            return False
    return True


def functions(words):
    """Names that are called, without those in the place of a duration and those after @."""
    found, at = set(), 0
    while at < len(words):
        kind, text = words[at]
        if text == "[":
            at = closing(words, at)
        elif kind == "word" and text.lower() == "offset":
            while at + 1 < len(words) and words[at + 1][1] in ("+", "-"):
                at += 1
            if at + 1 < len(words) and words[at + 1][1] == "(":
                at = closing(words, at + 1)
            elif at + 2 < len(words) and words[at + 2][1] == "(":
                at = closing(words, at + 2)
        elif kind == "word" and at + 1 < len(words) and words[at + 1][1] == "(":
            if at == 0 or words[at - 1][1] != "@":
                found.add(text)
        at += 1
    return found


def feature(one, file):
    """The feature behind a flag that an eval needs, or nothing."""
    words = tokens(one.expression)
    called = functions(words)
    any_failure = one.fail is not None and one.fail.text is None and one.fail.pattern is None
    if one.line in DELAYED_NAMES.get(file, ()):
        return "delayed names"
    if called & FILLS:
        return "fill"
    if any(kind == "word" and text in EXTENDED for kind, text in words):
        return "anchored and smoothed"
    if called & EXPERIMENTAL_FUNCTIONS and not any_failure:
        return "functions"
    return None


def classify(segment, file):
    """Sets `needs`, a class, and `why`, a feature, of each eval."""
    native, start_timestamps = [], False
    for command in segment:
        if not hasattr(command, "expression"):
            native += command.native
            start_timestamps = start_timestamps or command.start_timestamps
            continue
        wanted = selectors(command.expression)
        if command.expects_histogram() or any(matches(one, labels)
                                              for one in wanted for labels in native):
            command.needs, command.why = "nh", "native histograms"
            continue
        command.why = feature(command, file) or ("start timestamps" if start_timestamps else None)
        command.needs = "exp" if command.why else "core"
