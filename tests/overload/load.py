"""All bad clients at once, in as many processes as they need to be a nuisance."""

import threading

import clients_floods
import clients_slow
import crew
import ledger

DAY_S = 86_400
HEAVY_SERIES = 100
HEAVY_POINTS = 4000  # of each: an answer of some ten MB


class Load:
    def __init__(self, run):
        self.run = run
        self.port = run.server.port
        self.notes = crew.Notes()  # of the telnet flood, which has processes of its own
        self.stop = threading.Event()
        self.thread = None
        self.settings = run.settings
        self.body_megabytes = (2, 4, 8) if run.options.unhurried else (10, 20, 30)
        self.flood = clients_floods.TelnetFlood(run.options.point_load, self.port,
                                                run.begin_s + 20 * DAY_S)

    def store(self, series, count):
        series.sent = count
        body = ledger.body_of(series.json_points(0, count))
        status, said = self.run.server.request("POST", "/api/put", body)
        if status != 204:
            raise AssertionError(f"put: {status} {said[:500]!r}")
        series.acknowledged = count

    def prepare(self):
        points = 400 if self.run.options.unhurried else HEAVY_POINTS
        for n in range(HEAVY_SERIES):
            series = ledger.Series("overload.heavy", "name", f"h{n}", n, self.run.begin_s, 60)
            self.store(series, points)
            self.run.series.append(series)

    def start(self):
        """[crew.Crew]"""
        port, begin = self.port, self.run.begin_s
        whole = clients_floods.heavy_path("overload.heavy", begin)
        growing = clients_floods.heavy_path("cpu.usage_user", begin)
        floods = [clients_floods.bodies(port, n, begin + 10 * DAY_S) for n in range(3)]
        floods += [clients_floods.large_bodies(port, n, begin + 10 * DAY_S, megabytes)
                   for n, megabytes in enumerate(self.body_megabytes)]
        floods.append(clients_floods.too_large_bodies(port, self.settings["web.body_bytes_max"]))
        asking = [clients_floods.heavy_queries(port, [whole, whole, growing],
                                               self.run.choose.getrandbits(32)) for _ in range(6)]
        for telnet in (False, True):
            series = ledger.Series("overload.each", "name", f"{'telnet' if telnet else 'http'}", 3,
                                   begin)
            asking.append(clients_floods.connection_per_point(port, series, telnet))
        idle = clients_slow.Idlers(port, self.run.options.idle,
                                   self.settings["web.connections_max"],
                                   self.settings["web.connections_per_address_max"],
                                   self.settings["web.idle_timeout_ms"])
        crews = [crew.Crew("floods", floods), crew.Crew("questions", asking),
                 crew.Crew("slow ones", self.slow_ones(whole)), crew.Crew("idle ones", [idle])]
        self.thread = threading.Thread(
            target=self.flood.run, args=(self.notes, self.stop, self.run.flood_steps // 2))
        self.thread.start()
        return crews

    def slow_ones(self, path):
        port, settings = self.port, self.settings
        clients = [clients_slow.slow_reader(port, path, settings, n % 2 == 0)
                   for n in range(self.run.options.slow)]
        head = b"POST /api/put HTTP/1.1\r\nHost: localhost\r\n"
        never = f"put overload.never {self.run.begin_s} 1 na".encode()
        request_ms = settings["web.request_timeout_ms"]
        for count, name, first, rest in (
                (10, "slow header", b"", head + b"X-Padding: " + b"x" * 500),
                (10, "slow body", head + b"Content-Length: 500\r\n\r\n", b"[" + b" " * 400),
                (20, "half a request", head, b"")):
            clients += [clients_slow.slow_sender(port, name, first, rest, request_ms)] * count
        clients += [clients_slow.slow_sender(port, "half a put line", never, b"",
                                             settings["web.telnet_idle_timeout_ms"],
                                             silent=True)] * 20
        clients += [clients_slow.slow_put_lines(
            port, ledger.Series("overload.slow", "name", f"s{n}", n, self.run.begin_s))
            for n in range(10)]
        return clients

    def end(self):
        self.stop.set()
        if self.thread is not None:
            self.thread.join()
