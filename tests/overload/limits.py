"""What the server is given, and what it must keep to because of it: memory, answers, latencies."""

MIB = 1 << 20

# Small, so that every one of them is met within seconds.
SETTINGS = {
    "threads.web": 2,
    "threads.query": 2,
    "self_metrics.enabled": "false",
    "engine.head_freeze_bytes": 16 * MIB,
    "engine.head_bytes_max": 64 * MIB,
    "engine.log_unsynced_bytes_max": 4 * MIB,
    "engine.block_cache_bytes": 16 * MIB,
    "rocksdb.block_cache_bytes": 16 * MIB,
    "rocksdb.write_buffer_bytes": 4 * MIB,
    "rocksdb.write_buffers_bytes_max": 16 * MIB,
    "ingest.series_cache_bytes_max": 16 * MIB,
    "web.body_bytes_max": 32 * MIB,
    "web.body_inflated_bytes_max": 32 * MIB,
    "web.bodies_bytes_max": 48 * MIB,
    "web.connections_per_address_max": 2000,
    "web.idle_timeout_ms": 8_000,
    "web.telnet_idle_timeout_ms": 8_000,
    "web.request_timeout_ms": 10_000,
    "web.write_timeout_ms": 4_000,
    "query.bytes_max": 32 * MIB,
    "query.running_max": 4,
    "query.queue_ms": 2_000,
    "query.answers_bytes_max": 64 * MIB,
    "query.timeout_ms": 10_000,
}

# Where everything is some ten times slower, nobody may be called slow so soon.
UNHURRIED = {"web.request_timeout_ms": 60_000, "query.timeout_ms": 60_000}

# For reading back: all of what was stored is counted by one question a metric.
READ_BACK = {
    "self_metrics.enabled": "false",
    "query.timeout_ms": 100_000,
    "query.points_max": 100_000_000_000,
}


def environment(settings):
    """As the server reads settings from there."""
    return {f"HALITE_{name.upper().replace('.', '_')}": str(value)
            for name, value in settings.items()}


class MemorySum:
    """The resident memory that the settings allow, as a sum that can be printed."""

    def __init__(self, settings, telnet_connections):
        def of(name):
            return int(settings[name])

        self.parts = [
            ("program, libraries, stacks of its threads, RocksDB's tables of files", 80 * MIB),
            ("engine.head_bytes_max", of("engine.head_bytes_max")),
            ("engine.head_freeze_bytes: chunks being made of a frozen head",
             of("engine.head_freeze_bytes")),
            ("2 x engine.log_unsynced_bytes_max: one part is written, one fills",
             2 * of("engine.log_unsynced_bytes_max")),
            ("engine.block_cache_bytes", of("engine.block_cache_bytes")),
            ("rocksdb.block_cache_bytes", of("rocksdb.block_cache_bytes")),
            ("rocksdb.write_buffers_bytes_max", of("rocksdb.write_buffers_bytes_max")),
            ("ingest.series_cache_bytes_max", of("ingest.series_cache_bytes_max")),
            ("1.5 x web.bodies_bytes_max: a body, and its points in half as many bytes",
             3 * of("web.bodies_bytes_max") // 2),
            ("query.running_max x query.bytes_max",
             of("query.running_max") * of("query.bytes_max")),
            ("query.running_max x 8 MiB: small questions", of("query.running_max") * 8 * MIB),
            ("query.answers_bytes_max", of("query.answers_bytes_max")),
            ("web.connections_max x 24 KiB: 16 for the first bytes, 8 for the session",
             of("web.connections_max") * (24 << 10)),
            (f"{telnet_connections} telnet connections x 2 MiB: what was read, points, replies",
             telnet_connections * 2 * MIB),
        ]
        kept = sum(size for _, size in self.parts)
        self.parts.append(("a quarter for what the allocator holds between them", kept // 4))

    @property
    def total(self):
        return sum(size for _, size in self.parts)

    def lines(self):
        return [f"{size / MIB:9.1f} MiB  {what}" for what, size in self.parts] + [
            f"{self.total / MIB:9.1f} MiB  in all"]


# Which ends an exchange may have; anything else is a failure. "refused": a new connection that was
# closed without a byte, which is right only over web.connections_max; the counters tell. "left":
# the client itself did, as the load ended.
ALLOWED = {
    "small put": {"204", "503", "429"},
    "small query": {"200", "503", "429"},
    "healthy": {"200"},
    "metrics": {"200"},
    "newcomer": {"200", "refused"},
    "body of 1000": {"204", "503", "429", "refused"},
    "body of MBs": {"204", "503", "429", "refused", "reset while sending"},
    "body over the limit": {"413", "503", "429", "refused", "reset while sending"},
    "heavy query": {"200", "413", "408", "503", "429", "refused"},
    "slow reader": {"cut", "413", "408", "503", "429", "refused", "left"},
    "slow header": {"408", "refused", "left"},
    "slow body": {"408", "503", "refused", "left"},
    "half a request": {"408", "refused", "left"},
    "half a put line": {"closed", "refused", "left"},
    "slow put line": {"synced", "refused"},
    "connection per point, HTTP": {"204", "503", "429", "refused"},
    "connection per point, telnet": {"synced", "refused"},
    "idle connection": {"idle", "refused", "left"},
    "telnet flood": {"taken", "not taken whole"},
}

# Of clients that ask for little: seconds of the 99th percentile of what succeeded, and the longest
# time without a success. Two seconds, as agents that send every ten seconds, and probes that wait
# for five, do not notice; ten times what was seen on two processors under all of the load. A
# newcomer waits for its place behind thousands that want one, too, and has none while the tide of
# idle connections is high, for ten seconds at a time.
GOOD = {
    "small put": (2.0, 10.0),
    "small query": (2.0, 10.0),
    "healthy": (2.0, 5.0),
    "metrics": (2.0, 5.0),
    "newcomer": (5.0, 30.0),
}
