"""Files for `halite import`, and what they say: the points in the order of their lines, and the lines that are
no points."""

import gzip
import json

from load import double, either, integer

FORMATS = ("opentsdb", "opentsdb", "influx", "vmjson")
LINES_MIN = 4_000
DOUBLINGS = 4  # of LINES_MIN at most
SERIES_KNOWN = 20
SERIES_NEW = 20
PLACE = "eu-west/hall-2/" * 5  # a long tag: an import reads blocks of 256 KiB
FIRST_LINES = 50  # by which an import knows the format: all are points
DAY_MS = 86_400_000
EXPIRED = "crash.m3"  # the profile's metric with a retention of 30 days


class ImportFiles:
    """paths: in the order in which they are to be imported; points: [(metric, tags, ms, value)];
    refused: [(path, line number, line)]; lines: of all files."""

    def __init__(self, directory, choose, ledger, profile, number, now_ms):
        self.choose = choose
        self.profile = profile
        self.now_ms = now_ms
        self.format = choose.choice(FORMATS)
        self.older_ms = choose.randrange(300) * DAY_MS  # of the half of the points that is history
        self.bad_share = choose.choice((0, 0.001, 0.02))
        self.paths, self.points, self.refused = [], [], []
        self.series = self._series(ledger, number)
        self.lines = int(LINES_MIN * 2 ** (choose.random() * DOUBLINGS))
        parts = choose.choice((1, 1, 2, 4))
        for part in range(parts):
            self._write(directory / f"points{number}-{part}", self.lines // parts)

    def _series(self, ledger, number):
        """[(metric, tags, times to be used again, how a value is chosen)]"""
        known = [(metric, tags) for metric in sorted(ledger.metrics)
                 for tags in sorted(ledger.metrics[metric])]
        wanted = self.choose.sample(known, min(SERIES_KNOWN, len(known)))
        for n in range(SERIES_NEW):
            metric = self.choose.choice((f"crash.m{n % 5}", f"crash.import{number}"))
            wanted.append((metric, (("name", f"import{number}-{n}"), ("place", PLACE))))
        return [(metric, tags, sorted(ledger.series(metric, tags))[:1000],
                 self.choose.choice((integer, double, either))) for metric, tags in wanted]

    def _write(self, path, lines):
        choose = self.choose
        packed = choose.random() < 0.3
        if self.paths and choose.random() < 0.1:
            lines = 0
        path = path.with_suffix(".gz" if packed else ".txt")
        self.paths.append(path)
        text = []
        while len(text) < lines:
            if len(text) >= FIRST_LINES and choose.random() < self.bad_share:
                line = self._bad_line()
                self.refused.append((str(path), len(text) + 1, line))
            elif self.format == "opentsdb" and choose.random() < 0.001:
                line = choose.choice(("", "# none"))
            else:
                line = self._line()
            text.append(line)
        content = "\n".join(text) + "\n" * choose.choice((0, 1, 1))
        with gzip.open(path, "wb", compresslevel=1) if packed else open(path, "wb") as file:
            file.write(content.encode())

    def _time(self, metric, times):
        choose = self.choose
        if times and choose.random() < 0.3:
            moment = choose.choice(times)  # once more
        else:
            begin, end = self.profile.times(self.now_ms)
            if metric != EXPIRED and choose.random() < 0.5:
                begin -= self.older_ms
                end = begin + 3 * DAY_MS
            moment = choose.randrange(begin, end)
            if choose.random() < 0.5:
                moment -= moment % 1000
        times.append(moment)
        return moment

    # ---- lines ------------------------------------------------------------------------------

    def _line(self):
        metric, tags, times, value_of = self.choose.choice(self.series)
        return getattr(self, f"_{self.format}")(metric, tags, times, value_of)

    def _add(self, metric, tags, moment, value):
        self.points.append((metric, tags, moment, value))
        return value

    def _opentsdb(self, metric, tags, times, value_of):
        moment = self._time(metric, times)
        shown = moment // 1000 if moment % 1000 == 0 else moment
        value = self._add(metric, tags, moment, value_of(self.choose))
        return f"{metric} {shown} {value!r} " + " ".join(f"{key}={text}" for key, text in tags)

    def _influx(self, metric, tags, times, value_of):
        moment = self._time(metric, times)
        fields = [("value", metric)]
        if metric != EXPIRED and self.choose.random() < 0.2:
            fields.append(("other", f"{metric}_other"))
        words = []
        for field, named in fields:
            value = self._add(named, tags, moment, value_of(self.choose))
            words.append(f"{field}={value!r}" + "i" * isinstance(value, int))
        where = ",".join((metric, *(f"{key}={text}" for key, text in tags)))
        return f"{where} {','.join(words)} {moment * 1_000_000}"

    def _vmjson(self, metric, tags, times, value_of):
        points = [(self._time(metric, times), float(value_of(self.choose)))
                  for _ in range(self.choose.choice((1, 1, 3)))]
        for moment, value in points:
            self._add(metric, tags, moment, value)
        return json.dumps({"metric": {"__name__": metric, **dict(tags)},
                           "values": [value for _, value in points],
                           "timestamps": [moment for moment, _ in points]})

    def _bad_line(self):
        moment = self.now_ms // 1000
        expired = moment - 31 * DAY_MS // 1000 - self.choose.randrange(10 * DAY_MS // 1000)
        return self.choose.choice({
            "opentsdb": (f"{EXPIRED} {moment} wrong name=bad", f"{EXPIRED} {moment} 1", "what is this",
                         f"{EXPIRED} {expired} 1 name=expired"),
            "influx": (f"{EXPIRED},name=bad value=wrong {moment}000000000", "garbage",
                       f"{EXPIRED},name=expired value=1 {expired}000000000"),
            "vmjson": ('{"metric":{"name":"bad"},"values":[1],"timestamps":[%d000]}' % moment, "{garbage",
                       '{"metric":{"__name__":"%s","name":"bad"},"values":[1,2],"timestamps":[%d000]}'
                       % (EXPIRED, moment)),
        }[self.format])
