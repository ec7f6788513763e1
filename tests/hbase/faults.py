"""What may happen to a cluster: each a function that makes it happen and returns when it is over, though perhaps not yet
recovered from."""

import dataclasses
import time

from traffic import Flood, START_MS, Wrong

REST_SECONDS = 3
FLOOD_SENDERS = 24  # of each kind, at each daemon: more than they may hold


@dataclasses.dataclass
class Length:
    session: float = 10   # of servers with ZooKeeper, who renew them every third of it
    stopped: float = 30   # SIGSTOP, past the end of the session
    away: float = 20      # all servers

    @property
    def held(self):
        """SIGSTOP, within the session."""
        return 0.4 * self.session


def _regions(cluster, table):
    """[(server's name, encoded name, first key)]"""
    lines = cluster.tool("regions", table, check=False).stdout.splitlines()
    return [tuple(line.split("\t")) for line in lines]


def _region_server(cluster, choose, with_meta):
    meta = cluster.region_server_of(_regions(cluster, "hbase:meta")[0][0])
    others = [name for name in cluster.servers if name.startswith("rs") and name != meta]
    return meta if with_meta else choose.choice(others)


def spread(cluster):
    """So that every region server has something to lose: one that comes back gets nothing by itself for long."""
    for table in ("tsdb", "tsdb-uid"):
        cluster.tool("spread", table)


def moves(cluster, _daemons, choose, _length):
    """Regions go to other servers while they are written and read."""
    for table in ("tsdb", "tsdb", "tsdb-uid"):
        regions = _regions(cluster, table)
        if regions:
            cluster.tool("move", choose.choice(regions)[1], check=False)


def splits(cluster, _daemons, choose, _length):
    """In the middle of a metric's hours."""
    for _ in range(2):
        salt, metric = choose.randrange(8), choose.randrange(1, 6)
        hour = START_MS // 1000 + 3600 * choose.randrange(1, 6)
        cluster.tool("split", "tsdb", f"{salt:02x}{metric:06x}{hour:08x}", check=False)


def kill_meta_server(cluster, _daemons, choose, _length):
    """The region server with hbase:meta, by kill -9; another one comes after a while."""
    name = _region_server(cluster, choose, with_meta=True)
    cluster.kill(name)
    time.sleep(REST_SECONDS)
    cluster.launch(name)


def kill_region_server(cluster, _daemons, choose, _length):
    name = _region_server(cluster, choose, with_meta=False)
    cluster.kill(name)
    time.sleep(REST_SECONDS)
    cluster.launch(name)


def stop_region_server(cluster, _daemons, choose, length):
    """SIGSTOP: its connections stay, it says nothing; meanwhile the others take its regions. It does not go on again: HDFS
    would refuse it its log then, but on the file system of these tests, which knows no leases, it would write into a log
    that was read already, and acknowledge it."""
    name = _region_server(cluster, choose, with_meta=choose.random() < 0.5)
    cluster.pause(name)
    time.sleep(length.stopped)
    cluster.kill(name)
    cluster.launch(name)


def hold_region_server(cluster, _daemons, choose, length):
    """SIGSTOP for less than its session lasts: it goes on as if nothing had been."""
    name = _region_server(cluster, choose, with_meta=choose.random() < 0.5)
    cluster.pause(name)
    time.sleep(length.held)
    cluster.resume(name)


def kill_master(cluster, _daemons, _choose, _length):
    cluster.kill("master")
    time.sleep(REST_SECONDS)
    cluster.launch("master")


def kill_zookeeper(cluster, _daemons, _choose, _length):
    """For less than the servers' sessions last."""
    cluster.kill("zookeeper")
    time.sleep(REST_SECONDS)
    cluster.launch("zookeeper")


def all_away(cluster, daemons, _choose, length):
    """No server at all for a while, by kill -9, under a flood of points. Daemons live and say that they are not ready."""
    floods = [Flood(daemon, FLOOD_SENDERS) for daemon in daemons]
    for flood in floods:
        flood.start()
    cluster.kill_all()
    time.sleep(length.away)
    for daemon in daemons:
        healthy, (ready, why) = daemon.request("GET", "/-/healthy")[0], daemon.request("GET", "/-/ready")
        if healthy != 200 or ready != 503 or not why.strip():
            raise Wrong(f"while there is no HBase: healthy {healthy}, ready {ready} {why[:300]}")
    for flood in floods:
        flood.stop()
    print(f"    away: {[flood.refused for flood in floods]} puts of {Flood.POINTS} points refused, the slowest answer "
          f"took {max(flood.slowest for flood in floods):.0f} s", flush=True)
    cluster.start()


ALL = {fault.__name__: fault for fault in (
    moves, splits, kill_meta_server, kill_region_server, stop_region_server,
    hold_region_server, kill_master, kill_zookeeper, all_away)}
