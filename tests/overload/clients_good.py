"""Clients that ask for little, one thing at a time: what they get while others ask for too much."""

import urllib.parse

import crew
import ledger
import wire

PERIOD_S = 0.1


def _every_period(notes, stop, name, ask):
    """ask() -> outcome, ten times a second; how long it took and how long nothing succeeded."""
    due = last = crew.now()
    while wire.pause(stop, due):
        began = crew.now()
        outcome = ask()
        ended = crew.now()
        notes.saw(name, outcome)
        if outcome in ("200", "204"):
            notes.took(name, ended - began)
            notes.waited(name, ended - last)
            last = ended
        due = max(due + PERIOD_S, ended)
    notes.waited(name, crew.now() - last)


def putter(port, series):
    def run(notes, stop):
        connection = wire.Connection(port)

        def put():
            series.sent = series.acknowledged + 1
            body = ledger.body_of(series.json_points(series.acknowledged, series.sent))
            outcome, _ = connection.ask("POST", "/api/put", body)
            if outcome == "204":
                series.acknowledged = series.sent
            return outcome

        _every_period(notes, stop, "small put", put)
        notes.series.append(series)
        connection.close()

    return run


def reader(port, name, path):
    def run(notes, stop):
        connection = wire.Connection(port)
        _every_period(notes, stop, name, lambda: connection.ask("GET", path)[0])
        connection.close()

    return run


def newcomer(port):
    """Looks whether the server is well, as load balancers do: on a connection of its own."""
    def run(notes, stop):
        _every_period(notes, stop, "newcomer",
                      lambda: wire.Connection(port).ask("GET", "/-/healthy", close=True)[0])

    return run


def small_query(series):
    """The first hour of one series."""
    question = urllib.parse.quote(f"sum:{series.metric}{{{series.tag}={series.name}}}", safe="")
    return f"/api/query?start={series.begin_s}&end={series.begin_s + 3600}&m={question}"


def all_of_them(port, puts, asked):
    return [putter(port, puts), reader(port, "small query", small_query(asked)),
            reader(port, "healthy", "/-/healthy"), reader(port, "metrics", "/metrics"),
            newcomer(port)]
