// The answer of /api/query as typed arrays, one series a line of the graph. Those of PromQL: prometheus.ts

export interface Stats {
  last: number;
  min: number;
  max: number;
  avg: number;
  count: number; // points that are numbers
}

export interface Series {
  query: number; // the place in State.queries, of PromQL in State.expressions
  metric: string;
  tags: Record<string, string>;
  aggregateTags: string[]; // of PromQL always empty
  times: Float64Array; // ms since 1970, ascending
  values: Float64Array; // NaN: the point says "nothing here"
  stats: Stats; // all NaN where count is 0
  breaks: [number, number][]; // spans of time too long for a line across, in order
}

interface AnswerItem {
  metric?: string;
  tags?: Record<string, string>;
  aggregateTags?: string[];
  query?: { index?: number };
  dps?: [number, unknown][] | Record<string, unknown>;
}

// Null: an item without points, {"statsSummary":...}.
export function decodeSeries(given: unknown, asked: number[]): Series | null {
  const item = given as AnswerItem | null;
  if (!item || item.dps === undefined) return null;
  const { times, values } = points(item.dps);
  return {
    query: asked[item.query?.index ?? 0] ?? 0,
    metric: item.metric ?? "",
    tags: item.tags ?? {},
    aggregateTags: item.aggregateTags ?? [],
    times,
    values,
    stats: statsOf(values),
    breaks: longGaps(times),
  };
}

function points(dps: [number, unknown][] | Record<string, unknown>): { times: Float64Array; values: Float64Array } {
  const pairs = Array.isArray(dps) ? dps : Object.entries(dps).map(([t, v]) => [Number(t), v] as [number, unknown]);
  const times = new Float64Array(pairs.length);
  const values = new Float64Array(pairs.length);
  for (let i = 0; i < pairs.length; i++) {
    times[i] = pairs[i][0];
    values[i] = number(pairs[i][1]);
  }
  return { times, values };
}

// OpenTSDB writes "NaN" and null for gaps it was asked to show.
function number(value: unknown): number {
  if (typeof value === "number") return value;
  return value === null || value === "NaN" ? NaN : Number(value);
}

export function statsOf(values: Float64Array): Stats {
  let last = NaN;
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (Number.isNaN(v)) continue;
    last = v;
    if (v < min) min = v;
    if (v > max) max = v;
    sum += v;
    count += 1;
  }
  if (count === 0) return { last: NaN, min: NaN, max: NaN, avg: NaN, count: 0 };
  return { last, min, max, avg: sum / count, count };
}

const kBreakFactor = 5; // times the usual step
const kBreaksMax = 200; // more than this, and gaps are how the series is

// Where nothing came for much longer than usual, a line across would claim what nobody measured.
export function longGaps(times: Float64Array): [number, number][] {
  if (times.length < 4) return [];
  const steps = new Float64Array(times.length - 1);
  for (let i = 1; i < times.length; i++) steps[i - 1] = times[i] - times[i - 1];
  const usual = Float64Array.from(steps).sort()[steps.length >> 1];
  const gaps: [number, number][] = [];
  for (let i = 0; i < steps.length; i++) {
    if (steps[i] > usual * kBreakFactor) gaps.push([times[i], times[i + 1]]);
    if (gaps.length > kBreaksMax) return [];
  }
  return gaps;
}

// Every span longer than `ms`.
export function gapsAbove(times: Float64Array, ms: number): [number, number][] {
  const gaps: [number, number][] = [];
  for (let i = 1; i < times.length; i++) {
    if (times[i] - times[i - 1] > ms) gaps.push([times[i - 1], times[i]]);
  }
  return gaps;
}

// What tells one line from the others: the metric, then the tags.
export function labelOf(series: Series): string {
  const tags = Object.entries(series.tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
  return tags.length ? `${series.metric}{${tags.join(",")}}` : series.metric;
}
