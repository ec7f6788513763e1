"""Expressions pinned to a time: each selector and subquery gets `@ TIME`, as Prometheus' harness does it, so
that they are worth the same whenever they are evaluated. What is in a subquery stays."""

from script_classes import LABEL_LISTS, TOKEN, closing, functions, tokens

# Their result varies with the time of evaluation even so.
UNSAFE = {"days_in_month", "day_of_month", "day_of_week", "day_of_year", "end", "hour", "minute", "month",
          "year", "predict_linear", "range", "start", "step", "time", "timestamp"}
OPERATORS = {"and", "or", "unless", "atan2", "bool", "inf", "nan"}


def pinned(expression, at_ms):
    """Nothing if it holds a function whose result varies."""
    words = tokens(expression)
    if functions(words) & UNSAFE:
        return None
    ends = [found.end() for found in TOKEN.finditer(expression)]
    places, _ = walk(words, 0, len(words))
    for place in sorted((ends[index] for index in places), reverse=True):
        expression = f"{expression[:place]} @ {at_ms / 1000:.3f}{expression[place:]}"
    return expression


def other_times(at_ms):
    """When a pinned expression is evaluated, too."""
    return [-10 * at_ms, 0, at_ms // 5, at_ms, 10 * at_ms] if at_ms else [-1000, 0, 1000]


def text_at(words, at):
    return words[at][1].lower() if at < len(words) else ""


def walk(words, at, end):
    """The words after which a pin belongs, and where this ended."""
    places = []
    while at < end:
        kind, text = words[at][0], words[at][1].lower()
        if kind == "word" and text in LABEL_LISTS:
            at = closing(words, at + 1) + 1 if text_at(words, at + 1) == "(" else at + 1
        elif kind == "word" and text in OPERATORS or kind != "word" and text not in ("(", "{"):
            at += 1
        else:
            inner, at = operand(words, at)
            places += inner
    return places, at


def operand(words, at):
    """A selector, a call, an aggregation or a parenthesis, with what follows it."""
    opening = at
    if words[at][0] == "word":
        while text_at(words, opening + 1) in ("by", "without"):  # sum by (a) (...)
            opening = closing(words, opening + 2)
        opening += 1
    selector = text_at(words, opening) != "("
    inner = []
    if not selector:
        last = closing(words, opening)
        inner, _ = walk(words, opening + 1, last)
        while text_at(words, last + 1) in ("by", "without"):  # sum(...) by (a)
            last = closing(words, last + 2)
    else:
        last = closing(words, opening) if text_at(words, opening) == "{" else at
    can_be_pinned, has_pin = selector, False
    while True:
        after = text_at(words, last + 1)
        if after == "[":
            begin, last = last + 1, closing(words, last + 1)
            if any(":" in text for _, text in words[begin:last]):
                inner, can_be_pinned, has_pin = [], True, False
        elif after in ("@", "offset"):
            has_pin = has_pin or after == "@"
            last = end_of_time(words, last + 2)
        else:
            break
    return ([last] if can_be_pinned and not has_pin else inner if not can_be_pinned else []), last + 1


def end_of_time(words, at):
    """The last word of `5m`, `-(1m + 2m)`, `step()`, `start()`."""
    while text_at(words, at) in ("+", "-"):
        at += 1
    if text_at(words, at) == "(":
        return closing(words, at)
    return closing(words, at + 1) if text_at(words, at + 1) == "(" else at
