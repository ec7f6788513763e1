"""Views over the points: a query that a view answers must have the answer of the same query without views, and both
that of the ledger, after each fault at once and when the views were computed again."""

import collections
import json
import time

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BUCKET_MS = 300_000
WHOLE = "crash.m4"  # has small whole numbers, whose sums are exact in any order
KEPT_30_DAYS = "crash.m3"  # a view of single series answers only if the query begins before the points are kept
FUNCTIONS = ["sum", "count", "min", "max"]
RULES = json.dumps([
    {"name": "by-writer", "metrics": "crash.*", "interval": "5m", "functions": FUNCTIONS, "group_by": ["writer"]},
    {"name": "each-series", "metrics": KEPT_30_DAYS, "interval": "1h", "functions": FUNCTIONS},
])
SETTINGS = {"VIEWS": RULES, "STORAGE_VIEWS_SETTLE_MS": 1_000, "STORAGE_VIEWS_CPU_PERCENT": 100}
SECONDS_MAX = 120  # until all is computed
QUIET_SECONDS = 0.2  # without work and without a change

# groups: the tags that the answer is grouped by; None: all. expected: of the values of a bucket.
Question = collections.namedtuple("Question", "view metric aggregator downsample interval_ms groups expected")


def questions_about(metric):
    by_writer = [("zimsum", "1h-count", HOUR_MS, len), ("mimmin", "5m-min", BUCKET_MS, min),
                 ("mimmax", "1h-max", HOUR_MS, max)]
    if metric == WHOLE:
        by_writer.append(("zimsum", "5m-sum", BUCKET_MS, sum))
    for aggregator, downsample, interval_ms, expected in by_writer:
        yield Question("by-writer", metric, aggregator, downsample, interval_ms, ("writer",), expected)
    if metric == KEPT_30_DAYS:
        for downsample, expected in (("1h-count", len), ("1h-min", min), ("1h-max", max)):
            yield Question("each-series", metric, "none", downsample, HOUR_MS, None, expected)


def group_of(question, tags):
    """None: the question does not select a series of these tags."""
    tags = dict(tags)
    if question.groups is None:
        return tuple(sorted(tags.items()))
    if any(key not in tags for key in question.groups):
        return None
    return tuple((key, tags[key]) for key in question.groups)


def differences(wanted, found):
    """Of {group: {ms: value}}, as text."""
    for group in sorted({*wanted, *found}):
        ours, theirs = wanted.get(group, {}), found.get(group, {})
        for moment in sorted({*ours, *theirs}):
            one, other = ours.get(moment), theirs.get(moment)
            if one is None or other is None or one != other:
                yield f"{group} {moment}: {other!r}, not {one!r}"


class ViewCheck:
    """Of one data directory. canary: answers of views stay as they were in the check before."""

    def __init__(self, clock, canary):
        self.clock = clock
        self.canary = canary
        self.before = {}  # question: answer of its view

    def ask(self, server, question, use_views):
        """({group: {ms: number}}, the name of the view that answered or None)"""
        now = int(self.clock())
        days = 40 if question.metric == KEPT_30_DAYS else 11
        filters = [{"type": "wildcard", "tagk": key, "filter": "*", "groupBy": True} for key in question.groups or ()]
        body = {"start": (now - days * DAY_MS) // HOUR_MS * HOUR_MS, "end": now + 2 * HOUR_MS, "msResolution": True,
                "useViews": use_views, "showSummary": True,
                "queries": [{"aggregator": question.aggregator, "metric": question.metric,
                             "downsample": question.downsample, "filters": filters}]}
        status, text = server.request("POST", "/api/query", json.dumps(body))
        if status == 400 and b"No such name" in text:
            return {}, None  # a metric without points, that was forgotten since it was listed
        if status != 200:
            raise AssertionError(f"{question}: {status} {text[:500]!r}")
        *answers, summary = json.loads(text)
        found = {}
        for answer in answers:
            points = {int(moment): float(value) for moment, value in answer["dps"].items()}
            if points:  # a group may consist of series without points in this time
                found.setdefault(group_of(question, answer["tags"]), {}).update(points)
        return found, summary["statsSummary"]["queryIdx_00"].get("view")

    @staticmethod
    def expected(ledger, question):
        """What the ledger's points give, each of which must have one value."""
        buckets = {}
        for tags, points in ledger.metrics[question.metric].items():
            group = group_of(question, tags)
            if group is None:
                continue
            for moment, (value,) in points.items():
                if value is not None:
                    at = moment - moment % question.interval_ms
                    buckets.setdefault(group, {}).setdefault(at, []).append(float(value))
        return {group: {at: float(question.expected(values)) for at, values in points.items()}
                for group, points in buckets.items()}

    def check(self, server, ledger, known, when):
        """After ledger.check(). known: the server's metrics. Returns (answers that are right, how many of them views
        gave, complaints: [(kind, text)])."""
        right = from_views = 0
        complaints = []
        for metric in sorted({*ledger.metrics} & {*known}):
            for question in questions_about(metric):
                expected = self.expected(ledger, question)
                points, _ = self.ask(server, question, use_views=False)
                answer, view = self.ask(server, question, use_views=True)
                if self.canary and view:
                    answer, self.before[question] = self.before.get(question, answer), answer
                what = f"{metric} {question.aggregator}:{question.downsample} {when}"
                wrong = [f"view {view}: {what}: {text}" for text in differences(points, answer)]
                wrong += [f"points: {what}: {text}" for text in differences(expected, points)]
                if view not in (None, question.view):
                    wrong.append(f"view {view}: {what}: it should be {question.view}")
                complaints += [("views wrong", text) for text in wrong]
                right += not wrong
                from_views += not wrong and view is not None
        return right, from_views, complaints

    @staticmethod
    def wait_until_computed(server, known):
        """known: the server's metrics."""
        covering = {"by-writer"} if any(metric.startswith("crash.") for metric in known) else set()
        covering |= {"each-series"} if KEPT_30_DAYS in known else set()
        since = time.monotonic()
        before, quiet_since = None, since
        while time.monotonic() - since < SECONDS_MAX:
            views = [view for view in server.get_json("/api/views") if view["name"] in covering]
            if errors := [view["error"] for view in views if view["error"]]:
                raise AssertionError(f"views are not computed: {errors}")
            waiting = any(view["unitsWaiting"] or view["building"] or not view["existing"] for view in views)
            now = [view["unitsBuilt"] for view in views]
            if waiting or now != before:
                before, quiet_since = now, time.monotonic()
            elif time.monotonic() - quiet_since > QUIET_SECONDS:
                return
            time.sleep(0.02)
        raise AssertionError(f"{SECONDS_MAX} s after its start views are not computed: {views}")
