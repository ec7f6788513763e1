// What may be typed: metrics, tag keys, tag values, aggregators. What was read of a metric's tags is
// remembered for half a minute.
import { ApiError, getJson, isAbort } from "./api";
import { findMetricCounts, tagsOfMetric, type KeyCount } from "./series_counts";
import { count } from "../base/format";

export interface TagSummary {
  keys: Map<string, KeyCount>;
  series: number;
}

const kKeepMs = 30_000;
const kOptionsMax = 200;

const tagMemory = new Map<string, { at: number; value: Promise<TagSummary> }>();

function suggest(type: string, prefix: string, max: number, signal?: AbortSignal): Promise<string[]> {
  const query = `type=${type}&q=${encodeURIComponent(prefix)}&max=${max}`;
  return getJson<string[]>(`api/suggest?${query}`, signal);
}

export function forgetNames(): void {
  tagMemory.clear();
}

export function metricsWithPrefix(prefix: string, max: number, signal?: AbortSignal): Promise<string[]> {
  return suggest("metrics", prefix, max, signal);
}

export interface Name {
  name: string;
  note: string;
}

// Metrics that contain the text, with their numbers of series; those that start with it come first. Names
// that the server has not counted, such as another server's in shared tables, join by their beginnings.
export async function findMetrics(text: string, signal: AbortSignal): Promise<Name[]> {
  const found = await findMetricCounts({ contains: text, max: kOptionsMax }, signal);
  const names = found.results.map(({ metric, series }) => ({ name: metric, note: count(series, "series") }));
  if (names.length >= kOptionsMax) return names;
  const known = new Set(names.map(({ name }) => name));
  const others = await suggest("metrics", text, kOptionsMax - names.length, signal);
  return [...names, ...others.filter((name) => !known.has(name)).map((name) => ({ name, note: "" }))];
}

// The tags that the series of a metric carry. Empty where there is no such metric.
export function tagsOf(metric: string): Promise<TagSummary> {
  const now = Date.now();
  const old = tagMemory.get(metric);
  if (old && now - old.at < kKeepMs) return old.value;
  const value = readTags(metric);
  tagMemory.set(metric, { at: now, value });
  value.catch(() => tagMemory.delete(metric)); // the next asker tries again
  return value;
}

async function readTags(metric: string): Promise<TagSummary> {
  try {
    const { series, keys } = await tagsOfMetric({ metric, max: 0 });
    return { series, keys: new Map(keys.map((key) => [key.key, key])) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { series: 0, keys: new Map() };
    throw error;
  }
}

export async function findTagKeys(metric: string, text: string, signal: AbortSignal): Promise<Name[]> {
  const keys = await tagsOf(metric).then(
    (tags) => [...tags.keys.values()],
    (error) => {
      if (isAbort(error)) throw error;
      return [] as KeyCount[]; // suggest still helps
    },
  );
  const wanted = text.toLowerCase();
  const known = keys
    .filter(({ key }) => key.toLowerCase().includes(wanted))
    .map(({ key, values }) => ({ name: key, note: count(values, "value") }));
  if (keys.length > 0 || !metric) return known;
  return (await suggest("tagk", text, 50, signal)).map((name) => ({ name, note: "" }));
}

export async function findTagValues(
  metric: string,
  key: string,
  text: string,
  signal: AbortSignal,
): Promise<Name[]> {
  try {
    const { keys } = await tagsOfMetric({ metric, key, contains: text, max: kOptionsMax }, signal);
    const top = keys[0]?.top ?? [];
    if (top.length > 0) return top.map(({ value, series }) => ({ name: value, note: count(series, "series") }));
  } catch (error) {
    if (isAbort(error)) throw error;
  }
  return (await suggest("tagv", text, 50, signal)).map((name) => ({ name, note: "" }));
}

const kFewAggregators = ["sum", "avg", "min", "max", "count", "none"];

// Those that people use come first. The list is the server's; while it cannot be read, the basic ones.
export async function aggregators(): Promise<string[]> {
  try {
    const all = await getJson<string[]>("api/aggregators");
    const rest = all.filter((name) => !kFewAggregators.includes(name)).sort(byNumberThenName);
    return [...kFewAggregators.filter((name) => all.includes(name)), ...rest];
  } catch {
    return kFewAggregators;
  }
}

function byNumberThenName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
