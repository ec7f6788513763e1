"""Several Halites on one HBase, which give ids to the same new names, write and read at once: each name has one id, each
id one name, every point is where it belongs, and all give the same answers."""

import argparse
import collections
import os
import re
import sys
import threading
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Tables, Trouble  # noqa: E402
from halite_server import HaliteServer  # noqa: E402

DAEMONS = 2
SENDERS = 4  # at each daemon
ROUNDS = 30
HOSTS = 10  # new ones in each round
START = 1356998400
PREFIX = "many-"
KINDS = ("metrics", "tagk", "tagv")
UID_BYTES = 3


def points_of(number, sender):
    """Every sender names the same things; the second tells whose point it is."""
    return [{"metric": f"many.{number % 7}.{number // 7}", "timestamp": START + 100 * number + sender, "value": 1000 * sender + host,
             "tags": {"host": f"host{number}-{host}", f"key{number}": "same"}} for host in range(HOSTS)]


class ManyTest(unittest.TestCase):
    def setUp(self):
        self.tables = Tables.of_environment()
        self.trouble = []
        self.daemons = [self.halite() for _ in range(DAEMONS)]

    def registry(self):
        """The master and a region server, who know where hbase:meta is as ZooKeeper does."""
        with open(os.path.join(self.tables.folder, "conf", "hbase-site.xml"), encoding="utf-8") as site:
            ports = dict(re.findall(r"<name>hbase\.(master|regionserver)\.port</name><value>(\d+)</value>", site.read()))
        return f"127.0.0.1:{ports['master']},127.0.0.1:{ports['regionserver']}"

    def halite(self, *arguments):
        """Also the first two begin at once, and make the tables together."""
        where = arguments or ("--hbase-quorum", self.tables.quorum)
        server = HaliteServer(*where, "--set", f"hbase.table_prefix={PREFIX}", "--set", "self_metrics.enabled=false", store="hbase")
        self.addCleanup(server.stop)
        return server

    def await_ready(self, server):
        for _ in range(600):
            try:
                if server.request("GET", "/-/ready")[0] == 200:
                    return
            except OSError:
                pass  # between its door's end and the server's beginning
            threading.Event().wait(0.1)
        self.fail("not ready: " + server.log_text())

    def send(self, server, sender, line):
        try:
            for number in range(ROUNDS):
                line.wait()  # all of them want the same new names now
                server.put(points_of(number, sender))
                self.see_own(server, number, sender)
        except BaseException as trouble:  # pylint: disable=broad-except
            self.trouble.append(trouble)
            line.abort()
            raise

    def see_own(self, server, number, sender):
        """What was acknowledged is there, and under its own names."""
        found = self.stored(server, number)
        for point in points_of(number, sender):
            tags = tuple(sorted(point["tags"].items()))
            seen = found.get(tags, {}).get(str(point["timestamp"]))
            if seen != point["value"]:
                raise AssertionError(f"{server.url} {point['metric']} {tags}: {seen}, not {point['value']}")

    @staticmethod
    def stored(server, number):
        metric = points_of(number, 0)[0]["metric"]
        question = urllib.parse.quote(f"none:{metric}", safe="")
        answers = server.get_json(f"/api/query?start={START}&end={START + 100 * ROUNDS}&m={question}")
        return {tuple(sorted(answer["tags"].items())): answer["dps"] for answer in answers}

    def check_ids(self):
        """{kind: {name: id}} of what HBase has."""
        forward = collections.defaultdict(dict)
        backward = collections.defaultdict(dict)
        highest = {}
        for (row, family, column), (_, value) in self.tables.dump(PREFIX + "tsdb-uid").items():
            kind = bytes.fromhex(column).decode()
            if kind not in KINDS:
                continue
            if row == "00":
                highest[kind] = int(value, 16)
            elif family == "id":
                forward[kind][bytes.fromhex(row).decode()] = value
            else:
                backward[kind][row] = bytes.fromhex(value).decode()
        for kind in KINDS:
            ids = forward[kind]
            self.assertEqual(len(set(ids.values())), len(ids), f"an id of two names among {kind}")
            for name, uid in ids.items():
                self.assertEqual(backward[kind].get(uid), name, f"{kind} {uid}")
                self.assertLessEqual(int(uid, 16), highest[kind], f"{kind} {uid} would be given again")
        return forward

    def check_rows(self, ids):
        """No row has an id without a name."""
        known = {kind: set(ids[kind].values()) for kind in KINDS}
        width = 2 * UID_BYTES
        for row, _, _ in self.tables.dump(PREFIX + "tsdb"):
            self.assertIn(row[:width], known["metrics"])
            tags = row[width + 8:]
            for at in range(0, len(tags), 2 * width):
                self.assertIn(tags[at:at + width], known["tagk"])
                self.assertIn(tags[at + width:at + 2 * width], known["tagv"])

    def test_they_name_write_and_read_at_once(self):
        for server in self.daemons:
            self.await_ready(server)
        line = threading.Barrier(DAEMONS * SENDERS)
        senders = [threading.Thread(target=self.send, args=(server, at * SENDERS + i, line))
                   for at, server in enumerate(self.daemons) for i in range(SENDERS)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual([str(trouble) for trouble in self.trouble], [])

        expected = collections.defaultdict(dict)
        for number in range(ROUNDS):
            for sender in range(DAEMONS * SENDERS):
                for point in points_of(number, sender):
                    expected[number].setdefault(tuple(sorted(point["tags"].items())), {})[str(point["timestamp"])] = point["value"]
        # Has seen nothing of it, and asks no ZooKeeper.
        late = self.halite("--set", "hbase.quorum=127.0.0.1:1", "--set", f"hbase.registry={self.registry()}")
        self.await_ready(late)
        for server in (*self.daemons, late):
            for number in range(ROUNDS):
                self.assertEqual(self.stored(server, number), expected[number], server.url)

        ids = self.check_ids()
        self.assertEqual(len(ids["metrics"]), len({points_of(number, 0)[0]["metric"] for number in range(ROUNDS)}))
        self.assertEqual(len(ids["tagk"]), ROUNDS + 1)
        self.assertEqual(len(ids["tagv"]), ROUNDS * HOSTS + 1)
        self.check_rows(ids)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
