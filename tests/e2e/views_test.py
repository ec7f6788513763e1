#!/usr/bin/env python3
"""Views: an answer from a view is that from points, digit for digit, and both are what was sent: after
late, overwritten and deleted points, before and after the view was computed again, and after kills
while points came. Each change changes the answers, so that outdated totals fail the test.
HALITE_SEED chooses the points and the moments.

Percentiles are within 1 % of those of what was sent: of single series where the query accepts that or
the points have expired, and of groups.
"""

import json
import os
import random
import threading
import time

import support

METRIC = "views.load"
HOUR = 3600
HISTORY_HOURS = 72
STEP = 60
KILLS = 4
NOW = int(time.time())
END = NOW // HOUR * HOUR + HOUR
BEGIN = NOW // HOUR * HOUR - HISTORY_HOURS * HOUR
EARLIER = BEGIN - 48 * HOUR  # there are points before the history later on
HOSTS = {f"h{n}": {"host": f"h{n}", "dc": "abc"[n % 3]} for n in range(11)}
HOSTS["none"] = {"host": "none"}  # has no dc

BY_DC = {"name": "by-dc", "metrics": "views.*", "interval": "5m",
         "functions": ["sum", "count", "min", "max", "p99"], "group_by": ["dc"]}
ALL_TAGS = {"name": "all-tags", "metrics": METRIC, "interval": "1h",
            "functions": ["sum", "count", "min", "max", "p50"]}

ALL = ()
EACH_HOST = ({"type": "wildcard", "tagk": "host", "filter": "*", "groupBy": True},)
EACH_DC = ({"type": "wildcard", "tagk": "dc", "filter": "*", "groupBy": True},)
DC_A = ({"type": "literal_or", "tagk": "dc", "filter": "a", "groupBy": False},)
# What a view answers: aggregator, downsampler, the same in Python.
FROM_VIEW = (("zimsum", "1h-sum", sum), ("mimmin", "1h-min", min), ("mimmax", "1h-max", max),
             ("zimsum", "5m-count", len), ("sum", "1h-sum-zero", sum))
# What points answer, since values of single series are needed.
FROM_POINTS = (("avg", "1h-avg"), ("sum", "1h-sum"), ("max", "7m-max"), ("avg", "1h-p99"))
PERCENTILES = (0, 50, 99.9)
SKETCH_ERROR = 0.01


def exact(text):
    """JSON with numbers as they are written."""
    return json.loads(text, parse_float=str, parse_int=str)


def percentile(values, wanted):
    """As OpenTSDB computes it, and how far a sketch may be from it."""
    values = sorted(values)
    position = min(max(wanted / 100 * (len(values) + 1), 1), len(values))
    lower, upper = values[int(position) - 1], values[min(int(position), len(values) - 1)]
    part = position - int(position)
    error = SKETCH_ERROR * ((1 - part) * abs(lower) + part * abs(upper))
    return lower + part * (upper - lower), error * (1 + 1e-6) + 1e-9


class Sent:
    """What the server must have: {(host, ms): value}."""

    def __init__(self):
        self.points = {}

    def line(self, host, ms, value):
        self.points[host, ms] = value
        tags = " ".join(f"{key}={tag}" for key, tag in HOSTS[host].items())
        return f"put {METRIC} {ms // 1000 if ms % 1000 == 0 else ms} {value} {tags}"

    def delete(self, hosts, begin, end):
        for host, ms in list(self.points):
            if host in hosts and begin * 1000 <= ms < end * 1000:
                del self.points[host, ms]

    def expected(self, filters, downsampler, function):
        """{group: {second: value}} of [EARLIER, END)."""
        interval = {"1h": HOUR, "5m": 300}[downsampler.split("-")[0]]
        groups = {}
        for (host, ms), value in self.points.items():
            dc = host if filters is EACH_HOST else HOSTS[host].get("dc")
            if filters is not ALL and dc is None or filters is DC_A and dc != "a":
                continue
            buckets = groups.setdefault(dc if filters in (EACH_DC, EACH_HOST) else None, {})
            buckets.setdefault(ms // 1000 // interval * interval, []).append(value)
        found = {group: {at: function(values) for at, values in buckets.items()}
                 for group, buckets in groups.items()}
        if downsampler.endswith("-zero"):
            every = dict.fromkeys(range(EARLIER, END, interval), 0)
            found = {group: {**every, **buckets} for group, buckets in found.items()}
        return found


class Views(support.HaliteTest):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("HALITE_SEED", time.time_ns() % 1_000_000))
        print(f"HALITE_SEED={seed}", flush=True)
        self.random = random.Random(seed)
        self.sent = Sent()
        self.halite = None

    def start(self, *rules, settings=()):
        self.halite = self.server(*settings, "--set", "views=" + json.dumps(rules), "--set", "storage.views_settle_ms=1000",
                                  "--set", "storage.views_cpu_percent=100", "--set", "web.allow_delete=true",
                                  "--set", "self_metrics.enabled=false").start()

    def restart(self, *rules, settings=()):
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())
        self.start(*rules, settings=settings)

    # ---- points -----------------------------------------------------------------------------

    def value(self):
        """Fractions are quarters, whose sums are exact in any order."""
        number = self.random.randrange(-4000, 4000)
        return number if self.random.random() < 0.5 else number / 4

    def send(self, lines):
        self.assertEqual(self.halite.telnet_lines([*lines, "sync"]), "synced\n")

    def history(self):
        return [self.sent.line(host, second * 1000, self.value())
                for second in range(BEGIN, NOW, STEP) for host in HOSTS]

    def late(self, hours, count=40):
        """Points between those of the history, in some of its hours."""
        chosen = [BEGIN + self.random.randrange(HISTORY_HOURS) * HOUR for _ in range(hours)]
        return [self.sent.line(self.random.choice(list(HOSTS)),
                               (self.random.choice(chosen) + self.random.randrange(HOUR)) * 1000
                               + self.random.choice((0, 0, 250)), self.value())
                for _ in range(count)]

    def delete(self, tags, hosts, begin, end):
        status, body = self.halite.request(
            "DELETE", f"/api/query?start={begin}&end={end - 1}&m=sum:{METRIC}{tags}")
        self.assertEqual(status, 200, body)
        self.sent.delete(hosts, begin, end)

    # ---- the view ---------------------------------------------------------------------------

    def status(self):
        return {view["name"]: view for view in self.halite.get_json("/api/views")}

    def units_computed(self):
        _, text = self.halite.request("GET", "/metrics")
        [line] = [line for line in text.decode().splitlines()
                  if line.startswith("halite_views_units_total ")]
        return float(line.split()[1])

    def wait_until_built(self, more_than=0):
        """Waits until nothing is to do, and more units were computed than that number."""
        def is_built():
            views = self.status().values()
            for view in views:
                self.assertEqual(view["error"], "")
            return self.units_computed() > more_than and all(
                view["existing"] > 0 and view["unitsWaiting"] == 0
                and view["unitsBuilt"] >= HISTORY_HOURS for view in views)
        self.eventually("the views to be computed", is_built)

    def ask(self, aggregator, downsampler, filters, use_views, begin=EARLIER, end=END - 1):
        """The answer, and the name of the view that gave it."""
        status, body = self.halite.request("POST", "/api/query", json.dumps({
            "start": begin, "end": end, "useViews": use_views, "showSummary": True,
            "queries": [{"aggregator": aggregator, "metric": METRIC, "downsample": downsampler,
                         "filters": filters}]}))
        self.assertEqual(status, 200, body)
        *answers, summary = exact(body)
        answers.sort(key=lambda answer: sorted(answer["tags"].items()))
        return answers, summary["statsSummary"]["queryIdx_00"].get("view")

    def ask_percentiles(self, filters, begin=EARLIER, end=END - 1):
        """{percentile: {group: {second: value}}} of "by-dc"."""
        status, body = self.halite.request("POST", "/api/query", json.dumps({
            "start": begin, "end": end, "showSummary": True,
            "queries": [{"aggregator": "sum", "metric": METRIC, "downsample": "1h-sum",
                         "percentiles": PERCENTILES, "filters": filters}]}))
        self.assertEqual(status, 200, body)
        *answers, summary = json.loads(body)
        of_query = summary["statsSummary"]["queryIdx_00"]
        self.assertEqual((of_query.get("view"), of_query.get("accuracy")),
                         ("by-dc", "approximate, 1 %"), of_query)
        found = {wanted: {} for wanted in PERCENTILES}
        for answer in answers:
            metric, _, wanted = answer["metric"].partition("_pct_")
            self.assertEqual(metric, METRIC)
            group = answer["tags"].get("dc") if filters is EACH_DC else None
            found[float(wanted)][group] = {int(at): value for at, value in answer["dps"].items()}
        return found

    def check_close(self, what, wanted, found, filters):
        """Compares {group: {second: percentile}} with what was sent."""
        expected = self.sent.expected(filters, "1h-", lambda values: percentile(values, wanted))
        self.assertEqual({group: set(buckets) for group, buckets in found.items()},
                         {group: set(buckets) for group, buckets in expected.items()}, what)
        for group, buckets in expected.items():
            for at, (value, error) in buckets.items():
                self.assertAlmostEqual(found[group][at], value, delta=error,
                                       msg=f"{what}: {wanted} of {group} at {at}")

    def check_percentiles(self, what):
        for filters in (ALL, EACH_DC, DC_A):
            for wanted, found in self.ask_percentiles(filters).items():
                self.check_close(f"{what}: {filters}", wanted, found, filters)
        for use_views, named in ((False, None), ("approximate", "all-tags")):
            answers, from_view = self.ask("avg", "1h-p99", EACH_HOST, use_views)
            self.assertEqual(from_view, named, what)
            found = {answer["tags"]["host"]: {int(at): float(value)
                                              for at, value in answer["dps"].items()}
                     for answer in answers}
            self.check_close(f"{what}: useViews {use_views}", 99, found, EACH_HOST)

    def check(self, what, named="by-dc", model=True):
        """Compares each query from the view with the same query from points, and with what was sent. `named`: the
        view that answers; False: it may be points, while nothing is computed yet."""
        seen = []
        for aggregator, downsampler, function in FROM_VIEW:
            for filters in (ALL, EACH_DC, DC_A):
                question = f"{what}: {aggregator}:{downsampler} {filters}"
                points, from_points = self.ask(aggregator, downsampler, filters, False)
                view, from_view = self.ask(aggregator, downsampler, filters, True)
                self.assertIsNone(from_points, question)
                if named is not False:
                    self.assertEqual(from_view, named, question)
                self.assertEqual(view, points, question)
                seen.append(view)
                if not model:
                    continue
                found = {answer["tags"].get("dc") if filters is EACH_DC else None:
                         {int(second): float(value) for second, value in answer["dps"].items()}
                         for answer in view}
                self.assertEqual(found, self.sent.expected(filters, downsampler, function), question)
        # Ranges that begin and end within a bucket.
        for begin, end in ((BEGIN + 1234, NOW - 4321), (BEGIN + 17 * HOUR + 1, BEGIN + 18 * HOUR)):
            for aggregator, downsampler, _ in FROM_VIEW:
                question = f"{what}: {aggregator}:{downsampler} {begin} to {end}"
                points, _ = self.ask(aggregator, downsampler, EACH_DC, False, begin, end)
                view, _ = self.ask(aggregator, downsampler, EACH_DC, True, begin, end)
                self.assertEqual(view, points, question)
        for aggregator, downsampler in FROM_POINTS:
            for filters in (ALL, EACH_DC):
                points, _ = self.ask(aggregator, downsampler, filters, False)
                either, from_view = self.ask(aggregator, downsampler, filters, True)
                self.assertIsNone(from_view, f"{what}: {aggregator}:{downsampler}")
                self.assertEqual(either, points, f"{what}: {aggregator}:{downsampler}")
        if model:
            self.check_percentiles(what)
        return seen

    def check_change(self, what, before, change):
        """Compares at once, and when the view was computed again. Returns the answers."""
        computed = self.units_computed()
        change()
        at_once = self.check(f"{what}, at once")
        for old, new in zip(before, at_once):
            if old != new:
                break
        else:
            self.fail(f"{what}: it changed no answer")
        self.wait_until_built(computed)
        self.assertEqual(self.check(f"{what}, computed again"), at_once)
        return at_once

    # ---- the test ---------------------------------------------------------------------------

    def test_views_answer_as_points(self):
        self.start(BY_DC, ALL_TAGS)
        self.send(self.history())
        self.restart(BY_DC, ALL_TAGS)  # it looks for metrics at start, else every 10 s
        self.wait_until_built()
        answers = self.check("history")

        answers = self.check_change("late points", answers, lambda: self.send(self.late(5)))
        hours = [BEGIN, BEGIN + 30 * HOUR]
        old = [(host, ms) for host, ms in sorted(self.sent.points)
               if any(hour <= ms // 1000 < hour + 300 for hour in hours)]
        answers = self.check_change("overwritten points", answers, lambda: self.send(
            [self.sent.line(host, ms, self.value()) for host, ms in old]))
        answers = self.check_change("points of an earlier day", answers, lambda: self.send(
            [self.sent.line("h1", (EARLIER + 2 * HOUR + 7) * 1000, 12.25)]))
        hour = BEGIN + 40 * HOUR
        answers = self.check_change("points of one series deleted", answers, lambda: self.delete(
            "{host=h4}", {"h4"}, hour + 600, hour + 5 * HOUR))
        of_a = {host for host, tags in HOSTS.items() if tags.get("dc") == "a"}
        answers = self.check_change("a group deleted", answers, lambda: self.delete(
            "{dc=a}", of_a, hour, hour + 2 * HOUR))
        answers = self.check_change("points where others were deleted", answers, lambda: self.send(
            [self.sent.line("h4", (hour + 900) * 1000, 5), self.sent.line("h3", (hour + 60) * 1000, 0.5)]))

        for number in range(KILLS):
            self.kill_under_load(number)
        self.changed_rules()

    def test_rules_follow_the_settings_file(self):
        file = self.scratch / "halite.toml"

        def rules(text):
            fresh = self.scratch / "fresh.toml"
            fresh.write_text("storage.views_settle_ms = \"1s\"\nstorage.views_cpu_percent = 100\n"
                             "self_metrics.enabled = false\n" + text)
            fresh.replace(file)

        def bucket_of_increment():
            """Where the sum is of an increment in the middle of an hour."""
            status, body = self.halite.request("POST", "/api/incr", json.dumps({
                "metric": "likes", "timestamp": BEGIN + 1800, "value": 1, "tags": {"page": "a"}}))
            self.assertEqual(status, 204, body)
            [answer] = self.halite.query("sum:likes", BEGIN, END)
            return [int(second) for second in answer["dps"]]

        views = "".join("[[views]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
                        for rule in (BY_DC, ALL_TAGS))
        rules("")
        self.halite = self.server("--config", file).start()
        self.send(self.history())
        self.assertEqual(self.status(), {})
        self.assertEqual(bucket_of_increment(), [BEGIN + 1800])
        rules(views + '[[counters]]\nmetrics = "likes"\nbuckets = ["1h"]\nkeep = ["0"]\n')
        self.wait_until_built(1)
        answers = self.check("a view was added")
        self.assertEqual(bucket_of_increment(), [BEGIN])

        rules(views.replace("5m", "7m"))
        self.eventually("a complaint", lambda: "must divide an hour" in self.halite.log_text())
        self.assertEqual(self.check("the file has an error"), answers)
        file.write_text("")  # as some write it: first nothing, then all
        self.eventually("a complaint", lambda: "is empty" in self.halite.log_text())
        rules("")
        self.eventually("a warning", lambda: "will be deleted" in self.halite.log_text())
        self.assertEqual(self.check("not yet deleted"), answers)
        rules(views)
        self.assertEqual(self.check("back again"), answers)
        file.unlink()
        os.mkfifo(file)
        self.eventually("a complaint", lambda: "is not a regular file" in self.halite.log_text())
        rules("")
        self.eventually("the view to go", lambda: self.status() == {})
        self.ask("zimsum", "1h-sum", EACH_DC, True)
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())

    def test_the_tool_lists_and_rebuilds(self):
        self.start(BY_DC)
        self.send(self.history())
        self.restart(BY_DC)
        self.wait_until_built()
        url = ("--url", f"http://127.0.0.1:{self.halite.port}")
        code, listed, error = self.run_halite("views", "list", *url)
        self.assertEqual((code, error), (0, ""))
        head, line = listed.splitlines()
        self.assertEqual(head.split()[:4], ["VIEW", "METRICS", "BUCKET", "COMPUTED"])
        self.assertRegex(line, r"^by-dc +views\.\* +5m +\d+ +0 +\d+[sm] +[\d.]+  complete$")
        computed = self.units_computed()
        code, told, _ = self.run_halite("views", "rebuild", "by-dc", *url)
        self.assertEqual((code, told), (0, "by-dc is computed anew; halite views list shows the progress\n"))
        self.wait_until_built(computed + HISTORY_HOURS - 1)
        code, told, error = self.run_halite("views", "rebuild", "other", *url)
        self.assertEqual((code, told), (2, ""))
        self.assertIn('there is no view "other"', error)
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())

    def test_percentiles_outlive_their_points(self):
        self.start(ALL_TAGS)
        self.send([self.sent.line("h1", second * 1000, self.value())
                   for second in range(BEGIN, NOW, STEP)])
        self.restart(ALL_TAGS)
        self.wait_until_built()
        self.restart(ALL_TAGS, settings=("--set", "storage.ttl_ms=1d"))
        last = BEGIN + 24 * HOUR
        answers, from_view = self.ask("avg", "1h-p99", EACH_HOST, True, BEGIN, last - 1)
        self.assertEqual(from_view, "all-tags")
        [answer] = answers
        for host, ms in list(self.sent.points):
            if ms >= last * 1000:
                del self.sent.points[host, ms]
        self.check_close("expired", 99, {"h1": {int(at): float(value)
                                                for at, value in answer["dps"].items()}}, EACH_HOST)
        _, from_view = self.ask("avg", "1h-p99", EACH_HOST, True, BEGIN)
        self.assertIsNone(from_view, "some of the points exist")
        explained = self.explain("avg:1h-p99")
        self.assertEqual(explained, [{"name": "all-tags", "answers": False, "why":
                                      "percentiles of a view are approximate: set useViews to "
                                      "\"approximate\""}])
        explained = self.explain("avg:1h-p99", "&approximate_views")
        self.assertEqual(explained, [{"name": "all-tags", "answers": True,
                                      "accuracy": "approximate, 1 %"}])
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())

    def test_histograms_answer_before_sketches(self):
        self.start(ALL_TAGS, settings=(
            "--set", 'histograms.config={"net.opentsdb.core.SimpleHistogramDecoder":42}'))
        self.send([self.sent.line("h1", (BEGIN + value) * 1000, value) for value in (100, 200)])
        hour = NOW // HOUR * HOUR
        status, body = self.halite.request("POST", "/api/histogram", json.dumps(
            {"metric": METRIC, "timestamp": hour, "buckets": {"0,10": 5}, "underflow": 0, "overflow": 0,
             "tags": HOSTS["h1"]}))
        self.assertEqual(status, 204, body)

        def median(begin, use_views=True):
            status, body = self.halite.request("POST", "/api/query", json.dumps({
                "start": begin, "end": begin + HOUR - 1, "useViews": use_views, "showSummary": True,
                "queries": [{"aggregator": "sum", "metric": METRIC, "downsample": "1h-sum",
                             "percentiles": [50]}]}))
            self.assertEqual(status, 200, body)
            *answers, summary = json.loads(body)
            return ([value for answer in answers for value in answer["dps"].values()],
                    summary["statsSummary"]["queryIdx_00"].get("view"))

        self.assertEqual(median(hour), ([5.0], None))
        [value], from_view = median(BEGIN)  # nothing is computed yet
        self.assertEqual(from_view, "all-tags")
        self.assertAlmostEqual(value, 150, delta=1.5)
        self.assertEqual(median(BEGIN, use_views=False), ([], None))
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())

    def explain(self, sub, flags=""):
        explained = self.halite.get_json(
            f"/api/query/explain?start={BEGIN}&end={END}&m={sub}:{METRIC}{flags}")
        return explained["queries"][0]["views"]

    def kill_under_load(self, number):
        """Late points come until it is killed, while it computes what they change."""
        rounds = [self.late(3, 200) for _ in range(200)]
        sent = []

        def write():
            try:
                with self.halite.connect() as connection:
                    for lines in rounds:
                        sent.append(lines)
                        connection.sendall(("\n".join(lines) + "\nsync\n").encode())
                        if connection.recv(64) != b"synced\n":
                            return
                        time.sleep(0.05)
            except OSError:
                return

        before = self.units_computed()
        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(1.5 * self.random.random() + 0.3)
        if number == 0:
            self.eventually("a computation under load", lambda: self.units_computed() > before)
        self.halite.kill()
        writer.join()
        self.assertGreater(len(sent), 1, "nothing was written before the kill")
        self.start(BY_DC, ALL_TAGS)
        self.check(f"kill {number}, at once", model=False)  # the last lines may be there
        self.send([line for lines in rounds for line in lines])
        self.wait_until_built()
        self.check(f"kill {number}, computed again")

    def changed_rules(self):
        """Another interval; no rule while points change; the same rule again."""
        wider = {**BY_DC, "interval": "1h"}
        self.restart(wider, ALL_TAGS)
        before = self.all_from_view()
        self.wait_until_built()
        self.assertEqual(self.all_from_view(), before)
        _, named = self.ask("zimsum", "1h-sum", EACH_DC, True)
        self.assertEqual(named, "by-dc")
        _, named = self.ask("zimsum", "5m-count", EACH_DC, True)
        self.assertIsNone(named, "no bucket of the view is so short")

        self.restart()
        self.assertEqual(self.status(), {})
        self.send(self.late(20, 200))
        self.restart(BY_DC, ALL_TAGS)
        self.all_from_view()
        self.wait_until_built()
        answers = self.check("rules as before")
        self.restart(BY_DC, ALL_TAGS)
        self.assertEqual(self.check("started again"), answers)
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())

    def all_from_view(self):
        """Answers while a view may be used or not yet."""
        answers = []
        for aggregator, downsampler, _ in FROM_VIEW:
            for filters in (ALL, EACH_DC, DC_A):
                points, _ = self.ask(aggregator, downsampler, filters, False)
                view, _ = self.ask(aggregator, downsampler, filters, True)
                self.assertEqual(view, points, f"{aggregator}:{downsampler} {filters}")
                answers.append(view)
        return answers


if __name__ == "__main__":
    support.main()
