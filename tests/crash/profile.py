"""What kinds of data directories there are: settings, times of points, the clock."""

import time


class Forever:
    """No TTL but for one metric, slots of a day; points of ten days."""

    name = "forever"
    speed = 1
    step_ms = 60_000
    settings = {"STORAGE_RETENTION": "crash.m3=30d"}

    def ttl_ms(self, metric):
        return 30 * 86_400_000 if metric == "crash.m3" else 0

    def times(self, now_ms):
        """[begin, end) of the points that are sent now."""
        return now_ms - 10 * 86_400_000, now_ms + 3_600_000


class Ring:
    """Ten minutes' TTL, slots of a minute in a ring of 24, and a clock that runs thirty times as
    fast: a slot expires every two seconds, keys are used again after some fifty. One metric stays
    longer, one for ever."""

    name = "ring"
    speed = 30
    step_ms = 2_000
    settings = {
        "STORAGE_TTL_MS": 600_000,
        "STORAGE_RETENTION": "crash.m1=0, crash.m2=15m",
        "STORAGE_SLOT_MS": 60_000,
        "STORAGE_SLOTS": 24,
        "STORAGE_FUTURE_MAX_MS": 300_000,
        "ENGINE_EXPIRE_AFTER_CLOCK_JUMP": "true",
    }

    def ttl_ms(self, metric):
        return {"crash.m1": 0, "crash.m2": 900_000}.get(metric, 600_000)

    def times(self, now_ms):
        # Far enough from both ends for a batch that is held up for three seconds.
        return now_ms - 510_000, now_ms + 200_000


PROFILES = (Forever(), Ring())

# Small limits, so that flushing, sealing and replay are always near.
SETTINGS = {
    "ENGINE_HEAD_FREEZE_BYTES": "1MiB",
    "ENGINE_HEAD_AGE_MAX_MS": 20_000,
    "ENGINE_SEAL_QUIET_MS": 1_000,
    "ENGINE_EXPIRY_INTERVAL_MS": 1_000,
    "ENGINE_LOG_SEGMENT_BYTES": "16MiB",
    "STORAGE_SALT_BUCKETS": 4,
    "ROCKSDB_WRITE_BUFFER_BYTES": "1MiB",
    "GRAPHITE_LISTEN": "127.0.0.1:0",
    "GRAPHITE_PICKLE_LISTEN": "127.0.0.1:0",
    "SELF_METRICS_ENABLED": "false",
    "WEB_ALLOW_DELETE": "true",
    "THREADS_WEB": 2,
    "THREADS_QUERY": 2,
}

# With --series: a step of all of them takes a few flushes.
MANY_SERIES = {
    "ENGINE_HEAD_FREEZE_BYTES": "64MiB",
    "ENGINE_HEAD_BYTES_MAX": "512MiB",
    "QUERY_TIMEOUT_MS": 600_000,
}


class CrashClock:
    """As CRASH_CLOCK tells halite_crash."""

    def __init__(self, speed):
        self.speed = speed
        self.since_ms = time.time_ns() // 1_000_000

    def __call__(self):
        return self.since_ms + (time.time_ns() // 1_000_000 - self.since_ms) * self.speed

    def __str__(self):
        return f"{self.speed}:{self.since_ms}"
