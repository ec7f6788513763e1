#!/usr/bin/env python3
"""What reads Prometheus' evaluation scripts and compares answers: notation, classes, and each way in which
an answer can be wrong."""

import json
import math
import unittest
import urllib.parse

from script_check import Wrong, check_eval
from script_classes import classify, functions, selectors, tokens
from script_language import Load, parse_script
from script_pins import other_times, pinned
from script_values import (OMITTED, STALE, ScriptError, duration_ms, equal, is_stale, parse_labels,
                           parse_series, parse_values)

SCRIPT = """
# A comment.
load 10s
  m{a="x"} 0+1x3
  m{a="y"} 5 _ stale NaN

eval instant at 30s m
  expect no_warn
  m{a="x"} 3
  m{a="y"} 7

eval range from 0 to 20s step 10s sum(m)
  {} 1 _ 2

eval instant at 1m m[1m]
  expect range vector from 10s to 1m step 10s
  m 1 2

clear

load_with_nhcb 5m
  h_bucket{le="1"} 1
  h_count 1

eval_fail instant at 1m ceil(h_bucket)
  expected_fail_regexp same .*set

eval_ordered instant at 1m topk(2, h_bucket)
  h_bucket{le="1"} 1
  m{a="y"} -Inf

eval instant at 1m h
  h 1

eval instant at 1m 12
  0xc
"""


class Server:
    """Answers every question with the same data, a range query with a second."""

    def __init__(self, kind, result, range_result=None, **more):
        self.kinds = {"/api/v1/query": (kind, result), "/api/v1/query_range": ("matrix", range_result or [])}
        self.more = more
        self.asked = []

    def request(self, _, path, body, __):
        self.asked.append((path, dict(urllib.parse.parse_qsl(body))))
        kind, result = self.kinds[path]
        return 200, json.dumps({"status": "success", "data": {"resultType": kind, "result": result},
                                **self.more}).encode()


class Refusing:
    def __init__(self, status, message):
        self.answer = status, json.dumps({"status": "error", "errorType": "x", "error": message})

    def request(self, *_):
        return self.answer


class NotationTest(unittest.TestCase):
    def test_values(self):
        self.assertEqual(parse_values("1 -2 +3 1e3 .5 Inf -inf"), [1, -2, 3, 1000, .5, math.inf, -math.inf])
        self.assertEqual(parse_values("0+10x2 1-1x2 7x2 _x2 _ -3+2x1"),
                         [0, 10, 20, 1, 0, -1, 7, 7, 7] + [OMITTED] * 3 + [-3, -1])
        self.assertTrue(is_stale(parse_values("stale")[0]))
        self.assertTrue(math.isnan(parse_values("NaN")[0]))
        self.assertFalse(is_stale(parse_values("NaN")[0]))
        self.assertEqual(parse_values("{{schema:0 sum:1}}+{{sum:1}}x2 1")[2:], ["{{schema:0 sum:1}}", 1])
        for bad in ("1+2", "x", "1x", "1,2", "0x1F"):
            with self.assertRaises(ScriptError, msg=bad):
                parse_values(bad)

    def test_labels(self):
        self.assertEqual(parse_labels('m:a{b="x", c = \'y\' , }')[0],
                         {"__name__": "m:a", "b": "x", "c": "y"})
        self.assertEqual(parse_labels(r'{"my.name", "a b"="\u00e9\n\"", e=""}')[0],
                         {"__name__": "my.name", "a b": 'é\n"'})
        self.assertEqual(parse_series("m 1"), ({"__name__": "m"}, [1]))
        self.assertEqual(parse_series("{} 1"), ({}, [1]))
        for bad in ('m{a="x"', "m{a}", "m{a=x}", "{a=\"x\"}1", "1"):
            with self.assertRaises(ScriptError, msg=bad):
                parse_series(bad)

    def test_durations(self):
        self.assertEqual([duration_ms(text) for text in ("1h30m", "10ms", "0", "1d1s")],
                         [5_400_000, 10, 0, 86_401_000])
        for bad in ("", "1", "1m1h", "1.5h"):
            with self.assertRaises(ScriptError, msg=bad):
                duration_ms(bad)

    def test_equal(self):
        self.assertTrue(equal(1, 1.0000019))
        self.assertFalse(equal(1, 1.0000021))
        self.assertTrue(equal(math.nan, math.nan))
        self.assertFalse(equal(math.nan, STALE))
        self.assertFalse(equal(math.inf, -math.inf))
        self.assertFalse(equal(0, 1e-300))
        self.assertTrue(equal(0.0, -0.0))


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.segments = parse_script(SCRIPT)
        for segment in self.segments:
            classify(segment, "x.test")

    def test_segments(self):
        first, second = self.segments
        self.assertEqual([type(one) is Load for one in first + second],
                         [True, False, False, False, True, False, False, False, False])
        self.assertEqual(first[0].series[0], ({"__name__": "m", "a": "x"},
                                              [(0, 0), (1, 10000), (2, 20000), (3, 30000)]))
        self.assertEqual([ms for _, ms in first[0].series[1][1]], [0, 20000, 30000])
        self.assertEqual([(one.line, one.start_ms, one.end_ms, one.step_ms, one.instant)
                          for one in first[1:]],
                         [(7, 30000, 30000, 0, True), (12, 0, 20000, 10000, False),
                          (15, 10000, 60000, 10000, True)])
        self.assertEqual((second[1].fail.pattern, second[2].ordered, second[4].scalar),
                         ("same .*set", True, 12))

    def test_classes(self):
        self.assertEqual([one.needs for one in self.segments[1][1:]], ["core", "core", "nh", "core"])
        for expression, needs in (
                ("sum(m)", "core"), ("m[2m*min_of(3, 4)]", "core"), ("m @ start()", "core"),
                ("m offset (1m + step())", "core"), ("min_of(1, 2)", "exp"), ("m + fill(0) m", "exp"),
                ("rate(m[1m] smoothed)", "exp"), ("sort_by_label(m)", "exp"), ("h", "nh"),
                ('{__name__=~"h.*"}', "nh"), ('sum by (h) (m)', "core"), ('m{a="h"}', "core")):
            segment = parse_script(f"load_with_nhcb 1m\n  h_count 1\n\neval instant at 1m {expression}")[0]
            classify(segment, "x.test")
            self.assertEqual(segment[1].needs, needs, expression)

    def test_words_of_an_expression(self):
        expression = 'sum by (a, b) (rate(m{c=~"x.*"}[5m:step()])) / on(a) group_left(b) {d!="1"}'
        self.assertEqual(functions(tokens(expression)) & {"rate", "step", "on"}, {"rate", "on"})
        self.assertEqual(selectors(expression),
                         [[("__name__", "=", "m"), ("c", "=~", "x.*")], [("d", "!=", "1")]])

    def test_pins(self):
        for expression, wanted in (
                ("1 + m", "1 + m @ 50.000"), ("m @ 7 offset 1m", "m @ 7 offset 1m"),
                ('sum by (m) (m{a="x"}[5m])', 'sum by (m) (m{a="x"}[5m] @ 50.000)'),
                ("SUM(m) BY (a) or n", "SUM(m @ 50.000) BY (a) or n @ 50.000"),
                ("m offset -(1m + 2m) * 2", "m offset -(1m + 2m) @ 50.000 * 2"),
                ("a / on(b) group_left c", "a @ 50.000 / on(b) group_left c @ 50.000"),
                ("f(rate(m[1m])[5m:10s] offset 1m)", "f(rate(m[1m])[5m:10s] offset 1m @ 50.000)"),
                ("f(f(m[1m:])[5m:] @ 7)", "f(f(m[1m:])[5m:] @ 7)"),
                ("m @ 7 [1m:1s]", "m @ 7 [1m:1s] @ 50.000"), ("m @ start()", "m @ start()"),
                ('{a="}"} == bool Inf', '{a="}"} @ 50.000 == bool Inf'),
                ('label_replace(m, "a")', 'label_replace(m @ 50.000, "a")'),
                ("time() + m", None), ("predict_linear(m[1m], 1)", None)):
            self.assertEqual(pinned(expression, 50000), wanted)
        self.assertEqual(other_times(50000), [-500000, 0, 10000, 50000, 500000])
        self.assertEqual(other_times(0), [-1000, 0, 1000])

    def test_bad_scripts(self):
        for bad in ("what", "load x\n m 1", "eval instant at 1m m\n  m 1 2", "eval m",
                    "eval instant at 1m m\n  expect nothing"):
            with self.assertRaises(ScriptError, msg=bad):
                parse_script(bad)


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.first, self.second = parse_script(SCRIPT)

    @staticmethod
    def vector(*values, ms=30000):
        return [{"metric": {"__name__": "m", "a": name}, "value": [ms / 1000, value]}
                for name, value in values]

    @staticmethod
    def matrix(*values):
        return [{"metric": {"__name__": "m", "a": name}, "values": pairs} for name, pairs in values]

    def wrong(self, one, server, text):
        with self.assertRaisesRegex(Wrong, text):
            check_eval(one, server)

    def test_an_instant_query(self):
        one = self.first[1]
        middle = self.matrix(("x", [[-30, "1"], [30, "3"]]), ("y", [[30, "7"], [90, "7"]]))
        good = Server("vector", self.vector(("y", "7"), ("x", "3.000001")), middle)
        check_eval(one, good)
        self.assertEqual(good.asked, [
            ("/api/v1/query", {"query": "m", "time": "30.000"}),
            ("/api/v1/query_range", {"query": "m", "start": "-30.000", "end": "90.000", "step": "60.000"})])
        vector = self.vector(("x", "3"), ("y", "7"))
        self.wrong(one, Server("vector", vector[:1], middle), "no series .*'y'")
        self.wrong(one, Server("vector", vector + self.vector(("z", "1")), middle), "unexpected series")
        self.wrong(one, Server("vector", vector + vector[1:], middle), "twice")
        self.wrong(one, Server("vector", self.vector(("x", "3"), ("y", "8")), middle), "8.0 instead of 7.0")
        self.wrong(one, Server("scalar", [30, "3"], middle), "a scalar")
        self.wrong(one, Server("vector", vector, middle[:1]), "range query: no series")
        self.wrong(one, Server("vector", vector, middle[::-1]), "not sorted")
        self.wrong(one, Server("vector", vector, middle, warnings=["w (1:1)"]), "unexpected warn")
        self.wrong(one, Refusing(422, "no"), "failed: no")

    def test_a_pinned_query(self):
        one = parse_script("eval instant at 0 m")[0][0]
        server = Server("vector", [])
        check_eval(one, server, pinned_too=True)
        self.assertEqual([(asked["query"], asked["time"]) for path, asked in server.asked
                          if path == "/api/v1/query"],
                         [("m", "0.000")] + [("m @ 0.000", time) for time in ("-1.000", "0.000", "1.000")])

    def test_a_range_query(self):
        one = self.first[2]
        for values, trouble in (([[0, "1"], [20, "2"]], None), ([[0, "1"], [20, "3"]], "at 20000 ms"),
                                ([[0, "1"], [10, "1"], [20, "2"]], "values at"), ([[0, "1"]], "values at")):
            server = Server("vector", [], [{"metric": {}, "values": values}])
            if trouble:
                self.wrong(one, server, trouble)
            else:
                check_eval(one, server)

    def test_a_range_vector(self):
        check_eval(self.first[3], Server("matrix", [{"metric": {"__name__": "m"},
                                                     "values": [[10, "1"], [20, "2"]]}]))
        self.wrong(self.first[3], Server("vector", []), "no series")

    def test_failures(self):
        one = self.second[1]
        check_eval(one, Refusing(422, "the same labelset"))
        check_eval(one, Refusing(400, 'invalid parameter "query": same set'))
        self.wrong(one, Refusing(422, "other"), "instead of /same")
        self.wrong(one, Refusing(500, "the same labelset"), "500")
        self.wrong(one, Server("vector", []), "did not fail")

    def test_order(self):
        found = [{"metric": {"__name__": "h_bucket", "le": "1"}, "value": [60, "1"]},
                 {"metric": {"__name__": "m", "a": "y"}, "value": [60, "-Inf"]}]
        check_eval(self.second[2], Server("vector", found))
        self.wrong(self.second[2], Server("vector", found[::-1]), "is number")

    def test_a_scalar(self):
        one = self.second[4]
        check_eval(one, Server("scalar", [60, "12"], [{"metric": {}, "values": [[60, "12"]]}]))
        self.wrong(one, Server("scalar", [60, "12"]), "0 values instead of a scalar")
        self.wrong(one, Server("scalar", [60, "13"]), "13.0 instead of 12")
        self.wrong(one, Server("vector", []), "a vector")

    def test_notices(self):
        text = "eval instant at 1m m\n  expect info msg: PromQL info: fixed\n  expect no_warn"
        one = parse_script(text)[0][0]
        check_eval(one, Server("vector", [], infos=[
            "PromQL info: fixed, from buckets 1 to 2, with a max diff of 0.1, over 2 samples from "
            "1970-01-01T00:00:00Z to 1970-01-01T00:00:00Z (1:20)", "PromQL info: fixed (1:4)"]))
        check_eval(one, Server("vector", [], infos=['PromQL info: fixed for metric name "m" (1:4)']))
        self.wrong(one, Server("vector", []), "no info")
        self.wrong(one, Server("vector", [], infos=["PromQL info: broken"]), "no info 'PromQL info: fixed'")
        self.wrong(one, Server("vector", [], infos=["PromQL info: fixed", "x"]), "unexpected info: 'x'")


if __name__ == "__main__":
    unittest.main()
