// How many series there are: of metrics, with tag keys, with tag values (/api/series).
import { getJson } from "./api";

export interface MetricCount {
  metric: string;
  series: number;
  grown: number; // since MetricCounts.grownSince
}

export interface MetricCounts {
  counted: number; // ms since 1970; a count may be some time old
  grownSince: number;
  series: number; // of all metrics
  metrics: number; // that there are
  matching: number; // that contain the text; results may be fewer
  results: MetricCount[];
}

export interface ValueCount {
  value: string;
  series: number;
}

export interface KeyCount {
  key: string;
  series: number;
  values: number;
  matching: number; // values that contain the text
  top: ValueCount[]; // of those, the ones with the most series
}

export interface MetricTags {
  metric: string;
  series: number;
  keys: KeyCount[];
}

export interface KeyCounts {
  series: number;
  keys: number;
  results: { key: string; series: number; values: number }[];
}

type Parameters = Record<string, string | number | undefined>;

function address(page: string, parameters: Parameters): string {
  const pairs = Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `api/series/${page}?${pairs.join("&")}`;
}

export function findMetricCounts(
  wanted: { contains?: string; max: number; order?: "name" | "series" | "grown" },
  signal?: AbortSignal,
): Promise<MetricCounts> {
  return getJson<MetricCounts>(address("metrics", wanted), signal);
}

export function tagKeyCounts(max: number, signal?: AbortSignal): Promise<KeyCounts> {
  return getJson<KeyCounts>(address("keys", { max }), signal);
}

// `max`: values of each key.
export function tagsOfMetric(
  wanted: { metric: string; key?: string; contains?: string; max: number },
  signal?: AbortSignal,
): Promise<MetricTags> {
  return getJson<MetricTags>(address("tags", wanted), signal);
}
