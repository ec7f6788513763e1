#!/usr/bin/env python3
"""The alert rules of deploy/alerts: each fires over what a server in that state says of itself, and none over what
a healthy one says.

Servers are brought into bad states. Of each, /metrics and /api/stats are kept from before and after. A server
that watches then gets them as two hours of metrics: as if scraped (halite_x_y, with `instance`), and as if
stored by the server itself (halite.x.y, with `host`). The expressions are evaluated there, also for as long as
`for` says. Only what takes hours, or an HBase, is made up: see made_up(). tests/hbase/away_test.py has the HBase."""

import concurrent.futures
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import support

ROOT = support.HERE.parent.parent
sys.path[:0] = [str(ROOT / "deploy/alerts"), str(ROOT / "tests/crash")]
import full_disk  # noqa: E402
import make  # noqa: E402
from alert_timelines import BAD_MINUTES, MINUTE_MS, PAST_MINUTES, State, Timeline, read_page, series, trouble  # noqa: E402
from go_programs import go_program  # noqa: E402
from vmalert_test import PACKAGE, VERSION  # noqa: E402

DAY_S = 86400

PRELOADED = [word.split("=")[1] for word in sys.argv if word.startswith("--preload=")]
sys.argv = [word for word in sys.argv if not word.startswith("--preload=")]

# What must fire for each server; others may. Without these, no alert is tested.
WANTED = {
    "healthy": set(),
    "away": {"HaliteAway"},
    "restarting": {"HaliteRestarts"},
    "stopped-agents": {"HaliteIngestStopped"},
    "refusing": {"HalitePointsRefused", "HaliteRefusalsGrow", "HaliteBodiesRefused", "HalitePointsOutsideTime",
                 "HaliteSeriesRefused", "HaliteConnectionsRejected", "HaliteOpenFilesNearLimit"},
    "crowded": {"HaliteSeriesGrow", "HaliteSeriesMemoryNearFull", "HaliteMemoryNearLimit"},
    "guarded": {"HaliteLoginsFail"},
    "no-backup": {"HaliteBackupOld", "HaliteBackupFails"},
    "damaged-chunks": {"HaliteChunksDamaged", "HaliteCheckFoundDamage"},
    "damaged-names": {"HaliteNamesDamaged"},
    "damaged-log": {"HaliteLogDamaged"},
    "short-log": {"HaliteLogEndLost"},
    "stuck": {"HaliteMaintenanceStuck"},
    "filling": {"HaliteDiskFillsUp"},
    "hbase-away": {"HaliteHBaseAway", "HaliteNotReady"},
    "hbase-slow": {"HaliteHBaseSlow"},
}
ON_A_SMALL_DISK = {
    "full-disk": {"HaliteDiskNearlyFull", "HaliteLogNearFull", "HaliteNotReady", "HaliteRequestsFail"},
}
PRELOADED_ONLY = {
    "failing-disk": {"HaliteLogFails", "HaliteNotReady", "HalitePointsUnknown", "HaliteFlushesFail",
                     "HaliteStoreWritesFail"},
    "slow-disk": {"HaliteLogSlow", "HaliteLogFallsBehind", "HaliteHeadNearFull"},
    "slow-queries": {"HaliteQueriesSlow", "HaliteQueriesWait", "HaliteQueriesFail"},
    "wrong-clock": {"HaliteClockWrong", "HaliteBackupOld"},
    "jumped-clock": {"HaliteExpiryPaused"},
}


def rfc3339(second):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


class Alerts(support.HaliteTest):
    # ---- servers in bad states -------------------------------------------------------------------

    def launch(self, name, *settings, wrapper=(), arguments=(), data_dir=None, **environment):
        words = [word for one in settings for word in ("--set", one)]
        return self.server("--set", "self_metrics.interval_ms=100ms", *words, *arguments, wrapper=wrapper,
                           data_dir=data_dir or self.scratch / name, environment=environment).start()

    def odd(self, name, **more):
        """The environment of a server on an odd machine, and the directory that controls it."""
        control = self.scratch / f"{name}-control"
        control.mkdir(exist_ok=True)
        return control, {"LD_PRELOAD": PRELOADED[0], "ODD_CONTROL": str(control), **more}

    def put(self, server, count=100, metric="some.load", at=None, wanted=204):
        second = int(at or time.time())
        points = [{"metric": metric, "timestamp": second - i % 30, "value": i, "tags": {"host": f"web{i}"}}
                  for i in range(count)]
        status, body = server.put(points)
        if wanted:
            self.assertEqual(status, wanted, body)
        return status

    def state(self, server, condition=None, headers=None):
        """Its state, a moment later; with a condition the first that meets it."""
        time.sleep(0.25)  # what is read every 100 ms
        if condition is None:
            return State(server, headers)
        def met():
            state = State(server, headers)
            return state if condition(state.scraped) else None
        return self.eventually("the bad state", met)

    def use(self, server):
        self.put(server)
        server.get_json("/api/query?start=5m-ago&m=sum:some.load")

    def make_healthy(self):
        server = self.launch("healthy", f"engine.backup_dir={self.scratch}/healthy-backups")
        self.use(server)
        self.assertEqual(server.request("POST", "/api/admin/backup")[0], 202)
        before = self.state(server, lambda page: page[series("halite_backup_newest_time_seconds")] > 0)
        self.use(server)
        after = self.state(server)
        yield "healthy", Timeline((-PAST_MINUTES, before), (0, after))
        yield "away", Timeline((-PAST_MINUTES, before), (-BAD_MINUTES, after))
        yield "stopped-agents", Timeline((-PAST_MINUTES, before), (-BAD_MINUTES, after), (0, after))
        yield from self.made_up(before, after)

    def made_up(self, before, after):
        """What would take hours, or an HBase: a healthy server's metrics, some of them changed."""
        now_s = time.time()
        begin_s = now_s - BAD_MINUTES * 60

        def uptime(second):
            return second % 300 if second > begin_s else second - begin_s + DAY_S

        yield "restarting", trouble(before, after, {"halite_process_uptime_seconds": uptime})
        yield "stuck", Timeline((-PAST_MINUTES - 10, before), (0, after), overrides={
            "halite_engine_maintenance_rounds_total": lambda second: 5})
        # 40 of 100 GiB are free six hours ago, and 10 now.
        yield "filling", Timeline((-7 * 60, before), (0, after), overrides={
            "halite_disk_bytes": lambda second: 100 << 30,
            "halite_disk_free_bytes": lambda second: (10 + 5 * (now_s - second) / 3600) * (1 << 30)})
        hbase = before.with_values(halite_hbase_requests_total=1000, halite_hbase_timeouts_total=0,
                                   halite_hbase_waiting_requests=0)
        yield "hbase-away", trouble(hbase, hbase.with_values(halite_process_ready=0))
        yield "hbase-slow", trouble(hbase, hbase.with_values(halite_hbase_timeouts_total=40))

    def make_refusing(self):
        server = self.launch("refusing", "storage.ttl_ms=90d", "storage.new_series_per_hour_max=3000",
                             "web.connections_max=66", wrapper=("prlimit", "--nofile=100"))
        self.use(server)
        before = self.state(server)
        server.telnet_lines([f"put some.load {int(time.time())} 12x host=web{i}" for i in range(500)])
        self.put(server, at=time.time() - 100 * DAY_S, wanted=400)
        self.put(server, 4000, metric="some.other", wanted=400)
        self.assertEqual(server.request("POST", "/api/put", b"{")[0], 400)
        self.assertEqual(server.request("POST", "/api/v1/write", b"x")[0] // 100, 4)
        held = [server.connect() for _ in range(80)]
        time.sleep(0.2)
        # Those that are still open leave room for who asks now.
        for one in [one for one in held if self.is_open(one)][-2:]:
            one.close()
        time.sleep(0.2)
        after = self.state(server)
        for one in held:
            one.close()
        yield "refusing", trouble(before, after)

    @staticmethod
    def is_open(connection):
        connection.setblocking(False)
        try:
            return connection.recv(1) != b""
        except BlockingIOError:
            return True
        except ConnectionError:
            return False

    def make_crowded(self):
        server = self.launch("crowded", "memory.limit=64MiB", "storage.series_bytes_max=4MiB")
        self.use(server)
        before = self.state(server)
        lines = [f"put crowd.m{i % 7} {int(time.time())} 1 id=n{i} other=o{i}" for i in range(40000)]
        server.telnet_lines(lines)
        used, share = (series(f"halite_memory_{what}_bytes", setting="storage.series_bytes_max")
                       for what in ("used", "share"))
        yield "crowded", trouble(before, self.state(server, lambda page: page[used] > 0.9 * page[share]))

    def make_guarded(self):
        code, table, err = self.run_halite("auth", "token", "agent", "--roles", "admin")
        self.assertEqual((code, err), (0, ""))
        accounts = self.scratch / "accounts.toml"
        accounts.write_text(table)
        accounts.chmod(0o600)
        server = self.launch("guarded", f"auth.file={accounts}", arguments=("--store", "memory"))
        right = {"Authorization": f"Bearer {table.splitlines()[0].removeprefix('# ')}"}
        before = self.state(server, headers=right)
        for _ in range(200):
            status = server.request("GET", "/api/version", headers={"Authorization": "Bearer wrong"})[0]
            self.assertIn(status, (401, 429))
        # Wrong logins from this address must now wait; the right token is accepted at once.
        after = self.eventually("the right token again", lambda: self.state_or_none(server, right))
        yield "guarded", trouble(before, after)

    def state_or_none(self, server, headers):
        try:
            return self.state(server, headers=headers)
        except AssertionError:
            return None

    def make_no_backup(self):
        (self.scratch / "a-file").write_text("")
        server = self.launch("no-backup", f"engine.backup_dir={self.scratch}/a-file/backups")
        self.use(server)
        before = self.state(server)
        self.assertEqual(server.request("POST", "/api/admin/backup")[0], 202)
        after = self.state(server, lambda page: page[series("halite_backup_failures_total")] > 0)
        yield "no-backup", trouble(before, after)

    def stopped(self, name, how, settings=()):
        """A data directory with points in chunks and in the log, whose server has ended by `how`."""
        server = self.launch(name, "self_metrics.enabled=false", *settings)
        self.put(server, 1000)
        self.assertEqual(server.request("POST", "/api/admin/seal")[0], 204)
        self.put(server, 100, metric="not.flushed")
        self.put(server, 1)
        before = self.state(server)
        getattr(server, how)()
        return before

    def flip(self, path, share=0.5):
        """Other bytes in the middle of a file."""
        with open(path, "r+b") as file:
            file.seek(int(path.stat().st_size * share))
            file.write(bytes(64))

    def make_damaged_chunks(self):
        name = "damaged-chunks"
        before = self.stopped(name, "terminate")
        tables = sorted((self.scratch / name / "engine/chunks").glob("*.sst"), key=lambda one: one.stat().st_size)
        self.flip(tables[-1], 0.2)
        server = self.launch(name, "self_metrics.enabled=false")
        answer = server.request("GET", "/api/query?start=1h-ago&m=sum:some.load")
        self.assertEqual(answer[0], 424, answer)
        self.assertEqual(server.request("POST", "/api/admin/check")[0], 202)
        after = self.state(server, lambda page: page[series("halite_scrub_damaged_places")] > 0)
        yield name, trouble(before, after)

    def make_damaged_names(self):
        name = "damaged-names"
        before = self.stopped(name, "terminate")
        self.launch(name, "self_metrics.enabled=false").terminate()  # a start writes names into tables
        for table in (self.scratch / name / "rocksdb").glob("*.sst"):
            if table.stat().st_size > 8000:
                self.flip(table, 0.02)
        server = self.launch(name, "self_metrics.enabled=false")
        statuses = {server.request("GET", f"/api/query?start=1h-ago&m=sum:some.load{{host=web{i}}}")[0]
                    for i in range(0, 1000, 100)}
        self.assertTrue(statuses & {424, 500}, statuses)
        yield name, trouble(before, self.state(
            server, lambda page: page[series("halite_rocksdb_damaged_places")] > 0))

    def segment(self, name):
        return max((self.scratch / name / "engine/log").glob("*"), key=lambda one: one.stat().st_size)

    def make_damaged_log(self):
        name = "damaged-log"
        before = self.stopped(name, "kill")
        segment = self.segment(name)
        with open(segment, "r+b") as file:
            bytes_ = file.read()
            file.seek(bytes_.index(b"not.flushed"))
            file.write(bytes(8))
        server = self.launch(name, "self_metrics.enabled=false")
        yield name, trouble(before, self.state(server))

    def make_short_log(self):
        name = "short-log"
        before = self.stopped(name, "kill")
        self.segment(name).unlink()
        server = self.launch(name, "self_metrics.enabled=false")
        yield name, trouble(before, self.state(server))

    def make_full_disk(self):
        disk = pathlib.Path(tempfile.mkdtemp(prefix="halite-e2e-disk-"))
        self.assertIsNone(full_disk.mount(disk, 160 << 20))
        self.addCleanup(full_disk.unmount, disk)
        server = self.launch("full-disk", data_dir=disk / "data")
        self.addCleanup(server.kill)  # before the disk goes
        self.use(server)
        before = self.state(server)
        with open(disk / "ballast", "wb") as ballast:
            try:
                while True:
                    ballast.write(bytes(1 << 20))
                    ballast.flush()
            except OSError:
                pass
        self.eventually("a refusal", lambda: self.put(server, 2000, wanted=None) == 503, 20)
        after = self.state(server, lambda page: page[series("halite_process_ready")] == 0)
        yield "full-disk", trouble(before, after)

    def make_failing_disk(self):
        control, environment = self.odd("failing-disk")
        server = self.launch("failing-disk", **environment)
        self.use(server)
        before = self.state(server)
        (control / "sync_fails").write_text("")
        self.put(server, metric="new.name", wanted=None)
        self.put(server, wanted=None)
        server.request("POST", "/api/admin/flush")
        after = self.state(server, lambda page: page[series("halite_process_ready")] == 0)
        yield "failing-disk", trouble(before, after)

    def make_slow_disk(self):
        control, environment = self.odd("slow-disk")
        server = self.launch("slow-disk", "engine.log_unsynced_bytes_max=1MiB", "engine.head_bytes_max=2MiB",
                             "engine.head_freeze_bytes=1MiB", "self_metrics.enabled=false", **environment)
        begin = int(time.time()) - 1000
        lines = [f"put load.m{i % 10} {begin + i // 1000} {i * 1.37 % 17} host=web{i % 1000}" for i in range(400000)]
        server.telnet_lines(lines[:1000])  # so that the series are known
        before = self.state(server)
        (control / "sync_ms").write_text("300")
        text = "".join(line + "\n" for line in lines[1000:]).encode()
        unsynced, head = series("halite_log_unsynced_bytes"), series("halite_memory_used_bytes",
                                                                      setting="engine.head_bytes_max")
        most = {unsynced: 0, head: 0}

        def seen():
            page = read_page(server.request("GET", "/metrics")[1].decode())
            for one in most:
                most[one] = max(most[one], page[one])
            return most[unsynced] > 0.8 * (1 << 20) and most[head] > 0.95 * (2 << 20)

        with concurrent.futures.ThreadPoolExecutor(1) as others, server.connect() as connection:
            others.submit(connection.sendall, text)
            try:
                self.eventually("a log and a head that are full", seen, 30)
                after = State(server)
            finally:
                server.kill()  # which ends the sender
        # Not both at one moment: the most of each.
        after.scraped.update(most)
        host = json.loads(next(iter(after.own)))["host"]
        for one, value in most.items():
            labels = json.loads(one)
            after.own[series(labels.pop("__name__").replace("_", ".", 2), **labels, host=host)] = value
        yield "slow-disk", trouble(before, after)

    def make_slow_queries(self):
        control, environment = self.odd("slow-queries")
        settings = ("query.running_max=1", "query.timeout_ms=4s", "self_metrics.enabled=false")
        self.stopped("slow-queries", "terminate")
        server = self.launch("slow-queries", *settings, **environment)
        before = self.state(server)
        (control / "read_ms").write_text("500")
        with concurrent.futures.ThreadPoolExecutor(2) as askers:
            asked = [askers.submit(server.request, "GET", f"/api/query?start=1h-ago&m=sum:some.load{{host={host}}}")
                     for host in ("web1", "web2")]
            waits = self.state(server, lambda page: page[series("halite_query_waiting")] > 0)
            statuses = [one.result()[0] for one in asked]
        (control / "read_ms").unlink()
        self.assertIn(408, statuses)
        waiting = {"halite_query_waiting": waits.scraped[series("halite_query_waiting")]}
        yield "slow-queries", trouble(before, self.state(server).with_values(**waiting))

    def make_wrong_clock(self):
        _, environment = self.odd("wrong-clock", ODD_CLOCK_S=str(-3 * DAY_S))
        server = self.launch("wrong-clock", f"engine.backup_dir={self.scratch}/old-backups", **environment)
        self.put(server, at=time.time() - 3 * DAY_S)
        self.assertEqual(server.request("POST", "/api/admin/backup")[0], 202)
        state = self.state(server, lambda page: page[series("halite_backup_newest_time_seconds")] > 0)
        yield "wrong-clock", Timeline((-PAST_MINUTES, state), (0, state))

    def make_jumped_clock(self):
        name, settings = "jumped-clock", ("storage.ttl_ms=30d",)
        before = self.stopped(name, "terminate", settings)
        _, environment = self.odd(name, ODD_CLOCK_S=str(10 * DAY_S))
        server = self.launch(name, *settings, "self_metrics.enabled=false", **environment)
        self.assertEqual(server.request("POST", "/api/admin/seal")[0], 204)  # it expires first
        yield name, trouble(before, self.state(
            server, lambda page: page[series("halite_engine_expiry_stopped")] == 1))

    # ---- the watcher -----------------------------------------------------------------------------

    def timelines(self):
        """({server: timeline}, {server: alerts that must fire})"""
        wanted = dict(WANTED)
        makers = [self.make_healthy, self.make_refusing, self.make_crowded, self.make_guarded, self.make_no_backup,
                  self.make_damaged_chunks, self.make_damaged_names, self.make_damaged_log, self.make_short_log]
        if full_disk.why_no_disk() is None:
            wanted.update(ON_A_SMALL_DISK)
            makers.insert(0, self.make_full_disk)
        if PRELOADED:
            wanted.update(PRELOADED_ONLY)
            makers[:0] = [self.make_slow_queries, self.make_slow_disk, self.make_failing_disk, self.make_wrong_clock,
                          self.make_jumped_clock]
        with concurrent.futures.ThreadPoolExecutor(6) as workers:
            made = list(workers.map(lambda maker: list(maker()), makers))
        timelines = dict(one for several in made for one in several)
        self.assertEqual(set(timelines), set(wanted))
        return timelines, wanted

    def watch(self, timelines):
        """(a server with their metrics, the time until which they go)"""
        watcher = self.server("--set", "self_metrics.enabled=false", "--store", "memory",
                              data_dir=self.scratch / "watcher").start()
        now_ms = int(time.time()) // 60 * MINUTE_MS
        for name, timeline in timelines.items():
            for own, labels in ((False, {"instance": name, "job": "halite"}), (True, {"host": name})):
                body = "\n".join(timeline.lines(now_ms, own, **labels))
                status, answer = watcher.request("POST", "/api/v1/import", body)
                self.assertEqual(status, 204, answer)
        return watcher, now_ms // 1000

    def fire(self, watcher, own, now_s):
        """{server: alerts} that fire at this time: true for as long as `for` says."""
        firing = {}
        label = "host" if own else "instance"
        for alert, expr in (one for members in make.rules(own).values() for one in members):
            hold_s = int(alert.hold[:-1]) * {"s": 1, "m": 60, "h": 3600}[alert.hold[-1]]
            found = watcher.get_json(f"/api/v1/query_range?query={urllib.parse.quote(expr)}&start={now_s - hold_s}"
                                     f"&end={now_s}&step=60")
            for one in found["data"]["result"]:
                if len(one["values"]) == hold_s // 60 + 1:
                    firing.setdefault(one["metric"].get(label), set()).add(alert.name)
        return firing

    def test_each_alert_fires_and_none_when_all_is_well(self):
        timelines, wanted = self.timelines()
        watcher, now_s = self.watch(timelines)
        tested = set().union(*wanted.values())
        if PRELOADED and "full-disk" in wanted:
            self.assertEqual(tested, set(make.ALERTS))
        for own in (False, True):
            firing = self.fire(watcher, own, now_s)
            for name in wanted:
                must = {alert for alert in wanted[name] if make.ALERTS[alert].own or not own}
                self.assertLessEqual(must, firing.get(name, set()), (name, own))
            self.assertEqual(firing.get("healthy", set()), set(), own)
            # Before the trouble began, all was well.
            earlier = self.fire(watcher, own, now_s - (BAD_MINUTES + 10) * 60)
            for name in ("filling", "wrong-clock", "jumped-clock", "stuck", "no-backup"):  # for hours and days
                earlier.pop(name, None)
            self.assertEqual(earlier, {}, own)
        self.replay(watcher, now_s, wanted)

    def replay(self, watcher, now_s, wanted):
        """The same by a real vmalert, which evaluates both files over that time and writes what fires."""
        try:
            program = go_program(PACKAGE, VERSION)
        except unittest.SkipTest as why:  # what was found before counts
            print(f"no replay: {why}", file=sys.stderr)
            return
        url = f"http://127.0.0.1:{watcher.port}"
        for own in (False, True):
            rules = make.HERE / ("halite-own.yml" if own else "halite.yml")
            done = subprocess.run(
                [program, f"-rule={rules}", f"-datasource.url={url}", f"-remoteWrite.url={url}",
                 "-evaluationInterval=1m", f"-replay.timeFrom={rfc3339(now_s - 80 * 60)}", f"-replay.timeTo={rfc3339(now_s)}",
                 "-replay.disableProgressBar", "-replay.rulesDelay=0"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            label = "host" if own else "instance"
            found = watcher.get_json("/api/v1/query?time=%d&query=%s" % (now_s, urllib.parse.quote(
                f'ALERTS{{alertstate="firing",{label}!=""}}')))
            firing = {}
            for one in found["data"]["result"]:
                firing.setdefault(one["metric"][label], set()).add(one["metric"]["alertname"])
            for name in wanted:
                must = {alert for alert in wanted[name] if make.ALERTS[alert].own or not own}
                self.assertLessEqual(must, firing.get(name, set()), (name, own))
            self.assertEqual(firing.get("healthy", set()), set(), own)


if __name__ == "__main__":
    support.main()
