#!/usr/bin/env python3
"""What keeps the page smooth with much on its graph: a mouse that moves draws no line anew, of a hundred series the
legend draws again the one it points at, and a long answer is read between frames. Lines and frames are counted, not
time, so a busy machine changes nothing."""

import unittest

from page_support import PageCase

SERIES = 100
STEPS = 240
SPIKE_POINTS = 9000

# Before the page's own scripts: a line is a stroke along a path. Axes and grids have none.
COUNT = """
window.lines = 0;
window.frames = 0;
const frame = () => { window.frames += 1; requestAnimationFrame(frame); };
requestAnimationFrame(frame);
const text = Response.prototype.text;
Response.prototype.text = async function () {
  const told = await text.call(this);
  if (told.includes('"long"')) window.readFrom = window.frames;
  return told;
};
const stroke = CanvasRenderingContext2D.prototype.stroke;
CanvasRenderingContext2D.prototype.stroke = function (...path) {
  window.lines += path.length;
  if (path.length && window.readFrom !== undefined) window.readFrames ??= window.frames - window.readFrom;
  return stroke.apply(this, path);
};"""


class SmoothTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin = cls.end - STEPS * 60
        cls.server.put([
            {"metric": "smooth", "timestamp": cls.begin + step * 60, "value": one + (step * (one + 1)) % 7,
             "tags": {"host": f"web{one:02}"}} for one in range(SERIES) for step in range(STEPS)], batch=2000)
        cls.server.put([
            {"metric": "spike", "timestamp": cls.end - SPIKE_POINTS + i, "value": 1000 if i == 4321 else i % 2,
             "tags": {"host": "a"}} for i in range(SPIKE_POINTS)], batch=2000)
        cls.browser.chrome("Page.addScriptToEvaluateOnNewDocument", {"source": f"{{ {COUNT} }}"})

    def open_all(self):
        self.open(f"#start={self.begin * 1000}&end={self.end * 1000}&m=sum:smooth%7Bhost=*%7D")
        self.wait_series(SERIES)
        self.wait_lines(SERIES)
        self.browser.run("window.lines = 0")

    def lines(self):
        """Lines drawn since it was last asked, after a frame that shows what the mouse has done."""
        return self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
                                "done(window.lines); window.lines = 0; })))")

    def wait_lines(self, wanted):
        self.browser.wait(f"{wanted} lines", lambda: self.browser.run("return window.lines") >= wanted)

    def event(self, kind, x, y, **more):
        self.browser.chrome("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def across(self, begin, end, moves=20):
        left, top, width, height = self.plot_box()
        return [(left + width * (begin + (end - begin) * i / moves), top + height / 2) for i in range(moves + 1)]

    def drag(self, begin, end, modifiers=0):
        """Leaves the button pressed; where it is."""
        places = self.across(begin, end)
        self.event("mouseMoved", *places[0], modifiers=modifiers)
        self.event("mousePressed", *places[0], button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for place in places:
            self.event("mouseMoved", *place, button="left", buttons=1, modifiers=modifiers)
        return places[-1]

    def release(self, place, modifiers=0):
        self.event("mouseReleased", *place, button="left", buttons=0, clickCount=1, modifiers=modifiers)

    def shown(self, css):
        return self.browser.run(
            "const one = document.querySelector(arguments[0]); return one !== null && one.offsetWidth > 0", css)

    def test_the_crosshair_draws_no_line(self):
        self.open_all()
        for place in self.across(0.1, 0.9):
            self.event("mouseMoved", *place)
        self.assertEqual(self.lines(), 0)
        self.assertTrue(self.shown(".tooltip"))

    def test_the_legend_draws_the_line_it_points_at_and_no_other(self):
        self.open_all()
        before = self.picture()
        rows = self.browser.run(
            "return [...document.querySelectorAll('.legend-table tbody tr')].slice(0, 6)"
            ".map((row) => row.getBoundingClientRect()).map((r) => [r.left + 100, r.top + r.height / 2])")
        for row in rows:
            self.event("mouseMoved", *row)
        drawn = self.lines()
        self.assertGreaterEqual(drawn, 1)
        self.assertLessEqual(drawn, len(rows))
        self.assertTrue(self.shown(".veil") and self.shown(".highlight"))
        colour = self.browser.run("""
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = document.querySelector('.legend-table tbody tr:nth-child(6) .swatch').style.background;
            probe.fillRect(0, 0, 1, 1);
            const want = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0];
            const canvas = document.querySelector('.highlight');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return new Uint32Array(data.buffer).filter((pixel) => pixel === want).length;""")
        self.assertGreater(colour, 50)
        self.shot("smooth-legend")
        self.event("mouseMoved", 5, 5)
        self.lines()
        self.assertFalse(self.shown(".veil") or self.shown(".highlight"))
        self.assertEqual(before, self.picture())

    def test_dragging_a_range_draws_once_when_it_is_there(self):
        self.open_all()
        place = self.drag(0.2, 0.8)
        self.assertEqual(self.lines(), 0)
        self.release(place)
        self.wait_lines(SERIES)
        self.assertEqual(self.lines(), SERIES)

    def test_moving_the_picture_draws_once_when_the_new_one_is_there(self):
        self.open_all()
        held = 8  # Shift
        place = self.drag(0.7, 0.4, held)
        self.assertEqual(self.lines(), 0)
        self.assertTrue(self.shown(".moved-picture"))
        moved = self.browser.run("return new DOMMatrix(document.querySelector('.moved-picture canvas').style.transform).e")
        self.assertAlmostEqual(moved, -0.3 * self.plot_box()[2], delta=2)
        self.shot("smooth-moved")
        self.release(place, held)
        self.wait_lines(SERIES)
        self.assertEqual(self.lines(), SERIES)
        self.assertFalse(self.shown(".moved-picture"))

    def test_a_long_answer_is_read_between_frames(self):
        self.fake_fetch("""
            if (!url.includes('api/query')) return real(url, init);
            const dps = Array.from({ length: 10000 }, (_, i) => [START + i * 1000, i % 97]);
            return new Response(JSON.stringify(Array.from({ length: 60 }, (_, i) =>
              ({ metric: 'smooth', tags: { host: `web${i}` }, aggregateTags: ['long'], dps }))));
            """.replace("START", str(self.begin * 1000)))
        self.open(f"#start={self.begin * 1000}&end={self.end * 1000}&m=sum:smooth%7Bhost=*%7D")
        self.wait_series(60)
        self.wait_lines(60)
        self.assertGreaterEqual(self.browser.run("return window.readFrames"), 2)

    def test_a_peak_of_one_point_is_seen_among_thousands_in_a_column(self):
        start = self.end - SPIKE_POINTS
        self.open(f"#start={start * 1000}&end={self.end * 1000}&m=sum:spike%7Bhost=*%7D")
        self.wait_series(1)
        self.wait_lines(1)
        width, column, top = self.browser.run("""
            const canvas = document.querySelector('.plot canvas');
            const over = document.querySelector('.u-over').style;
            const [left, from, width, height] = ['left', 'top', 'width', 'height'].map((side) => parseFloat(over[side]));
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = document.querySelector('.swatch').style.background;
            probe.fillRect(0, 0, 1, 1);
            const want = probe.getImageData(0, 0, 1, 1).data;
            const data = canvas.getContext('2d').getImageData(left, from, width, height).data;
            for (let y = 0; y < height; y++) {
              for (let x = 0; x < width; x++) {
                const at = (y * width + x) * 4;
                if ([0, 1, 2].every((i) => Math.abs(data[at + i] - want[i]) < 40) && data[at + 3] > 200)
                  return [width, x, y / height];
              }
            }
            return [width, -1, 1];""")
        self.assertLess(width * 4, SPIKE_POINTS)  # else nothing is left out
        self.assertAlmostEqual(column, width * 4321 / SPIKE_POINTS, delta=3)
        self.assertLess(top, 0.15)


if __name__ == "__main__":
    unittest.main(verbosity=2)
