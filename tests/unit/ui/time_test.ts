import assert from "node:assert/strict";
import test from "node:test";
import { compact, elapsed } from "../../../web/ui/src/base/format";
import { timeOf, timeParts, zoneName, zoneOf } from "../../../web/ui/src/base/zone";
import {
  agoDuration,
  autoInterval,
  calendarRanges,
  parseDuration,
  parseTime,
  printDuration,
  resolveRange,
} from "../../../web/ui/src/question/time_range";
import { timeTicks } from "../../../web/ui/src/views/axis_text";

const kNow = Date.UTC(2026, 0, 31, 12, 0, 0);

test("durations", () => {
  assert.equal(parseDuration("90m"), 5_400_000);
  assert.equal(parseDuration("1H"), 3_600_000);
  assert.equal(parseDuration("5ms"), 5);
  assert.equal(parseDuration("1n"), 30 * 86_400_000);
  for (const wrong of ["", "m", "1", "0m", "-1m", "1.5h", "1 m", "1min"]) assert.equal(parseDuration(wrong), null, wrong);
  assert.equal(printDuration(5_400_000), "90m");
  assert.equal(printDuration(86_400_000), "1d");
  assert.equal(printDuration(1500), "1500ms");
});

test("times in every form that OpenTSDB takes", () => {
  const day = Date.UTC(2013, 0, 31);
  assert.equal(parseTime("", kNow, "utc"), kNow);
  assert.equal(parseTime("NOW", kNow, "utc"), kNow);
  assert.equal(parseTime("1h-ago", kNow, "utc"), kNow - 3_600_000);
  assert.equal(parseTime("1356998400", kNow, "utc"), 1_356_998_400_000);
  assert.equal(parseTime("1356998400123", kNow, "utc"), 1_356_998_400_123);
  assert.equal(parseTime("1356998400123ms", kNow, "utc"), 1_356_998_400_123);
  assert.equal(parseTime("1356998400.250", kNow, "utc"), 1_356_998_400_250);
  assert.equal(parseTime("2013/01/31", kNow, "utc"), day);
  assert.equal(parseTime("2013/01/31-01:02", kNow, "utc"), day + 3_720_000);
  assert.equal(parseTime("2013/01/31 01:02:03", kNow, "utc"), day + 3_723_000);
  assert.equal(parseTime("2013-01-31T01:02:03.5", kNow, "utc"), day + 3_723_500);
  for (const wrong of ["x-ago", "yesterday", "2013/01", "2013/01/31 1", "1.5"]) {
    assert.equal(parseTime(wrong, kNow, "utc"), null, wrong);
  }
  assert.equal(agoDuration("2d-ago"), "2d");
  assert.equal(agoDuration("1356998400"), null);
});

test("a range names what is wrong with it", () => {
  assert.deepEqual(resolveRange("1h-ago", "", kNow, "utc"), { start: kNow - 3_600_000, end: kNow });
  for (const [start, end] of [["soon", ""], ["1h-ago", "soon"], ["1h-ago", "2h-ago"], ["now", "now"]]) {
    assert.ok("error" in resolveRange(start, end, kNow, "utc"), `${start} ${end}`);
  }
});

test("the automatic interval gives a point for about two pixels, from a fixed list", () => {
  const last = (ms: number, width: number): string | null => autoInterval({ start: 0, end: ms }, width);
  assert.equal(last(5 * 60_000, 1000), null);
  assert.equal(last(3_600_000, 1000), "10s");
  assert.equal(last(24 * 3_600_000, 1000), "5m");
  assert.equal(last(7 * 86_400_000, 1000), "30m");
  assert.equal(last(365 * 86_400_000, 1000), "1d");
  assert.equal(last(100 * 365 * 86_400_000, 10), "30d");
});

test("ticks carry the date once, and wherever it changes", () => {
  const midnight = Date.UTC(2026, 0, 31);
  const hours = [-2, -1, 0, 1].map((h) => midnight + h * 3_600_000);
  assert.deepEqual(timeTicks(hours, 3_600_000, "utc"), ["22:00\n2026-01-30", "23:00", "00:00\n2026-01-31", "01:00"]);
  assert.deepEqual(timeTicks([midnight, midnight + 500], 500, "utc"), ["00:00:00.000\n2026-01-31", "00:00:00.500"]);
  assert.deepEqual(timeTicks([midnight, midnight + 86_400_000], 86_400_000, "utc"), ["31 Jan\n2026", "1 Feb"]);
});

test("numbers are short and keep their order of magnitude", () => {
  const cases: [number, string][] = [
    [0, "0"], [-0, "0"], [1, "1"], [-1.5, "−1.5"], [9999, "9999"], [10_000, "10k"], [12_345, "12.35k"],
    [999_999, "1M"], [1_234_567, "1.235M"], [-3.2e9, "−3.2G"], [0.5, "0.5"], [0.00025, "250µ"], [1e-9, "1n"],
    [NaN, "–"], [Infinity, "∞"], [1e30, "1.00e+30"],
  ];
  for (const [value, text] of cases) assert.equal(compact(value), text, String(value));
});

test("times in milliseconds keep two digits where they are small", () => {
  const cases: [number, string][] = [[0, "0 ms"], [0.123, "0.12 ms"], [9.96, "10 ms"], [12.4, "12 ms"], [1234, "1.23 s"], [65_000, "65.0 s"]];
  for (const [ms, text] of cases) assert.equal(elapsed(ms), text, String(ms));
});

test("zones by name: parts of a time, and back again, over both changes of the clock", () => {
  const parts = { year: 2026, month: 7, day: 1, hour: 9, minute: 30, second: 5, ms: 250 };
  assert.deepEqual(timeParts(timeOf(parts, "America/New_York"), "America/New_York"), parts);
  assert.equal(timeOf(parts, "America/New_York"), Date.UTC(2026, 6, 1, 13, 30, 5, 250));
  const at = (month: number, day: number, hour: number): number =>
    timeOf({ year: 2026, month, day, hour, minute: 30, second: 0, ms: 0 }, "America/New_York");
  assert.equal(at(3, 8, 2), Date.UTC(2026, 2, 8, 7, 30)); // skipped: as after the gap
  assert.equal(at(11, 1, 1), Date.UTC(2026, 10, 1, 5, 30)); // twice: the first
  assert.equal(at(11, 1, 2), Date.UTC(2026, 10, 1, 7, 30));
  assert.equal(zoneOf("GMT"), "utc");
  assert.equal(zoneOf("Asia/Kolkata") === "local", false);
  assert.equal(zoneOf("Mars/Olympus"), "local");
  assert.equal(zoneName("utc"), "UTC");
  assert.equal(zoneName("local"), "Europe/Berlin");
});

test("days and weeks begin at the zone's midnight, also where the clock changes", () => {
  const at = (name: string, now: number, zone: string): number[] => {
    const range = calendarRanges(now, zone).find((one) => one.name === name);
    return [Number(range?.start), Number(range?.end)];
  };
  // The clock goes forward in Berlin on Sunday 29 March 2026.
  const monday = Date.UTC(2026, 2, 30, 8);
  assert.deepEqual(at("Today", monday, "Europe/Berlin"), [Date.UTC(2026, 2, 29, 22), 0]);
  assert.deepEqual(at("Yesterday", monday, "Europe/Berlin"), [Date.UTC(2026, 2, 28, 23), Date.UTC(2026, 2, 29, 22)]);
  assert.deepEqual(at("This week", monday, "Europe/Berlin"), [Date.UTC(2026, 2, 29, 22), 0]);
  assert.deepEqual(at("Last week", monday, "Europe/Berlin"), [Date.UTC(2026, 2, 22, 23), Date.UTC(2026, 2, 29, 22)]);
  assert.deepEqual(at("This week", Date.UTC(2026, 2, 1, 12), "utc"), [Date.UTC(2026, 1, 23), 0]); // a Sunday
});
