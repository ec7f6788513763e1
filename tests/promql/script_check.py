"""Asks a server an eval of a script over HTTP and compares the answer as Prometheus' own harness does
(promql/promqltest): series, values within 1e-6, order, failures, warnings and infos.

An instant eval is asked at its own time, and as the middle of a range query from a minute before to a
minute after. Notices lose their position, which the harness does not see, and the metric's name at their end,
which Prometheus adds only behind the flag promql-delayed-name-removal."""

import dataclasses
import json
import re
import urllib.parse

from script_pins import other_times, pinned
from script_values import OMITTED, Histogram, equal

MINUTE_MS = 60_000
# start() and the like differ in a range query, so the harness does not ask one.
CONTEXT_FUNCTIONS = re.compile(r"(start|end|range|step)\(\)")
# What upstream adds to a notice when it knows the text of the query.
NOTICE_POSITION = re.compile(
    r"(, from buckets \S+ to \S+, with a max diff of \S+, over \d+ samples from \S+ to \S+)?"
    r" \(\d+:\d+\)$")
# What it adds with delayed names only.
METRIC_NAME = re.compile(r' for metric name "[^"]*"$')
FAILURE_STATUSES = (400, 422)  # bad_data, execution


class Wrong(Exception):
    """An answer that is not the expected one."""


@dataclasses.dataclass
class Answer:
    kind: str = None  # vector, matrix, scalar, string
    result: object = None  # [(labels, value)], [(labels, [(ms, value)])], value or text
    error: str = None
    warnings: list = dataclasses.field(default_factory=list)
    infos: list = dataclasses.field(default_factory=list)


def seconds(ms):
    return f"{ms / 1000:.3f}"


def sample(pair):
    return round(pair[0] * 1000), float(pair[1])


def plain_notice(text):
    return METRIC_NAME.sub("", NOTICE_POSITION.sub("", text))


def read_answer(status, body):
    try:
        answer = json.loads(body)
    except ValueError as trouble:
        raise Wrong(f"{status}, not JSON ({trouble}): {body[:300]!r}") from trouble
    if answer.get("status") == "error":
        if status not in FAILURE_STATUSES:
            raise Wrong(f"{status} {answer.get('errorType')}: {answer.get('error')}")
        return Answer(error=answer["error"].removeprefix('invalid parameter "query": '))
    if status != 200 or answer.get("status") != "success":
        raise Wrong(f"{status}: {body[:300]!r}")
    kind, result = answer["data"]["resultType"], answer["data"]["result"]
    for series in result if kind in ("vector", "matrix") else []:
        if "histogram" in series or "histograms" in series:
            raise Wrong(f"a native histogram: {series}")
    if kind == "vector":
        result = [(series["metric"], sample(series["value"])[1]) for series in result]
    elif kind == "matrix":
        result = [(series["metric"], [sample(pair) for pair in series["values"]])
                  for series in result]
    elif kind == "scalar":
        result = sample(result)[1]
    elif kind == "string":
        result = result[1]
    return Answer(kind, result, None,
                  *([plain_notice(text) for text in answer.get(name, [])]
                    for name in ("warnings", "infos")))


def ask(server, expression, begin_ms, end_ms=None, step_ms=None):
    """An instant query, or with an end a range query. `server` is a ServerProcess."""
    parameters = {"query": expression}
    if end_ms is None:
        path = "/api/v1/query"
        parameters["time"] = seconds(begin_ms)
    else:
        path = "/api/v1/query_range"
        parameters |= {"start": seconds(begin_ms), "end": seconds(end_ms),
                       "step": seconds(step_ms)}
    return read_answer(*server.request("POST", path, urllib.parse.urlencode(parameters),
                                       {"Content-Type": "application/x-www-form-urlencoded"}))


def check_eval(one, server, pinned_too=False):
    """Raises Wrong. `pinned_too`: asks an instant eval, pinned to its time, at other times as well."""
    if not one.instant:
        answer = ask(server, one.expression, one.start_ms, one.end_ms, one.step_ms)
        if not check_failure(one, answer):
            check_notices(one, answer)
            check_result(one, answer.kind, answer.result)
        return
    check_instant(one, server, one.expression, one.end_ms)
    expression = pinned(one.expression, one.end_ms) if pinned_too else None
    for at in other_times(one.end_ms) if expression else []:
        try:
            check_instant(one, server, expression, at)
        except Wrong as trouble:
            raise Wrong(f"{expression} at {at} ms: {trouble}") from trouble


def check_instant(one, server, expression, at):
    answer = ask(server, expression, at)
    if check_failure(one, answer):
        return
    check_notices(one, answer)
    check_result(one, answer.kind, answer.result)
    if one.range_vector or one.string is not None or CONTEXT_FUNCTIONS.search(expression):
        return
    ranged = ask(server, expression, at - MINUTE_MS, at + MINUTE_MS, MINUTE_MS)
    try:
        check_middle(one, answer.kind, ranged, at)
    except Wrong as trouble:
        raise Wrong(f"as a range query: {trouble}") from trouble


def check_middle(one, kind, ranged, at):
    if ranged.error is not None:
        raise Wrong(f"failed: {ranged.error}")
    if one.ordered:
        return
    if ranged.kind != "matrix":
        raise Wrong(f"a {ranged.kind}")
    check_sorted(ranged.result)
    middle = [(labels, value) for labels, values in ranged.result
              for ms, value in values if ms == at]
    if kind != "scalar":
        check_result(one, "vector", middle)
    elif len(middle) == 1:
        check_result(one, "scalar", middle[0][1])
    else:
        raise Wrong(f"{len(middle)} values instead of a scalar")


def check_failure(one, answer):
    """Whether it failed, as it had to."""
    if answer.error is None:
        if one.fail:
            raise Wrong("did not fail")
        return False
    if not one.fail:
        raise Wrong(f"failed: {answer.error}")
    if not one.fail.matches(answer.error):
        raise Wrong(f"failed with {answer.error!r} instead of {one.fail}")
    return True


def check_notices(one, answer):
    for what, got in (("warn", answer.warnings), ("info", answer.infos)):
        wanted = [dataclasses.replace(expectation, text=expectation.text and plain_notice(expectation.text))
                  for expectation in one.notices.get(what, [])]
        if (wanted or one.notices.get("any_" + what)) and not got:
            raise Wrong(f"no {what}")
        for expectation in wanted:
            if not any(map(expectation.matches, got)):
                raise Wrong(f"no {what} {expectation} but {got}")
        for text in got if wanted else []:
            if not any(expectation.matches(text) for expectation in wanted):
                raise Wrong(f"an unexpected {what}: {text!r}")
        if one.notices.get("no_" + what) and got:
            raise Wrong(f"an unexpected {what}: {got}")


def key(labels):
    return tuple(sorted((name.encode(), value.encode()) for name, value in labels.items()))


def check_sorted(series):
    for (before, _), (after, _) in zip(series, series[1:]):
        if key(before) > key(after):
            raise Wrong(f"a matrix that is not sorted: {before} before {after}")


def check_result(one, kind, result):
    if kind == "string":
        if one.string != result:
            raise Wrong(f"the text {result!r} instead of {one.string!r}")
        return
    if (kind == "scalar") != (one.scalar is not None):
        raise Wrong(f"a {kind}: {result}")
    if kind == "scalar":
        if not equal(one.scalar, result):
            raise Wrong(f"{result} instead of {one.scalar}")
        return
    expected = {key(labels): (place, values)
                for place, (labels, values) in enumerate(one.expected)}
    seen = set()
    if kind == "matrix":
        if one.ordered:
            raise Wrong("a matrix instead of ordered series")
        check_sorted(result)
    for place, (labels, got) in enumerate(result):
        if key(labels) not in expected:
            raise Wrong(f"unexpected series {labels}: {got}")
        wanted_place, wanted = expected[key(labels)]
        if one.ordered and place != wanted_place:
            raise Wrong(f"{labels} is number {place + 1} instead of {wanted_place + 1}")
        if key(labels) in seen:
            raise Wrong(f"{labels} is there twice")
        seen.add(key(labels))
        if kind == "matrix":
            check_values(one, labels, wanted, got)
        else:
            check_value(labels, wanted[0], got)
    for labels, _ in one.expected:
        if key(labels) not in seen:
            raise Wrong(f"no series {labels}")


def check_value(labels, wanted, got):
    if isinstance(wanted, Histogram):
        raise Wrong(f"{labels}: {got} instead of a native histogram")
    if wanted is OMITTED or not equal(wanted, got):
        raise Wrong(f"{labels}: {got} instead of {wanted}")


def check_values(one, labels, wanted, got):
    times = [(one.start_ms + index * one.step_ms, value) for index, value in enumerate(wanted)
             if value is not OMITTED]
    if [ms for ms, _ in times] != [ms for ms, _ in got]:
        raise Wrong(f"{labels}: values at {[ms for ms, _ in got]} ms "
                    f"instead of {[ms for ms, _ in times]}")
    for (ms, value), (_, found) in zip(times, got):
        try:
            check_value(labels, value, found)
        except Wrong as trouble:
            raise Wrong(f"at {ms} ms: {trouble}") from trouble
