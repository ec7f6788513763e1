// Times as OpenTSDB writes them, ranges, and the interval that suits a range.
import { dateText, dateTimeText } from "../base/format";
import { timeOf, timeParts, type Zone } from "../base/zone";

export interface Range {
  start: number; // ms since 1970
  end: number; // ms since 1970, included
}

const kUnitMs: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  n: 30 * 86_400_000,
  y: 365 * 86_400_000,
};

const kUnitNames: Record<string, string> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
  w: "week",
  n: "month",
  y: "year",
};

// "90m" -> ms, or null where it is no duration.
export function parseDuration(text: string): number | null {
  const shape = /^(\d+)(ms|[smhdwny])$/i.exec(text.trim());
  if (!shape) return null;
  const ms = Number(shape[1]) * kUnitMs[shape[2].toLowerCase()];
  return ms > 0 ? ms : null;
}

// 5400000 -> "90m": the largest unit that needs no fraction.
export function printDuration(ms: number): string {
  for (const unit of ["w", "d", "h", "m", "s"]) {
    if (ms % kUnitMs[unit] === 0) return `${ms / kUnitMs[unit]}${unit}`;
  }
  return `${Math.round(ms)}ms`;
}

export function durationInWords(text: string): string {
  const shape = /^(\d+)(ms|[smhdwny])$/i.exec(text);
  if (!shape) return text;
  const n = Number(shape[1]);
  return `${n} ${kUnitNames[shape[2].toLowerCase()]}${n === 1 ? "" : "s"}`;
}

// The length of "<duration>-ago", or null for any other text.
export function agoDuration(text: string): string | null {
  const shape = /^(.+)-ago$/i.exec(text.trim());
  return shape && parseDuration(shape[1]) !== null ? shape[1] : null;
}

// A point in time: empty or "now", "1h-ago", seconds or ms since 1970, or a date (2013/01/31-12:00:00,
// also with - and T). Dates are in `zone`. Null where it is none of them.
export function parseTime(text: string, now: number, zone: Zone): number | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.toLowerCase() === "now") return now;
  const ago = agoDuration(trimmed);
  if (ago) return now - (parseDuration(ago) as number);
  if (/^\d+ms$/i.test(trimmed)) return Number(trimmed.slice(0, -2));
  if (/^\d+$/.test(trimmed)) return trimmed.length <= 10 ? Number(trimmed) * 1000 : Number(trimmed);
  if (/^\d{10}\.\d{1,3}$/.test(trimmed)) return Math.round(Number(trimmed) * 1000);
  return parseDate(trimmed, zone);
}

function parseDate(text: string, zone: Zone): number | null {
  const shape =
    /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?:[-T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/.exec(text);
  if (!shape) return null;
  const [year, month, day, hour, minute, second] = shape.slice(1, 7).map((s) => Number(s ?? 0));
  const ms = Number((shape[7] ?? "0").padEnd(3, "0"));
  const time = timeOf({ year, month, day, hour, minute, second, ms }, zone);
  return Number.isNaN(time) ? null : time;
}

// Both ends, or what is wrong with them.
export function resolveRange(start: string, end: string, now: number, zone: Zone): Range | { error: string } {
  const from = parseTime(start, now, zone);
  const to = parseTime(end, now, zone);
  if (from === null) return { error: `"${start}" is not a start time` };
  if (to === null) return { error: `"${end}" is not an end time` };
  if (to <= from) return { error: "The end of the time range must come after its start" };
  return { start: from, end: to };
}

export function rangeInWords(start: string, end: string, zone: Zone): string {
  const ago = agoDuration(start);
  if (ago && (end === "" || end === "now")) return `Last ${durationInWords(ago).replace(/^1 /, "")}`;
  const now = Date.now();
  const from = parseTime(start, now, zone);
  const to = parseTime(end, now, zone);
  if (from === null || to === null) return `${start} → ${end || "now"}`;
  const short = (time: number): string => dateTimeText(time, zone).replace(/:00$/, "");
  const sameDay = dateText(from, zone) === dateText(to, zone);
  const toText = end === "" || end === "now" ? "now" : short(to).slice(sameDay ? 11 : 0);
  return `${short(from)} → ${toText}`;
}

export interface NamedRange {
  name: string;
  start: string; // ms since 1970
  end: string; // the same; empty = now
}

// Days as the zone has them.
export function calendarRanges(now: number, zone: Zone): NamedRange[] {
  const today = timeParts(now, zone);
  const midnight = (daysBack: number): number => {
    const day = new Date(Date.UTC(today.year, today.month - 1, today.day - daysBack));
    const date = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() };
    return timeOf({ ...date, hour: 0, minute: 0, second: 0, ms: 0 }, zone);
  };
  const monday = (new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() + 6) % 7; // days back
  return [
    { name: "Today", start: String(midnight(0)), end: "" },
    { name: "Yesterday", start: String(midnight(1)), end: String(midnight(0)) },
    { name: "This week", start: String(midnight(monday)), end: "" },
    { name: "Last week", start: String(midnight(monday + 7)), end: String(midnight(monday)) },
  ];
}

const kNiceMs = [
  5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
  7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000, 2_592_000_000,
];

// The interval that gives about one point for every two pixels, or null where raw points are few enough.
export function autoInterval(range: Range, widthPx: number): string | null {
  const wanted = (range.end - range.start) / Math.max(50, widthPx / 2);
  if (wanted < 2_000) return null;
  const ms = kNiceMs.find((nice) => nice >= wanted) ?? kNiceMs[kNiceMs.length - 1];
  return printDuration(ms);
}
