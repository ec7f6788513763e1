// What may be typed: metrics, tag keys, tag values, aggregators. Remembers answers for half a minute.
import { ApiError, getJson, isAbort } from "./api";

export interface TagSummary {
  keys: Map<string, Map<string, number>>; // key -> value -> series that carry it
  series: number;
  complete: boolean; // false: there are more series than were read
}

const kMetricsMax = 5000; // up to here names are matched in the page, anywhere in the name
const kSeriesMax = 2000;
const kKeepMs = 30_000;
const kOptionsMax = 200;

interface LookupAnswer {
  results?: { tags?: Record<string, string> }[];
}

class Memory<T> {
  private readonly held = new Map<string, { at: number; value: Promise<T> }>();

  get(key: string, make: () => Promise<T>): Promise<T> {
    const now = Date.now();
    const old = this.held.get(key);
    if (old && now - old.at < kKeepMs) return old.value;
    const value = make();
    this.held.set(key, { at: now, value });
    value.catch(() => this.held.delete(key)); // the next asker tries again
    return value;
  }

  clear(): void {
    this.held.clear();
  }
}

const metricMemory = new Memory<string[]>();
const tagMemory = new Memory<TagSummary>();

function suggest(type: string, prefix: string, max: number, signal?: AbortSignal): Promise<string[]> {
  const query = `type=${type}&q=${encodeURIComponent(prefix)}&max=${max}`;
  return getJson<string[]>(`api/suggest?${query}`, signal);
}

export function forgetNames(): void {
  metricMemory.clear();
  tagMemory.clear();
}

export function metricsWithPrefix(prefix: string, max: number, signal?: AbortSignal): Promise<string[]> {
  return suggest("metrics", prefix, max, signal);
}

// Names that contain the text; those that start with it come first. The server gives a limited number of
// names and matches only their beginnings, so what it has for the text joins what is found here.
export async function findMetrics(text: string, signal: AbortSignal): Promise<string[]> {
  const all = await metricMemory.get("", () => suggest("metrics", "", kMetricsMax));
  const local = rank(all, text);
  if (text === "") return local;
  const asked = await suggest("metrics", text, kOptionsMax, signal);
  return rank([...new Set([...local, ...asked])], text);
}

export function rank(names: string[], text: string): string[] {
  if (text === "") return names.slice(0, kOptionsMax);
  const wanted = text.toLowerCase();
  const first: string[] = [];
  const then: string[] = [];
  for (const name of names) {
    const at = name.toLowerCase().indexOf(wanted);
    if (at === 0) first.push(name);
    else if (at > 0) then.push(name);
  }
  return [...first, ...then].slice(0, kOptionsMax);
}

// The tags that the series of a metric carry. Empty where the server cannot tell.
export function tagsOf(metric: string): Promise<TagSummary> {
  return tagMemory.get(metric, async () => {
    const path = `api/search/lookup?m=${encodeURIComponent(metric)}&limit=${kSeriesMax}`;
    try {
      return summarize((await getJson<LookupAnswer>(path)).results ?? []);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return summarize([]); // no such metric
      throw error;
    }
  });
}

function summarize(results: { tags?: Record<string, string> }[]): TagSummary {
  const keys: TagSummary["keys"] = new Map();
  for (const { tags } of results) {
    for (const [key, value] of Object.entries(tags ?? {})) {
      const values = keys.get(key) ?? new Map<string, number>();
      values.set(value, (values.get(value) ?? 0) + 1);
      keys.set(key, values);
    }
  }
  return { keys, series: results.length, complete: results.length < kSeriesMax };
}

async function tagsOrNone(metric: string): Promise<TagSummary> {
  try {
    return await tagsOf(metric);
  } catch (error) {
    if (isAbort(error)) throw error;
    return { keys: new Map(), series: 0, complete: false }; // suggest still helps
  }
}

export interface Name {
  name: string;
  note: string;
}

export async function findTagKeys(metric: string, text: string, signal: AbortSignal): Promise<Name[]> {
  const tags = await tagsOrNone(metric);
  const more = tags.complete ? "" : "+";
  const known = rank([...tags.keys.keys()].sort(), text).map((name) => ({
    name,
    note: `${tags.keys.get(name)?.size ?? 0}${more} values`,
  }));
  if (tags.keys.size > 0 || !metric) return known;
  return (await suggest("tagk", text, 50, signal)).map((name) => ({ name, note: "" }));
}

export async function findTagValues(
  metric: string,
  tagk: string,
  text: string,
  signal: AbortSignal,
): Promise<Name[]> {
  const tags = await tagsOrNone(metric);
  const values = tags.keys.get(tagk) ?? new Map<string, number>();
  const known = rank([...values.keys()].sort(), text).map((name) => ({
    name,
    note: `${values.get(name)} series`,
  }));
  if (tags.complete && values.size > 0) return known;
  const seen = new Set(known.map((option) => option.name));
  const others = await suggest("tagv", text, 50, signal);
  return [...known, ...others.filter((name) => !seen.has(name)).map((name) => ({ name, note: "" }))];
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
