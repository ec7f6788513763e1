#!/usr/bin/env python3
"""Graphite's senders as they are: aiographite from PyPI by both protocols, Debian's collectd with
write_graphite, Python's pickle. Points that were read back are there after a kill -9."""

import asyncio
import pickle
import re
import shutil
import socket
import struct
import subprocess
import time

import support

support.use_python_clients()
# pylint: disable=wrong-import-position
import aiographite
from aiographite import protocol

T = 1700000000
COLLECTD = """
Hostname "e2e.example"
FQDNLookup false
BaseDir "{scratch}"
PIDFile "{scratch}/collectd.pid"
PluginDir "/usr/lib/collectd"
TypesDB "/usr/share/collectd/types.db"
Interval 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File STDERR
</Plugin>
LoadPlugin load
LoadPlugin memory
LoadPlugin write_graphite
<Plugin write_graphite>
  <Node "halite">
    Host "127.0.0.1"
    Port "{port}"
    Protocol "tcp"
    StoreRates true
    EscapeCharacter "_"
  </Node>
</Plugin>
"""


class GraphiteTest(support.HaliteTest):
    def start(self, *settings, data_dir=None):
        """A server with both ports; finds out which the system chose."""
        server = self.server("--set", "graphite.listen=127.0.0.1:0",
                             "--set", "graphite.pickle_listen=127.0.0.1:0", *settings,
                             data_dir=data_dir).start()
        log = server.log_text()
        self.lines = int(re.search(r"for Graphite's lines on 127.0.0.1:(\d+)", log)[1])
        self.pickles = int(re.search(r"for Graphite's pickles on 127.0.0.1:(\d+)", log)[1])
        return server

    @staticmethod
    def send(port, data):
        """Sends bytes and waits until the server has stored them all: then it closes."""
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(100)

    @staticmethod
    def points(server, metric, begin=T - 10, end=T + 100_000):
        """{tags: {second: value}} of all series of a metric."""
        return {tuple(sorted(answer["tags"].items())):
                {int(second): value for second, value in answer["dps"].items()}
                for answer in server.query(f"none:{metric}", begin, end)}

    def until(self, server, metric, wanted, **more):
        """The points of the metric, once they are as wanted."""
        def found():
            if metric not in server.get_json(f"/api/suggest?type=metrics&q={metric}"):
                return None
            points = self.points(server, metric, **more)
            return points if wanted(points) else None
        return self.eventually(f"points of {metric}", found)


class Clients(GraphiteTest):
    def test_aiographite_by_both_protocols(self):
        server = self.start()

        async def send(port, how, metric):
            client = aiographite.AIOGraphite("127.0.0.1", port, how)
            async with client:
                await client.send(metric, 42, T)
                await client.send_multiple(
                    [(metric, i + 0.5, T + i) for i in range(1, 1000)]
                    + [(metric + ";host=web01;dc=lga", 7, T)])

        for port, how, metric in (
                (self.lines, protocol.PlaintextProtocol(), "by.lines"),
                (self.pickles, protocol.PickleProtocol(), "by.pickles")):
            with self.subTest(metric):
                asyncio.run(send(port, how, metric))
                found = self.until(server, metric, lambda found: len(found) == 2 and len(
                    found[()]) == 1000)
                self.assertEqual(found, {
                    (): {T: 42, **{T + i: i + 0.5 for i in range(1, 1000)}},
                    (("dc", "lga"), ("host", "web01")): {T: 7}})

    def test_collectd(self):
        server = self.start("--set",
                            "graphite.templates=e2e_example.* host.measurement*;* measurement*")
        collectd = shutil.which("collectd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        self.assertIsNotNone(collectd, "collectd is missing: ./dev e2e installs it")
        config = self.scratch / "collectd.conf"
        config.write_text(COLLECTD.format(scratch=self.scratch, port=self.lines))
        with open(self.scratch / "collectd.log", "wb") as log:
            process = subprocess.Popen([collectd, "-f", "-C", str(config)],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        now = int(time.time())
        found = self.until(server, "load.load.shortterm",
                           lambda found: any(len(dps) > 1 for dps in found.values()),
                           begin=now - 10, end=now + 600)
        self.assertEqual(list(found), [(("host", "e2e_example"),)])


class Pickles(GraphiteTest):
    @staticmethod
    def frame(data):
        return struct.pack("!L", len(data)) + data

    def test_of_each_protocol(self):
        server = self.start()
        for number in range(pickle.HIGHEST_PROTOCOL + 1):
            entries = [("p;n=%d" % number, (T + i, i / 4)) for i in range(2500)]
            entries += [["p;n=%d" % number, [str(T - 1), "-1e3"]], ("bad", None)]
            if number >= 3:  # below, bytes are objects
                entries.append((b"p;b=1", (T, 1)))
            self.assertEqual(self.send(self.pickles, self.frame(pickle.dumps(entries, number))), b"")
        found = self.points(server, "p")
        for number in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(found[(("n", str(number)),)],
                             {T - 1: -1000, **{T + i: i / 4 for i in range(2500)}})

    def test_an_object_ends_the_connection(self):
        class Evil:
            def __reduce__(self):
                return (open, (str(self.where), "w"))

        Evil.where = self.scratch / "evil"
        server = self.start()
        self.send(self.pickles, self.frame(pickle.dumps([Evil()], 2)) + self.frame(
            pickle.dumps([("after", (T, 1))], 2)))
        self.send(self.lines, f"before 1 {T}\n".encode())
        self.assertEqual(self.points(server, "before"), {(): {T: 1}})
        self.assertNotIn("after", server.get_json("/api/suggest?type=metrics&q=after"))
        self.assertEqual(server.log_text().count("graphite: the connection from"), 1)
        self.assertFalse(Evil.where.exists())


class Kill(GraphiteTest):
    def test_what_was_read_back_is_there_after_kill_9(self):
        data = self.scratch / "data"
        server = self.start(data_dir=data)
        wanted = {}
        for round_number in range(3):
            for series in range(50):
                wanted[(("s", str(series)),)] = wanted.get((("s", str(series)),), {})
            lines = []
            for i in range(5000):
                second, series = T + round_number * 1000 + i // 50, i % 50
                wanted[(("s", str(series)),)][second] = i
                lines.append(f"k.l;s={series} {i} {second}\n")
            self.assertEqual(self.send(self.lines, "".join(lines).encode()), b"")
            entries = [("k.p", (T + round_number, round_number))]
            self.assertEqual(
                self.send(self.pickles, Pickles.frame(pickle.dumps(entries, 2))), b"")
            self.assertEqual(self.points(server, "k.l"), wanted)
            server.kill()
            server = self.start(data_dir=data)
            self.assertEqual(self.points(server, "k.l"), wanted)
            self.assertEqual(self.points(server, "k.p"),
                             {(): {T + i: i for i in range(round_number + 1)}})


class Settings(GraphiteTest):
    def test_wrong_ones_are_named(self):
        for setting, said in (
                ("graphite.listen=2003", "graphite.listen must be ADDRESS:PORT"),
                ("graphite.pickle_listen=x:y", "graphite.pickle_listen must be ADDRESS:PORT"),
                ("graphite.templates=host.load",
                 'graphite.templates: the template "host.load" has no word "measurement"')):
            with self.subTest(setting):
                code, _, error = self.run_halite("serve", "--set", setting, "--data-dir",
                                                 str(self.scratch / "none"))
                self.assertNotEqual(code, 0)
                self.assertIn(said, error)


if __name__ == "__main__":
    support.main()
