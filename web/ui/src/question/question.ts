// State -> the body of POST /api/query, and the same as a curl command.
import { zoneName } from "../base/zone";
import { printDownsample } from "./metric_expression";
import type { State, SubQuery } from "./state";
import { autoInterval, type Range } from "./time_range";

export interface Question {
  body: string; // JSON
  // The place in State.queries of each sub-query asked, in the order of the answer's query.index: OpenTSDB
  // answers two equal sub-queries once.
  asked: number[];
  steps: string[]; // downsample intervals, with "auto" worked out; each once
}

// JavaScript's numbers end at 2^53, counters at 2^64: their digits go through as they were typed.
function stringify(json: unknown, indent: number): string {
  return JSON.stringify(json, null, indent).replace(/"(counterMax|resetValue)":( ?)"(\d+)"/g, '"$1":$2$3');
}

export interface Times {
  start: number | string;
  end?: number | string;
}

// What OpenTSDB takes. `range` and `widthPx` are for intervals called "auto".
export function subQueryJson(query: SubQuery, range: Range, widthPx: number): Record<string, unknown> {
  const json: Record<string, unknown> = { metric: query.metric, aggregator: query.aggregator };
  if (query.downsample) {
    const auto = query.downsample.interval === "auto";
    const interval = auto ? autoInterval(range, widthPx) : query.downsample.interval;
    if (interval) json.downsample = printDownsample(query.downsample, interval);
  }
  if (query.rate) {
    json.rate = true;
    if (query.rate.counter) json.rateOptions = rateOptions(query);
  }
  if (query.filters.length) {
    json.filters = query.filters.map((f) => ({
      type: f.type,
      tagk: f.tagk,
      filter: f.value,
      groupBy: f.groupBy,
    }));
  }
  if (query.explicitTags) json.explicitTags = true;
  return json;
}

function rateOptions(query: SubQuery): Record<string, unknown> {
  const options: Record<string, unknown> = { counter: true };
  if (query.rate?.counterMax) options.counterMax = query.rate.counterMax;
  if (query.rate?.resetValue) options.resetValue = query.rate.resetValue;
  if (query.rate?.dropResets) options.dropResets = true;
  return options;
}

function subQueries(
  state: State,
  range: Range,
  widthPx: number,
): { json: Record<string, unknown>[]; asked: number[] } {
  const seen = new Set<string>();
  const json: Record<string, unknown>[] = [];
  const asked: number[] = [];
  state.queries.forEach((query, i) => {
    if (!query.metric || query.hidden) return;
    const one = subQueryJson(query, range, widthPx);
    const text = JSON.stringify(one);
    if (seen.has(text)) return;
    seen.add(text);
    json.push(one);
    asked.push(i);
  });
  return { json, asked };
}

function stepsOf(queries: { downsample?: unknown }[]): string[] {
  const steps = new Set(queries.map(({ downsample }) => String(downsample ?? "").split("-")[0]));
  return [...steps].filter((step) => step && step !== "0all");
}

function common(state: State, times: Times): Record<string, unknown> {
  const calendar = state.queries.some((query) => /c$/i.test(query.downsample?.interval ?? ""));
  return { ...times, ...(calendar ? { timezone: zoneName(state.zone) } : {}), msResolution: true };
}

export function buildQuestion(state: State, range: Range, widthPx: number): Question {
  const { json, asked } = subQueries(state, range, widthPx);
  const times = { start: Math.floor(range.start), end: Math.ceil(range.end) };
  const shown = { showQuery: true, showSummary: true, globalAnnotations: true };
  return { body: stringify({ ...common(state, times), ...shown, queries: json }, 2), asked, steps: stepsOf(json) };
}

// For people: relative times stay relative, nothing is in it that only the page needs.
export function readableQuestion(state: State, range: Range, widthPx: number, indent = 2): string {
  const relative = /ago$/i.test(state.start.trim());
  const times: Times = { start: relative ? state.start : Math.floor(range.start) };
  if (state.end && state.end !== "now") times.end = Math.ceil(range.end);
  const { json } = subQueries(state, range, widthPx);
  return stringify({ ...common(state, times), queries: json }, indent);
}

export function curlCommand(url: string, json: string): string {
  return `curl -sS -X POST ${shellQuoted(url)} -H 'Content-Type: application/json' -d ${shellQuoted(json)}`;
}

export function shellQuoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}
