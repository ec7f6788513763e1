#!/usr/bin/env python3
"""PromQL over what the engine returns in blocks: series of one block and of several, in any order of their keys."""

import urllib.parse

import support

T = 1700006400
LONG, SHORT = 2000, 10  # points: more than a block has, and fewer


class PromqlEngineTest(support.HaliteTest):
    def ask(self, halite, path, **form):
        answer = halite.get_json(f"/api/v1/{path}?{urllib.parse.urlencode(form)}")
        return {tuple(sorted(one["metric"].items())): one for one in answer["data"]["result"]}

    def test_series_of_several_blocks_beside_those_of_one(self):
        halite = self.server("--set", "storage.salt_buckets=1", "--set", "self_metrics.enabled=false").start()
        # The first series of all has several blocks, and its key is behind those of the others, which have fewer tags.
        series = {(("dc", "x"), ("host", "a")): LONG, (("host", "b"),): SHORT, (("dc", "y"), ("host", "c")): LONG, (("host", "d"),): SHORT}
        for tags, count in series.items():
            text = " ".join(f"{key}={value}" for key, value in tags)
            self.assertEqual(halite.telnet_lines(f"put m_total {T + 5 * i} {3 * i} {text}" for i in range(count)), "")
        halite.request("POST", "/api/admin/flush")
        for _ in range(2):  # as flushed, and sealed
            found = self.ask(halite, "query", query="m_total[4h]", time=T + 4 * 3600 - 1)
            for tags, count in series.items():
                samples = found[(("__name__", "m_total"), *tags)]["values"]
                self.assertEqual(samples, [[T + 5 * i, str(3 * i)] for i in range(count)])
            found = self.ask(halite, "query_range", query="rate(m_total[1m])", start=T + 60, end=T + 4 * 3600, step=60)
            for tags, count in series.items():
                values = found[tags]["values"]
                last = T + 5 * (count - 1)  # the windows with two points or more
                self.assertEqual([at for at, _ in values], list(range(T + 60, last + 60 - 5 + 1, 60)), tags)
                inner = [float(value) for at, value in values if at <= last and at > T + 60]
                self.assertTrue(all(abs(value - 0.6) < 1e-9 for value in inner), tags)
            found = self.ask(halite, "query", query="sum by (host) (count_over_time(m_total[4h]))", time=T + 4 * 3600 - 1)
            self.assertEqual({dict(tags)["host"]: int(one["value"][1]) for tags, one in found.items()},
                             {"a": LONG, "b": SHORT, "c": LONG, "d": SHORT})
            halite.request("POST", "/api/admin/seal")


if __name__ == "__main__":
    support.main()
