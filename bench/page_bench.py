"""Whether the page stays smooth with much on its graph: 100 series of 10,000 points each, none downsampled.

Debian's Chromium, headless, is led by chromedriver as a hand would lead it: one mouse event, then the
next when the page has taken it. What is counted is the time between frames (requestAnimationFrame) in
which the mouse moved, the work from the move until the frame is painted, and the time until a new picture
stands after a zoom. Two windows: one as people have it, and one with a canvas 10,000 pixels wide, so that
each point has a pixel of its own; for that the page's greatest width is lifted.
Headless Chromium paints by processor alone: a machine with a GPU has these lines for less.
"""

import dataclasses
import math
import pathlib
import socket
import statistics
import sys
import tempfile
import time

from server_bench import START_S, STEP_S, Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from webdriver import Browser  # noqa: E402

METRIC = "page.load"
SHIFT, CTRL = 8, 2  # as Chromium's protocol names them
EDGES_PX = 430  # of a window, beside the canvas
ACTION_S = 20  # no action is measured for longer


@dataclasses.dataclass(frozen=True)
class Size:
    series: int
    points: int  # a series
    moves: int  # of the mouse, an action
    times: int  # zooms, and times that the page is opened
    windows: tuple  # pixels wide


FULL = Size(series=100, points=10_000, moves=120, times=3, windows=(1360, 10_000 + EDGES_PX))
QUICK = Size(series=20, points=1000, moves=20, times=1, windows=(1360,))

# In the page before its own scripts: counts lines drawn, notes frames and long tasks, and when an answer is here.
# A frame counts when the mouse moved in it; its work ends with the first task after it was painted.
WATCH = """
const watch = window.watch = { lines: 0, answered: 0, since: 0, wanted: LINES, drawn: 0, frames: [], work: [], tasks: [] };
const wide = new CSSStyleSheet();
wide.replaceSync('.main { max-width: none }');
document.adoptedStyleSheets = [wide];
const stroke = CanvasRenderingContext2D.prototype.stroke;
CanvasRenderingContext2D.prototype.stroke = function (...path) {
  if (path.length) watch.lines += 1;
  return stroke.apply(this, path);
};
const text = Response.prototype.text;
Response.prototype.text = async function () {
  const told = await text.call(this);
  if (this.url.includes('api/query')) {
    watch.answered = performance.now();
    watch.lines = 0; // what was drawn before is not it
  }
  return told;
};
new PerformanceObserver((list) => watch.tasks.push(...list.getEntries().map((one) => one.duration)))
  .observe({ entryTypes: ['longtask'] });
let moved = 0, painted = [], before = 0, wasMoved = false;
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  const now = performance.now();
  watch.work.push(...painted.splice(0).map((begin) => now - begin));
  if (watch.drawn === -1) watch.drawn = now;
};
addEventListener('mousemove', () => { moved = moved || performance.now(); }, true);
const frame = (now) => {
  if (wasMoved) watch.frames.push(now - before);
  wasMoved = moved > 0;
  before = now;
  if (wasMoved) painted.push(moved);
  moved = 0;
  if (watch.drawn === 0 && watch.answered > watch.since && watch.lines >= watch.wanted) watch.drawn = -1;
  if (painted.length || watch.drawn === -1) channel.port2.postMessage(0);
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
watch.begin = () => { watch.frames = []; watch.work = []; watch.tasks = []; watch.lines = 0; };
watch.await = (lines) => {
  watch.wanted = lines;
  watch.lines = watch.drawn = 0;
  watch.tasks = [];
  watch.since = performance.now();
};
"""


def value(series, step):
    """Hosts that differ, breathe over the hours and wobble by the point."""
    return (12 + series % 10 * 8 + 6 * math.sin(step / 700 + series) + 3 * math.sin(step / 90 + 2 * series)
            + 2 * math.sin(step * 12.9898 + series * 78.233))


def fill(port, size):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for step in range(size.points):
            connection.sendall("".join(
                f"put {METRIC} {START_S + step * STEP_S} {value(one, step):.2f} host=web{one:03}\n"
                for one in range(size.series)).encode())
        connection.sendall(b"sync\n")
        if (said := connection.recv(65536).strip()) != b"synced":
            raise SystemExit(f"the server refused: {said}")


class Hand:
    """One page, and a mouse over it."""

    def __init__(self, port, size, width):
        self.size = size
        self.address = (f"http://127.0.0.1:{port}/#start={START_S * 1000}"
                        f"&end={(START_S + size.points * STEP_S) * 1000}&m=sum:{METRIC}%7Bhost=*%7D&tz=utc")
        self.browser = Browser(width=width, height=1000)
        self.browser.chrome("Page.addScriptToEvaluateOnNewDocument",
                            {"source": f"{{ {WATCH.replace('LINES', str(size.series))} }}"})

    def open(self):
        """As drawn(), from navigating."""
        self.browser.open("about:blank")  # else a change of fragment alone would not load the page anew
        self.browser.open(self.address)
        return self.drawn()

    def drawn(self):
        """Seconds until the graph stands, seconds of it after the answer was here, ms of the longest task."""
        since, answered, drawn = self.browser.wait(
            "a graph", lambda: self.browser.run(
                "return watch.drawn > 0 && [watch.since, watch.answered, watch.drawn]"), 120)
        time.sleep(0.2)  # long tasks are told late
        longest = self.browser.run("return Math.max(0, ...watch.tasks)")
        return (drawn - since) / 1000, (drawn - answered) / 1000, longest

    def box(self, css):
        return self.browser.run(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.left, r.top, r.width, r.height]", css)

    def event(self, kind, x, y, button="none", held=0, **more):
        self.browser.chrome("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": button, "buttons": held, **more})

    def frames(self, places, **how):
        """Leads the mouse through `places`; (ms of frames, ms of work, ms of long tasks, lines drawn)."""
        self.event("mouseMoved", *places[0], **how)
        self.browser.run("watch.begin()")
        end = time.monotonic() + ACTION_S
        for place in places:
            self.event("mouseMoved", *place, **how)
            if time.monotonic() > end:
                break
        return self.browser.run(
            "return new Promise((done) => setTimeout("
            "() => done([watch.frames, watch.work, watch.tasks, watch.lines]), 100))")

    def across(self, begin, end):
        left, top, width, height = self.box(".u-over")
        n = self.size.moves
        return [(left + width * (begin + (end - begin) * i / n), top + height * (0.3 + 0.4 * i / n))
                for i in range(n + 1)]

    def crosshair(self):
        return self.frames(self.across(0.02, 0.98))

    def legend(self):
        """To another row with each move: all that are seen, down and up again."""
        self.event("mouseMoved", 5, 5)
        rows = self.browser.run(
            "return [...document.querySelectorAll('.legend-table tbody tr')].map((row) => row.getBoundingClientRect())"
            ".filter((r) => r.bottom < innerHeight).map((r) => [r.left + Math.min(r.width, 600) / 2, r.top + r.height / 2])")
        cycle = rows + rows[-2:0:-1]
        return self.frames([cycle[i % len(cycle)] for i in range(self.size.moves + 1)])

    def drag(self, begin, end, modifiers=0):
        """Frames while a range is dragged, then what drawn() tells."""
        places = self.across(begin, end)
        self.event("mouseMoved", *places[0], modifiers=modifiers)
        self.event("mousePressed", *places[0], "left", 1, clickCount=1, modifiers=modifiers)
        frames = self.frames(places, button="left", held=1, modifiers=modifiers)
        self.browser.run("watch.await(arguments[0])", self.size.series)
        self.event("mouseReleased", *places[-1], "left", 0, clickCount=1, modifiers=modifiers)
        return frames, self.drawn()

    def wheel(self, turns=3):
        left, top, width, height = self.box(".u-over")
        for _ in range(turns):
            self.browser.run("watch.await(arguments[0])", self.size.series)
            self.event("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-100, modifiers=CTRL)
        return self.drawn()


def measure(port, size, width):
    """{action: (frames, work, tasks, lines)}, {action: [what drawn() tells]}, pixels of the canvas"""
    hand = Hand(port, size, width)
    try:
        frames, waits = {}, {"opening": [], "zoom by drag": [], "zoom by wheel": [], "move": []}
        for _ in range(size.times):
            waits["opening"].append(hand.open())
            hand.event("mouseMoved", 5, 5)
            picture, waited = hand.drag(0.05, 0.95)
            frames["dragging a range"] = picture
            waits["zoom by drag"].append(waited)
            hand.open()
            waits["zoom by wheel"].append(hand.wheel())
            hand.open()
            picture, waited = hand.drag(0.6, 0.4, SHIFT)
            frames["moving the picture"] = picture
            waits["move"].append(waited)
        hand.open()
        frames["crosshair"] = hand.crosshair()
        frames["over the legend"] = hand.legend()
        canvas = hand.browser.run("return document.querySelector('.plot canvas').width")
    finally:
        hand.browser.close()
    return frames, waits, canvas


def p95(numbers):
    return sorted(numbers)[min(len(numbers) - 1, math.ceil(len(numbers) * 0.95) - 1)]


def beside(texts):
    return texts[0] + (f" ({texts[1]})" if len(texts) > 1 else "")


def print_tables(told, size):
    """`told`: of each build what measure() gave."""
    print(f"\nCanvas of {told[0][2]:,} pixels, {size.series} series of {size.points:,} points\n")
    print("| while | frame median, ms | p95 | longest | work p95, ms | longest task, ms | lines drawn |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for action in told[0][0]:
        cells = [[f"{statistics.median(frames):.0f}", f"{p95(frames):.0f}", f"{max(frames):.0f}",
                  f"{p95(work):.0f}", f"{max(tasks, default=0):.0f}", f"{lines:,}"]
                 for frames, work, tasks, lines in (one[0][action] for one in told)]
        print(f"| {action} | {' | '.join(beside(column) for column in zip(*cells))} |")
    print("\n| until it is drawn | seconds | after the answer is here | longest task, ms |\n|---|--:|--:|--:|")
    for action in told[0][1]:
        cells = [[f"{statistics.median(column):.{digits}f}"
                  for column, digits in zip(zip(*one[1][action]), (2, 2, 0))] for one in told]
        print(f"| {action} | {' | '.join(beside(column) for column in zip(*cells))} |", flush=True)


def run(binary, quick, other=None):
    """`other`: another build of the server, whose page is measured in turn with this one's."""
    size = QUICK if quick else FULL
    print(f"\nThe page; medians of {size.times}{'; in brackets the other build' if other else ''}")
    with tempfile.TemporaryDirectory(prefix="halite-bench-") as scratch:
        servers = []
        try:
            for i, one in enumerate([binary] + ([other] if other else [])):
                servers.append(Server(one, "engine", f"{scratch}/{i}"))
                fill(servers[-1].port, size)
            for width in size.windows:
                print_tables([measure(server.port, size, width) for server in servers], size)
            for server in servers:
                server.stop()
        finally:
            for server in servers:
                server.kill()
