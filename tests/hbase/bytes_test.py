"""Halite and a real OpenTSDB on one HBase: the same input leaves the same bytes, and each reads what the other wrote."""

import argparse
import json
import os
import socket
import sys
import time
import unittest
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from beside_opentsdb import HOUR, PATIENCE_SECONDS, BytesOnCluster, answer_of, ask, post, settings  # noqa: E402
from cluster import OpenTsdb, Tables, Trouble  # noqa: E402


def lines():
    """Every width of an integer and a float, seconds and milliseconds, both edges of an hour, tags in any order."""
    values = [0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, -32769, 2147483647, 2147483648,
              9223372036854775807, -9223372036854775808, "4.5", "4.2", "-0.0", "1e3", "0.1", "16777217.0", "1e300"]
    made = [f"put m {HOUR + i} {value} host=a" for i, value in enumerate(values)]
    made += [f"put m {HOUR * 1000 + 500 * i + 1} {value} host=b dc=x" for i, value in enumerate(values)]
    for edge in (HOUR - 1, HOUR + 3599, HOUR + 3600):
        made.append(f"put m {edge} 7 dc=x host=b")
    made += [f"put m.{i % 3} {HOUR + 60 * i} {i} host=h{i % 7} dc=d{i % 4}" for i in range(60)]
    return made


QUERIES = [f"start={HOUR - 10}&end={HOUR + 7200}&m=sum:m{{host=*}}", f"start={HOUR - 10}&end={HOUR + 7200}&m=none:m.1",
           f"start={HOUR - 10}&end={HOUR + 7200}&ms=true&m=max:1m-avg:m{{host=a|b}}",
           f"start={HOUR - 10}&end={HOUR + 7200}&m=sum:rate:m.2{{dc=*}}",
           f"start={HOUR - 10}&end={HOUR + 7200}&m=sum:m&global_annotations"]


FIRST = f"start={HOUR - 10}&end={HOUR + 60}&m=sum:m{{host=a}}&no_annotations"


# Tag keys that Java's HashMap hands out in another order than their bytes would be.
LETTERS = [{"metric": "débit", "timestamp": HOUR + 1, "value": 1, "tags": {"é": "Zürich", "h": "a"}},
           {"metric": "débit", "timestamp": HOUR + 2, "value": 2, "tags": {"é": "Ürümqi", "h": "ê"}},
           {"metric": "étage", "timestamp": HOUR + 3, "value": 3.5, "tags": {"h": "ÿ", "ö": "Zug", "ß": "x"}}]
LETTER_QUERIES = [f"start={HOUR - 10}&end={HOUR + 60}&m=sum:débit{{é=*}}",
                  f"start={HOUR - 10}&end={HOUR + 60}&m=sum:débit{{é=Zürich}}",
                  f"start={HOUR - 10}&end={HOUR + 60}&m=sum:étage{{h=ÿ,ö=*}}"]


def suggested(url, kind, prefix):
    return answer_of(f"{url}/api/suggest?type={kind}&max=100&q={urllib.parse.quote(prefix)}")


def notes(tsuid):
    """Of a series and global, at seconds and milliseconds, at second 3402 of its hour by OpenTSDB's arithmetic."""
    return [{"startTime": HOUR + 7, "tsuid": tsuid, "description": "a", "notes": "n", "custom": {"b": "2", "a": "1"}},
            {"startTime": HOUR * 1000 + 500, "tsuid": tsuid, "description": "b"},
            {"startTime": HOUR + 3600, "tsuid": tsuid, "description": "c", "endTime": HOUR + 3700},
            {"startTime": HOUR + 9, "description": "everywhere"},
            {"startTime": HOUR * 1000 + 1500, "description": "everywhere, between two seconds"}]


def send(port, all_lines):
    """Errors come back as text."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(("\n".join(all_lines) + "\nexit\n").encode())
        told = b""
        while piece := connection.recv(65536):
            told += piece
        return told.decode(errors="replace")


def delete(url, query):
    """What a question shows, and the question."""
    target = url + "/api/query?" + urllib.parse.quote(query, safe="=&")
    return answer_of(urllib.request.Request(target, method="DELETE"))


def annotate(url):
    [tsuid] = ask(url, FIRST + "&show_tsuids")[0]["tsuids"]
    for note in notes(tsuid):
        post(url, "/api/annotation", note)


class BytesTest(BytesOnCluster):
    def both_ways(self, name, more, same):
        """`same` of a value is what has to be the same in both."""
        tables, ours, theirs = self.new_tables(name)
        halite = self.halite_on(tables, ours, more)
        self.assertEqual(send(halite.port, lines()), "")
        annotate(halite.url)
        with OpenTsdb(tables, settings(theirs, more)) as opentsdb:
            self.assertEqual(send(opentsdb.port, lines()), "")
            reading = self.halite_on(tables, theirs, more)
            expected = {query: ask(halite.url, query) for query in QUERIES}
            self.assertTrue(all(expected.values()))
            [told] = expected[QUERIES[-1]]
            self.assertEqual([len(told["annotations"]), len(told["globalAnnotations"])], [3, 2])
            self.same_in_the_end(opentsdb.url, {FIRST: ask(halite.url, FIRST)})
            annotate(opentsdb.url)
            self.same_in_the_end(opentsdb.url, expected)
            self.same_in_the_end(reading.url, expected)
            dumps = [self.dump(tables, prefix) for prefix in (ours, theirs)]
            self.assertEqual(*[{cell: same(value) for cell, value in dump.items()} for dump in dumps])
            self.delete_notes(opentsdb.url, tables, theirs)
        with OpenTsdb(tables, settings(ours, more)) as opentsdb:
            self.same_in_the_end(opentsdb.url, expected)
            self.edit_each_others(opentsdb, halite)
        self.delete_notes(halite.url, tables, ours)

    def delete_notes(self, url, tables, prefix):
        """What a question deletes takes its series' notes along."""
        def notes_of_series():
            # A global one's row ends with its hour.
            hour = f"{HOUR:08x}"
            return [cell for cell in self.dump(tables, prefix) if cell[0] == "tsdb" and cell[3].startswith("01")
                    and len(cell[3]) in (6, 10) and hour in cell[1] and not cell[1].endswith(hour)]
        self.assertEqual(len(notes_of_series()), 2)
        self.assertTrue(delete(url, f"start={HOUR}&end={HOUR + 3599}&m=sum:m{{host=a}}"))
        end = time.monotonic() + PATIENCE_SECONDS
        while notes_of_series() and time.monotonic() < end:
            time.sleep(0.2)  # OpenTSDB answers before
        self.assertEqual(notes_of_series(), [])

    def edit_each_others(self, opentsdb, halite):
        place = {"startTime": HOUR + 9}
        post(opentsdb.url, "/api/annotation", {**place, "notes": "by OpenTSDB"})
        post(halite.url, "/api/annotation", {**place, "description": "by Halite"})
        told = [ask(server.url, QUERIES[-1])[0]["globalAnnotations"] for server in (opentsdb, halite)]
        self.assertEqual(told[0], told[1])
        self.assertIn(("by Halite", "by OpenTSDB"), [(note["description"], note["notes"]) for note in told[0]])

    def test_plain_rows(self):
        self.both_ways("plain", {}, str)

    def test_salted_rows_and_other_widths(self):
        self.both_ways("salted", {"tsd.storage.salt.width": 1, "tsd.storage.salt.buckets": 4,
                                  "tsd.storage.uid.width.metric": 4, "tsd.storage.uid.width.tagv": 5}, str)

    def test_salts_of_two_bytes(self):
        self.both_ways("two-bytes", {"tsd.storage.salt.width": 2, "tsd.storage.salt.buckets": 1000}, str)

    def test_salts_of_three_bytes(self):
        self.both_ways("three-bytes", {"tsd.storage.salt.width": 3, "tsd.storage.salt.buckets": 300}, str)

    def test_salts_of_more_bytes_than_an_integer_has(self):
        self.both_ways("five-bytes", {"tsd.storage.salt.width": 5, "tsd.storage.salt.buckets": 20}, str)

    def test_tables_in_a_namespace(self):
        self.both_ways("halite_ns:plain", {}, str)
        listed = Tables.of_environment().tool("list").stdout.split()
        for own in ("halite_ns:halite-settings", "halite_ns:halite-series"):
            self.assertIn(own, listed)

    def test_letters_beyond_ascii(self):
        tables, ours, theirs = self.new_tables("letters")
        halite = self.halite_on(tables, ours, {})
        kinds = ("metrics", "tagk", "tagv")
        with OpenTsdb(tables, settings(theirs, {})) as opentsdb:
            for server in (halite, opentsdb):
                post(server.url, "/api/put?sync&details", LETTERS)
            reading = self.halite_on(tables, theirs, {})
            expected = {query: ask(halite.url, query) for query in LETTER_QUERIES}
            self.assertTrue(all(expected.values()))
            self.same_in_the_end(opentsdb.url, expected)
            self.same_in_the_end(reading.url, expected)
            self.assertEqual(*[self.dump(tables, prefix) for prefix in (ours, theirs)])
            self.assertIn(("tsdb-uid", "5afc72696368", "id", "tagv".encode().hex()), self.dump(tables, theirs))
            for kind in kinds:
                for prefix in ("", "Z", "é", "Ü"):
                    told = [suggested(server.url, kind, prefix) for server in (halite, opentsdb, reading)]
                    self.assertEqual(told[0], told[2], (kind, prefix))
                    # Without a prefix OpenTSDB shows what begins with '!' to '}'.
                    self.assertTrue(prefix == "" or told[0] == told[1], (kind, prefix, told))
            # One more point of OpenTSDB's series, by Halite: the same ids.
            names = {cell for cell in self.dump(tables, theirs) if cell[0] == "tsdb-uid"}
            post(reading.url, "/api/put?sync&details", [{**point, "timestamp": HOUR + 20} for point in LETTERS])
            self.assertEqual({cell for cell in self.dump(tables, theirs) if cell[0] == "tsdb-uid"}, names)
            later = {query: ask(reading.url, query) for query in LETTER_QUERIES}
            self.assertNotEqual(later, expected)
            self.same_in_the_end(opentsdb.url, later)
            # What ISO-8859-1 cannot hold is marked, and nobody else's.
            post(reading.url, "/api/put?sync&details", [{**LETTERS[0], "metric": "Жm"}])
            self.assertIn(("tsdb-uid", "00d0966d", "id", "metrics".encode().hex()), self.dump(tables, theirs))
            self.assertEqual(suggested(reading.url, "metrics", "Ж"), ["Жm"])
            [told] = ask(reading.url, f"start={HOUR - 10}&end={HOUR + 60}&m=sum:Жm")
            self.assertEqual(told["metric"], "Жm")
            self.same_in_the_end(opentsdb.url, later)

    def test_append_columns(self):
        # OpenTSDB's appends of one column are under way at the same time, and come in any order.
        self.both_ways("appends", {"tsd.storage.enable_appends": "true"}, len)

    def compacted_columns(self, tables, prefix):
        return [cell for cell in self.dump(tables, prefix) if cell[0] == "tsdb" and len(cell[3]) > 8]

    def test_compacted_columns(self):
        tables, ours, theirs = self.new_tables("compacted")
        halite = self.halite_on(tables, ours, {}, "--set", "hbase.compact_batches=backfill")
        self.assertEqual(send(halite.port, lines()), "")
        expected = {query: ask(halite.url, query) for query in QUERIES}
        self.assertTrue(all(expected.values()))
        self.assertTrue(self.compacted_columns(tables, ours))
        compacting = {"tsd.storage.enable_compaction": "true", "tsd.storage.compaction.flush_interval": 1,
                      "tsd.storage.compaction.min_flush_threshold": 1}
        with OpenTsdb(tables, settings(theirs, compacting)) as opentsdb:
            self.assertEqual(send(opentsdb.port, lines()), "")
            self.same_in_the_end(opentsdb.url, expected)
            end = time.monotonic() + PATIENCE_SECONDS
            while not self.compacted_columns(tables, theirs) and time.monotonic() < end:
                time.sleep(0.5)
            self.assertTrue(self.compacted_columns(tables, theirs))
            reading = self.halite_on(tables, theirs, {})
            self.same_in_the_end(reading.url, expected)
        # In the columns they are in, their last values stay; written again, the new ones win.
        again = [f"put m {HOUR + 5} 999 host=a", f"put m {HOUR + 6} 1.5 host=a", f"put m {HOUR + 7} 3 host=a"]
        self.assertEqual(send(halite.port, again), "")
        [told] = ask(halite.url, FIRST)
        self.assertEqual([told["dps"][str(HOUR + i)] for i in range(4, 9)], [128, 999, 1.5, 3, -129])
        with OpenTsdb(tables, settings(ours, {})) as opentsdb:
            self.same_in_the_end(opentsdb.url, {FIRST: [told]})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
