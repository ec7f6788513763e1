#!/usr/bin/env python3
"""Dashboards in PromQL: answers of which a part comes from the cache are those that are evaluated anew, whatever happens
to the points in between."""

import json
import re
import time
import urllib.parse

import support

STEP = 10
STEPS = 60
REFRESHES = 5
EXPRESSIONS = ("sum by (host) (rate(requests_total[1m]))", 'requests_total{code="200"}', "topk(2, increase(requests_total[2m]))",
               "max_over_time(sum(requests_total)[1m:10s])", "absent(gone)", "requests_total offset 30s")


class PromqlCacheTest(support.HaliteTest):
    def start(self):
        return self.server("--set", "self_metrics.enabled=false", "--set", "web.allow_delete=true").start()

    def ask(self, expression, end, **more):
        form = {"query": expression, "start": end - STEPS * STEP, "end": end, "step": STEP, **more}
        return self.halite.get_json(f"/prometheus/api/v1/query_range?{urllib.parse.urlencode(form)}")

    def put(self, *points):
        """(seconds, host, code, value)"""
        lines = (f"put requests_total {at} {value} host={host} code={code}" for at, host, code, value in points)
        self.assertEqual(self.halite.telnet_lines(lines), "")

    def steps(self):
        """(taken from the cache, evaluated)"""
        text = self.halite.request("GET", "/metrics")[1].decode()
        return tuple(float(re.search(f'^halite_query_promql_steps_total{{source="{source}"}} (.*)$', text, re.M)[1])
                     for source in ("cache", "evaluated"))

    def compare(self, end, what):
        for expression in EXPRESSIONS:
            wanted = self.ask(expression, end, nocache=1)
            self.assertEqual(self.ask(expression, end), wanted, f"{what}: {expression}")  # of the answers before
            self.assertEqual(self.ask(expression, end), wanted, f"{what}: {expression}")  # of this one

    def test_answers_are_those_without_cache(self):
        self.halite = self.start()
        end = int(time.time()) // STEP * STEP - 1000
        hosts = [(host, code) for host in ("a", "b", "c") for code in (200, 500)]
        self.put(*((at, *host, at - end + 2000) for at in range(end - 1000, end, 5) for host in hosts))
        # What changes within a second before a question may count as changed after it: wait until all is kept.
        deadline = time.monotonic() + 60
        taken = 0
        while taken < 2 * (STEPS + 1) * len(EXPRESSIONS):
            self.assertLess(time.monotonic(), deadline, "not all answers were kept")
            before = self.steps()[0]
            self.compare(end, "first")
            taken = self.steps()[0] - before
        for number in range(REFRESHES):
            end += STEP
            self.put(*((end - 5 * k, *host, 3000 + 7 * number + k) for k in (1, 0) for host in hosts))
            taken, evaluated = self.steps()
            self.compare(end, f"refresh {number}")
            now_taken, now_evaluated = self.steps()
            # Of two questions, all but the steps since the first refresh: all may happen within one second.
            steps_anew = REFRESHES + 2
            self.assertGreaterEqual(now_taken - taken, 2 * (STEPS + 1 - steps_anew) * len(EXPRESSIONS))
            self.assertLessEqual(now_evaluated - evaluated, (STEPS + 1 + 2 * steps_anew) * len(EXPRESSIONS))
        self.put((end - 400, "a", 200, 1), (end - 300, "late", 200, 77))
        self.compare(end, "late points")
        self.assertLess(self.halite.request("POST", "/api/admin/flush")[0], 300)
        self.assertLess(self.halite.request("POST", "/api/admin/seal")[0], 300)
        self.compare(end, "sealed")
        self.put((end - 200, "a", 200, 5))
        self.compare(end, "a late point in sealed data")
        self.assertLess(self.halite.request("DELETE", f"/api/query?start={end - 500}&end={end - 450}&m=sum:requests_total%7Bhost=b%7D")[0], 300)
        self.compare(end, "deleted")
        self.assertLess(self.halite.request("POST", "/api/uid/rename", json.dumps({"tagv": "c", "name": "renamed"}))[0], 300)
        answer = self.ask(EXPRESSIONS[0], end)
        self.assertIn({"host": "renamed"}, [one["metric"] for one in answer["data"]["result"]])
        self.compare(end, "renamed")
        self.assertEqual(self.halite.telnet_lines([f"incr gone {end - 100} 1 host=a"]), "")
        self.compare(end + 2 * STEP, "a metric that is there now")
        self.assertEqual(self.halite.terminate(), 0)
        self.halite = self.start()
        self.compare(end, "after a restart")


if __name__ == "__main__":
    support.main()
